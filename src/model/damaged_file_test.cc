// Files that are damaged in one place and still hold together: each is refused with a sentence, or makes a
// model that can be described, saved and applied.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/encoding.h"
#include "tests/support/example_model.h"
#include "tests/support/mutate_model.h"
#include "tests/support/use_model.h"

namespace kweave {
namespace {

ModelContent ExampleRegression() {
  ModelContent content = ExampleModel();
  content.task = Task::kRegress;
  content.loss = "squared";
  content.classes.clear();
  return content;
}

struct Example {
  const char* name;
  ModelContent content;
};

std::vector<Example> Examples() {
  return {{"two classes", ExampleModel()},
          {"regression", ExampleRegression()},
          {"one against rest", ExampleModelOfClasses(Multiclass::kOneAgainstRest)},
          {"one against one", ExampleModelOfClasses(Multiclass::kOneAgainstOne)},
          {"joint", ExampleModelOfClasses(Multiclass::kJoint)},
          {"pairs", ExampleModelOfPairs()},
          {"problem", ExampleModelWithProblem()},
          {"class kernels", ExampleModelWithClassKernels()}};
}

/// Whether what `read` returns was a model; anything but Error is a failure.
template <class Read>
bool IsUsed(const Read& read, const std::string& what) {
  try {
    UseModel(read());
    return true;
  } catch (const Error& error) {
    EXPECT_NE(error.what()[0], '\0') << what;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
  return false;
}

// Numbers and names where others were.
std::vector<Json> Replacements() {
  std::vector<Json> values;
  for (const std::int64_t number :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{7},
        std::int64_t{1} << 31, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    values.push_back(number);
  }
  for (const double number :
       {0.5, -1.0, 1e308, 1e-320, std::numeric_limits<double>::infinity(), std::nan("")}) {
    values.push_back(number);
  }
  for (const char* name :
       {"", "ovr", "ovo", "joint", "regress", "oneclass", "precomputed", "center", "\xff"}) {
    values.push_back(name);
  }
  values.insert(values.end(), {true, nullptr, Json::array(), Json::object()});
  return values;
}

// Arrays that are shorter, longer or have one value that is not a number.
std::vector<Json> DamagedArrays(const Json& original) {
  const std::vector<std::uint8_t>& bytes = original.get_binary();
  std::vector<Json> damaged = {Json::binary({})};
  for (const std::size_t lost : {4, 8}) {
    if (bytes.size() >= lost) damaged.push_back(Json::binary({bytes.begin(), bytes.end() - lost}));
  }
  std::vector<std::uint8_t> longer = bytes;
  longer.insert(longer.end(), 8, 0);
  damaged.push_back(Json::binary(longer));
  const auto with = [&](auto value) {
    for (std::size_t at = 0; at + sizeof(value) <= bytes.size(); at += sizeof(value)) {
      std::vector<std::uint8_t> other = bytes;
      std::memcpy(other.data() + at, &value, sizeof(value));
      damaged.push_back(Json::binary(other));
    }
  };
  for (const std::int32_t number :
       {-1, 1, 2, 9, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()}) {
    with(number);
    with(std::int64_t{number});
  }
  for (const double number : {-1.0, 1e308, std::numeric_limits<double>::infinity(), std::nan("")})
    with(number);
  return damaged;
}

TEST(DamagedModel, ExamplesAreModels) {
  for (const Example& example : Examples()) {
    EXPECT_TRUE(IsUsed([&] { return DeserializeModel(SerializeModel(example.content)); }, example.name))
        << example.name;
  }
}

TEST(DamagedModel, IsRefusedOrUsableWhateverOneValueIs) {
  for (const Example& example : Examples()) {
    const Json json = EncodeModel(example.content);
    int refused = 0, used = 0;
    const Json leaves = json.flatten();
    for (const auto& [path, value] : leaves.items()) {
      for (const Json& other : value.is_binary() ? DamagedArrays(value) : Replacements()) {
        Json damaged = json;
        damaged[Json::json_pointer(path)] = other;
        const std::string what = std::string(example.name) + ", " + path;
        ++(IsUsed([&] { return DecodeModel(damaged); }, what) ? used : refused);
      }
    }
    EXPECT_GT(refused, 500) << example.name;
    EXPECT_GT(used, 500) << example.name;
  }
}

// What only somebody makes who wants to: several values at once, lists that grow, parts in the place of
// others.
TEST(DamagedModel, IsRefusedOrUsableWhateverAStrangerWrites) {
  for (const Example& example : Examples()) {
    const Json json = EncodeModel(example.content);
    int refused = 0, used = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      const std::vector<std::uint8_t> bytes = ModelMutator::Seal(ModelMutator(seed).Mutate(json));
      const std::string what = std::string(example.name) + ", seed " + std::to_string(seed);
      ++(IsUsed([&] { return DeserializeModel(bytes); }, what) ? used : refused);
    }
    EXPECT_GT(refused, 100) << example.name;
    EXPECT_GT(used, 50) << example.name;
  }
}

TEST(DamagedModel, IsRefusedOrUsableWhateverOneByteIs) {
  for (const Example& example : Examples()) {
    const auto original = SerializeModel(example.content);
    for (std::size_t place = kModelHeaderBytes; place < original.size(); ++place) {
      for (const int change : {0x01, 0xff}) {
        auto bytes = original;
        bytes[place] ^= static_cast<std::uint8_t>(change);
        IsUsed([&] { return DeserializeModel(Sealed(bytes)); },
               std::string(example.name) + ", byte " + std::to_string(place));
      }
    }
  }
}

}  // namespace
}  // namespace kweave
