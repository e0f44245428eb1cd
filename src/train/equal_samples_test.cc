#include "train/equal_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kweave/train.h"

namespace kweave {
namespace {

using ::testing::ElementsAre;

// Six samples in a plane, of which the fourth is the first again and the sixth is that with another label.
Dataset Six() {
  Dataset data;
  data.views = {{"data", MakeDense({0, 1, 2, -1, -1, 0.5, -0.0, 1, 3, 1, 0, 1}, 6, 2), {}}};
  data.labels = {{"a", "a", "b", "a", "b", "b"}, {}, ""};
  data.size = 6;
  return data;
}

TEST(FindEqualSamples, GroupsThemInAnOrderOfTheirOwn) {
  const std::vector<double> targets = {0, 0, 1, 0, 1, 1};
  const EqualSamples equal = FindEqualSamples(Six().views, targets);
  EXPECT_EQ(equal.first.size(), 5u);
  EXPECT_EQ(equal.group[0], equal.group[3]);
  EXPECT_NE(equal.group[0], equal.group[5]);
  EXPECT_EQ(equal.first[static_cast<std::size_t>(equal.group[3])], 0);
  // The same samples backwards make the same groups in the same order.
  const std::vector<Index> backwards = {5, 4, 3, 2, 1, 0};
  const std::vector<View> views = {{"data", SelectRows(Six().views[0].features, backwards), {}}};
  const std::vector<double> turned(targets.rbegin(), targets.rend());
  const EqualSamples again = FindEqualSamples(views, turned);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(again.group[i], equal.group[5 - i]);
}

TEST(FindEqualSamples, LeavesManySamplesAlone) {
  const std::vector<View> views = {{"data", MakeDense(std::vector<double>(1 << 18, 1.0), 1 << 17, 2), {}}};
  EXPECT_EQ(FindEqualSamples(views, std::vector<double>(1 << 17, 0.0)).first.size(), std::size_t{1} << 17);
}

TEST(MergeEqualSamples, AddsWeightsUp) {
  TrainOptions options;
  options.keep_samples = {3};
  const std::optional<TrainOptions> merged = MergeEqualSamples(Six(), options);
  ASSERT_TRUE(merged);
  EXPECT_THAT(merged->sample_weights, ElementsAre(2, 1, 1, 0, 1, 1));
  EXPECT_THAT(merged->keep_samples, ElementsAre(0));
  EXPECT_FALSE(MergeEqualSamples(Six(), *merged)) << "it is done";
  options.sample_weights = {4, 1, 1, 3, 1, 1};
  EXPECT_THAT(MergeEqualSamples(Six(), options)->sample_weights, ElementsAre(7, 1, 1, 0, 1, 1));
  options.sample_weights = {0, 1, 1, 3, 1, 1};
  EXPECT_FALSE(MergeEqualSamples(Six(), options)) << "only one of them counts";
  options.task = Task::kOneClass;  // which has no labels
  options.sample_weights = {};
  EXPECT_THAT(MergeEqualSamples(Six(), options)->sample_weights, ElementsAre(3, 1, 1, 0, 1, 0));
}

TEST(MergeEqualSamples, LeavesSamplesWithKernelMatricesAlone) {
  TrainOptions options;
  options.kernels = {"precomputed(file='k.npy')"};
  EXPECT_FALSE(MergeEqualSamples(Six(), options));
}

// A repeated sample is a sample of weight two, to the last digit, and the model knows it by its first place.
TEST(Train, TakesRepeatedSamplesForHeavyOnes) {
  TrainOptions options;
  options.C = 0.7;
  const Model repeated = Train(Six(), options, {});
  Dataset data = Six();
  const std::vector<Index> others = {0, 1, 2, 4, 5};
  data.views[0].features = SelectRows(data.views[0].features, others);
  data.labels.text.erase(data.labels.text.begin() + 3);
  data.size = 5;
  options.sample_weights = {2, 1, 1, 1, 1};
  const Model heavy = Train(data, options, {});
  EXPECT_EQ(repeated.summary().primal, heavy.summary().primal);
  EXPECT_EQ(repeated.Predict(Six(), {}).decision, heavy.Predict(Six(), {}).decision);
  ASSERT_EQ(repeated.support().size(), heavy.support().size());
  for (std::size_t s = 0; s < heavy.support().size(); ++s) {
    EXPECT_EQ(repeated.support()[s].first, others[static_cast<std::size_t>(heavy.support()[s].first)]);
    EXPECT_EQ(repeated.support()[s].second, heavy.support()[s].second);
  }
}

}  // namespace
}  // namespace kweave
