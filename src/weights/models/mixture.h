// Solves     max over w >= 0, sum w = 1 of  l' w - R*(q(w)),  concave: the best of the mixtures of T dual
//            points.
// Method     Newton steps: the second derivative of R* in the few directions dq/dw_t by differences of the
//            best response, the quadratic program over the simplex by weights/models/hull_saddle.h, the
//            length of a step by the slope along it.
// Takes and  a regulariser with a smooth dual term, and how q depends on w: a straight line through the
//            quadratics of single
// returns    points (cutting planes), or the quadratics of the mixed point itself (a curved bundle).
// Holds      every value is that of a feasible w; no other w is better by more than the precision.
// Costs      per step 2 T best responses and what q and its slopes cost; T is tens.
#ifndef KWEAVE_WEIGHTS_MODELS_MIXTURE_H_
#define KWEAVE_WEIGHTS_MODELS_MIXTURE_H_

#include <algorithm>
#include <span>
#include <vector>

#include "regularizer/regularizer.h"

namespace kweave {

/// What a model of the objective may keep of vectors, and of their products: little beside a cache of rows.
inline constexpr std::size_t kMostModelBytes = std::size_t{32} << 20;

/// Dual points t = 0..T-1 by what a mixture of them says of the kernels. Values are in units of `unit()`, so
/// that the objective is of order one.
class MixtureModel {
 public:
  virtual ~MixtureModel() = default;
  virtual double unit() const = 0;
  virtual std::span<const double> linear() const = 0;  ///< l
  virtual std::size_t kernels() const = 0;
  virtual void Quadratics(std::span<const double> w, std::span<double> q) const = 0;
  /// dq_m / dw_t at entry t M + m.
  virtual std::vector<double> Slopes(std::span<const double> w) const = 0;
  /// Adds 1/2 sum_m theta_m d^2 q_m / dw^2 over the kernels of every group g to the T x T matrix number g. No
  /// groups: one matrix for all.
  virtual void AddCurvature(std::span<const double> theta, std::span<const int> groups,
                            std::span<double> matrices) const = 0;
};

/// Of the minimum of a model, relative: this share of the gap, within what rounding leaves and what a first,
/// coarse model is good for.
inline double ModelPrecision(double share, double relative_gap) {
  return std::clamp(share * relative_gap, 1e-11, 1e-5);
}

/// Added to the matrix of a Newton step over mixtures, relative to its diagonal, one after the other until
/// there is a solution: betas that are all but alike make it singular.
inline constexpr double kMixtureRidges[] = {1e-13, 1e-10, 1e-7, 1e-4, 1e-1};

struct MixturePoint {
  std::vector<double> w;
  std::vector<double> quadratics;  ///< q(w)
  std::vector<double> theta;       ///< the best response to it
  double linear = 0;               ///< l' w
  double value = 0;                ///< of the objective
  double error = 0;                ///< what another w may be better by
};

/// The best response to q, in units of the model.
std::vector<double> Response(const Regularizer& regularizer, const MixtureModel& model,
                             std::span<const double> q);
/// d theta_m / dw_t at entry t M + m, theta the best response to q(w), by differences of it along the slopes
/// of q.
std::vector<double> ResponseSlopes(const Regularizer& regularizer, const MixtureModel& model,
                                   std::span<const double> q, std::span<const double> slopes);

/// From `start`, a w. The precision is absolute.
MixturePoint SolveMixture(const Regularizer& regularizer, const MixtureModel& model,
                          std::span<const double> start, double precision);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_MIXTURE_H_
