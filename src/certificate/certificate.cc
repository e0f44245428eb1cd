#include "certificate/certificate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
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

// The loss is convex in f, so on an interval it is largest at an end.
double LossesAtWorst(const Risk& risk, std::span<const double> outputs, double bias, double output_error) {
  double losses = 0;
  for (std::size_t i = 0; i < risk.y.size(); ++i) {
    const double f = outputs[i] + bias;
    losses += risk.C[i] * std::max(risk.loss->Value(f - output_error, risk.y[i]),
                                   risk.loss->Value(f + output_error, risk.y[i]));
  }
  return losses;
}

// An upper bound on the regulariser + the risk, the table's error taken at its worst everywhere.
double PrimalBound(const Risk& risk, const Regularizer& regularizer, const Measurement& at,
                   std::span<const double> theta, double magnitude, double bias, double table_error) {
  const double regularization = regularizer.Primal(theta, LargestQuadratics(at, magnitude, table_error));
  const double weight = SumOfMagnitudes(theta);
  const double output_error = weight * table_error * magnitude;
  const double losses = LossesAtWorst(risk, at.outputs, bias, output_error);
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

Certificate Unknown(std::span<const double> theta, std::span<const double> beta) {
  Certificate certificate;
  certificate.quadratics.assign(theta.size(), 0);
  certificate.outputs.assign(beta.size(), 0);
  return NothingKnown(std::move(certificate));
}

// Both bounds, from what was measured.
Certificate Judge(const Risk& risk, const Regularizer& regularizer, std::span<const double> beta,
                  double table_error, bounds::Answer& answer) {
  Certificate certificate;
  Measurement& primal_side = answer.primal_side();
  const Measurement& dual_side = answer.dual_side();
  certificate.bias = risk.BestBias(primal_side.outputs);
  certificate.primal = PrimalBound(risk, regularizer, primal_side, answer.weights, SumOfMagnitudes(beta),
                                   certificate.bias, table_error);
  if (!AllFinite(primal_side.quadratics) || !AllFinite(dual_side.quadratics)) {
    return Unknown(answer.weights, beta);
  }
  certificate.dual = DualBound(risk, regularizer, dual_side, answer.feasible, certificate.bias, table_error);
  if (risk.bias_slope == 0) certificate.dual = std::max(certificate.dual, 0.0);  // beta = 0
  return bounds::Finish(std::move(certificate), primal_side);
}

// The risks of several machines on the same samples; vectors hold machine after machine.
struct StackedRisk {
  std::span<const Risk> parts;

  template <class T>
  std::span<T> Part(std::span<T> values, std::size_t k) const {
    const std::size_t size = parts[k].y.size();
    return values.subspan(k * size, size);
  }
  void MakeFeasible(std::span<double> beta) const {
    for (std::size_t k = 0; k < parts.size(); ++k) parts[k].MakeFeasible(Part(beta, k));
  }
};

}  // namespace

double RelativeGap(double primal, double dual) {
  if (!std::isfinite(primal - dual)) return kInfinity;
  const double scale = std::max({std::abs(primal), std::abs(dual), std::numeric_limits<double>::min()});
  return std::max(primal - dual, 0.0) / scale;
}

Certificate Certify(Gram& gram, const Risk& risk, const Regularizer& regularizer,
                    std::span<const double> theta, std::span<const double> beta,
                    std::span<const double> dual_beta) {
  if (!AllFinite(theta) || !AllFinite(beta) || !AllFinite(dual_beta)) return Unknown(theta, beta);
  bounds::Answer answer = bounds::Measure(gram, risk, regularizer, theta, beta, dual_beta);
  return Judge(risk, regularizer, beta, gram.TableError(), answer);
}

std::vector<Certificate> CertifyAll(Gram& gram, std::span<const JudgedMachine> machines) {
  std::vector<Certificate> certificates(machines.size());
  std::vector<bounds::Answer> answers(machines.size());
  std::vector<std::span<const double>> thetas, vectors;
  std::vector<std::size_t> owners;  // of the vectors
  for (std::size_t k = 0; k < machines.size(); ++k) {
    const JudgedMachine& machine = machines[k];
    if (!AllFinite(machine.theta) || !AllFinite(machine.beta) || !AllFinite(machine.dual_beta)) {
      certificates[k] = Unknown(machine.theta, machine.beta);
      continue;
    }
    answers[k] = bounds::MakeAnswer(*machine.risk, *machine.regularizer, machine.theta, machine.dual_beta);
    for (const std::span<const double> a : bounds::VectorsOf(answers[k], machine.beta)) {
      thetas.push_back(answers[k].weights);
      vectors.push_back(a);
      owners.push_back(k);
    }
  }
  std::vector<Measurement> measured = gram.MeasureEach(thetas, vectors);
  for (std::size_t v = 0; v < owners.size(); ++v)
    answers[owners[v]].measured.push_back(std::move(measured[v]));
  for (std::size_t k = 0; k < machines.size(); ++k) {
    if (answers[k].measured.empty()) continue;
    certificates[k] =
        Judge(*machines[k].risk, *machines[k].regularizer, machines[k].beta, gram.TableError(), answers[k]);
  }
  return certificates;
}

Certificate CertifyCommon(Gram& gram, std::span<const Risk> risks, const Regularizer& regularizer,
                          std::span<const double> theta, std::span<const double> beta,
                          std::span<const double> dual_beta) {
  if (!AllFinite(theta) || !AllFinite(beta) || !AllFinite(dual_beta)) return Unknown(theta, beta);
  const StackedRisk stacked{risks};
  bounds::Answer answer = bounds::Measure(gram, stacked, regularizer, theta, beta, dual_beta);
  Measurement& primal_side = answer.primal_side();
  const Measurement& dual_side = answer.dual_side();
  for (const Measurement& side : answer.measured) {
    if (!AllFinite(side.outputs) || !AllFinite(side.quadratics)) return Unknown(theta, beta);
  }
  const double table_error = gram.TableError();
  const double magnitude = SumOfMagnitudes(beta), dual_magnitude = SumOfMagnitudes(answer.feasible);
  const double output_error = SumOfMagnitudes(answer.weights) * table_error * magnitude;
  const double regularization =
      regularizer.Primal(answer.weights, LargestQuadratics(primal_side, magnitude, table_error));
  const double largest_output = LargestMagnitude(dual_side.outputs);
  Certificate certificate;
  double losses = 0, linear = 0, imbalance = 0;
  for (std::size_t k = 0; k < risks.size(); ++k) {
    const std::span<const double> outputs = stacked.Part(std::span<const double>(primal_side.outputs), k);
    const std::span<const double> feasible = stacked.Part(std::span<const double>(answer.feasible), k);
    const double bias = risks[k].BestBias(outputs);
    certificate.biases.push_back(bias);
    losses += LossesAtWorst(risks[k], outputs, bias, output_error);
    linear += risks[k].Dual(feasible);
    const double sum = std::accumulate(feasible.begin(), feasible.end(), 0.0);
    if (risks[k].has_bias) imbalance += std::abs(sum) * (1 + std::abs(bias) + largest_output);
  }
  certificate.primal =
      regularization + losses +
      kRounding * (std::abs(regularization) + losses + magnitude * LargestMagnitude(primal_side.outputs));
  const double bound =
      LowerBound(regularizer, linear, LargestQuadratics(dual_side, dual_magnitude, table_error), true);
  const double subtracted = std::abs(linear) + std::abs(linear - bound);
  certificate.dual =
      std::max(bound - kRounding * (subtracted + dual_magnitude * largest_output) - imbalance, 0.0);
  return bounds::Finish(std::move(certificate), primal_side);
}

}  // namespace kweave
