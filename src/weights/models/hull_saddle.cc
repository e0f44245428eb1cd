#include "weights/models/hull_saddle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "base/constants.h"
#include "base/dot.h"
#include "compute/cpu/cholesky.h"

namespace kweave {

namespace {

constexpr double kRelativeRidge = 1e-14;   // on the diagonal of the normal equations
constexpr double kUsablePrecision = 1e-5;  // where rounding ends the search early
constexpr double kShortestStep = 1e-10;    // below it rounding is all that moves

double LargestStep(std::span<const double> x, std::span<const double> dx, double most) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (dx[i] < 0) most = std::min(most, -x[i] / dx[i]);
  }
  return most;
}

void Add(double factor, std::span<const double> x, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * x[i];
}

// (x + length dx)' (y + length dy).
double ProductAfter(std::span<const double> x, std::span<const double> y, std::span<const double> dx,
                    std::span<const double> dy, double length) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] + length * dx[i]) * (y[i] + length * dy[i]);
  return sum;
}

double LargestMagnitude(std::span<const double> x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

// theta with its multipliers nu and mu, slack = upper - theta with zeta, w with sigma and eta.
struct Point {
  std::vector<double> theta, nu, slack, zeta, w, sigma;
  double mu = 0;
  double eta = 0;
};

class InteriorPoints {
 public:
  explicit InteriorPoints(const HullProblem& problem)
      : problem_(problem),
        T_(problem.l.size()),
        K_(problem.B.size() / (T_ * T_)),
        is_bounded_(!problem.upper.empty()),
        normal_((T_ + 1) * (T_ + 1)),
        weight_(K_) {
    at_.theta = is_bounded_ ? problem.upper : std::vector<double>(K_, 1.0);
    Normalize(at_.theta);
    if (is_bounded_) {
      at_.zeta.assign(K_, 1.0);
      for (std::size_t m = 0; m < K_; ++m) at_.slack.push_back(problem.upper[m] - at_.theta[m]);
    }
    at_.nu.assign(K_, 1.0);
    at_.w.assign(T_, 1.0 / static_cast<double>(T_));
    at_.sigma.assign(T_, 1.0);
  }

  HullPoint Run(double precision) {
    Point best;
    double best_error = std::numeric_limits<double>::infinity();
    for (int step = 0; step < kMostNewtonSteps; ++step) {
      FillResiduals();
      const double error =
          std::max({Complementarity(), LargestMagnitude(theta_residual_), LargestMagnitude(w_residual_),
                    std::abs(theta_sum_residual_), std::abs(w_sum_residual_)});
      if (!std::isfinite(error)) break;
      if (error < best_error) {
        best_error = error;
        best = at_;
      }
      if (error <= precision || !Step()) break;
    }
    if (!(best_error <= std::max(kUsablePrecision, precision))) return {};
    Normalize(best.theta);
    Normalize(best.w);
    if (is_bounded_) CutAtUpper(best.theta);
    return {std::move(best.theta), std::move(best.w), best.mu};
  }

 private:
  static void Normalize(std::vector<double>& x) {
    const double total = std::accumulate(x.begin(), x.end(), 0.0);
    for (double& value : x) value /= total;
  }

  // What is cut off, which is rounding, goes to where there is room.
  void CutAtUpper(std::vector<double>& theta) const {
    double cut = 0;
    double room = 0;
    for (std::size_t m = 0; m < K_; ++m) {
      cut += std::max(theta[m] - problem_.upper[m], 0.0);
      theta[m] = std::min(theta[m], problem_.upper[m]);
      room += problem_.upper[m] - theta[m];
    }
    for (std::size_t m = 0; m < K_; ++m) theta[m] += cut / room * (problem_.upper[m] - theta[m]);
  }

  // Sum of theta_m nu_m, slack_m zeta_m and w_t sigma_t: how far the value can be from the best.
  double Complementarity() const {
    return Dot(at_.theta, at_.nu) + Dot(at_.slack, at_.zeta) + Dot(at_.w, at_.sigma);
  }
  double Mean() const { return Complementarity() / static_cast<double>(K_ + at_.slack.size() + T_); }

  std::span<const double> Responses(std::size_t m) const {
    return std::span<const double>(responses_).subspan(m * T_, T_);
  }

  void FillResiduals() {
    responses_.assign(K_ * T_, 0.0);
    curvature_.assign(T_ * T_, 0.0);
    theta_residual_.resize(K_);
    w_residual_.resize(T_);
    for (std::size_t t = 0; t < T_; ++t) w_residual_[t] = problem_.l[t] + at_.sigma[t] - at_.eta;
    for (std::size_t m = 0; m < K_; ++m) {
      const std::span<const double> matrix =
          std::span<const double>(problem_.B).subspan(m * T_ * T_, T_ * T_);
      Add(at_.theta[m], matrix, curvature_);
      for (std::size_t t = 0; t < T_; ++t) responses_[m * T_ + t] = Dot(matrix.subspan(t * T_, T_), at_.w);
      theta_residual_[m] = at_.mu + at_.nu[m] + 0.5 * Dot(Responses(m), at_.w);
      if (is_bounded_) theta_residual_[m] -= at_.zeta[m];
      if (problem_.rho > 0)
        theta_residual_[m] -= problem_.rho * problem_.d[m] * (at_.theta[m] - problem_.c[m]);
      Add(-at_.theta[m], Responses(m), w_residual_);
    }
    theta_sum_residual_ = 1 - std::accumulate(at_.theta.begin(), at_.theta.end(), 0.0);
    w_sum_residual_ = 1 - std::accumulate(at_.w.begin(), at_.w.end(), 0.0);
  }

  bool FactorNormalEquations() {
    const std::size_t size = T_ + 1;
    std::fill(normal_.begin(), normal_.end(), 0.0);
    for (std::size_t t = 0; t < T_; ++t) {
      for (std::size_t r = 0; r <= t; ++r) normal_[t * size + r] = curvature_[t * T_ + r];
      normal_[t * size + t] += at_.sigma[t] / at_.w[t];
    }
    for (std::size_t m = 0; m < K_; ++m) {
      weight_[m] = 1 / ((problem_.rho > 0 ? problem_.rho * problem_.d[m] : 0.0) + at_.nu[m] / at_.theta[m] +
                        (is_bounded_ ? at_.zeta[m] / at_.slack[m] : 0.0));
      const std::span<const double> g = Responses(m);
      for (std::size_t t = 0; t < T_; ++t) {
        const double scaled = weight_[m] * g[t];
        for (std::size_t r = 0; r <= t; ++r) normal_[t * size + r] += scaled * g[r];
        normal_[T_ * size + t] += scaled;
      }
      normal_[T_ * size + T_] += weight_[m];
    }
    for (std::size_t t = 0; t < size; ++t) normal_[t * size + t] *= 1 + kRelativeRidge;
    return FactorCholesky(normal_, static_cast<int>(size));
  }

  void SolveNormalEquations(std::span<double> x) const {
    SolveLower(normal_, static_cast<int>(x.size()), x, 1);
    SolveUpper(normal_, static_cast<int>(x.size()), x, 1);
  }

  // The Newton step to complementarity products `target`, less the second-order terms of a first step.
  Point Direction(double target, const Point* first) const {
    std::vector<double> products(K_), upper_products(at_.slack.size()), w_products(T_);
    Point step;
    step.theta.resize(K_);
    std::vector<double> right(T_ + 1), border(T_ + 1, 1.0);
    for (std::size_t t = 0; t < T_; ++t) {
      w_products[t] = target - at_.w[t] * at_.sigma[t] - (first ? first->w[t] * first->sigma[t] : 0.0);
      right[t] = w_residual_[t] + w_products[t] / at_.w[t];
    }
    right[T_] = theta_sum_residual_;
    for (std::size_t m = 0; m < K_; ++m) {
      products[m] = target - at_.theta[m] * at_.nu[m] - (first ? first->theta[m] * first->nu[m] : 0.0);
      double pushed = theta_residual_[m] + products[m] / at_.theta[m];
      if (is_bounded_) {
        upper_products[m] =
            target - at_.slack[m] * at_.zeta[m] - (first ? first->slack[m] * first->zeta[m] : 0.0);
        pushed -= upper_products[m] / at_.slack[m];
      }
      step.theta[m] = weight_[m] * pushed;
      for (std::size_t t = 0; t < T_; ++t) right[t] -= Responses(m)[t] * step.theta[m];
      right[T_] -= step.theta[m];
    }
    border[T_] = 0;
    const std::vector<double> ones = border;
    SolveNormalEquations(right);
    SolveNormalEquations(border);
    step.eta = (Dot(ones, right) - w_sum_residual_) / Dot(ones, border);
    Add(-step.eta, border, right);
    step.mu = right[T_];
    step.w.assign(right.begin(), right.end() - 1);
    step.nu.resize(K_);
    for (std::size_t m = 0; m < K_; ++m) {
      step.theta[m] += weight_[m] * (Dot(Responses(m), step.w) + step.mu);
      step.nu[m] = (products[m] - at_.nu[m] * step.theta[m]) / at_.theta[m];
    }
    for (std::size_t m = 0; m < upper_products.size(); ++m) {
      step.slack.push_back(-step.theta[m]);
      step.zeta.push_back((upper_products[m] + at_.zeta[m] * step.theta[m]) / at_.slack[m]);
    }
    step.sigma.resize(T_);
    for (std::size_t t = 0; t < T_; ++t) {
      step.sigma[t] = (w_products[t] - at_.sigma[t] * step.w[t]) / at_.w[t];
    }
    return step;
  }

  double LargestLength(const Point& step) const {
    double most = LargestStep(at_.theta, step.theta, 1 / kToBoundary);
    most = LargestStep(at_.nu, step.nu, most);
    most = LargestStep(at_.slack, step.slack, most);
    most = LargestStep(at_.zeta, step.zeta, most);
    most = LargestStep(at_.w, step.w, most);
    return LargestStep(at_.sigma, step.sigma, most);
  }

  bool Step() {
    if (!FactorNormalEquations()) return false;
    const Point first = Direction(0, nullptr);
    const double far = LargestLength(first);
    const double reached = ProductAfter(at_.theta, at_.nu, first.theta, first.nu, far) +
                           ProductAfter(at_.slack, at_.zeta, first.slack, first.zeta, far) +
                           ProductAfter(at_.w, at_.sigma, first.w, first.sigma, far);
    const double ratio = std::max(reached, 0.0) / Complementarity();
    const Point step = Direction(std::min(ratio * ratio * ratio, 1.0) * Mean(), &first);
    const double length = std::min(1.0, kToBoundary * LargestLength(step));
    Add(length, step.theta, at_.theta);
    Add(length, step.nu, at_.nu);
    Add(length, step.slack, at_.slack);
    Add(length, step.zeta, at_.zeta);
    Add(length, step.w, at_.w);
    Add(length, step.sigma, at_.sigma);
    at_.mu += length * step.mu;
    at_.eta += length * step.eta;
    return length > kShortestStep;
  }

  const HullProblem& problem_;
  const std::size_t T_, K_;
  const bool is_bounded_;
  std::vector<double> responses_;  // B_m w, K x T
  std::vector<double> curvature_;  // sum_m theta_m B_m
  std::vector<double> normal_;     // of w and the sum of theta, factored
  std::vector<double> weight_;     // 1 / (rho d + nu / theta + zeta / slack)
  Point at_;
  std::vector<double> theta_residual_, w_residual_;
  double theta_sum_residual_ = 0;
  double w_sum_residual_ = 0;
};

}  // namespace

HullPoint SolveHull(const HullProblem& problem, double precision) {
  return InteriorPoints(problem).Run(precision);
}

}  // namespace kweave
