// Several machines of two classes each, with kernel weights common to them.
//
// Solves   what weights/run/machine.h says, for the sum of the machines' objectives; K(theta) is over pairs
//          of sample and machine, and zero between two machines.
// Method   one machine after the other is trained at the same theta; quadratics and bounds are their sums.
// Takes    theta and a tolerance; returns an Evaluation, whose beta holds machine after machine.
// Holds    beta stays feasible for every theta.
// Costs    a solve and an expansion for each machine.
//
// Next on the main path: weights/run/sample_machine.h.
#ifndef KWEAVE_WEIGHTS_RUN_COMMON_MACHINE_H_
#define KWEAVE_WEIGHTS_RUN_COMMON_MACHINE_H_

#include <memory>
#include <vector>

#include "base/run_control.h"
#include "weights/run/joint_gram.h"
#include "weights/run/learn_common.h"
#include "weights/run/machine.h"
#include "weights/run/sample_machine.h"

namespace kweave {

class CommonMachine final : public Machine {
 public:
  /// All arguments must outlive the machine.
  CommonMachine(const CommonLearningProblem& problem, const LearnOptions& options, RunControl& control);
  ~CommonMachine() override;

  /// Takes a JointGram.
  void UseGram(Gram& gram, bool is_float) override;
  using Machine::StartFrom;
  void StartFrom(std::span<const double> beta, std::span<const double> outputs) override;
  Evaluation Solve(std::span<const double> theta, double relative_gap, ThetaMover* mover = nullptr) override;
  void ReleaseRows() override;

  Gram& gram() const override { return *gram_; }
  const Expansion& expansion() const override { return *expansion_; }
  double Linear(std::span<const double> beta) const override;
  std::vector<double> FeasibleStart() const override;
  Certificate Certify(Gram& gram, std::span<const double> theta, std::span<const double> beta,
                      std::span<const double> dual_beta) const override;
  const Risk* risk() const override { return nullptr; }

 private:
  class StackedExpansion;
  Evaluation SolveParts(std::span<const double> theta, double relative_gap);

  const CommonLearningProblem& problem_;
  RunControl& control_;
  JointGram* gram_ = nullptr;
  std::vector<LearningProblem> problems_;  // of the parts
  std::vector<std::unique_ptr<SampleMachine>> parts_;
  std::unique_ptr<Expansion> expansion_;  // of all betas: that of each part
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_COMMON_MACHINE_H_
