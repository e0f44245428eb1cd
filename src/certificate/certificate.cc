#include "certificate/certificate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>

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

double LargestMagnitude(std::span<const double> x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

// An upper bound on 1/2 theta' q + the risk, the table's error taken at its worst everywhere.
double PrimalBound(const Risk& risk, const Expanded& at, std::span<const double> theta, double magnitude,
                   double bias, double table_error) {
  double regularizer = 0;
  double weight = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    regularizer += theta[m] * (at.quadratics[m] + table_error * magnitude * magnitude);
    weight += theta[m];
  }
  const double output_error = weight * table_error * magnitude;
  double losses = 0;
  for (std::size_t i = 0; i < risk.y.size(); ++i) {
    const double f = at.outputs[i] + bias;
    // The loss is convex in f, so on an interval it is largest at an end.
    losses += risk.C[i] * std::max(risk.loss->Value(f - output_error, risk.y[i]),
                                   risk.loss->Value(f + output_error, risk.y[i]));
  }
  const double bias_term = risk.bias_slope * bias;
  return 0.5 * regularizer + losses + bias_term +
         kRounding * (std::abs(regularizer) + losses + std::abs(bias_term) +
                      magnitude * LargestMagnitude(at.outputs));
}

// A lower bound on L - 1/2 ||q||_p*; where 0 is feasible scaled by the best factor s in [0, 1], which gives at
// least s L - s^2/2 ||q||_p*, L being concave.
double DualBound(const Risk& risk, const LpNorm& norm, const Expanded& at, std::span<const double> beta,
                 double bias, double table_error) {
  const double magnitude = SumOfMagnitudes(beta);
  std::vector<double> q = at.quadratics;
  for (double& value : q) value += table_error * magnitude * magnitude;
  const double linear = risk.Dual(beta);
  const double quadratic = norm.Dual(q);
  const double largest_output = LargestMagnitude(at.outputs);
  double bound = linear - 0.5 * quadratic;
  if (risk.bias_slope == 0 && linear < quadratic) bound = 0.5 * std::max(linear, 0.0) * (linear / quadratic);
  const double sum = std::accumulate(beta.begin(), beta.end(), 0.0);
  const double imbalance =
      risk.has_bias ? std::abs(sum - risk.bias_slope) * (1 + std::abs(bias) + largest_output) : 0;
  return bound - kRounding * (std::abs(linear) + quadratic + magnitude * largest_output) - imbalance;
}

Certificate NothingKnown(Certificate certificate) {
  certificate.primal = certificate.gap = certificate.relative_gap = kInfinity;
  certificate.dual = -kInfinity;
  return certificate;
}

}  // namespace

double RelativeGap(double primal, double dual) {
  if (!std::isfinite(primal - dual)) return kInfinity;
  const double scale = std::max({std::abs(primal), std::abs(dual), std::numeric_limits<double>::min()});
  return std::max(primal - dual, 0.0) / scale;
}

Certificate Certify(Gram& gram, const Risk& risk, double norm, std::span<const double> theta,
                    std::span<const double> beta, std::span<const double> dual_beta) {
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
  certificate.bias = risk.BestBias(primal_side.outputs);
  certificate.primal =
      PrimalBound(risk, primal_side, weights, SumOfMagnitudes(beta), certificate.bias, table_error);

  std::vector<double> feasible(dual_beta.begin(), dual_beta.end());
  risk.MakeFeasible(feasible);
  const bool is_same = std::equal(feasible.begin(), feasible.end(), beta.begin(), beta.end());
  const Expanded dual_side = is_same ? primal_side : Evaluate(gram, weights, feasible);
  certificate.dual = DualBound(risk, constraint, dual_side, feasible, certificate.bias, table_error);
  if (risk.bias_slope == 0) certificate.dual = std::max(certificate.dual, 0.0);  // beta = 0

  certificate.quadratics = std::move(primal_side.quadratics);
  certificate.outputs = std::move(primal_side.outputs);
  if (!std::isfinite(certificate.primal) || !std::isfinite(certificate.dual)) {
    return NothingKnown(std::move(certificate));
  }
  certificate.gap = std::max(certificate.primal - certificate.dual, 0.0);
  certificate.relative_gap = RelativeGap(certificate.primal, certificate.dual);
  return certificate;
}

}  // namespace kweave
