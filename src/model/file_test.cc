#include "model/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>

#include "base/memory.h"
#include "kernel/kernel_table.h"
#include "kweave/error.h"
#include "kweave/model.h"
#include "kweave/model_part.h"
#include "model/encoding.h"
#include "tests/support/example_model.h"

namespace kweave {
namespace {

using ::testing::HasSubstr;

std::string Refusal(std::span<const std::uint8_t> bytes) {
  try {
    DeserializeModel(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.what();
  }
  return "accepted";
}

TEST(ModelFile, SurvivesARoundTrip) {
  const ModelContent content = ExampleModel();
  const ModelContent back = DeserializeModel(SerializeModel(content));
  EXPECT_EQ(EncodeModel(back), EncodeModel(content));
  for (Index m = 0; m < content.kernels.size(); ++m) EXPECT_EQ(back.kernels.Name(m), content.kernels.Name(m));
}

TEST(ModelFile, KeepsTheProblemThatItSolves) {
  const ModelContent content = ExampleModelWithProblem();
  const auto bytes = SerializeModel(content);
  EXPECT_EQ(bytes[8], 5);
  const ModelContent back = DeserializeModel(bytes);
  EXPECT_EQ(EncodeModel(back), EncodeModel(content));
  EXPECT_EQ(back.problem.kernels, content.problem.kernels);
  EXPECT_EQ(back.problem.left_out, content.problem.left_out);
  EXPECT_EQ(back.problem.costs, content.problem.costs);
  EXPECT_EQ(back.problem.regularizer.groups, content.problem.regularizer.groups);
  EXPECT_EQ(back.problem.regularizer.inner_exponent, std::numeric_limits<double>::infinity());
  EXPECT_EQ(back.problem.machines.at(0).dual->ToDense(6), (std::vector<double>{0, -0.5, 0, 0, 0.25, 0.25}));
  EXPECT_FALSE(DeserializeModel(SerializeModel(ExampleModel())).problem.is_known);
}

TEST(ModelFile, KeepsNotes) {
  const Model model(std::make_shared<const ModelContent>(ExampleModel()));
  const Model noted = model.WithNote("python", "{\"classes\": [\"01\"]}").WithNote("other", "x");
  const Model back = Model::FromBytes(noted.ToBytes());
  EXPECT_EQ(back.note("python"), "{\"classes\": [\"01\"]}");
  EXPECT_EQ(back.note("other"), "x");
  EXPECT_EQ(back.note("none"), "");
  EXPECT_EQ(model.note("python"), "");
}

TEST(ModelFile, KeepsKernelsOnClassesAndTheirWeights) {
  const ModelContent content = ExampleModelWithClassKernels();
  const ModelContent back = DeserializeModel(SerializeModel(content));
  EXPECT_EQ(EncodeModel(back), EncodeModel(content));
  EXPECT_EQ(back.problem.joint.class_kernels.at(1).ToDense(9),
            (std::vector<double>{1, -1, 0, -1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(back.problem.joint.theta, content.problem.joint.theta);
  EXPECT_EQ(back.problem.joint.dual->values, content.problem.joint.dual->values);
  EXPECT_EQ(back.problem.regularizer.matrix.values, content.problem.regularizer.matrix.values);
}

TEST(ModelFile, RefusesAProblemThatDoesNotFit) {
  ModelContent content = ExampleModelWithProblem();
  content.problem.costs.pop_back();
  EXPECT_THAT(Refusal(SerializeModel(content)), HasSubstr("costs differ in number"));
  content = ExampleModelWithProblem();
  content.problem.active[0] = -1;
  EXPECT_THAT(Refusal(SerializeModel(content)), HasSubstr("no number"));
  content = ExampleModelWithProblem();
  content.problem.machines[0].dual->positions[1] = 1;
  EXPECT_THAT(Refusal(SerializeModel(content)), HasSubstr("out of order"));
}

TEST(ModelFile, RefusesEveryTruncation) {
  const auto bytes = SerializeModel(ExampleModel());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(Refusal(std::span(bytes).first(length)), "accepted") << length;
  }
}

TEST(ModelFile, RefusesEveryAlteredByte) {
  auto bytes = SerializeModel(ExampleModel());
  for (std::uint8_t& byte : bytes) {
    byte ^= 0x10;
    EXPECT_NE(Refusal(bytes), "accepted");
    byte ^= 0x10;
  }
}

TEST(ModelFile, SaysWhatIsWrong) {
  auto bytes = SerializeModel(ExampleModel());
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
  ModelContent content = ExampleModel();
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
    ModelContent content = ExampleModel();
    change(content);
    EXPECT_THROW(DeserializeModel(SerializeModel(content)), Error);
  };
  refuses([](ModelContent& c) { c.classes.pop_back(); });
  refuses([](ModelContent& c) { c.task = Task::kRegress; });
  refuses([](ModelContent& c) { c.machines[0].theta.pop_back(); });
  refuses([](ModelContent& c) { c.machines[0].beta = {{0, 2}, {1, 1}}; });
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    refuses([&](ModelContent& c) { c.samples[0].features = MakeDense({1, 2, value, 4}, 2, 2); });
  }
  refuses([](ModelContent& c) { c.samples[0].feature_names.push_back("depth"); });
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
  ModelContent content = ExampleModel();
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
    ModelContent content = ExampleModel();
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
    Json json = EncodeModel(ExampleModel());
    auto& bytes = json.at(Json::json_pointer(list)).get_binary();
    bytes.erase(bytes.end() - sizeof(std::int32_t), bytes.end());
    EXPECT_THROW(DecodeModel(json), Error) << list;
  }
}

TEST(ModelFile, IsWrittenWholeOrNotAtAll) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "kweave_model_file_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "model.kweave").string();
  const Model model(std::make_shared<const ModelContent>(ExampleModel()));
  model.Save(path);
  model.Save(path);
  EXPECT_EQ(Model::Load(path).ToJson(), model.ToJson());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_THROW(model.Save((folder / "missing" / "model.kweave").string()), Error);
  std::filesystem::remove_all(folder);
  EXPECT_THROW(Model::Load(path), Error);
}

TEST(Describe, ShowsKernelsAndSources) {
  ModelContent content = ExampleModel();
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
    ModelContent content = ExampleModel();
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
  ModelContent content = ExampleModel();
  content.machines[0].theta[0] = -1;
  EXPECT_THROW(DeserializeModel(SerializeModel(content)), Error);
}

TEST(ModelFile, RefusesMachinesThatDoNotTellEveryClass) {
  for (const Multiclass multiclass :
       {Multiclass::kOneAgainstRest, Multiclass::kOneAgainstOne, Multiclass::kJoint}) {
    ModelContent content = ExampleModelOfClasses(multiclass);
    EXPECT_NO_THROW(DeserializeModel(SerializeModel(content)));
    content.machines.back() = content.machines.front();
    EXPECT_THROW(DeserializeModel(SerializeModel(content)), Error);
    content.machines.clear();
    EXPECT_THROW(DeserializeModel(SerializeModel(content)), Error);
  }
}

// A megabyte that says there are 2 billion factors, all of them 0, and 20,000 kernels on 100,000 features.
TEST(ModelFile, AsksForNoMoreThanItHolds) {
  constexpr Index kStored = 100000, kMachines = 20000;
  ModelContent content = ExampleModelOfClasses(Multiclass::kOneAgainstRest);
  auto offsets = std::make_shared<std::vector<Index>>(kStored + 1, 0);
  for (View& view : content.samples) {
    view.features = SparseRows{offsets->data(), nullptr, nullptr, kStored, kStored, offsets};
    view.feature_names.clear();
  }
  content.sample_indices.resize(kStored);
  std::iota(content.sample_indices.begin(), content.sample_indices.end(), Index{0});
  content.training_count = kStored;
  content.normalization.chains.clear();
  content.kernels.subsets[1].resize(kStored);
  std::iota(content.kernels.subsets[1].begin(), content.kernels.subsets[1].end(), 0);
  content.kernels.families.resize(kMachines, content.kernels.families[1]);
  ModelMachine machine = content.machines[0];
  machine.beta = {};
  content.machines.assign(kMachines, machine);
  content.classes.resize(kMachines);
  for (Index u = 0; u < kMachines; ++u) {
    content.machines[u].output = u;
    content.classes[u] = std::to_string(u);
  }
  const auto bytes = SerializeModel(content);
  EXPECT_LT(bytes.size(), std::size_t{10} << 20);
  const std::int64_t before = PeakMemoryBytes();
  EXPECT_EQ(DeserializeModel(bytes).machines.size(), static_cast<std::size_t>(kMachines));
  EXPECT_LT(PeakMemoryBytes() - before, std::int64_t{1} << 28);
}

// Names are made from what kernels refer to, and many can refer to the same.
TEST(ModelFile, NamesNothingWithoutBound) {
  constexpr Index kKernels = 2000;
  const auto crowd = [](std::size_t subset, std::size_t view_name) {
    ModelContent content = ExampleModel();
    content.kernels.families.assign(kKernels, content.kernels.families[1]);
    content.kernels.composites.clear();
    content.kernels.given_names.clear();
    content.kernels.order.clear();
    for (std::int32_t f = 0; f < kKernels; ++f) content.kernels.order.push_back({f, 0});
    const std::int32_t used = content.kernels.families[0].subset, view = content.kernels.families[0].view;
    content.kernels.subsets[used] = FeatureSubset(subset, 0);
    content.kernels.views[view] = content.samples[view].name = std::string(view_name, 'v');
    content.normalization.scale.assign(kKernels, 1.0);
    content.normalization.chains.clear();
    content.machines[0].theta.assign(kKernels, 1.0);
    content.problem = {};
    return content;
  };
  EXPECT_NO_THROW(DeserializeModel(SerializeModel(crowd(100, 10))));
  EXPECT_THROW(DeserializeModel(SerializeModel(crowd(50000, 10))), Error);
  EXPECT_THROW(DeserializeModel(SerializeModel(crowd(1, 100000))), Error);
}

TEST(ModelFile, RefusesACompositeOfTwoKernels) {
  ModelContent content = ExampleModel();
  ASSERT_FALSE(content.kernels.composites.empty());
  for (KernelId& id : content.kernels.order) {
    if (id.family >= 0) id = {-1, 0};
  }
  EXPECT_THROW(DeserializeModel(SerializeModel(content)), Error);
}

TEST(Model, PartsHaveTheirKernelsAlone) {
  const Model model(std::make_shared<const ModelContent>(ExampleModel()));
  const std::vector<std::string> names = model.active_kernels(), first = {names[0], names[3]};
  const std::vector<double> weights = WithKernels(model, first).content().machines[0].theta;
  EXPECT_EQ(weights, (std::vector<double>{0.5, 0, 0, 1}));
  EXPECT_EQ(model.content().machines[0].theta[1], 0.25);
  EXPECT_THROW(WithKernels(model, std::vector<std::string>{"none"}), Error);
}

TEST(Model, BytesHoldWhatAFileHolds) {
  const Model model(std::make_shared<const ModelContent>(ExampleModel()));
  const Model again = Model::FromBytes(model.ToBytes());
  EXPECT_EQ(again.ToJson(), model.ToJson());
  std::vector<std::uint8_t> bytes = model.ToBytes();
  bytes.pop_back();
  EXPECT_THROW(Model::FromBytes(bytes), Error);
}

TEST(Model, SupportLeavesOutStoredSamplesWithoutAFactor) {
  ModelContent content = ExampleModel();
  content.machines[0].beta = {{1}, {0.75}};
  const Model model(std::make_shared<const ModelContent>(content));
  EXPECT_EQ(model.support(), (std::vector<std::pair<Index, double>>{{4, 0.75}}));
}

}  // namespace
}  // namespace kweave
