// Where a joint machine stands: gradients, prices between classes, biases, bounds, and how much each sample
// violates.
//
// Solves     what of qp/joint.h follows from betas and their outputs alone.
// Method     sample after sample, on all threads, from outputs that lie class after class: those of classes
//            that moved are turned over, a tile of samples at a time. A sample that can raise few classes
//            makes few offers; the shortest lengths over all samples do not depend on who looks at which. The
//            bound from above belongs to the function times the factor that serves it best
//            (JointRisk::BestScale), found anew now and then.
// Takes and  betas of samples that moved, outputs of classes that did; returns bounds, potentials and
//            violations.
// returns
// Holds      the same values on any number of threads: sums are taken in the order of the samples.
// Costs      n values for each class that moved, m for each class that a sample can raise (all m, where the
//            loss grows on either side), n m for the bounds.
#ifndef KWEAVE_QP_JOINT_STANDING_H_
#define KWEAVE_QP_JOINT_STANDING_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/threads.h"
#include "loss/class_cycle.h"
#include "loss/joint_risk.h"

namespace kweave {

class JointStanding {
 public:
  /// `beta` is class after class; what all refer to must outlive it. A pool of null is one thread.
  JointStanding(const JointRisk& risk, std::span<const double> beta, ThreadPool* pool);

  /// The betas of one sample, over all classes.
  void Assign(Index sample, std::span<const double> beta);
  /// After outputs (class after class) of these classes changed.
  void Measure(std::span<const double> outputs, std::span<const Index> changed);

  double primal() const { return primal_; }
  double dual() const { return dual_; }
  double gap() const { return primal_ - dual_; }
  const ClassPotentials& potentials() const { return potentials_; }
  /// The largest that was seen, at least 1.
  double largest_output() const { return largest_output_; }
  /// By how much each sample would rather raise one class at the cost of another, at these potentials.
  std::span<const double> violations() const { return violations_; }
  /// Over the classes of a sample.
  std::span<const double> Beta(Index sample) const { return Row(beta_, sample); }
  std::span<const double> Gradient(Index sample) const { return Row(gradient_, sample); }
  /// What raising and what lowering the betas of a sample costs: its gradient, but for corners of a loss that
  /// grows on either side.
  std::span<const double> Raise(Index sample) const {
    return Row(is_two_sided_ ? raise_ : gradient_, sample);
  }
  std::span<const double> Lower(Index sample) const {
    return Row(is_two_sided_ ? lower_ : gradient_, sample);
  }
  /// Whose price of raising u at the cost of v is the shortest of all; -1: no sample is needed, or there is
  /// none.
  Index SampleFor(Index u, Index v) const;

 private:
  std::span<const double> Row(const std::vector<double>& values, Index sample) const {
    return std::span(values).subspan(static_cast<std::size_t>(sample * risk_.classes),
                                     static_cast<std::size_t>(risk_.classes));
  }
  template <class Body>
  void ForSamples(const Body& body);
  void Turn(std::span<const double> outputs, std::span<const Index> changed, Index begin, Index end);
  void FindGradients(std::span<const double> outputs, std::span<const Index> changed);
  void FindBounds(Index i);
  void AddOtherSide(Index i, double own_value);
  void AddUp();

  const JointRisk& risk_;
  const bool is_two_sided_;
  ThreadPool* const pool_;
  std::vector<double> beta_;                  // sample after sample, and so gradient_
  std::vector<double> gradient_;              // of the negative dual
  std::vector<double> raise_, lower_;         // where the loss grows on either side
  std::vector<double> caps_;                  // of the own class of each sample
  std::vector<double> slopes_, duals_;        // of its dual term, and its value
  std::vector<std::vector<Index>> raisable_;  // classes, by sample
  ClassPrices prices_;
  std::vector<ClassPrices> thread_prices_;
  std::vector<double> thread_largest_;
  ClassPotentials potentials_;
  std::vector<Interval> margins_;              // by sample, and so the following
  std::vector<double> products_, violations_;  // <beta, outputs> are the products
  double largest_output_ = 1;
  double scale_ = 1;
  int measures_to_scale_ = 0, between_scales_ = 1;
  double primal_ = 0, dual_ = 0;
};

}  // namespace kweave

#endif  // KWEAVE_QP_JOINT_STANDING_H_
