#include "train/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "kweave/error.h"

namespace kweave {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Index> All(const Labels& labels) {
  std::vector<Index> indices(labels.text.size());
  std::iota(indices.begin(), indices.end(), Index{0});
  return indices;
}

Labels Numeric(std::vector<std::string> text) {
  Labels labels{std::move(text), {}, {}};
  for (const std::string& label : labels.text) labels.number.push_back(std::stod(label));
  return labels;
}

TEST(EncodeClasses, OrdersNumbersAsNumbers) {
  const Labels labels = Numeric({"10", "9", "+10", "9.0"});
  const ClassLabels encoded = EncodeClasses(labels, All(labels));
  EXPECT_THAT(encoded.classes, ElementsAre("9", "10"));
  EXPECT_THAT(encoded.of_sample, ElementsAre(1, 0, 1, 0));
}

TEST(EncodeClasses, OrdersTextAsText) {
  const Labels labels{{"well", "ill", "ill"}, {}, {}};
  const ClassLabels encoded = EncodeClasses(labels, All(labels));
  EXPECT_THAT(encoded.classes, ElementsAre("ill", "well"));
  EXPECT_THAT(encoded.of_sample, ElementsAre(1, 0, 0));
}

TEST(EncodeClasses, CountsOnlyTheSamplesThatAreThere) {
  const Labels labels{{"a", "b", "c"}, {}, {}};
  const std::vector<Index> samples = {0, 2};
  EXPECT_THAT(EncodeClasses(labels, samples).classes, ElementsAre("a", "c"));
}

std::string Refusal(const Labels& labels) {
  try {
    EncodeClasses(labels, All(labels));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.what();
  }
  return "no error";
}

TEST(EncodeClasses, NamesTheClassWhenThereIsOneOnly) {
  EXPECT_THAT(Refusal(Numeric({"1", "1"})), HasSubstr("1 class ('1'), expected two or more"));
  EXPECT_THAT(Refusal({}), HasSubstr("no labels"));
}

TEST(EncodeClasses, NumbersAnyNumberOfThemInOrder) {
  const Labels numbers = Numeric({"10", "9", "+10", "-1"});
  const ClassLabels encoded = EncodeClasses(numbers, All(numbers));
  EXPECT_THAT(encoded.classes, ElementsAre("-1", "9", "10"));
  EXPECT_THAT(encoded.of_sample, ElementsAre(2, 1, 2, 0));
  EXPECT_EQ(encoded.Find("10.0"), 2);
  EXPECT_EQ(encoded.Find("11"), -1);
  const Labels mixed{{"10", "b", "9"}, {}, {}};
  EXPECT_THAT(EncodeClasses(mixed, All(mixed)).classes, ElementsAre("10", "9", "b"));
}

TEST(EncodeClasses, SplitsSeveralLabelsOfASample) {
  const Labels labels{{"3,1", "1", "", "2, 3,3"}, {}, ","};
  const ClassLabels encoded = EncodeClasses(labels, All(labels));
  EXPECT_THAT(encoded.classes, ElementsAre("1", "2", "3"));
  ASSERT_EQ(encoded.several.size(), 4u);
  EXPECT_THAT(encoded.several[0], ElementsAre(0, 2));
  EXPECT_THAT(encoded.several[2], ElementsAre());
  EXPECT_THAT(encoded.several[3], ElementsAre(1, 2));
  EXPECT_TRUE(encoded.Has(0, 2));
  EXPECT_FALSE(encoded.Has(1, 2));
}

TEST(PerClass, TakesWhatIsGivenAndNamesWhatFitsNoClass) {
  const ClassLabels labels{{"a", "b", "c"}, {0, 1, 2}, {}, ""};
  const std::vector<std::pair<std::string, double>> given = {{"b", 5}};
  EXPECT_THAT(PerClass(given, labels, 2, "C"), ElementsAre(2, 5, 2));
  const std::vector<std::pair<std::string, double>> unknown = {{"d", 5}};
  EXPECT_THROW(PerClass(unknown, labels, 2, "C"), Error);
}

TEST(EncodeTargets, AreNumbers) {
  const Labels labels = Numeric({"1.5", "-2e3"});
  EXPECT_THAT(EncodeTargets(labels, All(labels)), ElementsAre(1.5, -2000));
  const Labels mixed{{"1.5", "high", "2"}, {}, {}};
  const std::vector<Index> numbers = {0, 2};
  EXPECT_THAT(EncodeTargets(mixed, numbers), ElementsAre(1.5, 2));
  EXPECT_THROW(EncodeTargets(mixed, All(mixed)), Error);
  EXPECT_THROW(EncodeTargets({}, {}), Error);
}

TEST(OneClassBounds, SumToOneOverNu) {
  TrainOptions options;
  options.nu = 0.25;
  options.C = 7;  // has no say
  const std::vector<Index> samples = {0, 2};
  EXPECT_THAT(OneClassBounds(options, samples), ElementsAre(2, 2));
  options.sample_weights = {1, 0, 3};
  EXPECT_THAT(OneClassBounds(options, samples), ElementsAre(1, 3));
}

TEST(UpperBounds, MultipliesCWithClassAndSampleWeights) {
  TrainOptions options;
  options.C = 2;
  options.class_weights = {{"+1", 3}};
  options.sample_weights = {1, 0, 0.5, 10};
  const ClassLabels labels{{"-1", "1"}, {1, 0, 1}, {}, ""};
  const std::vector<Index> samples = {0, 2, 3};
  EXPECT_THAT(UpperBounds(options, labels, samples), ElementsAre(6, 1, 60));
  options.class_weights = {{"2", 3}};
  EXPECT_THROW(UpperBounds(options, labels, samples), Error);
}

TEST(PerClass, RefusesAClassNamedTwice) {
  const ClassLabels labels{{"-1", "1"}, {1, 0, 1}, {}, ""};
  const std::vector<std::pair<std::string, double>> given = {{"1", 2}, {"-1", 5}, {"+1", 3}};
  EXPECT_THAT(PerClass(std::span(given).first(2), labels, 1, "C"), ElementsAre(5, 2));
  try {
    PerClass(given, labels, 1, "C");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "`C` for class '1' is given twice, expected once");
  }
}

}  // namespace
}  // namespace kweave
