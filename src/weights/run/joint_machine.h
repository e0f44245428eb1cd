// A machine with one output per class: one dual variable per sample and class.
//
// Solves   what weights/run/machine.h says, for the loss of a JointRisk; K(theta) is over pairs of sample and
//          class.
// Method   qp/joint.h on rows of the kernels on samples, which all classes share; after theta moved, the
//          outputs of the old beta follow from its expansion. Where that gets nowhere and pairs are few,
//          qp/joint_dense.h on the whole matrix.
// Takes    theta and a tolerance; returns an Evaluation, whose beta holds class after class.
// Holds    beta stays feasible for every theta.
// Costs    the solver's rows, and an expansion for each class per solve.
//
// Next on the main path: qp/joint.h.
#ifndef KWEAVE_WEIGHTS_RUN_JOINT_MACHINE_H_
#define KWEAVE_WEIGHTS_RUN_JOINT_MACHINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/memory.h"
#include "base/run_control.h"
#include "qp/joint.h"
#include "weights/run/joint_gram.h"
#include "weights/run/learn_joint.h"
#include "weights/run/machine.h"

namespace kweave {

class JointMachine final : public Machine {
 public:
  /// All arguments must outlive the machine.
  JointMachine(const JointLearningProblem& problem, const LearnOptions& options, RunControl& control);

  /// Takes a JointGram.
  void UseGram(Gram& gram, bool is_float) override;
  using Machine::StartFrom;
  void StartFrom(std::span<const double> beta, std::span<const double> outputs) override;
  Evaluation Solve(std::span<const double> theta, double relative_gap, ThetaMover* mover = nullptr) override;
  void ReleaseRows() override { reserve_.Release(); }

  Gram& gram() const override { return *gram_; }
  const Expansion& expansion() const override { return *expansion_; }
  double Linear(std::span<const double> beta) const override { return problem_.risk.Dual(beta); }
  std::vector<double> FeasibleStart() const override;
  Certificate Certify(Gram& gram, std::span<const double> theta, std::span<const double> beta,
                      std::span<const double> dual_beta) const override;
  const Risk* risk() const override { return nullptr; }

 private:
  template <class T>
  JointResult RunSolver(double relative_gap);
  void SolveDense(double relative_gap, Evaluation& evaluation);
  Evaluation Evaluate();

  const JointLearningProblem& problem_;
  const LearnOptions& options_;
  RunControl& control_;
  JointGram* gram_ = nullptr;
  bool is_float_ = false;
  std::vector<double> theta_;  // of the running or last solve
  JointState state_;
  std::int64_t most_steps_ = 0;                  // of the next solve
  int dense_failures_ = 0;                       // one after the other
  MemoryReserve reserve_;                        // for rows
  std::unique_ptr<MovableExpansion> expansion_;  // of the last beta that was evaluated
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_JOINT_MACHINE_H_
