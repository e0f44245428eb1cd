#include "verify/plain_regularizers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kweave/error.h"
#include "verify/plain_losses.h"

namespace kweave::verify {
namespace {

double Conjugate(double r) { return r == 1 ? kInfinity : std::isinf(r) ? 1 : r / (r - 1); }

// p of ||theta||_p <= 1 that makes the block norm P <= 2.
double WeightExponent(double P) { return P == 2 ? kInfinity : P / (2 - P); }

std::vector<double> Roots(std::span<const double> q) {
  std::vector<double> roots;
  for (const double value : q) roots.push_back(std::sqrt(std::max(value, 0.0)));
  return roots;
}

double Form(std::span<const double> E, std::span<const double> x) {
  double sum = 0;
  for (std::size_t a = 0; a < x.size(); ++a) {
    for (std::size_t b = 0; b < x.size(); ++b) sum += x[a] * E[a * x.size() + b] * x[b];
  }
  return sum;
}

// The x >= lower that minimises 1/2 x' E x - c' x, E positive definite, by one coordinate after the other.
std::vector<double> MinimizeForm(std::span<const double> E, std::span<const double> c,
                                 std::span<const double> lower) {
  constexpr int kMostSweeps = 100000;   // a matrix of condition 1e4 needs some ten thousand
  constexpr double kPrecision = 1e-15;  // of the largest entry: what a sweep may still change
  const std::size_t count = c.size();
  std::vector<double> x(lower.begin(), lower.end());
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double change = 0, largest = 0;
    for (std::size_t a = 0; a < count; ++a) {
      double rest = c[a];
      for (std::size_t b = 0; b < count; ++b) rest -= b == a ? 0 : E[a * count + b] * x[b];
      const double next = std::max(rest / E[a * count + a], lower[a]);
      change = std::max(change, std::abs(next - x[a]));
      x[a] = next;
      largest = std::max(largest, std::abs(next));
    }
    if (change <= kPrecision * largest) break;
  }
  return x;
}

double Dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

double PlainNorm(std::span<const double> x, double r) {
  double largest = 0, sum = 0;
  for (const double value : x) largest = std::max(largest, value);
  if (largest == 0 || std::isinf(r)) return largest;
  for (const double value : x) sum += std::pow(std::max(value, 0.0) / largest, r);
  return largest * std::pow(sum, 1 / r);
}

PlainRegularizer::PlainRegularizer(const ModelRegularizer& description, std::size_t kernels)
    : about_(description), kernels_(kernels) {
  const std::string& form = about_.form;
  const bool is_known = form == "norm" || form == "block" || form == "weight-matrix" ||
                        form == "part-matrix" || form == "elastic" || form == "entropy";
  if (!is_known) throw Error(ErrorKind::kData, fmt::format("regulariser '{}' cannot be verified", form));
  if (form == "weight-matrix" || form == "part-matrix") matrix_ = about_.matrix.ToDense(kernels * kernels);
  const bool fits = (about_.groups.empty() || about_.groups.size() == kernels) &&
                    (about_.lower.empty() || about_.lower.size() == kernels) && about_.exponent >= 1 &&
                    about_.inner_exponent >= 1 &&
                    std::ranges::all_of(about_.groups, [](int g) { return g >= 0; });
  if (!fits) throw Error(ErrorKind::kData, "the model is damaged: its regulariser is of other kernels");
}

bool PlainRegularizer::IsMinimized() const {
  if (about_.form == "part-matrix") return false;
  return about_.form != "block" || (about_.exponent <= 2 && about_.inner_exponent <= 2);
}

// || (||x_g||_inner)_g ||_outer.
double PlainRegularizer::GroupNorm(std::span<const double> x, double inner, double outer) const {
  if (about_.groups.empty()) return PlainNorm(x, inner);  // one group, whose norm is that of the whole
  std::vector<std::vector<double>> parts(std::ranges::max(about_.groups) + 1);
  for (std::size_t m = 0; m < x.size(); ++m) parts[about_.groups[m]].push_back(x[m]);
  std::vector<double> norms;
  for (const auto& part : parts) norms.push_back(PlainNorm(part, inner));
  return PlainNorm(norms, outer);
}

// What is at most 1 under a constraint.
double PlainRegularizer::WeightNorm(std::span<const double> theta) const {
  if (about_.form == "block") {
    return GroupNorm(theta, WeightExponent(about_.inner_exponent), WeightExponent(about_.exponent));
  }
  if (about_.form == "weight-matrix") return std::sqrt(Form(matrix_, theta));
  if (about_.form == "elastic") {
    return (1 - about_.elastic) * PlainNorm(theta, 1) + about_.elastic * PlainNorm(theta, 2);
  }
  return PlainNorm(theta, about_.form == "entropy" ? 1 : about_.exponent);
}

double PlainRegularizer::Primal(std::span<const double> theta, std::span<const double> q) const {
  if (!IsMinimized()) {
    std::vector<double> u = Roots(q);
    for (std::size_t m = 0; m < u.size(); ++m) u[m] *= theta[m];
    if (about_.form == "block")
      return 0.5 * std::pow(GroupNorm(u, about_.inner_exponent, about_.exponent), 2);
    const std::vector<double> zero(kernels_, 0.0);
    return 0.5 * Form(matrix_, MinimizeForm(matrix_, zero, u));
  }
  double value = 0.5 * Dot(theta, q);
  if (about_.form == "entropy") {
    // Weights sum to 1 up to rounding: what is left of their differences from equal ones is what counts.
    const double sum = WeightNorm(theta);
    for (const double t : theta) {
      if (t > 0) value += about_.penalty * t / sum * std::log1p(t / sum * static_cast<double>(kernels_) - 1);
    }
  } else if (about_.penalty > 0) {
    const double norm = WeightNorm(theta);
    const bool is_linear = about_.form == "norm" && about_.exponent == 1;
    value += about_.penalty * (is_linear ? norm : 0.5 * norm * norm);
  }
  return value;
}

double PlainRegularizer::Violation(std::span<const double> theta) const {
  double worst = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    worst = std::max(worst, -theta[m]);
    if (!about_.lower.empty())
      worst = std::max({worst, about_.lower[m] - theta[m], theta[m] - about_.upper[m]});
  }
  if (!IsMinimized() || kernels_ == 0) return worst;
  if (about_.form == "entropy") return std::max(worst, std::abs(WeightNorm(theta) - 1));
  return about_.penalty > 0 ? worst : std::max(worst, WeightNorm(theta) - 1);
}

// For every lambda >= 0 the largest theta' q - lambda (sum theta^p - 1) within the bounds is an upper bound:
// the smallest of them. No weight is above 1 whatever p.
double PlainRegularizer::BoundedDual(std::span<const double> q) const {
  const double p = about_.exponent;
  const auto bound_at = [&](double lambda) {
    double sum = lambda;
    for (std::size_t m = 0; m < kernels_; ++m) {
      const double gain = std::max(q[m], 0.0), upper = std::min(about_.upper[m], 1.0);
      double theta = gain > lambda ? upper : about_.lower[m];  // p = 1
      if (p > 1) theta = lambda > 0 ? std::pow(gain / (lambda * p), 1 / (p - 1)) : upper;
      theta = std::clamp(theta, std::min(about_.lower[m], upper), upper);
      sum += theta * gain - (lambda > 0 ? lambda * std::pow(theta, p) : 0);
    }
    return sum;
  };
  double smallest = bound_at(0);
  if (std::isinf(p)) return smallest;
  for (std::size_t m = 0; m < kernels_ && p == 1; ++m)
    smallest = std::min(smallest, bound_at(std::max(q[m], 0.0)));
  if (p == 1 || smallest == 0) return smallest;
  constexpr double kRange = 60;  // of the logarithm of lambda around where it lies without bounds
  const double middle = std::log(PlainNorm(q, Conjugate(p)));
  return std::min(smallest, -LargestOnInterval(middle - kRange, middle + kRange,
                                               [&](double t) { return -bound_at(std::exp(t)); }));
}

double PlainRegularizer::DualTerm(std::span<const double> q) const {
  const std::string& form = about_.form;
  const double mu = about_.penalty;
  if (kernels_ == 0) return 0;
  if (form == "norm" && !about_.lower.empty()) return 0.5 * BoundedDual(q);
  if (form == "norm") {
    const double dual = PlainNorm(q, Conjugate(about_.exponent));
    if (mu == 0) return 0.5 * dual;
    if (about_.exponent == 1) return dual <= 2 * mu ? 0 : kInfinity;
    return dual * dual / (8 * mu);
  }
  if (form == "block") {
    const double norm = GroupNorm(Roots(q), Conjugate(about_.inner_exponent), Conjugate(about_.exponent));
    const double dual = 0.5 * norm * norm;
    return mu == 0 ? dual : dual * dual / (2 * mu);
  }
  if (form == "weight-matrix" || form == "part-matrix") {
    std::vector<double> c = Roots(q);
    if (form == "weight-matrix") {
      for (double& value : c) value *= value;
    }
    const std::vector<double> zero(kernels_, 0.0);
    const double product = std::max(Dot(c, MinimizeForm(matrix_, c, zero)), 0.0);
    return form == "weight-matrix" ? 0.5 * std::sqrt(product) : 0.5 * product;
  }
  if (form == "entropy") {
    double sum = 0;
    for (const double value : q) sum += std::expm1(std::max(value, 0.0) / (2 * mu));
    if (std::isfinite(sum)) return mu * std::log1p(sum / static_cast<double>(kernels_));
    const double largest = PlainNorm(q, kInfinity);
    sum = 0;
    for (const double value : q) sum += std::exp((std::max(value, 0.0) - largest) / (2 * mu));
    return 0.5 * largest + mu * std::log(sum / static_cast<double>(kernels_));
  }
  // Elastic: the dual norm is the smallest z with q = z ((1 - share) a + share b), |a| <= 1, ||b||_2 <= 1.
  double low = 0, high = PlainNorm(q, 2) / about_.elastic;
  for (int k = 0; k < 200; ++k) {
    const double z = 0.5 * (low + high);
    double rest = 0;
    for (const double value : q) rest += std::pow(std::max(value - z * (1 - about_.elastic), 0.0), 2);
    (std::sqrt(rest) > z * about_.elastic ? low : high) = z;
  }
  return 0.5 * high;
}

}  // namespace kweave::verify
