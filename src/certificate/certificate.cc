#include "certificate/certificate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "certificate/bounds.h"

namespace kweave {

namespace {

using bounds::AllFinite;
using bounds::kInfinity;
using bounds::kRounding;
using bounds::LargestMagnitude;
using bounds::LargestQuadratics;
using bounds::NothingKnown;
using bounds::SumOfMagnitudes;

// An upper bound on the regulariser + the risk, the table's error taken at its worst everywhere.
double PrimalBound(const Risk& risk, const Regularizer& regularizer, const Measurement& at,
                   std::span<const double> theta, double magnitude, double bias, double table_error) {
  const double regularization = regularizer.Primal(theta, LargestQuadratics(at, magnitude, table_error));
  const double weight = SumOfMagnitudes(theta);
  const double output_error = weight * table_error * magnitude;
  double losses = 0;
  for (std::size_t i = 0; i < risk.y.size(); ++i) {
    const double f = at.outputs[i] + bias;
    // The loss is convex in f, so on an interval it is largest at an end.
    losses += risk.C[i] * std::max(risk.loss->Value(f - output_error, risk.y[i]),
                                   risk.loss->Value(f + output_error, risk.y[i]));
  }
  const double bias_term = risk.bias_slope * bias;
  return regularization + losses + bias_term +
         kRounding * (std::abs(regularization) + losses + std::abs(bias_term) +
                      magnitude * LargestMagnitude(at.outputs));
}

// A lower bound on L - R*(q), the table's error taken at its worst.
double DualBound(const Risk& risk, const Regularizer& regularizer, const Measurement& at,
                 std::span<const double> beta, double bias, double table_error) {
  const double magnitude = SumOfMagnitudes(beta);
  const double linear = risk.Dual(beta);
  const double bound =
      LowerBound(regularizer, linear, LargestQuadratics(at, magnitude, table_error), risk.bias_slope == 0);
  const double largest_output = LargestMagnitude(at.outputs);
  const double sum = std::accumulate(beta.begin(), beta.end(), 0.0);
  const double imbalance =
      risk.has_bias ? std::abs(sum - risk.bias_slope) * (1 + std::abs(bias) + largest_output) : 0;
  // What is subtracted from L is no larger than it where the bound is not negative.
  const double subtracted = std::abs(linear) + std::abs(linear - bound);
  return bound - kRounding * (subtracted + magnitude * largest_output) - imbalance;
}

}  // namespace

double RelativeGap(double primal, double dual) {
  if (!std::isfinite(primal - dual)) return kInfinity;
  const double scale = std::max({std::abs(primal), std::abs(dual), std::numeric_limits<double>::min()});
  return std::max(primal - dual, 0.0) / scale;
}

Certificate Certify(Gram& gram, const Risk& risk, const Regularizer& regularizer,
                    std::span<const double> theta, std::span<const double> beta,
                    std::span<const double> dual_beta) {
  Certificate certificate;
  certificate.quadratics.assign(theta.size(), 0);
  certificate.outputs.assign(beta.size(), 0);
  if (!AllFinite(theta) || !AllFinite(beta) || !AllFinite(dual_beta))
    return NothingKnown(std::move(certificate));

  const double table_error = gram.TableError();
  bounds::Answer answer = bounds::Measure(gram, risk, regularizer, theta, beta, dual_beta);
  Measurement& primal_side = answer.primal_side();
  const Measurement& dual_side = answer.dual_side();
  certificate.bias = risk.BestBias(primal_side.outputs);
  certificate.primal = PrimalBound(risk, regularizer, primal_side, answer.weights, SumOfMagnitudes(beta),
                                   certificate.bias, table_error);

  if (!AllFinite(primal_side.quadratics) || !AllFinite(dual_side.quadratics)) {
    return NothingKnown(std::move(certificate));
  }
  certificate.dual = DualBound(risk, regularizer, dual_side, answer.feasible, certificate.bias, table_error);
  if (risk.bias_slope == 0) certificate.dual = std::max(certificate.dual, 0.0);  // beta = 0

  return bounds::Finish(std::move(certificate), primal_side);
}

}  // namespace kweave
