// The table of training's options. A new one is a member of TrainOptions and a record here:
// docs/dev/adding-an-option.md.
#include <array>
#include <vector>

#include "kernel/normalizer.h"
#include "kweave/options.h"
#include "loss/loss.h"
#include "train/regularizer_table.h"
#include "weights/methods/method_table.h"

namespace kweave {
namespace {

using Record = OptionRecord<TrainOptions>;

constexpr OptionRange kPositive = {.least = 0, .is_above = true};
constexpr OptionRange kNotNegative = {.least = 0};
constexpr OptionRange kShare = {.least = 0, .most = 1, .is_above = true};
constexpr OptionRange kNorm = {.least = 1, .has_infinity = true};
constexpr OptionRange kShareOrNone = {.least = 0, .most = 1, .is_above = true, .zero_means_none = true};
constexpr OptionRange kPositiveOrNone = {.least = 0, .is_above = true, .zero_means_none = true};
constexpr OptionRange kNormOrNone = {.least = 1, .has_infinity = true, .zero_means_none = true};

std::vector<OptionChoice> Losses() {
  std::vector<OptionChoice> choices = {{"auto", "The first of the task."}};
  for (const LossRecord& loss : LossTable()) {
    choices.push_back({std::string(loss.name), std::string(loss.sentence), std::string(ToString(loss.task))});
  }
  return choices;
}

std::vector<OptionChoice> Methods() {
  std::vector<OptionChoice> choices = {{"auto", "What suits regulariser and loss."}};
  for (const MethodRecord& method : MethodTable())
    choices.push_back({std::string(method.name), std::string(method.sentence)});
  return choices;
}

std::vector<OptionChoice> Devices() {
  return {{"auto", "An accelerator where there is one and it pays."},
          {"cpu", "The CPU."},
          {"cuda", "A CUDA device, whatever the size of the problem."}};
}

std::vector<OptionChoice> Regularizers() {
  std::vector<OptionChoice> choices;
  for (const RegularizerRecord& record : RegularizerTable()) {
    choices.push_back({std::string(record.name), std::string(record.sentence),
                       record.takes.penalty == Need::kRequired ? "with a penalty" : ""});
  }
  return choices;
}

std::vector<OptionChoice> Normalizers() {
  std::vector<OptionChoice> choices = {
      {"auto", "What suits the task."},
      {"none", "Kernels as they are."},
  };
  for (const NormalizerRecord& record : NormalizerTable())
    choices.push_back({std::string(record.name), std::string(record.sentence), "in a list"});
  return choices;
}

const OptionScope kClasses = {.tasks = {Task::kClassify}};
const OptionScope kMatrices = {.regularizers = {"matrix", "laplacian"}};

OptionScope Regularized(const char* name) { return {.regularizers = {name}}; }
OptionScope ClassesBy(Multiclass multiclass) {
  return {.tasks = {Task::kClassify}, .multiclass = {multiclass}};
}

}  // namespace

std::span<const Record> TrainOptionRecords() {
  using O = TrainOptions;
  static const std::vector<Record> records = {
      Record("task", &O::task, "what is learned"),
      Record("loss", &O::loss, "what errors cost")
          .OneOf(Losses)
          .In({.tasks = {Task::kClassify, Task::kRegress}})
          .Unset("the first of the task"),
      Record("kernels", &O::kernels, "what similarity between samples is learned from")
          .Flag("kernel")
          .Takes("the kernel language")
          .Unset("linear, and rbf at the median gamma times 1/16, 1/4, 1, 4, 16, on every view"),
      Record("feature_groups", &O::feature_groups,
             "groups of features by name, of which every kernel without a view is made once for each")
          .Takes("a GMT file, a file of two columns, feature and group, or both as a JSON object")
          .Unset("none"),
      Record("C", &O::C, "weight of the losses against the norm of the function").Within(kPositive),
      Record("epsilon", &O::epsilon, "errors up to this cost nothing")
          .Within(kNotNegative)
          .In({.tasks = {Task::kRegress}, .losses = {"epsilon-insensitive"}}),
      Record("nu", &O::nu, "at most this share of the training samples become outliers")
          .Within(kShare)
          .In({.tasks = {Task::kOneClass}}),
      Record("sharpness", &O::sharpness, "the larger, the closer to the hinge")
          .Within(kPositive)
          .In({.tasks = {Task::kClassify}, .losses = {"smoothed-hinge"}}),
      Record("bias", &O::bias,
             "whether the function has a bias; a machine of task oneclass without one has `C` in the place "
             "of `nu`"),
      Record("norm", &O::norm, "norm p on the kernel weights; 1 is sparse, inf is the uniform sum")
          .Within(kNorm),
      Record("block_norm", &O::block_norm,
             "instead of `norm`: block norm P on the parts of the function, P = 2 p / (p + 1) up to 2")
          .Within(kNormOrNone),
      Record("regularizer", &O::regularizer, "what is asked of the kernel weights").OneOf(Regularizers),
      Record(
          "penalty", &O::penalty,
          "a penalty instead of the constraint on the norm: this times the sum of the weights for "
          "norm 1, half of it times the squared norm above and for mixed; entropy: this times the "
          "distance of weights that sum to 1 from equal ones; logdet: minus this times the logarithm of the "
          "determinant of the learned kernel matrix, beside the constraint")
          .Within(kPositiveOrNone)
          .In({.regularizers = {"norm", "mixed", "entropy", "logdet"}}),
      Record("weight_bounds", &O::weight_bounds,
             "bounds on the weight of one kernel, by its name or its number from 1, or of all (*), within "
             "the norm")
          .Takes("0 or more, the lower ones of norm 1 at most")
          .In(Regularized("norm")),
      Record("groups", &O::groups, "which kernels form a group")
          .Takes("view, spec (all kernels of one specification), a file with a name on one line per kernel, "
                 "or the "
                 "names as a JSON array")
          .In(Regularized("mixed")),
      Record("inner_norm", &O::inner_norm, "norm within groups, of the kind of `norm` or `block_norm`")
          .Within(kNorm)
          .In(Regularized("mixed")),
      Record("matrix", &O::matrix,
             "a positive definite matrix over the kernels, or the links between them of which the Laplacian "
             "is taken")
          .Takes("a file, as for precomputed kernels, or the rows as a JSON array (one value per kernel: a "
                 "diagonal matrix); alignment or "
                 "centered-alignment: how alike the kernels are on the training samples")
          .In(kMatrices),
      Record("matrix_on", &O::matrix_on,
             "what the matrix is a norm of: the kernel weights or the parts of the function")
          .In(kMatrices),
      Record("ridge", &O::ridge,
             "added to the diagonal of the matrix, with logdet to that of the learned kernel")
          .Within(kNotNegative)
          .In({.regularizers = {"matrix", "laplacian", "logdet"}})
          .Unset("none; logdet: 0.001"),
      Record("elastic", &O::elastic, "share of the 2-norm of the weights, beside their sum")
          .Within(kShare)
          .In(Regularized("elastic")),
      Record("multiclass", &O::multiclass,
             "more than two classes: one machine for all of them, one per class against the rest, or one per "
             "pair of classes")
          .In(kClasses),
      Record(
          "machine_weights", &O::machine_weights,
          "kernel weights of its own for every machine, or common to all of them, such that the sum of their "
          "objectives is smallest")
          .In(ClassesBy(Multiclass::kOneAgainstRest)),
      Record("class_kernels", &O::class_kernels, "kernels on the classes, multiplied with every other kernel")
          .Flag("class-kernel")
          .Takes("identity, blocks, matrix(file=FILE), taxonomy(file=FILE); for FILE its content in JSON by "
                 "values=, [[labels], [values], ...] or {label: place}")
          .Unset("identity")
          .In(ClassesBy(Multiclass::kJoint)),
      Record(
          "combine", &O::combine,
          "what the kernels make together: their weighted sum, or the product of Gaussians whose widths are "
          "learned"),
      Record("restarts", &O::restarts, "starting points of the search, of which the best answer is kept")
          .Within({.least = 1})
          .In({.combine = {Combine::kProduct}}),
      Record("method", &O::method, "how the kernel weights move").OneOf(Methods),
      Record("driver", &O::driver, "when the kernel weights move"),
      Record("solver", &O::solver,
             "how the machine is trained at given kernel weights: pairs of samples, blocks of them, or, "
             "if all kernels are linear, on their features; smooth losses take Newton steps in the place of "
             "the first two"),
      Record(
          "device", &O::device,
          "where kernels are evaluated and machines are trained: on an accelerator as far as it serves them, "
          "else on the CPU")
          .OneOf(Devices),
      Record("device_memory", &O::device_memory,
             "memory of the accelerator to use, in GB; 0: nine tenths of what is free")
          .Within(kNotNegative),
      Record("normalize", &O::normalize, "per kernel, in sequence, with statistics of the training data")
          .ListOf(Normalizers)
          .Unset("multiplicative; for oneclass spherical"),
      Record("scale", &O::scale,
             "what becomes of features before kernels see them, by statistics of the training samples"),
      Record("probabilities", &O::probabilities,
             "whether probabilities of the classes are calibrated, by training on four fifths of the samples "
             "five times")
          .In(kClasses),
      Record("missing_views", &O::missing_views, "what a sample without some view is taken for"),
      Record("gap", &O::gap,
             "relative duality gap to reach; product: projected gradient, relative to the objective")
          .Within(kShare),
      Record("weights_tolerance", &O::weights_tolerance,
             "goes on past the gap until every kernel's share of the sum of the weights is known to this")
          .Within(kShareOrNone),
      Record("certificate", &O::certificate, "how the certificate evaluates kernels"),
      Record("max_iterations", &O::max_iterations,
             "moves of the kernel weights at most; 0: the method's own limit")
          .Within(kNotNegative),
      Record("class_weights", &O::class_weights, "factors on `C` for single classes")
          .Flag("class-weight")
          .Within(kPositive)
          .Unset("1 for every class")
          .In(kClasses),
      Record("class_C", &O::class_C, "C of the machines of single classes, in place of `C`")
          .Within(kPositive)
          .Unset("`C` for every class")
          .In(ClassesBy(Multiclass::kOneAgainstRest)),
      Record("class_norm", &O::class_norm, "norm of the machines of single classes, in place of `norm`")
          .Within(kNorm)
          .Unset("`norm` for every class")
          .In(ClassesBy(Multiclass::kOneAgainstRest)),
      Record("sample_weights", &O::sample_weights,
             "a factor on `C` for every sample (oneclass: only ratios count, since the costs sum to 1/nu); 0 "
             "leaves a "
             "sample out")
          .Flag("weights")
          .Within(kNotNegative)
          .Unset("1 for every sample"),
  };
  return records;
}

}  // namespace kweave
