#include "certificate/joint_certificate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/constants.h"
#include "base/dot.h"
#include "base/offset.h"
#include "certificate/bounds.h"

namespace kweave {

namespace {

using bounds::AllFinite;
using bounds::LargestMagnitude;
using bounds::LargestQuadratics;
using bounds::NothingKnown;

void Scale(double factor, std::span<double> values) {
  for (double& value : values) value *= factor;
}

// Tables are off by at most their error in every output of a unit beta: the loss is taken at the worst
// margin.
double PrimalBound(const JointRisk& risk, const Regularizer& regularizer, const VectorAnswer& at,
                   std::span<const double> theta, std::span<const double> beta,
                   std::span<const double> biases, const GramShape& kernels) {
  const double magnitude = SumOfMagnitudes(beta);
  const double regularization = regularizer.Primal(theta, LargestQuadratics(at, magnitude, kernels));
  const double output_error = kernels.value_error(theta) * magnitude;
  double losses = 0;
  for (Index i = 0; i < risk.samples(); ++i) {
    losses += risk.LossOf(i, risk.Margin(i, at.outputs, biases, output_error));
  }
  return regularization + losses +
         kSumRounding * (std::abs(regularization) + losses + magnitude * LargestMagnitude(at.outputs));
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

// A lower bound on L - R*(q), the table's error taken at its worst, and what it is made of.
double JudgeDual(const JointRisk& risk, const Regularizer& regularizer, const VectorAnswer& at,
                 std::span<const double> beta, std::span<const double> biases, const GramShape& kernels,
                 std::vector<WeightCut>& cuts) {
  const double magnitude = SumOfMagnitudes(beta);
  const double linear = risk.Dual(beta);
  std::vector<double> quadratics = LargestQuadratics(at, magnitude, kernels);
  const double bound = LowerBound(regularizer, linear, quadratics, true);
  const double scale = 1 + LargestMagnitude(biases) + LargestMagnitude(at.outputs);
  const double subtracted = std::abs(linear) + std::abs(linear - bound);
  const double error = kSumRounding * (subtracted + magnitude * scale) + Imbalance(risk, beta) * scale;
  cuts.push_back({linear - error, std::move(quadratics)});
  return bound - error;
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

  bounds::Answer answer = bounds::Measure(gram, risk, regularizer, theta, beta, dual_beta);
  VectorAnswer& primal_side = answer.primal_side();
  for (const VectorAnswer& side : answer.measured) {
    if (!AllFinite(side.outputs) || !AllFinite(side.quadratics)) return NothingKnown(std::move(certificate));
  }
  certificate.biases = risk.BiasesFor(beta, primal_side.outputs);
  certificate.dual = std::max(JudgeDual(risk, regularizer, answer.dual_side(), answer.feasible,
                                        certificate.biases, gram.shape(), certificate.cuts),
                              0.0);
  if (answer.measured.size() > 1 && bounds::IsFeasible(risk, beta)) {
    JudgeDual(risk, regularizer, primal_side, beta, certificate.biases, gram.shape(), certificate.cuts);
  }
  std::vector<double> scaled_beta(beta.begin(), beta.end());
  certificate.scale =
      risk.BestScale(risk.Margins(primal_side.outputs, certificate.biases), Dot(beta, primal_side.outputs));
  Scale(certificate.scale, scaled_beta);
  Scale(certificate.scale, certificate.biases);
  Scale(certificate.scale, primal_side.outputs);
  Scale(certificate.scale * certificate.scale, primal_side.quadratics);
  certificate.primal = PrimalBound(risk, regularizer, primal_side, answer.weights, scaled_beta,
                                   certificate.biases, gram.shape());
  return bounds::Finish(std::move(certificate), answer);
}

}  // namespace kweave
