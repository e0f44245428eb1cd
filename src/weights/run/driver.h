// Moves theta after each solve (the wrapper) or inside it (interleaved) until the certificate says the gap is
// small enough.
//
// Solves   min over theta of J(theta), by any method of method_table.h.
// Method   solve, measure, move; every solve is only as precise as the outer gap asks for, and is repeated,
//          warm, where its own error hides the effect of theta. The bounds kept are the best of all solves: P
//          of any theta and D of any beta are valid. Estimates say when to stop, the certificate whether that
//          is true. Interleaved, one solve goes through all the moves (Kloft et al. 2011, algorithm 2), the
//          first of them after a few steps. "auto" is the wrapper: with solves as coarse as the outer gap
//          allows it took 5 to 20 percent fewer rows on MNIST with 50 kernels, 2,000 and 10,000 samples and
//          norms 1 to 2.
// Takes    kernels, problem, options; returns the theta and beta with the smallest P, certified.
// Holds    the answer never gets worse while the loop runs, so it may end at any time.
// Costs    per move one solve and one expansion; a certificate only when the estimates call for it.
//
// Next on the main path: weights/run/machine.h, weights/methods/analytic_newton.h, weights/methods/level.h.
#ifndef KWEAVE_WEIGHTS_RUN_DRIVER_H_
#define KWEAVE_WEIGHTS_RUN_DRIVER_H_

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "weights/methods/method_table.h"
#include "weights/models/beta_mixture.h"
#include "weights/run/learn.h"
#include "weights/run/machine.h"
#include "weights/run/weight_method.h"

namespace kweave {

class Driver : private ThetaMover {
 public:
  /// `start` is a feasible theta, or empty: the method's own. What references refer to must outlive the
  /// driver.
  Driver(const GramPair& gram, Machine& machine, const Regularizer& regularizer, const LearnOptions& options,
         const MethodRecord& method, const std::vector<double>& start, RunControl& control);
  Learned Run();

 private:
  void StartFrom(const WarmStart& start);
  void Solve();
  std::optional<double> MoveInside(const Evaluation& at, std::span<double> theta) override;
  void Account(const Evaluation& at, bool is_inside);
  void NoteDual(const std::vector<double>& beta, double bound);
  void NoteStart();
  void CertifyBest();
  bool IsCertified();
  bool HasMovedEnough() const;
  void KeepDualPoint();
  void CertifyKeptPoints();
  bool IsSolveTooCoarse() const;
  double WantedInnerGap() const;
  bool IsStuck();
  bool NeedsAnotherSolve() const;
  bool UseExactKernels();
  void Move(bool is_inside);
  std::string_view CauseOfStall() const;
  Learned Finish(Status status);

  const GramPair& gram_;
  const LearnOptions& options_;
  RunControl& control_;
  Machine& machine_;
  const Regularizer& regularizer_;
  std::unique_ptr<WeightMethod> method_;
  std::optional<BetaMixture> mixture_;  // where the method has no dual point of its own, and one helps
  bool is_float_;
  const bool is_interleaved_;
  const bool has_start_;
  const std::int64_t most_moves_;

  std::vector<double> theta_;  // where the next solve is made
  Evaluation last_;
  RunAccount account_;
  Evaluation best_;                      // of the account's primal
  std::vector<double> best_dual_beta_;   // of its dual
  bool is_certificate_current_ = false;  // learned_.certificate is that of the best found
  bool has_moved_ = true;                // theta differs from that of the last history row
  std::int64_t moves_before_best_ = 0;
  std::deque<std::vector<double>> kept_betas_;  // of the last solves, newest last
  double wanted_inside_;                        // inner gap before the next move inside a solve
  double inside_weight_seconds_ = 0;
  Learned learned_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_DRIVER_H_
