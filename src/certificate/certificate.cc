#include "certificate/certificate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>

#include "loss/hinge.h"
#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();

bool AllFinite(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

double SumOfMagnitudes(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += std::abs(value);
  return sum;
}

// Clips into the boxes, then scales the heavier sign down until sum beta = 0.
std::vector<double> FeasibleBeta(const Loss& loss, std::span<const double> beta, std::span<const double> y,
                                 std::span<const double> upper) {
  std::vector<double> feasible(beta.size());
  double positive = 0;
  double negative = 0;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const Interval box = loss.Feasible(y[i], upper[i]);
    feasible[i] = std::clamp(beta[i], box.lower, box.upper);
    (feasible[i] > 0 ? positive : negative) += std::abs(feasible[i]);
  }
  const double balance = std::min(positive, negative);
  // Rounding alone is left to the slack, so that a solver's own feasible point stays what it is.
  if (std::abs(positive - negative) <= kRounding * (positive + negative)) return feasible;
  for (double& value : feasible) value *= balance / (value > 0 ? positive : negative);
  return feasible;
}

struct Expanded {
  std::vector<double> quadratics;
  std::vector<double> outputs;
};

Expanded Evaluate(Gram& gram, std::span<const double> theta, std::span<const double> beta) {
  Expanded result{std::vector<double>(theta.size()), std::vector<double>(beta.size())};
  const std::unique_ptr<Expansion> expansion = gram.Expand(beta);
  expansion->Quadratics(result.quadratics);
  expansion->Outputs(theta, result.outputs);
  return result;
}

// An upper bound on 1/2 theta' q + sum C loss(f + b), the table's error taken at its worst everywhere.
double PrimalBound(const Loss& loss, const Expanded& at, std::span<const double> y,
                   std::span<const double> upper, std::span<const double> theta, double magnitude,
                   double bias, double table_error) {
  double regularizer = 0;
  double weight = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    regularizer += theta[m] * (at.quadratics[m] + table_error * magnitude * magnitude);
    weight += theta[m];
  }
  const double output_error = weight * table_error * magnitude;
  double losses = 0;
  double largest_output = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double f = at.outputs[i] + bias;
    // The loss is convex in f, so on an interval it is largest at an end.
    losses += upper[i] * std::max(loss.Value(f - output_error, y[i]), loss.Value(f + output_error, y[i]));
    largest_output = std::max(largest_output, std::abs(at.outputs[i]));
  }
  return 0.5 * regularizer + losses +
         kRounding * (std::abs(regularizer) + losses + magnitude * largest_output);
}

// A lower bound on L - 1/2 ||q||_p*, scaled by the best factor in [0, 1]: s L - s^2/2 ||q||_p*.
double DualBound(const Loss& loss, const LpNorm& norm, const Expanded& at, std::span<const double> beta,
                 std::span<const double> y, std::span<const double> upper, double bias, double table_error) {
  const double magnitude = SumOfMagnitudes(beta);
  std::vector<double> q = at.quadratics;
  for (double& value : q) value += table_error * magnitude * magnitude;
  double linear = 0;
  double sum = 0;
  double largest_output = 0;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    linear += loss.Dual(beta[i], y[i], upper[i]);
    sum += beta[i];
    largest_output = std::max(largest_output, std::abs(at.outputs[i]));
  }
  const double quadratic = norm.Dual(q);
  const double bound = linear < quadratic ? 0.5 * linear * (linear / quadratic) : linear - 0.5 * quadratic;
  const double imbalance = std::abs(sum) * (1 + std::abs(bias) + largest_output);
  return bound - kRounding * (linear + quadratic + magnitude * largest_output) - imbalance;
}

Certificate NothingKnown(Certificate certificate) {
  certificate.primal = certificate.gap = certificate.relative_gap = kInfinity;
  certificate.dual = 0;  // alpha = 0
  return certificate;
}

}  // namespace

Certificate CertifyHinge(Gram& gram, std::span<const double> y, std::span<const double> upper, double norm,
                         std::span<const double> theta, std::span<const double> beta,
                         std::span<const double> dual_beta) {
  const HingeLoss loss;
  const LpNorm constraint(norm);
  Certificate certificate;
  certificate.quadratics.assign(theta.size(), 0);
  certificate.outputs.assign(beta.size(), 0);
  if (!AllFinite(theta) || !AllFinite(beta) || !AllFinite(dual_beta))
    return NothingKnown(std::move(certificate));

  std::vector<double> weights(theta.begin(), theta.end());
  constraint.MakeFeasible(weights);
  const double table_error = gram.TableError();

  Expanded primal_side = Evaluate(gram, weights, beta);
  certificate.bias = loss.BestBias(primal_side.outputs, y, upper);
  certificate.primal =
      PrimalBound(loss, primal_side, y, upper, weights, SumOfMagnitudes(beta), certificate.bias, table_error);

  const std::vector<double> feasible = FeasibleBeta(loss, dual_beta, y, upper);
  const bool is_same = std::equal(feasible.begin(), feasible.end(), beta.begin(), beta.end());
  const Expanded dual_side = is_same ? primal_side : Evaluate(gram, weights, feasible);
  certificate.dual =
      DualBound(loss, constraint, dual_side, feasible, y, upper, certificate.bias, table_error);
  certificate.dual = std::max(certificate.dual, 0.0);  // alpha = 0

  certificate.quadratics = std::move(primal_side.quadratics);
  certificate.outputs = std::move(primal_side.outputs);
  if (!std::isfinite(certificate.primal) || !std::isfinite(certificate.dual)) {
    return NothingKnown(std::move(certificate));
  }
  certificate.gap = std::max(certificate.primal - certificate.dual, 0.0);
  const double scale =
      std::max({std::abs(certificate.primal), certificate.dual, std::numeric_limits<double>::min()});
  certificate.relative_gap = certificate.gap / scale;
  return certificate;
}

}  // namespace kweave
