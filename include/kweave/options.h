#ifndef KWEAVE_OPTIONS_H_
#define KWEAVE_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kweave {

/// How a model is trained. Defaults stand here and nowhere else; training never changes the caller's options.
struct TrainOptions {
  std::string task = "classify";     ///< "classify", "regress" or "oneclass"
  std::string loss = "auto";         ///< "auto" or a loss of the task
  std::vector<std::string> kernels;  ///< kernel specifications; empty: DefaultKernels() on every view
  double C = 1.0;
  double epsilon = 0.1;   ///< epsilon-insensitive loss: errors up to this cost nothing
  double nu = 0.5;        ///< one-class: at most this share of the training samples become outliers, 0 to 1
  double sharpness = 10;  ///< smoothed hinge: the larger, the closer to the hinge
  bool bias = true;       ///< f(x) has a bias; one-class without one: C takes the place of nu
  double norm = 2.0;      ///< p of the norm on theta, 1 to infinity
  double block_norm =
      0;  ///< instead of norm: block norm on the parts of the function, 1 to infinity; 0: none
  /// "norm", "mixed", "matrix", "laplacian", "elastic", and with a penalty "entropy" or "logdet"
  std::string regularizer = "norm";
  double penalty = 0;  ///< mu of a penalty instead of the constraint; 0: none
  /// norm: bounds on the weights of single kernels, (kernel, (lower, upper)): a kernel by its name or its number from 1, "*"
  /// for all of them; of several bounds for one kernel the last counts.
  std::vector<std::pair<std::string, std::pair<double, double>>> weight_bounds;
  std::string groups;     ///< mixed: "view", "spec" or a file with one name per kernel
  double inner_norm = 2;  ///< mixed: norm within groups, of the kind of norm or block_norm
  std::string
      matrix;  ///< matrix, laplacian: file with one row per kernel, "alignment" or "centered-alignment"
  std::string matrix_on = "weights";  ///< matrix, laplacian: "weights" or "parts"
  double ridge = 0;                   ///< added to the diagonal of the matrix; logdet: 0 is 1e-3
  double elastic = 0.5;               ///< elastic: share of the 2-norm, above 0, at most 1
  /// More than two classes: "auto", "joint", "ovr" (one against rest) or "ovo" (one against one).
  std::string multiclass = "auto";
  /// One against rest: "own" kernel weights for every machine, or "common" ones that minimise the sum of the objectives.
  std::string machine_weights = "own";
  /// Kernels on the classes of joint machines, to be multiplied with those on samples: "identity", "blocks",
  /// "matrix(file=FILE)", "taxonomy(file=FILE)". Empty: the identity.
  std::vector<std::string> class_kernels;
  std::string combine = "sum";  ///< "sum": weights of fixed kernels; "product": widths of one Gaussian
  int restarts = 2;             ///< products: starting points, of which the best answer is kept
  std::string method = "auto";
  std::string driver = "auto";
  std::string solver = "auto";       ///< "auto", "smo", "block" or "linear"
  std::string normalize = "auto";    ///< comma-separated sequence
  double gap = 1e-3;                 ///< relative duality gap to reach
  std::string certificate = "auto";  ///< "auto", "table" or "direct"
  long max_iterations = 0;           ///< moves of theta; 0: the method's own limit
  /// Factor on C for single classes: (label as written, factor).
  std::vector<std::pair<std::string, double>> class_weights;
  /// C and norm of the machine that tells one class from the rest, in place of those above: (label, value).
  std::vector<std::pair<std::string, double>> class_C;
  std::vector<std::pair<std::string, double>> class_norm;
  /// Factor on C for every sample; empty: all 1. Weight zero equals absence.
  std::vector<double> sample_weights;
  /// Positions of samples that the model stores whatever their factor, so that it can tell kernel values with them.
  std::vector<std::int64_t> keep_samples;
};

/// The kernels used when none are named.
std::span<const std::string_view> DefaultKernels();

/// One record per option: the command line, the documentation, the JSON and the validation come from it.
struct OptionRecord {
  std::string_view name;      ///< "gap": also the flag and the JSON key
  std::string_view sentence;  ///< what it means
  std::string_view range;     ///< what is allowed, for people
  std::string_view fallback;  ///< the default, for people
};
std::span<const OptionRecord> TrainOptionRecords();

/// Throws Error(kUsage) naming the field, its value and the rule it breaks.
void Validate(const TrainOptions& options);

}  // namespace kweave

#endif  // KWEAVE_OPTIONS_H_
