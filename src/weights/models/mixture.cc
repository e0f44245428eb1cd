#include "weights/models/mixture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/constants.h"
#include "base/dot.h"
#include "qp/line_search.h"
#include "weights/models/hull_saddle.h"

namespace kweave {

namespace {

constexpr double kDifference = 1e-7;  // relative, of q: a little above the root of rounding

// Interior points that end early need not sum to one, and a mixture must.
void Normalize(std::span<double> w) {
  double sum = 0;
  for (const double value : w) sum += value;
  for (double& value : w) value /= sum;
}

class NewtonOnSimplex {
 public:
  NewtonOnSimplex(const Regularizer& regularizer, const MixtureModel& model, double precision)
      : regularizer_(regularizer),
        model_(model),
        precision_(precision),
        T_(model.linear().size()),
        M_(model.kernels()) {}

  MixturePoint Run(std::span<const double> start) {
    MoveTo({start.begin(), start.end()});
    for (int k = 0; k < kMostNewtonSteps && at_.error > precision_; ++k) {
      const std::vector<double> target = Target();
      if (target.empty() || !StepTo(target)) break;
    }
    return std::move(at_);
  }

 private:
  double Value(double linear, std::span<const double> q) const {
    std::vector<double> raw(q.begin(), q.end());
    for (double& value : raw) value *= model_.unit();
    return linear - regularizer_.DualTerm(raw) / model_.unit();
  }

  // d/dw_t: l_t - 1/2 theta' dq/dw_t.
  std::vector<double> Gradient(std::span<const double> slopes, std::span<const double> theta) const {
    std::vector<double> gradient(T_);
    for (std::size_t t = 0; t < T_; ++t) {
      gradient[t] = model_.linear()[t] - 0.5 * Dot(theta, slopes.subspan(t * M_, M_));
    }
    return gradient;
  }

  void MoveTo(std::vector<double> w) {
    at_.w = std::move(w);
    at_.quadratics.resize(M_);
    model_.Quadratics(at_.w, at_.quadratics);
    at_.theta = Response(regularizer_, model_, at_.quadratics);
    at_.linear = Dot(model_.linear(), at_.w);
    at_.value = Value(at_.linear, at_.quadratics);
    slopes_ = model_.Slopes(at_.w);
    gradient_ = Gradient(slopes_, at_.theta);
    // The objective is concave.
    at_.error = *std::max_element(gradient_.begin(), gradient_.end()) - Dot(gradient_, at_.w);
  }

  // Minus the second derivative.
  std::vector<double> Curvature() const {
    std::vector<double> matrix(T_ * T_, 0.0);
    model_.AddCurvature(at_.theta, {}, matrix);
    const std::vector<double> changes = ResponseSlopes(regularizer_, model_, at_.quadratics, slopes_);
    for (std::size_t s = 0; s < T_; ++s) {
      const auto change = std::span(changes).subspan(s * M_, M_);
      for (std::size_t t = 0; t < T_; ++t) {
        const double entry = 0.5 * Dot(change, std::span(slopes_).subspan(t * M_, M_));
        matrix[t * T_ + s] += 0.5 * entry;
        matrix[s * T_ + t] += 0.5 * entry;
      }
    }
    return matrix;
  }

  // The best w of the quadratic model.
  std::vector<double> Target() const {
    const std::vector<double> curvature = Curvature();
    double trace = 0;
    for (std::size_t t = 0; t < T_; ++t) trace += std::abs(curvature[t * T_ + t]);
    const auto [least, most] = std::minmax_element(gradient_.begin(), gradient_.end());
    // Scaled to order one, which leaves the best w the same.
    const double scale = 1 / std::max(trace, *most - *least);
    if (!std::isfinite(scale)) return {};
    for (const double ridge : kMixtureRidges) {
      HullProblem problem;
      problem.B = curvature;
      for (std::size_t t = 0; t < T_; ++t) problem.B[t * T_ + t] += ridge * trace;
      for (double& value : problem.B) value *= scale;
      problem.l.resize(T_);
      for (std::size_t t = 0; t < T_; ++t) {
        problem.l[t] = scale * (gradient_[t] - *most) + Dot(std::span(problem.B).subspan(t * T_, T_), at_.w);
      }
      HullPoint point = SolveHull(problem, std::min(1e-8, 0.1 * scale * precision_));
      if (point.theta.empty()) continue;
      Normalize(point.w);
      if (Rise(point.w) > 0) return std::move(point.w);
    }
    return {};
  }

  double Rise(std::span<const double> w) const { return Dot(gradient_, w) - Dot(gradient_, at_.w); }

  bool StepTo(const std::vector<double>& target) {
    const MixturePoint before = at_;
    const double slope_start = -Rise(target);
    const auto mixed = [&](double share) {
      std::vector<double> w = before.w;
      for (std::size_t t = 0; t < T_; ++t) w[t] += share * (target[t] - before.w[t]);
      return w;
    };
    const auto slope_at = [&](double share) {
      MoveTo(mixed(share));
      double slope = 0;
      for (std::size_t t = 0; t < T_; ++t) slope -= gradient_[t] * (target[t] - before.w[t]);
      return slope;
    };
    const double slope_end = slope_at(1);
    if (slope_end > kFlatSlope * -slope_start) {
      const auto is_flat = [&](double slope) { return std::abs(slope) <= kFlatSlope * -slope_start; };
      MoveTo(mixed(FindFlat(slope_at, {0, 1, slope_start, slope_end}, is_flat)));
    }
    if (at_.value >= before.value) return at_.value > before.value || at_.error < before.error;
    at_ = before;  // rounding is all that is left
    return false;
  }

  const Regularizer& regularizer_;
  const MixtureModel& model_;
  const double precision_;
  const std::size_t T_, M_;
  MixturePoint at_;
  std::vector<double> slopes_, gradient_;
};

}  // namespace

std::vector<double> Response(const Regularizer& regularizer, const MixtureModel& model,
                             std::span<const double> q) {
  std::vector<double> raw(q.begin(), q.end()), theta(q.size());
  for (double& value : raw) value *= model.unit();
  regularizer.BestResponse(raw, theta);
  return theta;
}

std::vector<double> ResponseSlopes(const Regularizer& regularizer, const MixtureModel& model,
                                   std::span<const double> q, std::span<const double> slopes) {
  const std::size_t M = q.size();
  std::vector<double> changes(slopes.size(), 0.0), near(M);
  const double size = std::sqrt(Dot(q, q));
  for (std::size_t first = 0; first < slopes.size(); first += M) {
    const auto slope = slopes.subspan(first, M);
    const double length = std::sqrt(Dot(slope, slope));
    if (!(length > 0)) continue;
    const double step = kDifference * size / length;
    const auto response_at = [&](double way) {
      for (std::size_t m = 0; m < M; ++m) near[m] = q[m] + way * slope[m];
      return Response(regularizer, model, near);
    };
    const std::vector<double> above = response_at(step), below = response_at(-step);
    for (std::size_t m = 0; m < M; ++m) changes[first + m] = (above[m] - below[m]) / (2 * step);
  }
  return changes;
}

MixturePoint SolveMixture(const Regularizer& regularizer, const MixtureModel& model,
                          std::span<const double> start, double precision) {
  return NewtonOnSimplex(regularizer, model, precision).Run(start);
}

}  // namespace kweave
