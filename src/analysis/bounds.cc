#include "kweave/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kweave/error.h"
#include "model/json.h"
#include "regularizer/norms.h"

namespace kweave {
namespace {

// From here on sqrt(P*), which is infinite at P = 1, is within 16 % of its limit.
constexpr double kLargestPlotted = 4;

void RequireBlockNorm(std::span<const double> part_norms, double block_norm, double largest) {
  if (part_norms.empty())
    throw Error(ErrorKind::kUsage, "a bound needs the parts of a function, but there are none");
  if (!(block_norm >= 1 && block_norm <= largest)) {
    throw Error(ErrorKind::kUsage, fmt::format("block-norm is {}, expected 1 to {}", block_norm, largest));
  }
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

double PartNorm(double weight, double quadratic) { return weight * std::sqrt(std::max(quadratic, 0.0)); }

}  // namespace

std::vector<double> PartNorms(const Summary& summary) {
  const bool has_machines = !summary.machines.empty() && !summary.machines.front().quadratics.empty();
  std::vector<double> norms;
  for (std::size_t m = 0; m < summary.kernels.size(); ++m) {
    if (!has_machines) {
      norms.push_back(PartNorm(summary.kernels[m].weight, summary.kernels[m].quadratic));
      continue;
    }
    std::vector<double> own;
    for (const MachineReport& machine : summary.machines) {
      own.push_back(PartNorm(machine.weights[m], machine.quadratics[m]));
    }
    norms.push_back(Median(std::move(own)));
  }
  // What is not reported has next to no weight.
  if (norms.size() < static_cast<std::size_t>(summary.kernels_total))
    norms.resize(summary.kernels_total, 0.0);
  return norms;
}

// With s = t*, sqrt(s) M^(1/s) falls up to s = 2 log M and rises from there.
double GlobalBoundFactor(std::span<const double> part_norms, double block_norm) {
  RequireBlockNorm(part_norms, block_norm, std::numeric_limits<double>::infinity());
  const double log_count = std::log(static_cast<double>(part_norms.size()));
  const double s = std::clamp(2 * log_count, 1.0, ConjugateExponent(block_norm));
  return std::sqrt(s) * std::exp(log_count / s) * PositiveNorm(part_norms, block_norm);
}

// s M^(1/s) falls up to s = log M.
double LocalBoundFactor(std::span<const double> part_norms, double block_norm, double eigenvalue_decay) {
  RequireBlockNorm(part_norms, block_norm, 2);
  if (!(eigenvalue_decay > 0)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the decay of the eigenvalues is {}, expected above 0", eigenvalue_decay));
  }
  const double log_count = std::log(static_cast<double>(part_norms.size()));
  const double exponent = 2 / (1 + eigenvalue_decay);
  const double s = std::clamp(log_count, 2.0, ConjugateExponent(block_norm));
  return std::pow(s * PositiveNorm(part_norms, block_norm), exponent) *
         std::exp(log_count * (1 + exponent * (1 / s - 1)));
}

BoundCurve GlobalBoundCurve(std::span<const double> part_norms, std::size_t points) {
  if (points < 2)
    throw Error(ErrorKind::kUsage, fmt::format("a curve of {} points, expected 2 or more", points));
  BoundCurve curve;
  for (std::size_t k = 0; k < points; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(points - 1);
    curve.block_norm.push_back(1 + share * (kLargestPlotted - 1));
    curve.factor.push_back(GlobalBoundFactor(part_norms, curve.block_norm.back()));
  }
  const auto best = std::min_element(curve.factor.begin(), curve.factor.end());
  curve.best_block_norm = curve.block_norm[static_cast<std::size_t>(best - curve.factor.begin())];
  return curve;
}

std::string BoundCurve::ToText() const {
  // With the heading and the numbers in front within a terminal of 24 lines of 80 characters.
  constexpr std::size_t kRows = 16;
  constexpr double kWidth = 50;
  const double largest = *std::max_element(factor.begin(), factor.end());
  std::string text = fmt::format("bound factor by block norm P, smallest at {:.3g}\n", best_block_norm);
  const std::size_t step = std::max<std::size_t>(1, (factor.size() - 1) / (kRows - 1));
  for (std::size_t k = 0; k < factor.size(); k += step) {
    const auto length = static_cast<int>(largest > 0 ? kWidth * factor[k] / largest : 0);
    text += fmt::format("{:>6.3g}  {:>10.4g}  {:#<{}}\n", block_norm[k], factor[k], "", length);
  }
  return text;
}

std::string BoundCurve::ToJson() const {
  const Json json = {{"block_norm", block_norm}, {"factor", factor}, {"best_block_norm", best_block_norm}};
  return json.dump(2);
}

}  // namespace kweave
