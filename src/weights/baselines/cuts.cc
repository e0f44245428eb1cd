#include "weights/baselines/cuts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/dot.h"

namespace kweave {

namespace {

// It bounds memory to so many vectors of n + M values, and the Newton steps over the mixtures to a matrix of
// that size.
constexpr std::size_t kMostCuts = 120;
// Of the newest cut in the mixture to start from: any start does, one with all cuts in it soonest.
constexpr double kShareOfNew = 0.1;
// Of the gap: the errors of cuts, which come from solves, are no smaller.
constexpr double kPrecision = 1e-2;

}  // namespace

double Cuts::PrecisionFor(double relative_gap) { return ModelPrecision(kPrecision, relative_gap); }

void Cuts::Add(const Evaluation& at, std::vector<double>& mixture) {
  if (linear_.empty()) {
    unit_ = std::max({std::abs(at.primal), std::abs(at.linear), std::numeric_limits<double>::min()});
  }
  if (mixture.size() == kMostCuts) {
    const auto least = std::min_element(mixture.begin(), mixture.end());
    const std::ptrdiff_t offset = least - mixture.begin();
    linear_.erase(linear_.begin() + offset);
    quadratics_.erase(quadratics_.begin() + offset);
    betas_.erase(betas_.begin() + offset);
    mixture.erase(least);
  }
  linear_.push_back(at.linear / unit_);
  quadratics_.push_back(at.quadratics);
  for (double& value : quadratics_.back()) value = std::max(value, 0.0) / unit_;
  betas_.push_back(at.beta);
  double sum = 0;
  for (const double share : mixture) sum += share;
  for (double& share : mixture) share *= (1 - kShareOfNew) / sum;
  mixture.push_back(sum > 0 ? kShareOfNew : 1);
}

void Cuts::Quadratics(std::span<const double> w, std::span<double> q) const {
  std::fill(q.begin(), q.end(), 0.0);
  for (std::size_t t = 0; t < w.size(); ++t) {
    for (std::size_t m = 0; m < q.size(); ++m) q[m] += w[t] * quadratics_[t][m];
  }
}

std::vector<double> Cuts::Slopes(std::span<const double>) const {
  std::vector<double> slopes;
  for (const std::vector<double>& q : quadratics_) slopes.insert(slopes.end(), q.begin(), q.end());
  return slopes;
}

std::vector<double> Cuts::Mix(std::span<const double> w) const {
  std::vector<double> beta(betas_.front().size(), 0.0);
  for (std::size_t t = 0; t < w.size(); ++t) {
    for (std::size_t i = 0; i < beta.size(); ++i) beta[i] += w[t] * betas_[t][i];
  }
  return beta;
}

double Cuts::Highest(std::span<const double> theta) const {
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < size(); ++t) {
    highest = std::max(highest, linear_[t] - 0.5 * Dot(theta, quadratics_[t]));
  }
  return highest;
}

}  // namespace kweave
