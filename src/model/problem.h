// The problem that a model solves and the point behind its lower bound: what checking a model takes beside
// its samples, and predicting does not. docs/dev/notation.md states the problem, verify/verify.h checks.
#ifndef KWEAVE_MODEL_PROBLEM_H_
#define KWEAVE_MODEL_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kweave/choices.h"
#include "kweave/index.h"

namespace kweave {

/// A vector of which most entries are zero.
struct SparseVector {
  std::vector<std::int32_t> positions = {};  ///< ascending
  std::vector<double> values = {};

  bool empty() const { return positions.empty(); }
  static SparseVector From(const std::vector<double>& dense);
  std::vector<double> ToDense(std::size_t size) const;
};

/// What is asked of the kernel weights. Lists are over the kernels of the problem, in their order.
struct ModelRegularizer {
  /// "norm": ||theta||_p <= 1; "block": the block norm P of the parts, over groups with Q within them;
  /// "weight-matrix": theta' E theta <= 1; "part-matrix": the same form of the parts; "elastic", "entropy",
  /// "logdet".
  std::string form = "norm";
  double exponent = 2;                         ///< p, or P
  double inner_exponent = 2;                   ///< Q
  std::vector<int> groups = {};                ///< block: the group of every kernel; empty: one for all
  double penalty = 0;                          ///< mu of a penalty in the place of the constraint; 0: none
  SparseVector matrix = {};                    ///< E, row after row, its ridge included
  std::vector<double> lower = {}, upper = {};  ///< bounds on single weights; empty: none
  double elastic = 0.5;                        ///< share of the 2-norm
  double ridge = 0;                            ///< logdet: added to the diagonal of the kernel matrix
};

/// What one of several machines has of its own.
struct MachineProblem {
  double cost_factor = 1;      ///< on every C_i
  double positive_factor = 1;  ///< on those of samples with y = 1
  double exponent = 0;         ///< of its norm; 0: that of the regulariser
  /// The feasible dual point behind the lower bound, over the training samples; none: its beta.
  std::optional<SparseVector> dual = {};
};

/// What a joint machine has beside its functions. Vectors over pairs of sample and class hold class after
/// class.
struct JointProblem {
  std::vector<SparseVector> class_kernels = {};  ///< m x m, row after row; empty: the identity
  /// Of machines with class kernels, whose functions are mixtures of these: weights of kernel x |Y| + y of
  /// kernel x and class kernel y, those on pairs after them, and the factors of all pairs of training sample
  /// and class.
  std::vector<double> theta = {};
  SparseVector beta = {};
  std::optional<SparseVector> dual = {};  ///< none: beta, or that of the machines
};

struct ModelProblem {
  bool is_known = false;             ///< false for models of earlier formats
  std::vector<std::string> kernels;  ///< specifications, as given
  std::uint64_t seed = 0;            ///< that the kernels were made with
  /// Numbers among all kernels: those with a weight in the model, in the order of ModelContent::kernels, and
  /// those that the problem does without, since they do not vary over the samples or overflow.
  std::vector<std::int32_t> active, left_out;
  /// Factors of the normalisation of the kernels of the problem, those on pairs of sample and class last.
  /// Empty: all are 1.
  std::vector<double> scale;
  FeatureScale scale_of_features = FeatureScale::kNone;
  bool has_bias = true;
  double epsilon = 0, sharpness = 0;  ///< of the loss
  /// C_i of every sample in the data, 0 where a sample was left out; a single value: all have this one.
  std::vector<double> costs;
  Index data_count = 0;  ///< samples in the data, those left out included
  ModelRegularizer regularizer;
  bool has_common_weights = false;       ///< of one against rest
  bool is_product = false;               ///< widths of one Gaussian were learned, not weights of a sum
  std::vector<MachineProblem> machines;  ///< one per machine, but for joint machines
  JointProblem joint;
};

}  // namespace kweave

#endif  // KWEAVE_MODEL_PROBLEM_H_
