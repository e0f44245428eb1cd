#include "regularizer/regularizer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "base/golden_sections.h"
#include "kweave/error.h"

namespace kweave {

double Regularizer::Evaluate(std::span<const double>, std::span<double> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  return 0;
}

double Regularizer::Primal(std::span<const double> theta, std::span<const double> q) const {
  double product = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) product += theta[m] * q[m];
  return 0.5 * product + Value(theta);
}

double Regularizer::LeastValue(std::size_t kernels) const {
  return dual_degree() > 0 ? 0 : 0 - DualTerm(std::vector<double>(kernels, 0.0));
}

void Regularizer::AnalyticUpdate(std::span<const double>, std::span<const double>, std::span<double>) const {
  throw Error(ErrorKind::kUsage, Name() + " has no analytic update");
}

void Regularizer::Project(std::span<double>, std::span<const double>) const {
  throw Error(ErrorKind::kUsage, Name() + " has no projection");
}

namespace {

// Where s linear - R*(s^2 q) is largest over s in [0, 1]; R*(s^2 q) is convex in s, as R is a function of
// norms.
double ScaleByGoldenSections(const Regularizer& regularizer, double linear, std::span<const double> q) {
  constexpr int kSections = 60;  // 0.618^60 is below 1e-12
  std::vector<double> scaled(q.size());
  const auto loss_at = [&](double s) {
    for (std::size_t m = 0; m < q.size(); ++m) scaled[m] = s * s * q[m];
    return regularizer.DualTerm(scaled) - s * linear;
  };
  return SmallestByGoldenSections(0, 1, kSections, loss_at);
}

// s linear - R*(s^2 q).
double BoundAt(const Regularizer& regularizer, double linear, std::span<const double> q, double s) {
  std::vector<double> scaled(q.begin(), q.end());
  for (double& value : scaled) value *= s * s;
  return s * linear - regularizer.DualTerm(scaled);
}

}  // namespace

double BestScale(const Regularizer& regularizer, double linear, std::span<const double> q) {
  if (!(linear > 0)) return 0;
  const double term = regularizer.DualTerm(q);
  const double degree = regularizer.dual_degree();
  if (degree != 0) return linear >= degree * term ? 1 : std::pow(linear / (degree * term), 1 / (degree - 1));
  const double inside = ScaleByGoldenSections(regularizer, linear, q);
  return BoundAt(regularizer, linear, q, inside) > linear - term ? inside : 1;
}

void FillByQuadratics(const LinearWeights& weights, std::span<const double> q, std::span<double> theta) {
  std::vector<std::size_t> order(q.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return q[a] > q[b]; });
  std::copy(weights.lower.begin(), weights.lower.end(), theta.begin());
  double left = weights.total - std::accumulate(theta.begin(), theta.end(), 0.0);
  for (const std::size_t m : order) {
    if (left <= 0 || q[m] <= 0) break;
    const double given = std::min(weights.upper[m] - weights.lower[m], left);
    theta[m] += given;
    left -= given;
  }
}

void GiveOut(const LinearWeights& weights, double freed, std::span<double> theta) {
  std::vector<double> room(theta.size(), 0.0);
  for (std::size_t m = 0; m < theta.size(); ++m) {
    if (theta[m] > weights.lower[m])
      room[m] = std::max(std::min(weights.upper[m], weights.total) - theta[m], 0.0);
  }
  const double all = std::accumulate(room.begin(), room.end(), 0.0);
  if (!(all > 0)) return;
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] += std::min(freed / all, 1.0) * room[m];
}

double LowerBound(const Regularizer& regularizer, double linear, std::span<const double> q, bool may_scale) {
  const double term = regularizer.DualTerm(q);
  const double whole = linear - term;
  if (!may_scale) return whole;
  const double least = regularizer.LeastValue(q.size());
  if (!(linear > 0)) return std::max(whole, least);
  const double degree = regularizer.dual_degree();
  if (degree != 0 && linear >= degree * term) return whole;
  const double share = BestScale(regularizer, linear, q);
  if (degree == 0) return std::max(BoundAt(regularizer, linear, q, share), least);
  return (1 - 1 / degree) * share * linear;
}

}  // namespace kweave
