// Learns kernel weights and machine together, until the certified gap is small enough.
//
// Next on the main path: weights/run/driver.h.
#ifndef KWEAVE_WEIGHTS_RUN_LEARN_H_
#define KWEAVE_WEIGHTS_RUN_LEARN_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/run_control.h"
#include "certificate/certificate.h"
#include "gram/gram.h"
#include "kweave/summary.h"
#include "loss/risk.h"
#include "qp/solve.h"
#include "regularizer/regularizer.h"
#include "weights/run/account.h"

namespace kweave {

/// Regulariser + risk.
struct LearningProblem {
  Risk risk;
  RegularizerPointer regularizer;  ///< never null
};

/// Where learning starts: weights and duals of a similar problem, which need not be feasible for this one.
struct WarmStart {
  std::vector<double> theta;
  std::vector<double> beta;
  /// sum_m theta_m K_m beta, where it is known already; else empty. Those of a machine that may lack samples
  /// (weights/strategies/sample_screening.h) need only tell which.
  std::vector<double> outputs = {};
  /// Of the same problem: a dual point and the bound that was certified for it; else empty.
  std::vector<double> dual_beta = {};
  double dual = 0;
};

struct LearnOptions {
  std::string method = "auto";  ///< "auto" or a name of weights/methods/method_table.h
  DriverKind driver = DriverKind::kAuto;
  double target_gap = 1e-3;  ///< relative
  long max_iterations = 0;   ///< moves of theta; 0: the method's own limit
  std::size_t row_cache_bytes = 0;
  SolverKind solver = SolverKind::kAuto;  ///< of the machine
  ThreadPool* pool = nullptr;             ///< for the loops of the solver; null: one thread
  const WarmStart* start = nullptr;       ///< null: cold
  /// Memory for rows that machines take one after the other without giving it back between them; null: a
  /// machine's own.
  MemoryReserve* reserve = nullptr;
  /// False: the estimates of the solves say when to end and are what is returned; the caller certifies.
  bool certifies = true;
  /// Certifies dual points of the last solves beside the best, for what they say of the weights.
  bool keeps_cuts = false;
};

class GramSample;

/// The kernels at the precision of the calls: `working` answers the many questions of the solvers, `exact`
/// (float64) the few of the certificate. `exact` is made when first needed.
struct GramPair {
  Gram* working = nullptr;
  bool working_is_float = false;
  std::function<Gram&()> exact;
  /// The working kernels between some of the samples, ascending. Empty where kernels are known for all
  /// samples only.
  std::function<std::shared_ptr<GramSample>(std::span<const Index>)> sample = nullptr;
  /// Some of the kernels, ascending, between all samples; what certifies them is whatever is cheapest.
  std::function<std::shared_ptr<GramSample>(std::span<const Index>)> some_kernels = nullptr;
  /// For solvers that float32 values no longer serve: float64, but no more expensive to evaluate than that.
  /// Empty: `exact`.
  std::function<Gram&()> precise = nullptr;
};

/// Some of the kernels, or kernels between some of the samples.
class GramSample {
 public:
  virtual ~GramSample() = default;
  /// Valid as long as this lives.
  virtual GramPair Pair() = 0;
};

struct Learned : RunWork {
  Status status = Status::kConverged;
  std::vector<double> theta;
  std::vector<double> beta;            ///< signed: y_i alpha_i for classification
  std::vector<double> dual_beta = {};  ///< with the largest lower bound; empty: beta
  std::vector<Index> counted = {};     ///< samples it was learned on, others being taken for far; empty: all
  Certificate certificate;             ///< of theta and beta, computed after the last step; holds the bias
  /// Where the problem is not convex, so that no gap can be had: how far a projected gradient step still
  /// leads.
  std::optional<double> projected_gradient = {};
  std::string method, driver, solver;  ///< those that ran
  std::vector<HistoryRow> history;
  std::string_view stalled_by = {};  ///< a sentence, where what made it stall is known

  /// Says in the log why it has stalled.
  void TellStall(RunControl& control) const;
  /// Puts the work and history of an earlier round in front: rounds are one run to the outside.
  void Follow(const Learned& earlier);
};

/// Throws Error(kUsage) when the method does not serve regulariser and loss, naming those that do.
Learned LearnWeights(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                     RunControl& control);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_LEARN_H_
