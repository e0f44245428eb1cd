// A machine with one output: one dual variable per sample.
//
// Solves   what weights/run/machine.h says, for the loss of a Risk.
// Method   qp/linear.h on the features of linear kernels; qp/nested_sets.h with those of sequences; else
//          qp/smo.h or qp/block.h on rows of the Gram, or qp/newton.h for smooth losses; after theta moved,
//          the gradient of the old beta follows from its expansion.
// Takes    theta and a tolerance; returns an Evaluation.
// Holds    beta stays feasible for every theta, so each solve starts where the last one ended.
// Costs    the solver's rows, and one expansion per solve; moving theta costs no pass over the kernels. That
//          of the last solve is put off until it is needed, where quadratics alone are cheaper.
//
// Next on the main path: qp/solve.h, qp/smo.h, qp/newton.h, qp/linear.h.
#ifndef KWEAVE_WEIGHTS_RUN_SAMPLE_MACHINE_H_
#define KWEAVE_WEIGHTS_RUN_SAMPLE_MACHINE_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/run_control.h"
#include "qp/preconditioner.h"
#include "qp/solve.h"
#include "qp/solver.h"
#include "weights/run/dual_terms.h"
#include "weights/run/learn.h"
#include "weights/run/machine.h"

namespace kweave {

class SampleMachine final : public Machine {
 public:
  /// All arguments must outlive the machine.
  SampleMachine(const LearningProblem& problem, const LearnOptions& options, RunControl& control);
  ~SampleMachine() override;

  void UseGram(Gram& gram, bool is_float) override;
  using Machine::StartFrom;
  void StartFrom(std::span<const double> beta, std::span<const double> outputs) override;
  Evaluation Solve(std::span<const double> theta, double relative_gap, ThetaMover* mover = nullptr) override;
  void ReleaseRows() override { reserve_.Release(); }

  Gram& gram() const override { return *gram_; }
  const Expansion& expansion() const override;
  double Linear(std::span<const double> beta) const override { return problem_.risk.Dual(beta); }
  std::vector<double> FeasibleStart() const override { return problem_.risk.FeasibleStart(); }
  Certificate Certify(Gram& gram, std::span<const double> theta, std::span<const double> beta,
                      std::span<const double> dual_beta) const override;
  const Risk* risk() const override { return &problem_.risk; }

 private:
  class Watch;

  template <class T>
  SolverResult RunSolver(const SolverOptions& options, SolveObserver& observer);
  SolverResult RunNewton(double relative_gap, SolveObserver& observer);
  SolverResult RunLinear(const FeatureMatrix& features, double relative_gap, SolveObserver& observer);
  Evaluation SolveOnRows(double relative_gap, ThetaMover* mover);
  Evaluation SolveInTurn(std::unique_ptr<FeatureMatrix> features, double relative_gap, ThetaMover* mover);
  std::unique_ptr<FeatureMatrix> FindFeatures();
  bool IsCentred() const;
  std::optional<Evaluation> SolveByMean(double relative_gap);
  void TakeOutputs();
  Evaluation Evaluate(std::span<const double> beta);
  Evaluation EvaluateSolved(double relative_gap);
  bool ShouldPutOffExpansion(double relative_gap) const;
  Evaluation Judge(std::span<const double> beta, std::span<const double> outputs, std::vector<double> q);
  void ShortenParts(Evaluation& at) const;
  bool MayBeDense() const;
  void SolveDense(double relative_gap, Evaluation& evaluation);
  double ToleranceFor(double relative_gap) const;
  void NoteTolerance(double violation, double relative_gap);

  const LearningProblem& problem_;
  RunControl& control_;
  const LearnOptions& options_;
  Gram* gram_ = nullptr;
  bool is_float_ = false;
  const DualTerms terms_;  // of the dual problem: theta does not change them
  SolverState state_;
  bool may_use_features_ = false;                 // as far as is known of the Gram
  bool may_be_centred_ = false;                   // likewise
  std::int64_t most_steps_ = 0;                   // before the second-order solver takes over
  double sigma_ = 0;                              // of the last solve on features
  std::vector<double> theta_;                     // of the running or last solve
  MemoryReserve reserve_;                         // for its rows
  std::optional<Preconditioner> preconditioner_;  // of the last smooth solves
  // Of a beta; null before the first. Behind the present beta where no more was needed yet.
  mutable std::unique_ptr<MovableExpansion> expansion_;
  mutable std::vector<double> expanded_;  // that beta
  mutable bool is_behind_ = false;
  std::vector<double> outputs_;  // for the first, where they are known without an expansion
  const double output_unit_;     // of tolerances
  double tolerance_per_gap_ =
      50;  // violation in these units over relative gap, as seen so far; a typical one at first
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_SAMPLE_MACHINE_H_
