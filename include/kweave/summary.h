#ifndef KWEAVE_SUMMARY_H_
#define KWEAVE_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kweave/choices.h"

namespace kweave {

/// How a training run ended. All but kConverged leave a model whose gap is larger than the one asked for.
enum class Status {
  kConverged,       ///< the certified gap is at most the one asked for
  kIterationLimit,  ///< TrainOptions::max_iterations came first
  kTimeLimit,       ///< Context::time_limit_seconds came first
  kStalled,         ///< no further progress in double precision
  kInterrupted,     ///< the caller asked to stop
};
/// The name in summaries: "converged", "iteration_limit" and so on.
std::string_view ToString(Status status);

/// Holds a weight, a sum of weights or a share at every optimum: certified, as the gap is.
struct WeightInterval {
  double lower = 0;
  double upper = 0;
};

/// One kernel of the answer.
struct KernelReport {
  std::string name;      ///< unique, as the kernel language writes it
  double weight = 0;     ///< theta_m
  double quadratic = 0;  ///< q_m = beta' K_m beta
  /// Of the weight, and of its share of the sum of all; none where nothing can be certified.
  std::optional<WeightInterval> weight_interval = {};
  std::optional<WeightInterval> share_interval = {};
};

/// All kernels on one view, or of one file of kernel values.
struct SourceReport {
  std::string name;
  double weight = 0;  ///< the sum of theirs
  double share = 0;   ///< of the sum of all weights
  std::optional<WeightInterval> weight_interval = {};
  std::optional<WeightInterval> share_interval = {};
};

/// A view that some of the training samples lack.
struct MissingReport {
  std::string view;
  std::int64_t missing = 0;  ///< training samples without it
};

/// One row per move of theta: the best bounds so far, as the solver estimates them.
struct HistoryRow {
  double seconds = 0;         ///< since training began
  double primal = 0;          ///< upper bound on the optimum
  double dual = 0;            ///< lower bound on it
  double relative_gap = 0;    ///< (primal - dual) / max(|primal|, |dual|), at least 0
  std::int64_t solves = 0;    ///< begun so far
  bool inside_solve = false;  ///< theta moved inside a solve
  /// Moves so far in which a safe step replaced that of the method, because rounding had spoilt the latter.
  std::int64_t fallbacks = 0;
};

/// One of several machines: f > 0 means its class, f < 0 the rest or another class.
struct MachineReport {
  std::string name;     ///< its class
  std::string against;  ///< the other class; empty: all others
  /// As in Summary, of this machine alone.
  Status status = Status::kConverged;
  double primal = 0;
  double dual = 0;
  double relative_gap = 0;
  std::int64_t iterations = 0;
  std::int64_t solves = 0;
  double bias = 0;
  std::int64_t n_support = 0;
  std::vector<double> weights;  ///< of the kernels in Summary::kernels, in that order
  /// Of the same kernels; empty where one machine serves all classes, and in older models.
  std::vector<double> quadratics;
  /// Of the same weights and their shares, as KernelReport has them; empty where nothing can be certified.
  std::vector<WeightInterval> weight_intervals = {};
  std::vector<WeightInterval> share_intervals = {};
  /// Empty where the machines were learned as one, whose history is the summary's.
  std::vector<HistoryRow> history = {};
};

/// A group of kernels under a mixed norm: the weight of a kernel is that of its group times that within it.
struct GroupReport {
  std::string name;                  ///< as the option `groups` has it, or the view
  double weight = 0;                 ///< of the group as a whole
  std::vector<std::string> kernels;  ///< the names of its members
  std::vector<double> within;        ///< weights of these kernels, of norm one
};

/// The kernel on the classes that a joint machine learned.
struct ClassKernelReport {
  std::vector<std::string> classes;   ///< the order of rows and columns below
  std::vector<KernelReport> kernels;  ///< on the classes; weights and quadratics summed over those on samples
  std::vector<double> matrix;         ///< the learned kernel on the classes, row after row
  /// x and y of every class: points whose distances in the plane are close to those of the matrix.
  std::vector<double> embedding;
};

/// Wall-clock seconds of the phases of one training run.
struct PhaseSeconds {
  double total = 0;        ///< of the whole run; the others are parts of it
  double read = 0;         ///< reading and joining the files
  double kernels = 0;      ///< parsing and normalising the kernels
  double solve = 0;        ///< inner solves at fixed weights
  double weights = 0;      ///< moving the weights
  double certificate = 0;  ///< recomputing the bounds
};

/// What training did and how good its answer is. docs/summary.md describes the JSON form.
///
///     const kweave::Summary& summary = model.summary();
///     if (summary.status != kweave::Status::kConverged) std::cout << ToString(summary.status) << "\n";
///     std::cout << "at most " << 100 * summary.relative_gap << " % from the optimum\n";
///     for (const kweave::KernelReport& kernel : summary.kernels) {
///       if (kernel.weight > 0) std::cout << kernel.weight << "  " << kernel.name << "\n";
///     }
struct Summary {
  Status status = Status::kConverged;
  Task task = Task::kClassify;
  double primal = 0;        ///< certified upper bound on the optimum: the objective at the answer
  double dual = 0;          ///< certified lower bound on the optimum
  double gap = 0;           ///< primal - dual, at least 0
  double relative_gap = 0;  ///< gap / max(|primal|, |dual|)
  /// Where the problem is not convex (products): how far a projected gradient step still leads, relative to
  /// the objective; primal, dual and gap are then bounds on the objective at the answer, not on the best one.
  std::optional<double> projected_gradient;
  std::int64_t iterations = 0;        ///< moves of the kernel weights
  std::int64_t solves = 0;            ///< inner problems solved
  double bias = 0;                    ///< b of f(x) = sum_m theta_m sum_i beta_i k_m(x_i, x) + b
  std::int64_t n_support = 0;         ///< samples whose beta is not 0
  std::vector<KernelReport> kernels;  ///< in the order given; above 10,000 the heaviest 10,000
  std::int64_t samples = 0;           ///< that count: those with a weight, equal ones once; 0 in older models
  std::vector<MissingReport> missing_views;  ///< none where every sample has every view
  std::vector<SourceReport> sources;         ///< in the order of their first kernels; none in older models
  /// How far the share of any kernel may be from the one reported, at every optimum; none where nothing is
  /// certified.
  std::optional<double> share_error;
  std::string no_intervals;  ///< why no interval is certified; empty where they are, and in older models
  /// How several classes were reduced to machines; absent where one machine with one output was learned.
  std::optional<Multiclass> multiclass;
  /// Several machines; primal, dual and quadratics above are their sums, the relative gap is the largest, the
  /// weights are means. Empty for one machine.
  std::vector<MachineReport> machines;
  std::optional<ClassKernelReport> class_kernel;  ///< only where the options ask for kernels on the classes
  std::vector<GroupReport> groups;  ///< of a mixed norm, in the order of their first kernels; else empty
  std::int64_t kernels_total = 0;   ///< kernels given
  std::int64_t kernels_active = 0;  ///< those with a weight above 0
  PhaseSeconds seconds;
  std::int64_t kernel_rows = 0;  ///< rows of kernel matrices evaluated, one for each sample they belong to
  /// Distances, inner products and the like between two samples, computed while learning.
  std::int64_t base_values = 0;
  std::int64_t peak_memory_bytes = 0;  ///< of the process, as the operating system counts it
  int threads = 1;                     ///< used for training
  std::vector<std::pair<std::string, std::string>> options;  ///< effective values, as JSON literals
  KernelEvaluation certificate = KernelEvaluation::kDirect;  ///< by tables, or directly
  std::vector<HistoryRow> history;  ///< empty where several machines learned separately: each has its own
  /// Leave-one-out estimate by the closed form of the squared loss, at the kernel weights learned from all
  /// samples: the root mean square error of a regression, the accuracy of a classification.
  std::optional<double> leave_one_out;

  /// The whole summary as one JSON object.
  std::string ToJson() const;
};

}  // namespace kweave

#endif  // KWEAVE_SUMMARY_H_
