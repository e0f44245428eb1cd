// One machine on the learned kernel: trains it at a given theta, warm, and measures the result.
//
// Solves   J(theta) = max over feasible beta of L(beta) - 1/2 beta' K(theta) beta,
//          to a tolerance set per call.
// Method   qp/linear.h on the features of linear kernels; else qp/smo.h or qp/block.h on rows of the Gram, or
//          qp/newton.h for smooth losses; after theta moved, the gradient of the old beta follows from its expansion.
// Takes    theta and a tolerance; returns an Evaluation: beta, q and the bounds that follow from them.
// Holds    beta stays feasible for every theta, so each solve starts where the last one ended.
// Costs    the solver's rows, and one expansion per solve; moving theta costs no pass over the kernels.
//
// Next on the main path: qp/solve.h, qp/smo.h, qp/newton.h, qp/linear.h.
#ifndef KWEAVE_WEIGHTS_MACHINE_H_
#define KWEAVE_WEIGHTS_MACHINE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/run_control.h"
#include "gram/gram.h"
#include "qp/preconditioner.h"
#include "qp/solve.h"
#include "qp/solver.h"
#include "regularizer/lp_norm.h"
#include "weights/dual_terms.h"
#include "weights/learn.h"

namespace kweave {

/// What one solve found. The bounds are the solver's own estimates; only the certificate is binding.
struct Evaluation {
  std::vector<double> theta;
  std::vector<double> beta;
  std::vector<double> quadratics;
  double primal = 0;                  ///< P(theta, beta) >= J(theta)
  double inner_dual = 0;              ///< L - 1/2 theta' q <= J(theta)
  double dual = 0;                    ///< D(beta) <= the optimum
  double linear = 0;                  ///< L
  bool is_precision_used_up = false;  ///< the solver could not reach the gap asked for

  /// How far beta is, at most, from the best one for this theta.
  double inner_gap() const { return primal - inner_dual; }
  double relative_inner_gap() const {
    return inner_gap() / std::max(std::abs(primal), std::numeric_limits<double>::min());
  }
};

/// Moves theta inside a solve.
class ThetaMover {
 public:
  virtual ~ThetaMover() = default;
  /// Given what the solve found at its present theta, writes another one and returns the relative inner gap to reach
  /// there; or returns nothing, and the solve ends.
  virtual std::optional<double> MoveInside(const Evaluation& at, std::span<double> theta) = 0;
};

class Machine {
 public:
  /// All arguments must outlive the machine.
  Machine(const LearningProblem& problem, const LearnOptions& options, RunControl& control);
  ~Machine();

  /// Answers come from this Gram from now on; beta is kept.
  void UseGram(Gram& gram, bool is_float);

  /// The next solve starts from this beta, made feasible, instead of that of the last one.
  void StartFrom(std::span<const double> beta);

  /// Until the inner gap is at most `relative_gap` of the primal; then the mover, if there is one, may move theta and
  /// the solve goes on. The answer is for the last theta.
  Evaluation Solve(std::span<const double> theta, double relative_gap, ThetaMover* mover = nullptr);

  /// Gives memory back that only the next solve would use.
  void ReleaseRows() { reserve_.Release(); }

  Gram& gram() const { return *gram_; }
  /// Of the last solve's beta.
  const Expansion& expansion() const { return *expansion_; }
  const LearningProblem& problem() const { return problem_; }
  std::int64_t solves() const { return solves_; }
  /// The one that ran last.
  std::string_view solver() const { return solver_; }
  double solve_seconds() const { return solve_seconds_; }

 private:
  class Watch;

  template <class T>
  SolverResult RunSolver(const SolverOptions& options, SolveObserver& observer);
  SolverResult RunNewton(double relative_gap, SolveObserver& observer);
  SolverResult RunLinear(const FeatureMatrix& features, double relative_gap, SolveObserver& observer);
  Evaluation SolveOnRows(double relative_gap, ThetaMover* mover);
  Evaluation SolveInTurn(std::unique_ptr<FeatureMatrix> features, double relative_gap, ThetaMover* mover);
  std::unique_ptr<FeatureMatrix> FindFeatures();
  void TakeOutputs();
  Evaluation Evaluate(std::span<const double> beta);
  double ToleranceFor(double relative_gap) const;
  void NoteTolerance(double violation, double relative_gap);

  const LearningProblem& problem_;
  const LpNorm norm_;
  RunControl& control_;
  const LearnOptions& options_;
  Gram* gram_ = nullptr;
  bool is_float_ = false;
  const DualTerms terms_;  // of the dual problem: theta does not change them
  SolverState state_;
  bool may_use_features_ = false;                 // as far as is known of the Gram
  double sigma_ = 0;                              // of the last solve on features
  std::vector<double> theta_;                     // of the running or last solve
  MemoryReserve reserve_;                         // for its rows
  std::optional<Preconditioner> preconditioner_;  // of the last smooth solves
  std::unique_ptr<Expansion> expansion_;          // of its beta; null before the first
  double tolerance_per_gap_ = 50;                 // violation over relative gap, as seen so far
  std::string_view solver_ = "none";
  std::int64_t solves_ = 0;
  double solve_seconds_ = 0;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MACHINE_H_
