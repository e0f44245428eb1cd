#include "model/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "kernel/kernel_table.h"
#include "kweave/error.h"
#include "kweave/model.h"
#include "model/encoding.h"

namespace kweave {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kHeaderBytes = 24;

struct SparseStorage {
  std::vector<Index> offsets{0, 1, 3};
  std::vector<std::int32_t> columns{2, 0, 4};
  std::vector<double> values{1, 2, 3};
};

Features Sparse() {
  auto owner = std::make_shared<SparseStorage>();
  return SparseRows{owner->offsets.data(), owner->columns.data(), owner->values.data(), 2, 5, owner};
}

// Two views, a family of two Gaussians, a linear kernel on a subset, a product of both, names and a chain.
ModelContent Example() {
  const KernelKind* rbf = FindKernelKind("rbf");
  const KernelKind* linear = FindKernelKind("linear");
  ModelContent content;
  content.version = "0.1.0";
  content.classes = {"ill", "well"};
  content.kernels.views = {"data", "counts"};
  content.kernels.subsets = {{}, {1, 3}};
  content.kernels.families = {{rbf, 0, 0, -1, {{0.5, 0, 1}, {2, 0, 1}}}, {linear, 1, 1, -1, {{}}}};
  Composite product;
  product.terms = {{rbf, {1, 0, 1}, 0, 0, -1}, {linear, {}, 1, 1, -1}};
  product.nodes = {{Composite::Operation::kTerm, 0},
                   {Composite::Operation::kTerm, 1},
                   {Composite::Operation::kProduct, 2}};
  content.kernels.composites = {product};
  content.kernels.order = {{0, 0}, {0, 1}, {1, 0}, {-1, 0}};
  content.kernels.given_names = {{3, "both"}};
  content.kernels.had_more_views = true;
  content.machines = {{{0.5, 0.25, 0.125, 1}, {-0.75, 0.75}, 0.375}};
  content.normalization.sequence = {Normalizer::kSpherical};
  content.normalization.scale = {2, 3, 1, 1};
  content.normalization.chains[2] = {{Normalizer::kSpherical, 1, {0.5, 0.25}}};
  content.samples = {{"data", MakeDense({1, 2, 3, 4}, 2, 2), {"height", "width"}}, {"counts", Sparse(), {}}};
  content.sample_indices = {1, 4};
  content.training_count = 6;
  content.summary.task = "classify";
  content.summary.kernels = {{"a", 0.5, 1}};
  content.summary.options = {{"C", "1.0"}};
  return content;
}

std::string Refusal(std::span<const std::uint8_t> bytes) {
  try {
    DeserializeModel(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.what();
  }
  return "accepted";
}

// Makes the checksum and length right again after an alteration.
void Reseal(std::vector<std::uint8_t>& bytes) {
  const std::uint64_t size = bytes.size() - kHeaderBytes;
  const auto checksum =
      static_cast<std::uint32_t>(crc32(0, bytes.data() + kHeaderBytes, static_cast<uInt>(size)));
  std::memcpy(bytes.data() + 12, &checksum, sizeof(checksum));
  std::memcpy(bytes.data() + 16, &size, sizeof(size));
}

TEST(ModelFile, SurvivesARoundTrip) {
  const ModelContent content = Example();
  const ModelContent back = DeserializeModel(SerializeModel(content));
  EXPECT_EQ(EncodeModel(back), EncodeModel(content));
  for (Index m = 0; m < content.kernels.size(); ++m) EXPECT_EQ(back.kernels.Name(m), content.kernels.Name(m));
}

TEST(ModelFile, RefusesEveryTruncation) {
  const auto bytes = SerializeModel(Example());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(Refusal(std::span(bytes).first(length)), "accepted") << length;
  }
}

TEST(ModelFile, RefusesEveryAlteredByte) {
  auto bytes = SerializeModel(Example());
  for (std::uint8_t& byte : bytes) {
    byte ^= 0x10;
    EXPECT_NE(Refusal(bytes), "accepted");
    byte ^= 0x10;
  }
}

TEST(ModelFile, SurvivesEveryAlterationWithARightChecksum) {
  const auto original = SerializeModel(Example());
  for (std::size_t place = kHeaderBytes; place < original.size(); ++place) {
    for (int change : {0x01, 0x20, 0x80, 0xff}) {
      auto bytes = original;
      bytes[place] ^= static_cast<std::uint8_t>(change);
      Reseal(bytes);
      try {
        CheckConsistency(DeserializeModel(bytes));
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kData);
      }
    }
  }
}

TEST(ModelFile, SaysWhatIsWrong) {
  auto bytes = SerializeModel(Example());
  const std::string text = "1 1:0.5 2:3\n";
  EXPECT_THAT(Refusal({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}),
              HasSubstr("not a Kweave model"));
  EXPECT_THAT(Refusal(std::span(bytes).first(100)), HasSubstr("truncated"));
  bytes.push_back(0);
  EXPECT_THAT(Refusal(bytes), HasSubstr("bytes after its end"));
  bytes.pop_back();
  bytes[8] = 9;
  EXPECT_THAT(Refusal(bytes), HasSubstr("format 9"));
}

TEST(ModelFile, IsWrittenInTheOldestFormatThatHoldsIt) {
  ModelContent content = Example();
  EXPECT_EQ(SerializeModel(content)[8], 1);
  content.task = Task::kOneClass;
  content.loss = "one-class";
  const auto bytes = SerializeModel(content);
  EXPECT_EQ(bytes[8], 2);
  EXPECT_EQ(DeserializeModel(bytes).task, Task::kOneClass);
  EXPECT_EQ(DeserializeModel(bytes).loss, "one-class");
}

TEST(ModelFile, RefusesInconsistentContent) {
  const auto refuses = [](auto change) {
    ModelContent content = Example();
    change(content);
    EXPECT_THROW(DeserializeModel(SerializeModel(content)), Error);
  };
  refuses([](ModelContent& c) { c.classes.pop_back(); });
  refuses([](ModelContent& c) { c.task = Task::kRegress; });
  refuses([](ModelContent& c) { c.machines[0].theta.pop_back(); });
  refuses([](ModelContent& c) { c.machines[0].beta.push_back(1); });
  refuses([](ModelContent& c) { c.machines[0].bias = std::numeric_limits<double>::quiet_NaN(); });
  refuses([](ModelContent& c) { c.kernels.subsets[1][1] = 5; });
  refuses([](ModelContent& c) { c.kernels.families[0].view = 2; });
  refuses([](ModelContent& c) { c.kernels.families[0].file = 0; });
  refuses([](ModelContent& c) { c.kernels.order[3].member = 1; });
  refuses([](ModelContent& c) { c.kernels.composites[0].nodes.pop_back(); });
  refuses([](ModelContent& c) { c.kernels.composites[0].nodes[2].argument = 3; });
  refuses([](ModelContent& c) { c.normalization.chains[2][0].per_sample.pop_back(); });
  refuses([](ModelContent& c) { c.normalization.chains[9] = {}; });
  refuses([](ModelContent& c) { c.sample_indices = {4, 1}; });
  refuses([](ModelContent& c) { c.training_count = 1; });
  refuses([](ModelContent& c) { c.samples[0].features = MakeDense({1, 2}, 1, 2); });
}

// The first kernel replaced by a precomputed one.
ModelContent WithMatrix() {
  ModelContent content = Example();
  content.kernels.files = {{"K.npy"}};
  content.kernels.families[0] = {FindKernelKind("precomputed"), 0, 0, 0, {{}, {}}};
  return content;
}

TEST(ModelFile, RefusesMatricesOutOfPlace) {
  EXPECT_NO_THROW(CheckConsistency(WithMatrix()));
  const auto refuses = [](auto change) {
    ModelContent content = WithMatrix();
    change(content);
    EXPECT_THROW(DeserializeModel(SerializeModel(content)), Error);
  };
  refuses([](ModelContent& c) { c.kernels.families[0].file = 1; });
  refuses([](ModelContent& c) { c.kernels.families[0].view = 2; });
  refuses([](ModelContent& c) { c.kernels.families[0].view = -1; });
  refuses([](ModelContent& c) { c.kernels.families[0].subset = 2; });
  refuses([](ModelContent& c) { c.kernels.families[0].subset = 1; });
  refuses([](ModelContent& c) { c.training_count = 4; });
}

TEST(ModelFile, RefusesProgramsThatOutgrowTheirTerms) {
  using enum Composite::Operation;
  const auto is_accepted = [](std::vector<Composite::Node> nodes) {
    ModelContent content = Example();
    content.kernels.composites[0].nodes = std::move(nodes);
    return Refusal(SerializeModel(content)) == "accepted";
  };
  EXPECT_TRUE(is_accepted({{kTerm, 0}, {kTerm, 1}, {kSum, 2}}));
  EXPECT_FALSE(is_accepted({{kTerm, 0}, {kTerm, 0}, {kSum, 2}}));
  EXPECT_FALSE(is_accepted({{kTerm, 0}, {kTerm, 1}, {kTerm, 2}, {kSum, 3}}));
  std::vector<Composite::Node> deep(5000, {kTerm, 0});
  deep.push_back({kSum, 5000});
  EXPECT_FALSE(is_accepted(deep));
}

TEST(ModelFile, RefusesHalfAPair) {
  for (const char* list : {"/kernels/order", "/kernels/composites/0/program"}) {
    Json json = EncodeModel(Example());
    auto& bytes = json.at(Json::json_pointer(list)).get_binary();
    bytes.resize(bytes.size() - sizeof(std::int32_t));
    EXPECT_THROW(DecodeModel(json), Error) << list;
  }
}

TEST(ModelFile, IsWrittenWholeOrNotAtAll) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "kweave_model_file_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "model.kweave").string();
  const Model model(std::make_shared<const ModelContent>(Example()));
  model.Save(path);
  model.Save(path);
  EXPECT_EQ(Model::Load(path).ToJson(), model.ToJson());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_THROW(model.Save((folder / "missing" / "model.kweave").string()), Error);
  std::filesystem::remove_all(folder);
  EXPECT_THROW(Model::Load(path), Error);
}

TEST(Describe, ShowsKernelsAndSources) {
  ModelContent content = Example();
  content.summary.kernels.clear();
  for (Index m = 0; m < content.kernels.size(); ++m) {
    content.summary.kernels.push_back({content.kernels.Name(m), content.machines[0].theta[m], 2});
  }
  const std::string text = Model(std::make_shared<const ModelContent>(content)).Describe();
  EXPECT_THAT(text, HasSubstr("'ill' (f < 0) against 'well' (f > 0)"));
  EXPECT_THAT(text, HasSubstr("both"));
  EXPECT_THAT(text, HasSubstr("counts with data"));
}

TEST(Describe, StandsNumbersThatOnlyADamagedFileHas) {
  for (const double quadratic : {1e308, std::numeric_limits<double>::infinity(), std::nan("")}) {
    ModelContent content = Example();
    content.machines[0].theta.assign(content.kernels.size(), 1e308);
    content.summary.kernels.clear();
    for (Index m = 0; m < content.kernels.size(); ++m) {
      content.summary.kernels.push_back({content.kernels.Name(m), quadratic, quadratic});
    }
    EXPECT_FALSE(Model(std::make_shared<const ModelContent>(content)).Describe().empty());
    content.summary.projected_gradient = quadratic;
    EXPECT_FALSE(Model(std::make_shared<const ModelContent>(content)).Describe().empty());
  }
}

TEST(ModelFile, HasNoNegativeWeight) {
  ModelContent content = Example();
  content.machines[0].theta[0] = -1;
  EXPECT_THROW(DeserializeModel(SerializeModel(content)), Error);
}

TEST(Model, BytesHoldWhatAFileHolds) {
  const Model model(std::make_shared<const ModelContent>(Example()));
  const Model again = Model::FromBytes(model.ToBytes());
  EXPECT_EQ(again.ToJson(), model.ToJson());
  std::vector<std::uint8_t> bytes = model.ToBytes();
  bytes.pop_back();
  EXPECT_THROW(Model::FromBytes(bytes), Error);
}

TEST(Model, SupportLeavesOutStoredSamplesWithoutAFactor) {
  ModelContent content = Example();
  content.machines[0].beta = {0, 0.75};
  const Model model(std::make_shared<const ModelContent>(content));
  EXPECT_EQ(model.support(), (std::vector<std::pair<Index, double>>{{4, 0.75}}));
}

}  // namespace
}  // namespace kweave
