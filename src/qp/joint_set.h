// The joint problem restricted to a few samples: all others stand still, the kernel is one dense block for
// each term.
//
// Solves     the problem of qp/joint.h over the samples of the set B, with the sum of every class fixed.
// Method     steps along a cycle of classes (loss/class_cycle.h): each class is raised in one sample at the
//            cost of the next class, exactly as far as the objective falls. Most steps move two classes in
//            two samples: the pair of classes that violates most, its cheapest sample, and the partner that
//            gains most by the second-order estimate of qp/smo.h. When all pairs are settled, a longer cycle
//            that violates more than the target.
// Takes and  samples, rows of their kernels, betas and gradients; leaves betas where the violation within the
//            set is small
// returns    enough, or no step is possible.
//            A loss that grows on either side has a corner where a beta is zero; a step ends there.
// Holds      betas below their caps, exactly on them when they touch them; the sums up to rounding.
// Costs      a step looks once at every class that a sample of B can raise, of which there are few, and at
//            |B| gradients of each class that moved; with kernels that join classes at |B| m, with a loss
//            that grows on either side at |B| m^2. T |B|^2 values of memory for T terms, m^2 as many for one
//            on pairs.
#ifndef KWEAVE_QP_JOINT_SET_H_
#define KWEAVE_QP_JOINT_SET_H_

#include <cstdint>
#include <span>
#include <vector>

#include "loss/class_cycle.h"
#include "loss/joint_risk.h"

namespace kweave {

/// The samples of a set, and where they stand: class values of sample k start at k m.
struct JointBlock {
  std::vector<Index> samples;
  std::vector<double> beta;
  std::vector<double>
      gradient;  ///< of the negative dual: outputs, minus the slope of the dual term at the own class
  /// For each term, K between the samples of the set; for one on pairs between those, class values of a
  /// sample together.
  std::vector<std::vector<double>> kernels;
};

class JointSet {
 public:
  /// class_matrices[t] is that of term t, m x m, or empty for one on pairs; what they refer to must outlive
  /// the set.
  JointSet(const JointRisk& risk, std::span<const std::span<const double>> class_matrices);

  /// Moves betas and gradients of the block until the violation within it is at most `target`, or after
  /// `most_steps`. Returns the number of steps.
  std::int64_t Solve(JointBlock& block, double target, std::int64_t most_steps);

 private:
  // A sample raises one class at the cost of another; member -1 is a sample without kernel that any class may
  // use.
  struct Edge {
    std::int64_t member;
    Index up, down;
  };

  // How the magnitude of a sample's betas at other classes grows along the step, and how far it does so.
  struct Growth {
    double rate = 0;
    double room = 0;
  };

  void FindRaisable(std::int64_t k);
  bool CanRaise(std::int64_t k, Index u) const { return can_raise_[At(k, u)] != 0; }
  std::int64_t MemberFor(Index up, Index down) const;
  void FindPrices();
  void FindSlopes();
  void UpdatePrices();
  bool ChooseEdges(double target);
  std::int64_t FindPartner(const Edge& edge);
  double LossCurvature(const Edge& edge) const;
  static double Direction(std::span<const Edge> edges, std::int64_t k, Index u);
  Growth GrowthOf(std::int64_t k, std::span<const Edge> edges) const;
  bool IsFirstOfItsMember(std::size_t e) const;
  double Slope() const;
  double Curvature() const;
  double Room() const;
  double Length(double slope, double room) const;
  double LossSlope(double length) const;
  void MoveBy(double length, double room);
  void MoveBetas(const Edge& edge, double length, double room);
  void MoveBetasToCorners(const Edge& edge, double length);

  bool IsOnPairs(std::size_t term) const { return class_matrices_[term].empty(); }
  const double* PairRow(std::size_t term, std::int64_t k, Index u) const;
  double PairProduct(std::size_t term, const Edge& a, const Edge& b) const;
  void MoveGradientsByPairs(std::size_t term, const Edge& edge, double length);
  double ClassProduct(std::size_t term, const Edge& a, const Edge& b) const;

  std::size_t At(std::int64_t k, Index u) const { return static_cast<std::size_t>(k * risk_.classes + u); }
  double Kernel(std::size_t term, std::int64_t k, std::int64_t l) const {
    if (k < 0 || l < 0) return 0;
    const std::size_t size = block_->samples.size();
    return block_->kernels[term][static_cast<std::size_t>(k) * size + static_cast<std::size_t>(l)];
  }
  double& Beta(std::int64_t k, Index u) { return block_->beta[At(k, u)]; }
  double Beta(std::int64_t k, Index u) const { return block_->beta[At(k, u)]; }
  double* Gradient(std::int64_t k) const { return block_->gradient.data() + k * risk_.classes; }
  const double* Raise(std::int64_t k) const {
    return is_two_sided_ ? raise_.data() + k * risk_.classes : Gradient(k);
  }
  const double* Lower(std::int64_t k) const {
    return is_two_sided_ ? lower_.data() + k * risk_.classes : Gradient(k);
  }
  Index Own(std::int64_t k) const {
    return risk_.y[static_cast<std::size_t>(block_->samples[static_cast<std::size_t>(k)])];
  }

  const JointRisk& risk_;
  std::span<const std::span<const double>> class_matrices_;
  const bool is_two_sided_;
  const bool is_identity_;  // one term, whose classes have nothing in common
  JointBlock* block_ = nullptr;
  std::vector<double> raise_, lower_;  // slopes, by member and class, where the loss grows on either side
  std::vector<std::vector<Index>> raisable_;  // classes, by member
  std::vector<char> can_raise_;               // the same, by member and class
  ClassPrices prices_;
  ClassPairs pairs_{prices_};
  std::vector<Index> moved_;     // classes, in the last step
  std::vector<char> has_moved_;  // the same, by class
  std::vector<double> potentials_;
  std::vector<Edge> edges_;             // of the current step
  std::vector<double> class_products_;  // of an edge that looks for a partner, by term
};

}  // namespace kweave

#endif  // KWEAVE_QP_JOINT_SET_H_
