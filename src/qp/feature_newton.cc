#include "qp/feature_newton.h"

#include <numeric>

#include "base/dot.h"
#include "compute/cpu/cholesky.h"
#include "qp/conjugate_gradients.h"

namespace kweave {

namespace {

constexpr double kForcing = 0.01;  // of the residual of conjugate gradients

}  // namespace

double FeatureNewton::Solve(std::span<const double> v, bool has_bias, std::span<const double> g,
                            std::span<double> d) {
  rows_.clear();
  weights_.clear();
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (!(v[i] > 0)) continue;
    rows_.push_back(static_cast<Index>(i));
    weights_.push_back(v[i]);
  }
  total_ = has_bias ? std::accumulate(weights_.begin(), weights_.end(), 0.0) : 0;
  mean_.assign(g.size(), 0.0);
  if (total_ > 0) {
    features_.MultiplyTransposed(v, mean_, pool_);
    for (double& value : mean_) value /= total_;
  }
  if (features_.columns() > most_to_factor_ || !SolveByFactor(g, d)) SolveByGradients(g, d);
  return total_ > 0 ? -Dot(mean_, d) : 0;
}

bool FeatureNewton::SolveByFactor(std::span<const double> g, std::span<double> d) {
  const std::size_t width = g.size();
  matrix_.assign(width * width, 0.0);
  features_.AddSelfProduct(rows_, weights_, matrix_, pool_);
  for (std::size_t a = 0; a < width; ++a) {
    for (std::size_t b = 0; b <= a; ++b) matrix_[a * width + b] -= total_ * mean_[a] * mean_[b];
    matrix_[a * width + a] += 1;
  }
  if (!FactorCholesky(matrix_, static_cast<int>(width))) return false;
  for (std::size_t k = 0; k < width; ++k) d[k] = -g[k];
  SolveLower(matrix_, static_cast<int>(width), d, 1);
  SolveUpper(matrix_, static_cast<int>(width), d, 1);
  return true;
}

void FeatureNewton::Multiply(std::span<const double> x, std::span<double> out) const {
  features_.MultiplyTwice(rows_, weights_, x, out, pool_);
  const double shared = total_ * Dot(mean_, x);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] += x[k] - shared * mean_[k];
}

void FeatureNewton::SolveByGradients(std::span<const double> g, std::span<double> d) {
  const std::size_t width = g.size();
  std::vector<double> diagonal(width), residual(width), scaled(width), along(width, 0.0), product(width);
  features_.SelfDiagonal(rows_, weights_, diagonal);
  for (std::size_t k = 0; k < width; ++k) {
    diagonal[k] = 1 + std::max(diagonal[k] - total_ * mean_[k] * mean_[k], 0.0);
    residual[k] = -g[k];
    d[k] = 0;
  }
  const double enough = kForcing * kForcing * Dot(g, g);
  double before = 1;
  for (Index step = 0; step < kMostConjugateSteps && Dot(residual, residual) > enough; ++step) {
    for (std::size_t k = 0; k < width; ++k) scaled[k] = residual[k] / diagonal[k];
    const double now = Dot(residual, scaled);
    for (std::size_t k = 0; k < width; ++k) along[k] = scaled[k] + (step == 0 ? 0 : now / before) * along[k];
    before = now;
    Multiply(along, product);
    const double length = now / Dot(along, product);
    for (std::size_t k = 0; k < width; ++k) {
      d[k] += length * along[k];
      residual[k] -= length * product[k];
    }
  }
}

}  // namespace kweave
