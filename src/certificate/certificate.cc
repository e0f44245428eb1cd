#include "certificate/certificate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "base/constants.h"
#include "base/dot.h"
#include "certificate/bounds.h"

namespace kweave {

namespace {

using bounds::AllFinite;
using bounds::LargestMagnitude;
using bounds::LargestQuadratics;
using bounds::NothingKnown;

// Of an objective of order one. An optimum that small is zero to the digits of data and kernels, and at the
// usual gaps of 1e-3 to 1e-6 what is left, 1e-9 to 1e-12, can still be told from rounding.
constexpr double kSmallObjective = 1e-6;

// How wrong outputs may be, by sample: by the error of kernel values, and more where they are not precise.
std::vector<double> OutputErrors(const VectorAnswer& at, std::span<const Index> precise, double error) {
  std::vector<double> errors(at.outputs.size(), error + at.rough_error);
  for (const Index i : precise) errors[static_cast<std::size_t>(i)] = error;
  return errors;
}

// The loss is convex in f, so on an interval it is largest at an end.
double LossesAtWorst(const Risk& risk, std::span<const double> outputs, double bias,
                     std::span<const double> output_errors) {
  double losses = 0;
  for (std::size_t i = 0; i < risk.y.size(); ++i) {
    const double f = outputs[i] + bias;
    losses += risk.C[i] * std::max(risk.loss->Value(f - output_errors[i], risk.y[i]),
                                   risk.loss->Value(f + output_errors[i], risk.y[i]));
  }
  return losses;
}

// Samples beyond those counted that may cost something: their outputs are not known well enough.
std::vector<Index> DoubtfulSamples(const Risk& risk, const VectorAnswer& at, std::span<const Index> counted) {
  std::vector<Index> doubtful;
  const double bias = risk.BestBias(at.outputs);
  for (std::size_t i = 0; i < at.outputs.size(); ++i) {
    const double f = at.outputs[i] + bias, error = 2 * at.rough_error;  // the bias may move as far
    if (risk.loss->Value(f - error, risk.y[i]) == 0 && risk.loss->Value(f + error, risk.y[i]) == 0) continue;
    if (!std::ranges::binary_search(counted, static_cast<Index>(i)))
      doubtful.push_back(static_cast<Index>(i));
  }
  return doubtful;
}

// Finds rough outputs again where they may matter, so that others cost nothing for sure. Returns the samples
// whose outputs are precise now.
std::vector<Index> Refine(Gram& gram, const JudgedMachine& machine, std::span<const double> theta,
                          VectorAnswer& at) {
  std::vector<Index> precise(machine.counted.begin(), machine.counted.end());
  if (at.rough_error == 0 || !AllFinite(at.outputs)) return precise;
  const std::vector<Index> doubtful = DoubtfulSamples(*machine.risk, at, machine.counted);
  const auto support = std::ranges::count_if(machine.beta, [](double b) { return b != 0; });
  if (static_cast<std::ptrdiff_t>(doubtful.size()) > support) {  // all of them cost less than these
    at = gram.Answer({.a = machine.beta, .theta = theta});
    return {};
  }
  const std::shared_ptr<const LearnedMatrix> learned = gram.Learn(theta);
  const double shift = learned->shift() * std::accumulate(machine.beta.begin(), machine.beta.end(), 0.0);
  const std::size_t samples = at.outputs.size();
  std::vector<double> rows(std::min<std::size_t>(kRowsPerCall, doubtful.size()) * samples);
  for (std::size_t first = 0; first < doubtful.size(); first += kRowsPerCall) {
    const auto some =
        std::span(doubtful).subspan(first, std::min<std::size_t>(kRowsPerCall, doubtful.size() - first));
    learned->Rows(some, rows.data(), static_cast<Index>(samples));
    for (std::size_t r = 0; r < some.size(); ++r) {
      const double* const row = rows.data() + r * samples;
      at.outputs[static_cast<std::size_t>(some[r])] =
          shift + std::inner_product(row, row + samples, machine.beta.begin(), 0.0);
    }
  }
  precise.insert(precise.end(), doubtful.begin(), doubtful.end());
  return precise;
}

// An upper bound on the regulariser + the risk, the errors of table and outputs taken at their worst
// everywhere.
double PrimalBound(const Risk& risk, const Regularizer& regularizer, const VectorAnswer& at,
                   std::span<const double> theta, double magnitude, double bias, const GramShape& kernels,
                   std::span<const Index> precise) {
  const double regularization = regularizer.Primal(theta, LargestQuadratics(at, magnitude, kernels));
  const double output_error = kernels.value_error(theta) * magnitude;
  const double losses = LossesAtWorst(risk, at.outputs, bias, OutputErrors(at, precise, output_error));
  const double bias_term = risk.bias_slope * bias;
  return regularization + losses + bias_term +
         kSumRounding * (std::abs(regularization) + losses + std::abs(bias_term) +
                         magnitude * (LargestMagnitude(at.outputs) + at.rough_error));
}

// A lower bound on L - R*(q), the table's error taken at its worst, and what it is made of.
struct DualSide {
  double bound;
  WeightCut cut;
};

DualSide JudgeDual(const Risk& risk, const Regularizer& regularizer, const VectorAnswer& at,
                   std::span<const double> beta, double bias, const GramShape& kernels) {
  const double magnitude = SumOfMagnitudes(beta);
  const double linear = risk.Dual(beta);
  const bool may_scale = risk.bias_slope == 0;
  std::vector<double> quadratics = LargestQuadratics(at, magnitude, kernels);
  const double bound = LowerBound(regularizer, linear, quadratics, may_scale);
  const double largest_output = LargestMagnitude(at.outputs) + at.rough_error;
  const double sum = std::accumulate(beta.begin(), beta.end(), 0.0);
  const double imbalance =
      risk.has_bias ? std::abs(sum - risk.bias_slope) * (risk.OutputUnit() + std::abs(bias) + largest_output)
                    : 0;
  // What is subtracted from L is no larger than it where the bound is not negative.
  const double subtracted = std::abs(linear) + std::abs(linear - bound);
  const double error = kSumRounding * (subtracted + magnitude * largest_output) + imbalance;
  return {bound - error, {linear - error, std::move(quadratics), may_scale}};
}

Certificate Unknown(std::span<const double> theta, std::span<const double> beta) {
  Certificate certificate;
  certificate.quadratics.assign(theta.size(), 0);
  certificate.outputs.assign(beta.size(), 0);
  return NothingKnown(std::move(certificate));
}

// Both bounds, from what was measured.
Certificate Judge(const Risk& risk, const Regularizer& regularizer, std::span<const double> beta,
                  const GramShape& kernels, bounds::Answer& answer, std::span<const Index> precise = {}) {
  Certificate certificate;
  VectorAnswer& primal_side = answer.primal_side();
  const VectorAnswer& dual_side = answer.dual_side();
  for (const VectorAnswer& side : answer.measured) {
    if (!AllFinite(side.outputs) || !AllFinite(side.quadratics)) return Unknown(answer.weights, beta);
  }
  certificate.bias = risk.BestBias(primal_side.outputs);
  certificate.primal = PrimalBound(risk, regularizer, primal_side, answer.weights, SumOfMagnitudes(beta),
                                   certificate.bias, kernels, precise);
  DualSide dual = JudgeDual(risk, regularizer, dual_side, answer.feasible, certificate.bias, kernels);
  certificate.dual = dual.bound;
  certificate.cuts.push_back(std::move(dual.cut));
  if (answer.measured.size() > 1 && bounds::IsFeasible(risk, beta)) {
    certificate.cuts.push_back(
        JudgeDual(risk, regularizer, primal_side, beta, certificate.bias, kernels).cut);
  }
  if (risk.bias_slope == 0)
    certificate.dual = std::max(certificate.dual, regularizer.LeastValue(answer.weights.size()));
  return bounds::Finish(std::move(certificate), answer, risk.least_size);
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

double LeastSize(Gram& gram, const Regularizer& regularizer) {
  const double cost = regularizer.DualTerm(gram.MeanDiagonals());
  return std::isfinite(cost) ? kSmallObjective * std::abs(cost) : 0;
}

Certificate Certify(Gram& gram, const Risk& risk, const Regularizer& regularizer,
                    std::span<const double> theta, std::span<const double> beta,
                    std::span<const double> dual_beta) {
  if (!AllFinite(theta) || !AllFinite(beta) || !AllFinite(dual_beta)) return Unknown(theta, beta);
  bounds::Answer answer = bounds::Measure(gram, risk, regularizer, theta, beta, dual_beta);
  return Judge(risk, regularizer, beta, gram.shape(), answer);
}

std::vector<Certificate> CertifyAll(Gram& gram, std::span<const JudgedMachine> machines) {
  std::vector<Certificate> certificates(machines.size());
  std::vector<bounds::Answer> answers(machines.size());
  std::vector<VectorRequest> requests;
  std::vector<std::size_t> owners;  // of the requests
  for (std::size_t k = 0; k < machines.size(); ++k) {
    const JudgedMachine& machine = machines[k];
    if (!AllFinite(machine.theta) || !AllFinite(machine.beta) || !AllFinite(machine.dual_beta)) {
      certificates[k] = Unknown(machine.theta, machine.beta);
      continue;
    }
    answers[k] = bounds::MakeAnswer(*machine.risk, *machine.regularizer, machine.theta, machine.dual_beta);
    const double rough_error = machine.counted.empty() ? 0 : kRoughOutput;
    for (VectorRequest& request : bounds::RequestsFor(answers[k], machine.beta)) {
      request.rough_error = rough_error;
      // Losses are those of beta; of another dual point only the size of outputs is asked.
      if (request.a.data() == machine.beta.data()) request.precise_at = machine.counted;
      requests.push_back(request);
      owners.push_back(k);
    }
  }
  std::vector<VectorAnswer> measured = gram.AnswerAll(requests);
  for (std::size_t v = 0; v < owners.size(); ++v)
    answers[owners[v]].measured.push_back(std::move(measured[v]));
  for (std::size_t k = 0; k < machines.size(); ++k) {
    if (answers[k].measured.empty()) continue;
    const std::vector<Index> precise =
        Refine(gram, machines[k], answers[k].weights, answers[k].primal_side());
    certificates[k] = Judge(*machines[k].risk, *machines[k].regularizer, machines[k].beta, gram.shape(),
                            answers[k], precise);
  }
  return certificates;
}

Certificate CertifyCommon(Gram& gram, std::span<const Risk> risks, const Regularizer& regularizer,
                          std::span<const double> theta, std::span<const double> beta,
                          std::span<const double> dual_beta) {
  if (!AllFinite(theta) || !AllFinite(beta) || !AllFinite(dual_beta)) return Unknown(theta, beta);
  const StackedRisk stacked{risks};
  bounds::Answer answer = bounds::Measure(gram, stacked, regularizer, theta, beta, dual_beta);
  VectorAnswer& primal_side = answer.primal_side();
  const VectorAnswer& dual_side = answer.dual_side();
  for (const VectorAnswer& side : answer.measured) {
    if (!AllFinite(side.outputs) || !AllFinite(side.quadratics)) return Unknown(theta, beta);
  }
  const GramShape& kernels = gram.shape();
  const double magnitude = SumOfMagnitudes(beta), dual_magnitude = SumOfMagnitudes(answer.feasible);
  const std::vector<double> output_errors(risks[0].y.size(), kernels.value_error(answer.weights) * magnitude);
  const double regularization =
      regularizer.Primal(answer.weights, LargestQuadratics(primal_side, magnitude, kernels));
  const double largest_output = LargestMagnitude(dual_side.outputs);
  Certificate certificate;
  double losses = 0, linear = 0, imbalance = 0;
  for (std::size_t k = 0; k < risks.size(); ++k) {
    const std::span<const double> outputs = stacked.Part(std::span<const double>(primal_side.outputs), k);
    const std::span<const double> feasible = stacked.Part(std::span<const double>(answer.feasible), k);
    const double bias = risks[k].BestBias(outputs);
    certificate.biases.push_back(bias);
    losses += LossesAtWorst(risks[k], outputs, bias, output_errors);
    linear += risks[k].Dual(feasible);
    const double sum = std::accumulate(feasible.begin(), feasible.end(), 0.0);
    if (risks[k].has_bias)
      imbalance += std::abs(sum) * (risks[k].OutputUnit() + std::abs(bias) + largest_output);
  }
  certificate.primal =
      regularization + losses +
      kSumRounding * (std::abs(regularization) + losses + magnitude * LargestMagnitude(primal_side.outputs));
  std::vector<double> quadratics = LargestQuadratics(dual_side, dual_magnitude, kernels);
  const double bound = LowerBound(regularizer, linear, quadratics, true);
  const double subtracted = std::abs(linear) + std::abs(linear - bound);
  const double error = kSumRounding * (subtracted + dual_magnitude * largest_output) + imbalance;
  certificate.dual = std::max(bound - error, 0.0);
  certificate.cuts.push_back({linear - error, std::move(quadratics)});
  return bounds::Finish(std::move(certificate), answer);
}

}  // namespace kweave
