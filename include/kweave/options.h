#ifndef KWEAVE_OPTIONS_H_
#define KWEAVE_OPTIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kweave/choices.h"
#include "kweave/option_record.h"

namespace kweave {

/// How a model is trained. Defaults stand here and nowhere else; training never changes the caller's options.
///
///     kweave::TrainOptions options;
///     options.task = kweave::Task::kRegress;
///     options.kernels = {"rbf(gamma=[0.1,1,10])"};
///     options.norm = 1;
///
/// Losses, methods, regularisers, normalisers and kernels go by name: their tables are open, and adding to
/// one must not need a change here. Closed choices are enumerations.
struct TrainOptions {
  Task task = Task::kClassify;
  std::string loss = "auto";         ///< "auto" or a loss of the task
  std::vector<std::string> kernels;  ///< kernel specifications; empty: DefaultKernels() on every view
  double C = 1.0;
  double epsilon = 0.1;   ///< epsilon-insensitive loss: errors up to this cost nothing
  double nu = 0.5;        ///< one-class: at most this share of the training samples become outliers, 0 to 1
  double sharpness = 10;  ///< smoothed hinge: the larger, the closer to the hinge
  bool bias = true;       ///< f(x) has a bias; one-class without one: C takes the place of nu
  double norm = 2.0;      ///< p of the norm on theta, 1 to infinity
  /// Instead of norm: block norm on the parts of the function, 1 to infinity; 0: none.
  double block_norm = 0;
  std::string regularizer = "norm";  ///< a name of train/regularizer_table.h
  double penalty = 0;                ///< mu of a penalty instead of the constraint; 0: none
  /// norm: bounds on the weights of single kernels: a kernel by its name or its number from 1, "*" for all of
  /// them; of several bounds for one kernel the last counts.
  NamedIntervals weight_bounds;
  std::string groups;     ///< mixed: "view", "spec" or a file with one name per kernel
  double inner_norm = 2;  ///< mixed: norm within groups, of the kind of norm or block_norm
  /// matrix, laplacian: a file with one row per kernel, "alignment" or "centered-alignment".
  std::string matrix;
  MatrixOn matrix_on = MatrixOn::kWeights;  ///< matrix, laplacian
  double ridge = 0;                         ///< added to the diagonal of the matrix; logdet: 0 is 1e-3
  double elastic = 0.5;                     ///< elastic: share of the 2-norm, above 0, at most 1
  Multiclass multiclass = Multiclass::kAuto;
  /// One against rest: own kernel weights for every machine, or common ones that minimise the sum of the
  /// objectives.
  MachineWeights machine_weights = MachineWeights::kOwn;
  /// Kernels on the classes of joint machines, to be multiplied with those on samples: "identity", "blocks",
  /// "matrix(file=FILE)", "taxonomy(file=FILE)". Empty: the identity.
  std::vector<std::string> class_kernels;
  Combine combine = Combine::kSum;
  int restarts = 2;             ///< products: starting points, of which the best answer is kept
  std::string method = "auto";  ///< "auto" or a name of the table of methods
  DriverKind driver = DriverKind::kAuto;
  SolverKind solver = SolverKind::kAuto;
  std::string device = "auto";     ///< "auto", "cpu" or the name of a kind of accelerator
  double device_memory = 0;        ///< of the accelerator, in GB; 0: nine tenths of what is free
  std::string normalize = "auto";  ///< comma-separated sequence
  /// What becomes of the features, by statistics of the training samples that have the view.
  FeatureScale scale = FeatureScale::kNone;
  /// Kernels on groups of features instead of all: a GMT file, or two columns, feature and group; empty:
  /// none.
  std::string feature_groups;
  MissingViews missing_views = MissingViews::kMean;
  bool probabilities = false;  ///< calibrated by cross-fitting; classification
  double gap = 1e-3;           ///< relative duality gap to reach
  /// Training goes on past the gap until the share of every kernel in the sum of the weights is known to
  /// this: within so much of the share reported, at every optimum. 0: the gap is all that is asked for.
  double weights_tolerance = 0;
  KernelEvaluation certificate = KernelEvaluation::kAuto;
  long max_iterations = 0;     ///< moves of theta; 0: the method's own limit
  NamedNumbers class_weights;  ///< factor on C for single classes
  /// C and norm of the machine that tells one class from the rest, in place of those above.
  NamedNumbers class_C;
  NamedNumbers class_norm;
  /// Factor on C for every sample; empty: all 1. Weight zero equals absence.
  std::vector<double> sample_weights;
  /// Positions of samples that the model stores whatever their factor, so that it can tell kernel values with
  /// them. For programs only, so it has no record.
  std::vector<std::int64_t> keep_samples;
};

/// The kernels used when none are named.
std::span<const std::string_view> DefaultKernels();

/// One record per option. The command line, the documentation, JSON, Python and the check of ranges come from
/// it.
std::span<const OptionRecord<TrainOptions>> TrainOptionRecords();

/// Throws Error(kUsage) naming the field, its value and the rule it breaks.
void Validate(const TrainOptions& options);

/// Options that hold what Validate asks for, which is checked once: code that trains from the same options
/// again, or checks them before data is read, keeps them in this form.
class CheckedOptions {
 public:
  /// Throws Error(kUsage), as Validate does.
  CheckedOptions(TrainOptions options);  // NOLINT: options are all that is needed

  const TrainOptions& operator*() const { return options_; }
  const TrainOptions* operator->() const { return &options_; }

 private:
  TrainOptions options_;
};

/// The options as a JSON object. Infinity is "inf". Sample weights are left out: they belong to the data.
std::string OptionsToJson(const TrainOptions& options);
/// The options from a JSON object. Unknown names are ignored; missing ones keep their defaults. Throws
/// Error(kData) on a value of the wrong type and on a text that is not among the choices.
TrainOptions OptionsFromJson(std::string_view json);

}  // namespace kweave

#endif  // KWEAVE_OPTIONS_H_
