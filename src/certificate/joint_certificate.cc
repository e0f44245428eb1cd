#include "certificate/joint_certificate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>

namespace kweave {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();

std::size_t Offset(Index i) { return static_cast<std::size_t>(i); }

bool AllFinite(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

double SumOfMagnitudes(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += std::abs(value);
  return sum;
}

double LargestMagnitude(std::span<const double> x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
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

// At their worst, given the error of the table.
std::vector<double> LargestQuadratics(const Expanded& at, double magnitude, double table_error) {
  std::vector<double> q = at.quadratics;
  for (double& value : q) value += table_error * magnitude * magnitude;
  return q;
}

// Tables are off by at most their error in every output of a unit beta: the loss is taken at the smallest margin.
double PrimalBound(const JointRisk& risk, const Regularizer& regularizer, const Expanded& at,
                   std::span<const double> theta, std::span<const double> beta,
                   std::span<const double> biases, double table_error) {
  const double magnitude = SumOfMagnitudes(beta);
  const double regularization = regularizer.Primal(theta, LargestQuadratics(at, magnitude, table_error));
  const double weight = SumOfMagnitudes(theta);
  double losses = 0;
  for (Index i = 0; i < risk.samples(); ++i) {
    const double margin = risk.Margin(i, at.outputs, biases, weight * table_error * magnitude);
    losses += risk.C[Offset(i)] * risk.loss->Value(margin, 1);
  }
  return regularization + losses +
         kRounding * (std::abs(regularization) + losses + magnitude * LargestMagnitude(at.outputs));
}

// What sums over the samples of a class, which should be zero, and over the classes of a sample are off by.
double Imbalance(const JointRisk& risk, std::span<const double> beta) {
  double total = 0;
  for (Index u = 0; u < risk.classes && risk.has_bias; ++u) {
    double sum = 0;
    for (Index i = 0; i < risk.samples(); ++i) sum += beta[risk.At(i, u)];
    total += std::abs(sum);
  }
  for (Index i = 0; i < risk.samples(); ++i) {
    double sum = 0;
    for (Index u = 0; u < risk.classes; ++u) sum += beta[risk.At(i, u)];
    total += std::abs(sum);
  }
  return total;
}

// A lower bound on L - R*(q), the table's error taken at its worst.
double DualBound(const JointRisk& risk, const Regularizer& regularizer, const Expanded& at,
                 std::span<const double> beta, std::span<const double> biases, double table_error) {
  const double magnitude = SumOfMagnitudes(beta);
  const double linear = risk.Dual(beta);
  const double bound = LowerBound(regularizer, linear, LargestQuadratics(at, magnitude, table_error), true);
  const double scale = 1 + LargestMagnitude(biases) + LargestMagnitude(at.outputs);
  const double subtracted = std::abs(linear) + std::abs(linear - bound);
  return bound - kRounding * (subtracted + magnitude * scale) - Imbalance(risk, beta) * scale;
}

Certificate NothingKnown(Certificate certificate) {
  certificate.primal = certificate.gap = certificate.relative_gap = kInfinity;
  certificate.dual = -kInfinity;
  return certificate;
}

}  // namespace

Certificate CertifyJoint(Gram& gram, const JointRisk& risk, const Regularizer& regularizer,
                         std::span<const double> theta, std::span<const double> beta,
                         std::span<const double> dual_beta) {
  Certificate certificate;
  certificate.quadratics.assign(theta.size(), 0);
  certificate.outputs.assign(beta.size(), 0);
  certificate.biases.assign(Offset(risk.classes), 0);
  if (!AllFinite(theta) || !AllFinite(beta) || !AllFinite(dual_beta))
    return NothingKnown(std::move(certificate));

  std::vector<double> weights(theta.begin(), theta.end());
  regularizer.MakeFeasible(weights);
  const double table_error = gram.TableError();
  Expanded primal_side = Evaluate(gram, weights, beta);
  if (!AllFinite(primal_side.outputs)) return NothingKnown(std::move(certificate));
  certificate.biases = risk.BiasesFor(beta, primal_side.outputs);
  certificate.primal =
      PrimalBound(risk, regularizer, primal_side, weights, beta, certificate.biases, table_error);

  std::vector<double> feasible(dual_beta.begin(), dual_beta.end());
  risk.MakeFeasible(feasible);
  const bool is_same = std::equal(feasible.begin(), feasible.end(), beta.begin(), beta.end());
  const Expanded dual_side = is_same ? primal_side : Evaluate(gram, weights, feasible);
  if (!AllFinite(primal_side.quadratics) || !AllFinite(dual_side.quadratics)) {
    return NothingKnown(std::move(certificate));
  }
  certificate.dual =
      std::max(DualBound(risk, regularizer, dual_side, feasible, certificate.biases, table_error), 0.0);

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
