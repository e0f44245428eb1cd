// Whether verification accepts what training claims, and nothing else.
#include "kweave/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "kweave/error.h"
#include "kweave/train.h"
#include "model/content.h"

namespace kweave {
namespace {

using ::testing::HasSubstr;

constexpr Index kSamples = 60, kFeatures = 3;

Dataset Samples(int classes, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<double> x(kSamples * kFeatures);
  Dataset data;
  data.size = kSamples;
  for (Index i = 0; i < kSamples; ++i) {
    const int label = static_cast<int>(random.Below(classes));
    data.labels.number.push_back(label);
    data.labels.text.push_back(std::to_string(label));
    for (Index f = 0; f < kFeatures; ++f) x[i * kFeatures + f] = random.Uniform() + (f == label ? 0.5 : 0);
  }
  data.views = {{"data", MakeDense(x, kSamples, kFeatures), {}}};
  return data;
}

TrainOptions Options() {
  TrainOptions options;
  options.kernels = {"rbf(gamma=[0.3,3,30])", "each(linear)"};
  return options;
}

std::string Failures(const Model& model, const Dataset& data) {
  const Verification found = Verify(model, data, {});
  EXPECT_EQ(found.holds, found.failures.empty());
  std::string all;
  for (const std::string& sentence : found.failures) all += sentence + "\n";
  return all;
}

// The model after `change` of its content.
template <class Change>
Model Changed(const Model& model, const Change& change) {
  ModelContent content = model.content();
  change(content);
  return Model(std::make_shared<ModelContent>(std::move(content)));
}

TEST(Verify, AcceptsWhatTrainingClaims) {
  const Dataset data = Samples(2);
  for (const double norm : {1.0, 2.0}) {
    for (const std::string normalize : {"none", "multiplicative", "spherical,center"}) {
      TrainOptions options = Options();
      options.norm = norm;
      options.normalize = normalize;
      options.gap = 1e-6;
      const Model model = Train(data, options, {});
      const Verification found = Verify(model, data, {});
      EXPECT_TRUE(found.holds) << found.ToText();
      EXPECT_LE(found.relative_gap, 1e-6 + 1e-9);
      EXPECT_NEAR(found.primal, model.summary().primal, 1e-9 * found.primal);
    }
  }
}

TEST(Verify, RefusesADamagedMachine) {
  const Dataset data = Samples(2);
  TrainOptions options = Options();
  options.norm = 1;
  const Model model = Train(data, options, {});
  ASSERT_EQ(Failures(model, data), "");
  const auto failures = [&](const auto& change) { return Failures(Changed(model, change), data); };
  EXPECT_THAT(failures([](ModelContent& content) { content.machines[0].theta[0] *= 1.1; }),
              HasSubstr("outside"));
  EXPECT_THAT(failures([](ModelContent& content) { content.machines[0].theta[0] *= 0.9; }),
              HasSubstr("objective"));
  EXPECT_THAT(failures([](ModelContent& content) { content.machines[0].bias += 0.1; }),
              HasSubstr("objective"));
  EXPECT_THAT(failures([](ModelContent& content) {
                for (double& beta : content.machines[0].beta.values) beta *= 0.9;
              }),
              HasSubstr("objective"));
  EXPECT_THAT(failures([](ModelContent& content) {
                content.problem.machines[0].dual = SparseVector{{0}, {1e-3}};
              }),
              HasSubstr("dual point"));
  EXPECT_THAT(failures([](ModelContent& content) { content.problem.costs = {2}; }), HasSubstr("objective"));
  EXPECT_THAT(failures([](ModelContent& content) { content.summary.dual *= 1.01; }), HasSubstr("dual point"));
  EXPECT_THAT(failures([](ModelContent& content) {
                const double weight = content.summary.kernels[0].weight;
                content.summary.kernels[0].weight_interval = {weight + 0.1, weight + 0.2};
              }),
              HasSubstr("at every optimum"));
  EXPECT_THAT(failures([](ModelContent& content) { content.summary.relative_gap = 0; }),
              HasSubstr("relative gap"));
  EXPECT_THAT(failures([](ModelContent& content) {
                content.normalization.scale[0] *= 2, content.problem.scale[0] *= 2;
              }),
              HasSubstr("normalisation"));
  EXPECT_THAT(failures([](ModelContent& content) { content.problem.kernels[0] = "rbf(gamma=[0.3,4,31])"; }),
              HasSubstr("by its specification"));
}

// A kernel without a weight counts: with its own claim a model cannot leave out one that would help.
TEST(Verify, SeesKernelsWithoutAWeight) {
  const Dataset data = Samples(2);
  TrainOptions options = Options();
  options.norm = 1;
  options.kernels = {"each(linear)"};
  const Model few = Train(data, options, {});
  const Model lying = Changed(few, [](ModelContent& content) {
    content.problem.kernels.push_back("rbf(gamma=3)");
    content.problem.scale.push_back(1);
    content.normalization.scale.resize(content.kernels.size());
  });
  EXPECT_NE(Failures(lying, data), "");
}

TEST(Verify, RefusesOtherData) {
  const Dataset data = Samples(2);
  const Model model = Train(data, Options(), {});
  EXPECT_THAT(Failures(model, Samples(2, 7)), HasSubstr("is not the one that the model stores"));
  Dataset other = data;
  other.labels.text[3] = other.labels.text[3] == "0" ? "1" : "0";
  other.labels.number[3] = 1 - other.labels.number[3];
  EXPECT_NE(Failures(model, other), "");
  other = Samples(3);
  EXPECT_THROW(Verify(model, other, {}), Error);
  other = data;
  other.size = 59;
  EXPECT_THROW(Verify(model, other, {}), Error);
  EXPECT_THROW(Verify(Changed(model, [](ModelContent& content) { content.problem = {}; }), data, {}), Error);
}

TEST(Verify, AcceptsAndRefusesSeveralMachines) {
  const Dataset data = Samples(3);
  for (const Multiclass multiclass :
       {Multiclass::kOneAgainstRest, Multiclass::kOneAgainstOne, Multiclass::kJoint}) {
    TrainOptions options = Options();
    options.multiclass = multiclass;
    const Model model = Train(data, options, {});
    EXPECT_EQ(Failures(model, data), "") << ToString(multiclass);
    const Model damaged = Changed(model, [](ModelContent& content) { content.machines[1].bias += 0.2; });
    EXPECT_THAT(Failures(damaged, data), HasSubstr("objective")) << ToString(multiclass);
  }
}

TEST(Verify, ChecksThatClassKernelsMakeTheFunctionsOfTheModel) {
  const Dataset data = Samples(3);
  TrainOptions options = Options();
  options.multiclass = Multiclass::kJoint;
  options.class_kernels = {"identity", "blocks"};
  const Model model = Train(data, options, {});
  EXPECT_EQ(Failures(model, data), "");
  const Model damaged = Changed(model, [](ModelContent& content) {
    for (double& beta : content.machines[0].beta.values) beta *= 1.01;
  });
  EXPECT_THAT(Failures(damaged, data), HasSubstr("predicts"));
}

TEST(Verify, KnowsSamplesLeftOutAndWeighed) {
  const Dataset data = Samples(2);
  TrainOptions options = Options();
  options.sample_weights.assign(kSamples, 1.0);
  options.sample_weights[4] = 0;
  options.sample_weights[9] = 3;
  options.class_weights = {{"1", 2}};
  EXPECT_EQ(Failures(Train(data, options, {}), data), "");
}

TEST(Verify, AcceptsModelsWithoutKernelsThatVary) {
  const Dataset data = Samples(2);
  for (const std::string loss : {"hinge", "logistic", "least-squares"}) {
    TrainOptions options = Options();
    options.loss = loss;
    options.kernels = {"rbf(gamma=1e-14)"};
    EXPECT_EQ(Failures(Train(data, options, {}), data), "") << loss;
  }
}

TEST(Verify, SaysThatProductsHaveNoGap) {
  const Dataset data = Samples(2);
  TrainOptions options;
  options.combine = Combine::kProduct;
  const Verification found = Verify(Train(data, options, {}), data, {});
  EXPECT_TRUE(found.holds) << found.ToText();
  ASSERT_EQ(found.unchecked.size(), 1u);
  EXPECT_THAT(found.unchecked[0], HasSubstr("not convex"));
}

}  // namespace
}  // namespace kweave
