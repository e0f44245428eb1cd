#ifndef KWEAVE_TESTS_SUPPORT_EXAMPLE_MODEL_H_
#define KWEAVE_TESTS_SUPPORT_EXAMPLE_MODEL_H_

#include <limits>
#include <memory>
#include <vector>

#include "kernel/kernel_table.h"
#include "model/content.h"

namespace kweave {

inline Features ExampleSparseFeatures() {
  struct Storage {
    std::vector<Index> offsets{0, 1, 3};
    std::vector<std::int32_t> columns{2, 0, 4};
    std::vector<double> values{1, 2, 3};
  };
  auto owner = std::make_shared<Storage>();
  return SparseRows{owner->offsets.data(), owner->columns.data(), owner->values.data(), 2, 5, owner};
}

/// Two views, a family of two Gaussians, a linear kernel on a subset, a product of both, names and a chain.
inline ModelContent ExampleModel() {
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
  content.machines = {{{0.5, 0.25, 0.125, 1}, {{0, 1}, {-0.75, 0.75}}, 0.375}};
  content.normalization.sequence = {Normalizer::kSpherical};
  content.normalization.scale = {2, 3, 1, 1};
  content.normalization.chains[2] = {{Normalizer::kSpherical, 1, {0.5, 0.25}}};
  content.samples = {{"data", MakeDense({1, 2, 3, 4}, 2, 2), {"height", "width"}},
                     {"counts", ExampleSparseFeatures(), {}}};
  content.sample_indices = {1, 4};
  content.training_count = 6;
  content.summary.task = Task::kClassify;
  content.summary.kernels = {{"a", 0.5, 1}};
  content.summary.options = {{"C", "1.0"}};
  return content;
}

/// The same kernels and samples for three classes, combined as `multiclass` says.
inline ModelContent ExampleModelOfClasses(Multiclass multiclass) {
  ModelContent content = ExampleModel();
  content.classes = {"early", "late", "never"};
  content.multiclass = content.summary.multiclass = multiclass;
  const ModelMachine machine = content.machines.front();
  content.machines.assign(content.classes.size(), machine);
  for (Index u = 0; u < std::ssize(content.classes); ++u) {
    content.machines[u].output = u;
    if (multiclass == Multiclass::kOneAgainstOne)
      content.machines[u].against = (u + 1) % std::ssize(content.classes);
    MachineReport& report = content.summary.machines.emplace_back();
    report.name = content.classes[u];
    report.weights = machine.theta;
  }
  if (multiclass == Multiclass::kOneAgainstRest) content.label_separator = ";";
  if (multiclass == Multiclass::kJoint) {
    content.summary.class_kernel = ClassKernelReport{
        content.classes, {{"identity", 1, 2}}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 1, 0, 0, 1}};
  }
  return content;
}

/// Three classes and a kernel on pairs of sample and class beside those on samples.
inline ModelContent ExampleModelOfPairs() {
  ModelContent content = ExampleModelOfClasses(Multiclass::kJoint);
  content.pairs.kernels = {{"pairs", "pairs.npy", 0.5, 2}};
  content.pairs.beta = {1, 0, -1, 0.5, -0.5, 0};
  return content;
}

/// The first one with the problem that it solves: a kernel without variance, a mixed norm, samples left out,
/// a dual point.
inline ModelContent ExampleModelWithProblem() {
  ModelContent content = ExampleModel();
  ModelProblem& problem = content.problem;
  problem.is_known = true;
  problem.kernels = {"rbf(gamma=[0.5,2,8])@data", "linear@counts[2,4]",
                     "rbf(gamma=1)@data*linear@counts[2,4]"};
  problem.seed = 3;
  problem.active = {0, 1, 3, 4};
  problem.left_out = {2};
  problem.scale = {2, 3, 1, 1};
  problem.epsilon = 0.1;
  problem.sharpness = 10;
  problem.data_count = 7;
  problem.costs = {1, 1, 2, 1, 1, 0, 1};
  problem.regularizer = {.form = "block",
                         .exponent = 1,
                         .inner_exponent = std::numeric_limits<double>::infinity(),
                         .groups = {0, 0, 1, 1}};
  problem.machines = {{.dual = SparseVector{{1, 4, 5}, {-0.5, 0.25, 0.25}}}};
  return content;
}

/// Joint machines with kernels on the classes, and all that this adds to the problem.
inline ModelContent ExampleModelWithClassKernels() {
  ModelContent content = ExampleModelOfClasses(Multiclass::kJoint);
  content.problem = ExampleModelWithProblem().problem;
  content.problem.machines.clear();
  content.problem.regularizer = {.form = "weight-matrix", .matrix = {{0, 5, 10, 15}, {1, 2, 3, 4}}};
  content.problem.joint = {.class_kernels = {{{0, 4, 8}, {1, 1, 1}}, {{0, 1, 3, 4}, {1, -1, -1, 1}}},
                           .theta = {1, 0, 0.5, 0.25, 0, 0, 1, 1},
                           .beta = {{0, 7, 13}, {1, -0.5, -0.5}},
                           .dual = SparseVector{{1, 8, 14}, {1, -0.5, -0.5}}};
  return content;
}

}  // namespace kweave

#endif  // KWEAVE_TESTS_SUPPORT_EXAMPLE_MODEL_H_
