#include "kweave/options.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "kernel/normalizer.h"
#include "kweave/error.h"
#include "regularizer/lp_norm.h"
#include "train/effective_options.h"
#include "train/objective.h"
#include "train/regularizer_choice.h"
#include "train/regularizer_table.h"
#include "weights/methods/gradient_methods.h"
#include "weights/methods/method_table.h"

namespace kweave {
namespace {

constexpr std::array<std::string_view, 2> kDefaultKernels = {
    "linear", "rbf(gamma=[median/16,median/4,median,median*4,median*16])"};

constexpr const char* kDefaultProduct = "each(rbf)";

// A rule that spans several options; `field` is the one to change.
void Require(bool holds, const std::string& sentence, std::string_view field, std::string_view value,
             std::string_view rule) {
  if (!holds) {
    throw Error(ErrorKind::kUsage, sentence, {std::string(field), std::string(value), std::string(rule)});
  }
}

// What single classes have of their own.
void ValidateClassOptions(const TrainOptions& options) {
  const std::string_view task = ToString(options.task), multiclass = ToString(options.multiclass);
  const bool is_classification = options.task == Task::kClassify;
  const bool may_be_one_against_rest =
      options.multiclass == Multiclass::kAuto || options.multiclass == Multiclass::kOneAgainstRest;
  const bool has_classes = !options.class_C.empty() || !options.class_norm.empty();
  const std::string_view own = options.class_C.empty() ? "class_norm" : "class_C";
  Require(options.class_weights.empty() || is_classification,
          fmt::format("`task` {} has no classes to weigh", task), "class_weights", "given", "none");
  Require(!has_classes || is_classification,
          fmt::format("`task` {} has no classes with a C or norm of their own", task), own, "given", "none");
  Require(!has_classes || may_be_one_against_rest,
          fmt::format("a C or norm for single classes needs `multiclass` ovr, not {}", multiclass),
          "multiclass", multiclass, "ovr");
  if (options.machine_weights == MachineWeights::kCommon) {
    Require(is_classification && may_be_one_against_rest,
            "kernel weights common to all machines are those of `multiclass` ovr", "multiclass", multiclass,
            "ovr");
    Require(options.class_norm.empty(),
            "kernel weights common to all machines have one norm, not one for single classes", "class_norm",
            "given", "none");
  }
  const bool is_joint = options.multiclass == Multiclass::kJoint;
  Require(!is_joint || options.solver == SolverKind::kAuto,
          fmt::format("`multiclass` joint has a solver of its own: `solver` auto, not {}",
                      ToString(options.solver)),
          "solver", ToString(options.solver), "auto");
  Require(options.class_kernels.empty() || is_joint,
          fmt::format("`class_kernels` need `multiclass` joint, not {}", multiclass), "multiclass",
          multiclass, "joint");
}

// Whether the method serves the regulariser and, where classes have norms of their own, those too.
void ValidateMethod(const TrainOptions& options) {
  CheckRegularizer(options);
  const RegularizerPointer regularizer = MakeRegularizer(options);
  const std::unique_ptr<Loss> loss = EffectiveLoss(options).make({});
  if (options.combine == Combine::kSum) FindMethod(options.method, *regularizer, *loss, options.driver);
  for (const auto& [label, norm] : options.class_norm) FindMethod(options.method, LpNorm(norm), *loss);
  Require(!regularizer->linear() || options.penalty == 0 || options.task != Task::kOneClass || !options.bias,
          "a `penalty` with `norm` 1 has no bound for `task` oneclass with a bias; give it another norm",
          "norm", "1", "above 1");
}

// Widths move by projected gradients, and the product of Gaussians has k(x,x) = 1 as it is.
void ValidateProduct(const TrainOptions& options) {
  // Every sample lies on the unit sphere, so a one-class objective falls as widths make samples alike: its
  // best product is constant, and tells nothing apart.
  Require(options.task != Task::kOneClass,
          "a product is learned for two classes or a regression, not for `task` oneclass, whose best product "
          "is constant",
          "task", "oneclass", "classify, regress");
  Require(FindGradientMethod(options.method) != nullptr,
          fmt::format("`method` {} learns weights of a sum; products are learned by {}", options.method,
                      GradientMethodNames()),
          "method", options.method, GradientMethodNames());
  Require(options.normalize == "auto" || options.normalize == "none",
          fmt::format("a product is not normalised, but `normalize` is {}", options.normalize), "normalize",
          options.normalize, "auto, none");
  Require(options.weight_bounds.empty() && options.matrix.empty(),
          "products take neither `weight_bounds` nor a `matrix` over the kernels",
          options.matrix.empty() ? "weight_bounds" : "matrix", options.matrix, "none");
  Require(options.driver != DriverKind::kInterleaved,
          "products are learned by `driver` wrapper, not interleaved", "driver", "interleaved", "wrapper");
}

}  // namespace

std::span<const std::string_view> DefaultKernels() { return kDefaultKernels; }

void Validate(const TrainOptions& options) {
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) record.Check(options);
  EffectiveLoss(options);  // which fits the task
  ParseNormalizers(EffectiveNormalize(options));
  ValidateMethod(options);
  ValidateClassOptions(options);
  Require(!options.probabilities || options.task == Task::kClassify,
          fmt::format("`probabilities` are those of classes, but `task` is {}", ToString(options.task)),
          "probabilities", "true", "false");
  if (options.combine == Combine::kProduct) ValidateProduct(options);
}

CheckedOptions::CheckedOptions(TrainOptions options) : options_(std::move(options)) { Validate(options_); }

std::vector<std::string> EffectiveKernels(const TrainOptions& options) {
  if (!options.kernels.empty()) return options.kernels;
  if (options.combine == Combine::kProduct) return {kDefaultProduct};
  return {kDefaultKernels.begin(), kDefaultKernels.end()};
}

std::string EffectiveNormalize(const TrainOptions& options) {
  if (options.normalize != "auto") return options.normalize;
  if (options.combine == Combine::kProduct) return "none";
  // Otherwise the widest kernel of a one-class machine would win by its scale alone.
  return options.task == Task::kOneClass ? "spherical" : "multiplicative";
}

}  // namespace kweave
