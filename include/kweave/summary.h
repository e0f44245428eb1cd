#ifndef KWEAVE_SUMMARY_H_
#define KWEAVE_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kweave/choices.h"

namespace kweave {

enum class Status { kConverged, kIterationLimit, kTimeLimit, kStalled, kInterrupted };
std::string_view ToString(Status status);

/// Holds a weight, a sum of weights or a share at every optimum: certified, as the gap is.
struct WeightInterval {
  double lower = 0;
  double upper = 0;
};

struct KernelReport {
  std::string name;
  double weight = 0;
  double quadratic = 0;
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

/// One row per move of theta: the best bounds so far, as the solver estimates them.
struct HistoryRow {
  double seconds = 0;
  double primal = 0;
  double dual = 0;
  double relative_gap = 0;    ///< (primal - dual) / max(|primal|, |dual|), at least 0
  std::int64_t solves = 0;    ///< begun so far
  bool inside_solve = false;  ///< theta moved inside a solve
  /// Moves so far that were not a step of the method that runs, but what took its place where its numbers
  /// broke down.
  std::int64_t fallbacks = 0;
};

/// One of several machines: f > 0 means its class, f < 0 the rest or another class.
struct MachineReport {
  std::string name;     ///< its class
  std::string against;  ///< the other class; empty: all others
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
  std::string name;
  double weight = 0;
  std::vector<std::string> kernels;
  std::vector<double> within;  ///< weights of these kernels, of norm one
};

/// What joint machines with kernels on the classes learned of these.
struct ClassKernelReport {
  std::vector<std::string> classes;
  std::vector<KernelReport> kernels;  ///< on the classes; weights and quadratics summed over those on samples
  std::vector<double> matrix;         ///< the learned kernel on the classes, row after row
  std::vector<double>
      embedding;  ///< x and y of every class: distances in the plane close to those of the matrix
};

/// Wall-clock seconds of the phases of one training run.
struct PhaseSeconds {
  double total = 0;
  double read = 0;
  double kernels = 0;
  double solve = 0;
  double weights = 0;
  double certificate = 0;
};

/// What training did and how good its answer is.
struct Summary {
  Status status = Status::kConverged;
  Task task = Task::kClassify;
  double primal = 0;
  double dual = 0;
  double gap = 0;
  double relative_gap = 0;
  /// Where the problem is not convex (products): how far a projected gradient step still leads, relative to
  /// the objective; primal, dual and gap are then bounds on the objective at the answer, not on the best one.
  std::optional<double> projected_gradient;
  std::int64_t iterations = 0;
  std::int64_t solves = 0;
  double bias = 0;
  std::int64_t n_support = 0;
  std::vector<KernelReport> kernels;  ///< in the order given; above 10,000 the heaviest 10,000
  std::vector<SourceReport> sources;  ///< in the order of their first kernels; none in older models
  /// How far the share of any kernel may be from the one reported, at every optimum; none where nothing is
  /// certified.
  std::optional<double> share_error;
  std::string no_intervals;  ///< why no interval is certified; empty where they are, and in older models
  /// How more than two classes were learned; none for one machine.
  std::optional<Multiclass> multiclass;
  /// Several machines; primal, dual and quadratics above are their sums, the relative gap is the largest, the
  /// weights are means. Empty for one machine.
  std::vector<MachineReport> machines;
  std::optional<ClassKernelReport> class_kernel;  ///< only where the options ask for kernels on the classes
  std::vector<GroupReport> groups;  ///< of a mixed norm, in the order of their first kernels; else empty
  std::int64_t kernels_total = 0;
  std::int64_t kernels_active = 0;
  PhaseSeconds seconds;
  std::int64_t kernel_rows = 0;  ///< rows of kernel matrices evaluated, one for each sample they belong to
  std::int64_t base_values =
      0;  ///< distances, inner products and so on between two samples, computed while learning
  std::int64_t peak_memory_bytes = 0;
  int threads = 1;
  std::vector<std::pair<std::string, std::string>> options;  ///< effective values, as JSON literals
  KernelEvaluation certificate = KernelEvaluation::kDirect;  ///< by tables, or directly
  std::vector<HistoryRow> history;  ///< several machines that learned by themselves: theirs
  /// What samples left out of training cost, by the closed form of the squared loss: the root mean square
  /// error of a regression, the accuracy of a classification. The kernel weights are those learned from all
  /// samples.
  std::optional<double> leave_one_out;

  std::string ToJson() const;
};

}  // namespace kweave

#endif  // KWEAVE_SUMMARY_H_
