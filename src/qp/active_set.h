// The variables a solver still moves, packed so that its loops run over neighbours in memory.
#ifndef KWEAVE_QP_ACTIVE_SET_H_
#define KWEAVE_QP_ACTIVE_SET_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "compute/cpu/smo_loops.h"
#include "qp/dual_problem.h"
#include "qp/solver.h"

namespace kweave {

/// The curvature of a step along which a matrix has none, relative to its largest diagonal: tau of the paper
/// of qp/smo.h. A matrix in other units is the same matrix; normalised kernels are of order 1.
inline constexpr double kLeastStepCurvature = 1e-12;

/// Which way a variable may move.
inline float SideOf(double beta, double lower, double upper) {
  if (beta < upper) return beta > lower ? side::kFree : side::kAtLower;
  return beta > lower ? side::kAtUpper : side::kFixed;
}

class ActiveSet {
 public:
  ActiveSet(const DualProblem& problem, std::span<const double> diagonal)
      : problem_(problem), diagonal_of_all_(diagonal) {}

  /// All variables become active, with the values of `state`.
  void Fill(const SolverState& state);
  /// Only the variables at these positions, ascending, stay.
  void Keep(std::span<const Index> positions);
  /// Only the variables at these positions of `from`, ascending.
  void Select(const ActiveSet& from, std::span<const Index> positions);
  /// Writes beta and gradient of the active variables into `state`.
  void Save(SolverState& state) const;

  Index size() const { return static_cast<Index>(samples_.size()); }
  bool is_whole() const { return size() == problem_.size(); }
  const std::vector<std::int32_t>& samples() const { return samples_; }  ///< ascending
  Index sample(Index k) const { return samples_[Offset(k)]; }
  double beta(Index k) const { return beta_[Offset(k)]; }
  /// How far the variable may fall and grow before it meets a bound or leaves the smooth piece it is on; at a
  /// kink, of the piece on that side.
  double floor(Index k) const { return has_kinks() && beta(k) > 0 ? std::max(lower(k), 0.0) : lower(k); }
  double ceiling(Index k) const { return has_kinks() && beta(k) < 0 ? std::min(upper(k), 0.0) : upper(k); }
  double curvature(Index k) const {
    return problem_.curvature.empty() ? 0 : problem_.curvature[Offset(sample(k))];
  }
  /// The derivative of the objective when the variable grows, and when it falls.
  double up_gradient(Index k) const { return gradient_[Offset(k)] + (has_kinks() ? kinks_[Offset(k)] : 0); }
  double low_gradient(Index k) const { return gradient_[Offset(k)] - (has_kinks() ? kinks_[Offset(k)] : 0); }
  /// Keeps side, kink and the kink's part of the gradient in step with the value, which must be within the
  /// bounds. Only for variables whose row is at hand.
  void SetBeta(Index k, double beta);

  /// Tells which samples' rows are at hand; has_row is a function of the sample.
  template <class HasRow>
  void MarkRows(const HasRow& has_row) {
    has_all_rows_ = true;
    cached_sides_.resize(samples_.size());
    for (std::size_t k = 0; k < samples_.size(); ++k) {
      const bool is_cached = has_row(samples_[k]);
      cached_sides_[k] = is_cached ? sides_[k] : side::kFixed;
      has_all_rows_ = has_all_rows_ && is_cached;
    }
  }
  bool has_all_rows() const { return has_all_rows_; }

  /// Of the smooth piece that each variable is on; at a kink, the mean of those on both sides.
  double* gradient() { return gradient_.data(); }
  const double* gradient() const { return gradient_.data(); }
  const double* diagonal() const { return diagonal_.data(); }
  /// The curvature of a step along which the matrix has none.
  double least_curvature() const { return least_curvature_; }
  const float* sides() const { return sides_.data(); }
  /// Half the jump of the gradient where the variable is now; null when the problem has no kinks.
  const double* kinks() const { return has_kinks() ? kinks_.data() : nullptr; }
  /// As sides(), but fixed where the row is not at hand.
  const float* cached_sides() const { return cached_sides_.data(); }

 private:
  static std::size_t Offset(Index k) { return static_cast<std::size_t>(k); }
  bool has_kinks() const { return !problem_.kink.empty(); }
  double lower(Index k) const { return problem_.lower[Offset(sample(k))]; }
  double upper(Index k) const { return problem_.upper[Offset(sample(k))]; }
  float SideAt(Index k) const { return SideOf(beta(k), lower(k), upper(k)); }
  double KinkSlope(Index k) const;
  void PlaceKink(Index k);

  const DualProblem& problem_;
  std::span<const double> diagonal_of_all_;
  // One value per active variable, in the order of the samples.
  std::vector<std::int32_t> samples_;
  std::vector<double> beta_;
  AlignedVector<double> gradient_;
  AlignedVector<double> diagonal_;
  double least_curvature_ = 0;
  AlignedVector<double> kinks_;
  AlignedVector<float> sides_;
  AlignedVector<float> cached_sides_;
  bool has_all_rows_ = false;
};

}  // namespace kweave

#endif  // KWEAVE_QP_ACTIVE_SET_H_
