#include "kweave/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernel/normalizer.h"
#include "kweave/error.h"
#include "qp/solve.h"
#include "regularizer/lp_norm.h"
#include "train/effective_options.h"
#include "train/objective.h"
#include "train/regularizer_choice.h"
#include "weights/method_table.h"
#include "weights/spg.h"

namespace kweave {
namespace {

constexpr std::array<std::string_view, 2> kDefaultKernels = {
    "linear", "rbf(gamma=[median/16,median/4,median,median*4,median*16])"};

constexpr const char* kDefaultProduct = "each(rbf)";

constexpr std::array kDrivers = {"auto", "wrapper", "interleaved"};
constexpr std::array kMulticlass = {"auto", "joint", "ovr", "ovo"};
constexpr std::array kMachineWeights = {"own", "common"};
constexpr std::array kCombinations = {"sum", "product"};
constexpr std::array kCertificates = {"auto", "table", "direct"};

constexpr std::array kRecords = {
    OptionRecord{"task", "what is learned", "classify, regress, oneclass", "classify"},
    OptionRecord{"loss", "what errors cost",
                 "auto; classify: hinge, squared-hinge, smoothed-hinge, logistic, least-squares; regress: "
                 "epsilon-insensitive, squared; oneclass: one-class",
                 "auto: the first of the task"},
    OptionRecord{"kernel", "a kernel in the kernel language; may be given several times",
                 "the kernel language",
                 "linear, and rbf at the median gamma times 1/16, 1/4, 1, 4, 16, on every view"},
    OptionRecord{"C", "weight of the losses against the norm of the function", "above 0", "1"},
    OptionRecord{"epsilon", "epsilon-insensitive loss: errors up to this cost nothing", "0 or more", "0.1"},
    OptionRecord{"nu", "oneclass: at most this share of the training samples become outliers",
                 "above 0, at most 1", "0.5"},
    OptionRecord{"sharpness", "smoothed-hinge loss: the larger, the closer to the hinge", "above 0", "10"},
    OptionRecord{"bias", "whether the function has a bias; oneclass without one: C takes the place of nu",
                 "on, off", "on"},
    OptionRecord{"norm", "norm p on the kernel weights; 1 is sparse, inf is the uniform sum",
                 "1 to inf, fractions such as 4/3 too", "2"},
    OptionRecord{"block-norm",
                 "instead of norm: block norm P on the parts of the function, P = 2 p / (p + 1) up to 2",
                 "1 to inf", "none"},
    OptionRecord{"regularizer", "what is asked of the kernel weights",
                 "norm, mixed, matrix, laplacian, elastic; with a penalty: norm, mixed, entropy, logdet",
                 "norm"},
    OptionRecord{
        "penalty",
        "a penalty instead of the constraint on the norm: this times the sum of the weights for "
        "norm 1, half of it times the squared norm above and for mixed; entropy: this times the "
        "distance of weights that sum to 1 from equal ones; logdet: minus this times the logarithm of the "
        "determinant of the learned kernel matrix, beside the constraint",
        "above 0", "none"},
    OptionRecord{"weight-bounds",
                 "KERNEL=LOWER..UPPER, bounds on the weight of one kernel, by its name or number, or of all "
                 "(*), within the "
                 "norm; either may be left out; may be given several times",
                 "0 or more, the lower ones of norm 1 at most", "none"},
    OptionRecord{"groups", "regularizer mixed: which kernels form a group",
                 "view, spec (all of one --kernel), or a file with a name on one line per kernel", "none"},
    OptionRecord{"inner-norm", "regularizer mixed: norm within groups, of the kind of norm or block-norm",
                 "1 to inf", "2"},
    OptionRecord{
        "matrix",
        "regularizer matrix: a positive definite matrix over the kernels; laplacian: links between them",
        "a file, as for precomputed kernels (one value per kernel: a diagonal matrix); alignment or "
        "centered-alignment: how alike the kernels are on the training samples",
        "none"},
    OptionRecord{"matrix-on", "what the matrix is a norm of: the kernel weights or the parts of the function",
                 "weights, parts", "weights"},
    OptionRecord{"ridge", "added to the diagonal of the matrix, with logdet to that of the learned kernel",
                 "0 or more", "0; logdet: 0.001"},
    OptionRecord{"elastic", "regularizer elastic: share of the 2-norm of the weights, beside their sum",
                 "above 0, at most 1", "0.5"},
    OptionRecord{
        "multiclass",
        "more than two classes: one machine for all of them, one per class against the rest, or one per "
        "pair of classes",
        "auto, joint, ovr, ovo", "auto"},
    OptionRecord{
        "machine-weights",
        "one against the rest: kernel weights of its own for every machine, or common to all of them, "
        "such that the sum of their objectives is smallest",
        "own, common", "own"},
    OptionRecord{
        "class-kernel",
        "joint: a kernel on the classes, multiplied with every other kernel; may be given several times",
        "identity, blocks, matrix(file=FILE), taxonomy(file=FILE)", "identity"},
    OptionRecord{
        "combine",
        "what the kernels make together: their weighted sum, or the product of Gaussians whose widths are "
        "learned",
        "sum, product", "sum"},
    OptionRecord{"restarts", "product: starting points of the search, of which the best answer is kept",
                 "1 or more", "2"},
    OptionRecord{
        "method", "how the kernel weights move",
        "auto, analytic, analytic+newton, cutting-plane, cutting-plane-taylor (1.1 <= p <= 4), lbfgs (p > 1, "
        "smooth losses), level, newton, pgd, pgd+n, pgd+s, pgd+n+s, reduced-gradient (p = 1), silp (p = 1), "
        "spg, spg-max, uniform (p = inf)",
        "auto"},
    OptionRecord{"driver", "when the kernel weights move", "auto, wrapper, interleaved", "auto"},
    OptionRecord{"solver",
                 "how the machine is trained at given kernel weights: pairs of samples, blocks of them, or, "
                 "if all kernels are linear, on their features",
                 "auto, smo, block, linear", "auto"},
    OptionRecord{"normalize", "per kernel, in sequence, with statistics of the training data",
                 "none, or a list of trace, multiplicative, spherical, center",
                 "multiplicative; for oneclass spherical"},
    OptionRecord{"gap",
                 "relative duality gap to reach; product: projected gradient, relative to the objective",
                 "above 0, at most 1", "0.001"},
    OptionRecord{"certificate", "how the certificate evaluates kernels", "auto, table, direct", "auto"},
    OptionRecord{"max-iterations", "moves of the kernel weights at most; 0: the method's own limit",
                 "0 or more", "0"},
    OptionRecord{"class-weight",
                 "classify: LABEL=FACTOR,..., factors on C for single classes; may be given several times",
                 "above 0", "1 for every class"},
    OptionRecord{
        "class-C",
        "ovr: LABEL=C,..., C of the machines of single classes, in place of -C; may be given several times",
        "above 0", "C for every class"},
    OptionRecord{"class-norm",
                 "ovr: LABEL=P,..., norm of the machines of single classes, in place of --norm; may be given "
                 "several times",
                 "1 to inf", "norm for every class"},
    OptionRecord{"weights",
                 "file with a factor on C for every sample (oneclass: on 1/nu); 0 leaves a sample out",
                 "0 or more", "1 for every sample"},
};

template <std::size_t N>
void RequireOneOf(std::string_view name, const std::string& value,
                  const std::array<const char*, N>& allowed) {
  if (std::ranges::find(allowed, value) != allowed.end()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{} '{}' is not available; available: {}", name, value, fmt::join(allowed, ", ")));
}

template <class Number>
void Require(bool holds, std::string_view name, Number value, std::string_view rule) {
  if (!holds) throw Error(ErrorKind::kUsage, fmt::format("{} is {}, expected {}", name, value, rule));
}

void ValidateFactors(const TrainOptions& options) {
  if (!options.class_weights.empty() && EffectiveTask(options) != Task::kClassify) {
    throw Error(ErrorKind::kUsage, fmt::format("task {} has no classes to weigh", options.task));
  }
  for (const auto& [label, factor] : options.class_weights) {
    Require(std::isfinite(factor) && factor > 0, fmt::format("class weight of '{}'", label), factor,
            "above 0");
  }
  for (std::size_t i = 0; i < options.sample_weights.size(); ++i) {
    const double weight = options.sample_weights[i];
    Require(std::isfinite(weight) && weight >= 0, fmt::format("weight of sample {}", i + 1), weight,
            "0 or more");
  }
}

// C and norm of single classes.
void ValidateClassOptions(const TrainOptions& options) {
  for (const auto& [label, C] : options.class_C) {
    Require(std::isfinite(C) && C > 0, fmt::format("C of class '{}'", label), C, "above 0");
  }
  for (const auto& [label, norm] : options.class_norm) {
    Require(norm >= 1, fmt::format("norm of class '{}'", label), norm, "1 to inf");
    FindMethod(options.method, LpNorm(norm), *EffectiveLoss(options).make({}));
  }
  const bool is_classification = EffectiveTask(options) == Task::kClassify;
  const bool has_classes = !options.class_C.empty() || !options.class_norm.empty();
  if (has_classes && !is_classification) {
    throw Error(ErrorKind::kUsage,
                fmt::format("task {} has no classes with a C or norm of their own", options.task));
  }
  if (has_classes && (options.multiclass == "joint" || options.multiclass == "ovo")) {
    throw Error(ErrorKind::kUsage, fmt::format("a C or norm for single classes needs multiclass ovr, not {}",
                                               options.multiclass));
  }
  if (options.machine_weights == "common") {
    if (!is_classification || options.multiclass == "joint" || options.multiclass == "ovo") {
      throw Error(ErrorKind::kUsage, "kernel weights common to all machines are those of multiclass ovr");
    }
    if (!options.class_norm.empty()) {
      throw Error(ErrorKind::kUsage,
                  "kernel weights common to all machines have one norm, not one for single classes");
    }
  }
  if (options.multiclass == "joint" && options.solver != "auto") {
    throw Error(ErrorKind::kUsage,
                fmt::format("multiclass joint has a solver of its own: solver auto, not {}", options.solver));
  }
  if (!options.class_kernels.empty() && options.multiclass != "joint") {
    throw Error(ErrorKind::kUsage,
                fmt::format("kernels on the classes need multiclass joint, not {}", options.multiclass));
  }
}

void ValidateRegularizer(const TrainOptions& options) {
  Require(options.block_norm == 0 || options.block_norm >= 1, "block-norm", options.block_norm, "1 to inf");
  Require(options.inner_norm >= 1, "inner-norm", options.inner_norm, "1 to inf");
  Require(std::isfinite(options.penalty) && options.penalty >= 0, "penalty", options.penalty, "above 0");
  Require(options.elastic > 0 && options.elastic <= 1, "elastic", options.elastic, "above 0, at most 1");
  Require(std::isfinite(options.ridge) && options.ridge >= 0, "ridge", options.ridge, "0 or more");
  const RegularizerPointer regularizer = MakeRegularizer(options);
  if (options.combine == "sum") FindMethod(options.method, *regularizer, *EffectiveLoss(options).make({}));
  if (regularizer->linear() && options.penalty > 0 && EffectiveTask(options) == Task::kOneClass &&
      options.bias) {
    throw Error(ErrorKind::kUsage,
                "a penalty with norm 1 has no bound for task oneclass with a bias; give it another norm");
  }
}

void ValidateBounds(const TrainOptions& options) {
  for (const auto& [kernel, bound] : options.weight_bounds) {
    const bool is_range = bound.first >= 0 && bound.first <= bound.second && std::isfinite(bound.first);
    if (!is_range) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("the weight of kernel '{}' has bounds {} and {}, expected 0 or more, "
                              "in this order",
                              kernel, bound.first, bound.second));
    }
  }
}

// Widths move by projected gradients, and the product of Gaussians has k(x,x) = 1 as it is.
void ValidateProduct(const TrainOptions& options) {
  if (!FindSpgOptions(options.method)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("method {} learns weights of a sum; products are learned by auto, spg, spg-max, pgd, "
                    "pgd+n, pgd+s, pgd+n+s",
                    options.method));
  }
  if (options.normalize != "auto" && options.normalize != "none") {
    throw Error(ErrorKind::kUsage,
                fmt::format("a product is not normalised, but normalize is {}", options.normalize));
  }
  if (!options.weight_bounds.empty() || !options.matrix.empty()) {
    throw Error(ErrorKind::kUsage, "products take neither bounds on weights nor a matrix over the kernels");
  }
  if (options.driver == "interleaved") {
    throw Error(ErrorKind::kUsage, "products are learned by driver wrapper, not interleaved");
  }
}

}  // namespace

std::span<const std::string_view> DefaultKernels() { return kDefaultKernels; }

std::span<const OptionRecord> TrainOptionRecords() { return kRecords; }

void Validate(const TrainOptions& options) {
  EffectiveLoss(options);  // task and loss are known and fit
  Require(std::isfinite(options.C) && options.C > 0, "C", options.C, "above 0");
  Require(std::isfinite(options.epsilon) && options.epsilon >= 0, "epsilon", options.epsilon, "0 or more");
  Require(options.nu > 0 && options.nu <= 1, "nu", options.nu, "above 0, at most 1");
  Require(std::isfinite(options.sharpness) && options.sharpness > 0, "sharpness", options.sharpness,
          "above 0");
  Require(options.norm >= 1, "norm", options.norm, "1 to inf");
  ValidateBounds(options);
  ValidateRegularizer(options);
  RequireOneOf("multiclass", options.multiclass, kMulticlass);
  RequireOneOf("machine-weights", options.machine_weights, kMachineWeights);
  ValidateClassOptions(options);
  RequireOneOf("combine", options.combine, kCombinations);
  Require(options.restarts >= 1, "restarts", options.restarts, "1 or more");
  if (options.combine == "product") ValidateProduct(options);
  RequireOneOf("driver", options.driver, kDrivers);
  SolverByName(options.solver);
  ParseNormalizers(EffectiveNormalize(options));
  Require(options.gap > 0 && options.gap <= 1, "gap", options.gap, "above 0, at most 1");
  RequireOneOf("certificate", options.certificate, kCertificates);
  Require(options.max_iterations >= 0, "max-iterations", options.max_iterations, "0 or more");
  ValidateFactors(options);
}

std::vector<std::string> EffectiveKernels(const TrainOptions& options) {
  if (!options.kernels.empty()) return options.kernels;
  if (options.combine == "product") return {kDefaultProduct};
  return {kDefaultKernels.begin(), kDefaultKernels.end()};
}

std::string EffectiveNormalize(const TrainOptions& options) {
  if (options.normalize != "auto") return options.normalize;
  if (options.combine == "product") return "none";
  // Otherwise the widest kernel of a one-class machine would win by its scale alone.
  return EffectiveTask(options) == Task::kOneClass ? "spherical" : "multiplicative";
}

FamilyEvaluation CertificateEvaluation(const TrainOptions& options) {
  if (options.certificate == "table") return FamilyEvaluation::kTable;
  if (options.certificate == "direct") return FamilyEvaluation::kDirect;
  return FamilyEvaluation::kAuto;
}

}  // namespace kweave
