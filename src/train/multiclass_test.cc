#include "train/multiclass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "kernel/language.h"
#include "kweave/error.h"
#include "kweave/train.h"
#include "tests/support/verified_train.h"
#include "train/effective_options.h"
#include "train/memory_plan.h"

namespace kweave {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Index kSamples = 120;
constexpr Index kClasses = 4;

// Classes on a circle, which overlap; called "c0" and so on.
Dataset Circle(std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<double> values;
  Dataset data;
  for (Index i = 0; i < kSamples; ++i) {
    const auto angle = static_cast<double>(i % kClasses) * 1.6;
    values.push_back(std::cos(angle) + random.Uniform() - 0.5);
    values.push_back(std::sin(angle) + random.Uniform() - 0.5);
    values.push_back(random.Uniform());
    data.labels.text.push_back("c" + std::to_string(i % kClasses));
  }
  data.size = kSamples;
  data.views = {{"data", MakeDense(std::move(values), kSamples, 3), {}}};
  return data;
}

TrainOptions Precise() {
  TrainOptions options;
  options.kernels = {"rbf(gamma=[0.3,1,3])", "linear"};
  options.normalize = "none";
  options.C = 3;
  options.gap = 1e-6;
  return options;
}

// The samples of two classes.
Dataset Pair(const Dataset& data, const std::string& a, const std::string& b) {
  std::vector<Index> rows;
  Dataset pair;
  for (Index i = 0; i < data.size; ++i) {
    if (data.labels.text[i] != a && data.labels.text[i] != b) continue;
    rows.push_back(i);
    pair.labels.text.push_back(data.labels.text[i]);
  }
  pair.size = static_cast<Index>(rows.size());
  pair.views = {{"data", SelectRows(data.views[0].features, rows), {}}};
  return pair;
}

double RightShare(const Dataset& data, const Prediction& prediction) {
  double right = 0;
  for (Index i = 0; i < data.size; ++i) right += prediction.labels[i] == data.labels.text[i];
  return right / static_cast<double>(data.size);
}

TEST(OneAgainstRest, MachinesAreThoseOfTwoClasses) {
  const Dataset data = Circle();
  TrainOptions options = Precise();
  options.multiclass = Multiclass::kOneAgainstRest;
  const Summary together = TrainVerified(data, options, {}).summary();
  ASSERT_EQ(together.machines.size(), static_cast<std::size_t>(kClasses));
  EXPECT_EQ(together.status, Status::kConverged);
  double primal = 0;
  for (Index u = 0; u < kClasses; ++u) {
    const std::string name = "c" + std::to_string(u);
    Dataset two = data;
    for (std::string& label : two.labels.text) label = label == name ? "yes" : "no";
    const Summary alone = TrainVerified(two, options, {}).summary();
    const MachineReport& machine = together.machines[u];
    EXPECT_EQ(machine.name, name);
    EXPECT_NEAR(machine.primal, alone.primal, 3e-6 * alone.primal);
    ASSERT_EQ(machine.weights.size(), alone.kernels.size());
    for (std::size_t m = 0; m < alone.kernels.size(); ++m) {
      EXPECT_NEAR(machine.weights[m], alone.kernels[m].weight, 5e-3);
    }
    primal += machine.primal;
  }
  EXPECT_NEAR(together.primal, primal, 1e-9 * primal);
}

// The optimum itself is tested against stored ones (tests/reference/joint_test.cc).
TEST(OneAgainstRest, MachinesMayShareTheirWeights) {
  const Dataset data = Circle();
  TrainOptions options = Precise();
  options.multiclass = Multiclass::kOneAgainstRest;
  const Summary own = TrainVerified(data, options, {}).summary();
  options.machine_weights = MachineWeights::kCommon;
  const Model model = TrainVerified(data, options, {});
  const Summary& common = model.summary();
  EXPECT_EQ(common.status, Status::kConverged);
  EXPECT_GE(common.primal, own.dual);
  EXPECT_FALSE(common.history.empty());
  double squares = 0;
  for (const KernelReport& kernel : common.kernels) squares += kernel.weight * kernel.weight;
  EXPECT_NEAR(squares, 1, 1e-9);
  for (const MachineReport& machine : common.machines) {
    ASSERT_EQ(machine.weights.size(), common.kernels.size());
    for (std::size_t m = 0; m < common.kernels.size(); ++m) {
      EXPECT_EQ(machine.weights[m], common.kernels[m].weight);
    }
  }
  EXPECT_GT(RightShare(data, model.Predict(data, {})), 0.8);
  // From its own answer there is nothing left to do.
  const Summary again = TrainVerified(data, options, {}, &model).summary();
  EXPECT_EQ(again.status, Status::kConverged);
  EXPECT_LE(again.iterations, common.iterations);
  options.multiclass = Multiclass::kOneAgainstOne;
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
  options.multiclass = Multiclass::kAuto;
  EXPECT_EQ(TrainVerified(data, options, {}).summary().multiclass, Multiclass::kOneAgainstRest);
}

TEST(OneAgainstOne, MachinesAreThoseOfTheirTwoClasses) {
  const Dataset data = Circle();
  TrainOptions options = Precise();
  options.multiclass = Multiclass::kOneAgainstOne;
  const Model model = TrainVerified(data, options, {});
  ASSERT_EQ(model.machines(), kClasses * (kClasses - 1) / 2);
  EXPECT_EQ(model.outputs(), kClasses);
  for (const MachineReport& machine : model.summary().machines) {
    const Summary alone = TrainVerified(Pair(data, machine.name, machine.against), options, {}).summary();
    EXPECT_NEAR(machine.primal, alone.primal, 3e-6 * alone.primal) << machine.name << machine.against;
  }
  EXPECT_GT(RightShare(data, model.Predict(data, {})), 0.8);
}

// So many pairs that they share the rows of every kernel: their values are those of each machine by itself.
TEST(OneAgainstOne, VotesOfVeryManyMachinesAreThoseOfEach) {
  constexpr Index kManyClasses = 24, kPerClass = 3;
  Random random(7);
  std::vector<double> values;
  Dataset data;
  data.size = kManyClasses * kPerClass;
  for (Index i = 0; i < data.size; ++i) {
    const auto angle = static_cast<double>(i % kManyClasses) * 0.26;
    values.push_back(std::cos(angle) + 0.2 * random.Uniform());
    values.push_back(std::sin(angle) + 0.2 * random.Uniform());
    data.labels.text.push_back("c" + std::to_string(10 + i % kManyClasses));
  }
  data.views = {{"data", MakeDense(std::move(values), data.size, 2), {}}};
  TrainOptions options = Precise();
  options.multiclass = Multiclass::kOneAgainstOne;
  options.gap = 1e-3;
  const Model model = TrainVerified(data, options, {});
  ASSERT_EQ(model.machines(), kManyClasses * (kManyClasses - 1) / 2);
  const std::vector<double> decision = model.Predict(data, {}).decision;
  std::vector<double> votes(decision.size(), 0.0), sums(decision.size(), 0.0);
  for (Index k = 0; k < model.machines(); ++k) {
    const MachineReport& machine = model.summary().machines[k];
    const Index output = std::stoi(machine.name.substr(1)) - 10;
    const Index against = std::stoi(machine.against.substr(1)) - 10;
    const std::vector<double> parts = model.PredictByKernel(data, {}, {}, k);
    const Index kernels = static_cast<Index>(parts.size()) / data.size;
    for (Index i = 0; i < data.size; ++i) {
      double f = machine.bias;
      for (Index m = 0; m < kernels; ++m) f += parts[i * kernels + m];
      votes[i * kManyClasses + (f > 0 ? output : against)] += 1;
      sums[i * kManyClasses + output] += f;
      sums[i * kManyClasses + against] -= f;
    }
  }
  for (std::size_t k = 0; k < votes.size(); ++k) {
    EXPECT_NEAR(decision[k], votes[k] + sums[k] / (3 * (std::abs(sums[k]) + 1)), 1e-7);
  }
}

// Four overlapping classes, enough samples for machines to leave those out that do not count.
Dataset ManyOnACircle(Index samples) {
  Random random(5);
  std::vector<double> values;
  Dataset data;
  for (Index i = 0; i < samples; ++i) {
    const double angle = static_cast<double>(i % kClasses) * 1.6;
    values.push_back(std::cos(angle) + 1.6 * (random.Uniform() - 0.5));
    values.push_back(std::sin(angle) + 1.6 * (random.Uniform() - 0.5));
    data.labels.text.push_back("c" + std::to_string(i % kClasses));
  }
  data.size = samples;
  data.views = {{"data", MakeDense(std::move(values), samples, 2), {}}};
  return data;
}

TEST(OneAgainstRest, OnManySamplesLeavesThoseOutThatDoNotCount) {
  constexpr Index kMany = 4200;
  const Dataset data = ManyOnACircle(kMany);
  TrainOptions options;
  options.kernels = {"rbf(gamma=[0.3,1,3])", "linear"};
  options.multiclass = Multiclass::kOneAgainstRest;
  const Summary together = TrainVerified(data, options, {}).summary();
  EXPECT_EQ(together.status, Status::kConverged);
  EXPECT_LE(together.relative_gap, options.gap);
  EXPECT_LE(together.base_values, 2 * kMany * kMany);
  for (const MachineReport& machine : together.machines) {
    Dataset two = data;
    for (std::string& label : two.labels.text) label = label == machine.name ? "yes" : "no";
    const Summary alone = TrainVerified(two, options, {}).summary();
    EXPECT_LE(machine.primal, alone.primal * (1 + options.gap));
    EXPECT_LE(alone.primal, machine.primal * (1 + options.gap));
    EXPECT_GE(machine.primal, alone.dual);
    EXPECT_GE(alone.primal, machine.dual);
    ASSERT_FALSE(machine.history.empty());
    EXPECT_LE(machine.history.back().relative_gap, options.gap);
    EXPECT_EQ(machine.history.back().solves, machine.solves);
  }
}

// Regularisers that are another norm in other words, and others.
std::vector<TrainOptions> Regularized() {
  std::vector<TrainOptions> all(5, Precise());
  all[0].regularizer = "elastic";
  all[1].penalty = 0.5;
  all[2].weight_bounds = {{"*", {0.3, 0.9}}};
  all[3].block_norm = 1.5;
  all[4].regularizer = "mixed";
  all[4].groups = "spec";
  return all;
}

TEST(OneAgainstRest, LearnsEachMachineWithItsRegularizer) {
  const Dataset data = Circle();
  for (TrainOptions options : Regularized()) {
    SCOPED_TRACE(options.regularizer + std::to_string(options.block_norm));
    options.multiclass = Multiclass::kOneAgainstRest;
    const Summary together = TrainVerified(data, options, {}).summary();
    EXPECT_EQ(together.status, Status::kConverged);
    for (const MachineReport& machine : together.machines) {
      Dataset two = data;
      for (std::string& label : two.labels.text) label = label == machine.name ? "yes" : "no";
      const Summary alone = TrainVerified(two, options, {}).summary();
      EXPECT_NEAR(machine.primal, alone.primal, 2 * options.gap * alone.primal);
    }
  }
}

// A block norm r is the norm r / (2 - r), bounds that hold anyway change nothing, and neither does one group.
TEST(Joint, LearnsWithRegularizersThatAreNorms) {
  const Dataset data = Circle();
  TrainOptions plain = Precise();
  plain.kernels = {"rbf(gamma=[0.3,1,3])", "linear"};
  plain.norm = 3;
  for (const Multiclass multiclass :
       {Multiclass::kJoint, Multiclass::kOneAgainstRest, Multiclass::kOneAgainstOne}) {
    SCOPED_TRACE(ToString(multiclass));
    plain.multiclass = multiclass;
    plain.machine_weights =
        plain.multiclass == Multiclass::kOneAgainstRest ? MachineWeights::kCommon : MachineWeights::kOwn;
    const double expected = TrainVerified(data, plain, {}).summary().primal;
    std::vector<TrainOptions> same(3, plain);
    same[0].norm = TrainOptions().norm;
    same[0].block_norm = 1.5;
    same[1].weight_bounds = {{"*", {0.0, 1.0}}};
    same[2].regularizer = "mixed";
    same[2].inner_norm = 3;
    same[2].groups = "view";
    for (const TrainOptions& options : same) {
      const Summary summary = TrainVerified(data, options, {}).summary();
      EXPECT_LE(summary.relative_gap, options.gap);
      EXPECT_NEAR(summary.primal, expected, 2 * options.gap * expected)
          << options.regularizer << " " << options.block_norm;
    }
  }
}

TEST(Multiclass, RefusesRegularizersThatItsWeightsDoNotHave) {
  const Dataset data = Circle();
  TrainOptions options = Precise();
  options.kernels = {"rbf(gamma=[0.3,1,3])"};
  options.regularizer = "logdet";
  options.penalty = 0.1;
  options.multiclass = Multiclass::kOneAgainstRest;
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
  options.regularizer = "elastic";
  options.penalty = 0;
  EXPECT_NO_THROW(TrainVerified(data, options, {}));
  options.class_norm = {{"c1", 1}};
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
  options.class_norm = {};
  options.multiclass = Multiclass::kJoint;
  options.class_kernels = {"identity"};
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
}

TEST(Multiclass, ComputesEveryBaseValueOnceForAllMachines) {
  const Dataset data = Circle();
  for (const Multiclass multiclass : {Multiclass::kOneAgainstRest, Multiclass::kOneAgainstOne}) {
    TrainOptions options = Precise();
    options.kernels = {"rbf(gamma=[0.3,1,3])"};
    options.multiclass = multiclass;
    // Float64 throughout: solvers and certificate read the same values.
    EXPECT_EQ(TrainVerified(data, options, {}).summary().base_values, kSamples * kSamples);
    // Float32 for the solvers, float64 for the certificate, which needs those of support vectors only.
    options.gap = 1e-3;
    const Summary summary = TrainVerified(data, options, {}).summary();
    EXPECT_GE(summary.base_values, kSamples * kSamples + summary.n_support * kSamples);
    EXPECT_LE(summary.base_values, 2 * kSamples * kSamples);
  }
}

TEST(Joint, CountsBaseValues) {
  TrainOptions options = Precise();
  options.kernels = {"rbf(gamma=[0.3,1,3])"};
  options.multiclass = Multiclass::kJoint;
  EXPECT_GT(TrainVerified(Circle(), options, {}).summary().base_values, 0);
}

TEST(Multiclass, DoesNotDependOnThreadsOrMemory) {
  const Dataset data = Circle();
  for (const Multiclass multiclass : {Multiclass::kOneAgainstRest, Multiclass::kOneAgainstOne}) {
    TrainOptions options = Precise();
    options.multiclass = multiclass;
    Context one, many, tight;
    one.threads = 1;
    many.threads = 3;
    tight.memory_bytes = 1;
    EXPECT_THAT([&] { Train(data, options, tight); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("training needs at least about")));
    const KernelSet kernels = ParseKernels(EffectiveKernels(options), data.views, 0);
    const Index machines =
        multiclass == Multiclass::kOneAgainstRest ? kClasses : kClasses * (kClasses - 1) / 2;
    tight.memory_bytes =  // nothing can be kept
        PlanMemory(kernels, data.views, kSamples, options, {}, machines).needed_bytes;
    const Summary expected = TrainVerified(data, options, one).summary();
    const Summary same = TrainVerified(data, options, many).summary();
    const Summary alone = TrainVerified(data, options, tight).summary();
    EXPECT_EQ(expected.primal, same.primal);
    EXPECT_NEAR(expected.primal, alone.primal, 3e-6 * expected.primal);
    EXPECT_GT(alone.base_values, expected.base_values);
  }
}

TEST(Multiclass, ModelsPredictTheSameAfterSaving) {
  const Dataset data = Circle(), fresh = Circle(2);
  for (const Multiclass multiclass : {Multiclass::kOneAgainstRest, Multiclass::kOneAgainstOne}) {
    TrainOptions options = Precise();
    options.multiclass = multiclass;
    options.norm = 1;
    const Model model = TrainVerified(data, options, {});
    const Model again = Model::FromBytes(model.ToBytes());
    EXPECT_EQ(again.ToJson(), model.ToJson());
    const Prediction prediction = model.Predict(fresh, {});
    EXPECT_EQ(prediction.decision.size(), static_cast<std::size_t>(kSamples * kClasses));
    EXPECT_EQ(again.Predict(fresh, {}).decision, prediction.decision);
    EXPECT_GT(RightShare(fresh, prediction), 0.8);
    EXPECT_THAT(model.Describe(), HasSubstr("classify 4 classes"));
  }
}

TEST(OneAgainstRest, ValuesAreThoseOfTheMachines) {
  const Dataset data = Circle();
  TrainOptions options = Precise();
  options.multiclass = Multiclass::kOneAgainstRest;
  const Model model = TrainVerified(data, options, {});
  const std::vector<double> values = model.Predict(data, {}).decision;
  const Index kernels = static_cast<Index>(model.active_kernels().size());
  for (Index u = 0; u < model.machines(); ++u) {
    const std::vector<double> parts = model.PredictByKernel(data, {}, {}, u);
    for (Index i = 0; i < data.size; ++i) {
      double sum = model.summary().machines[u].bias;
      for (Index m = 0; m < kernels; ++m) sum += parts[i * kernels + m];
      EXPECT_NEAR(values[i * kClasses + u], sum, 1e-9);
    }
  }
}

TEST(OneAgainstRest, ClassesMayHaveTheirOwnCAndNorm) {
  const Dataset data = Circle();
  TrainOptions options = Precise();
  options.multiclass = Multiclass::kOneAgainstRest;
  const Summary plain = TrainVerified(data, options, {}).summary();
  options.class_C = {{"c1", 30}};
  options.class_norm = {{"c2", 1}};
  const Summary own = TrainVerified(data, options, {}).summary();
  EXPECT_NEAR(own.machines[0].primal, plain.machines[0].primal, 3e-6 * plain.machines[0].primal);
  EXPECT_GT(own.machines[1].primal, 1.05 * plain.machines[1].primal);
  EXPECT_NEAR(own.machines[2].weights[0] + own.machines[2].weights[1] + own.machines[2].weights[2] +
                  own.machines[2].weights[3],
              1, 1e-6);
  options.class_C = {{"c9", 30}};
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
}

TEST(OneAgainstRest, LearnsSeveralLabelsPerSample) {
  Dataset data = Circle();
  data.labels.separator = ";";
  for (std::string& label : data.labels.text) label = label == "c0" ? "c0;c1" : label == "c3" ? "" : label;
  const Model model = TrainVerified(data, Precise(), {});
  EXPECT_TRUE(model.is_multilabel());
  EXPECT_THAT(model.classes(), ElementsAre("c0", "c1", "c2"));
  const Prediction prediction = Model::FromBytes(model.ToBytes()).Predict(data, {});
  EXPECT_GT(RightShare(data, prediction), 0.7);
  EXPECT_THAT(prediction.labels, ::testing::Contains("c0;c1"));
  TrainOptions options = Precise();
  options.multiclass = Multiclass::kOneAgainstOne;
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
}

TEST(Multiclass, StartsFromAModelOfTheSameClasses) {
  const Dataset data = Circle();
  for (const Multiclass multiclass : {Multiclass::kOneAgainstRest, Multiclass::kOneAgainstOne}) {
    TrainOptions options = Precise();
    options.multiclass = multiclass;
    const Model cold = TrainVerified(data, options, {});
    const Model warm = TrainVerified(data, options, {}, &cold);
    EXPECT_NEAR(warm.summary().primal, cold.summary().primal, 3e-6 * cold.summary().primal);
    EXPECT_LT(warm.summary().kernel_rows, cold.summary().kernel_rows);
  }
}

TEST(EffectiveMulticlass, FollowsLabelsAndOptions) {
  TrainOptions options;
  const ClassLabels two{{"a", "b"}, {0, 1}, {}, ""};
  const ClassLabels several{{"a", "b"}, {}, {{0, 1}, {}}, ","};
  EXPECT_EQ(EffectiveMulticlass(options, two), std::nullopt);
  EXPECT_EQ(EffectiveMulticlass(options, several), Multiclass::kOneAgainstRest);
  options.multiclass = Multiclass::kJoint;
  EXPECT_EQ(EffectiveMulticlass(options, two), Multiclass::kJoint);
  options.multiclass = Multiclass::kAuto;
  options.class_C = {{"a", 1}};
  EXPECT_THROW(EffectiveMulticlass(options, two), Error);
}

TEST(Multiclass, ConstantsWithoutAKernelThatVaries) {
  Dataset data = Circle();
  data.views[0].features = MakeDense(std::vector<double>(kSamples, 1.0), kSamples, 1);
  TrainOptions options;
  options.multiclass = Multiclass::kOneAgainstRest;
  const Model model = TrainVerified(data, options, {});
  EXPECT_EQ(model.Predict(data, {}).labels.size(), static_cast<std::size_t>(kSamples));
}

}  // namespace
}  // namespace kweave
