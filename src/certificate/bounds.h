// What certificates of machines with one output and with several have in common.
#ifndef KWEAVE_CERTIFICATE_BOUNDS_H_
#define KWEAVE_CERTIFICATE_BOUNDS_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "certificate/certificate.h"
#include "gram/gram.h"

namespace kweave::bounds {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Relative, of a sum of products.
inline constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();

inline bool AllFinite(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

inline double LargestMagnitude(std::span<const double> x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

/// At their worst, given the error of the table.
inline std::vector<double> LargestQuadratics(const Measurement& at, double magnitude, double table_error) {
  std::vector<double> q = at.quadratics;
  for (double& value : q) value += table_error * magnitude * magnitude;
  return q;
}

inline Certificate NothingKnown(Certificate certificate) {
  certificate.primal = certificate.gap = certificate.relative_gap = kInfinity;
  certificate.dual = -kInfinity;
  return certificate;
}

/// The answer to be judged, made feasible, and what the kernels say about it.
struct Answer {
  std::vector<double> weights, feasible;  ///< theta and the dual point
  std::vector<Measurement> measured;
  Measurement& primal_side() { return measured.front(); }
  const Measurement& dual_side() const { return measured.back(); }
};

/// Nothing is measured yet.
template <class AnyRisk>
Answer MakeAnswer(const AnyRisk& risk, const Regularizer& regularizer, std::span<const double> theta,
                  std::span<const double> dual_beta) {
  Answer answer{{theta.begin(), theta.end()}, {dual_beta.begin(), dual_beta.end()}, {}};
  regularizer.MakeFeasible(answer.weights);
  risk.MakeFeasible(answer.feasible);
  return answer;
}

/// What must be measured: one vector where both sides have the same.
inline std::vector<std::span<const double>> VectorsOf(const Answer& answer, std::span<const double> beta) {
  std::vector<std::span<const double>> vectors = {beta};
  if (!std::equal(answer.feasible.begin(), answer.feasible.end(), beta.begin(), beta.end())) {
    vectors.push_back(answer.feasible);
  }
  return vectors;
}

template <class AnyRisk>
Answer Measure(Gram& gram, const AnyRisk& risk, const Regularizer& regularizer, std::span<const double> theta,
               std::span<const double> beta, std::span<const double> dual_beta) {
  Answer answer = MakeAnswer(risk, regularizer, theta, dual_beta);
  answer.measured = gram.Measure(answer.weights, VectorsOf(answer, beta));
  return answer;
}

/// Fills in the gap of both bounds and takes over what was measured for the primal.
inline Certificate Finish(Certificate certificate, Measurement& primal_side) {
  certificate.quadratics = std::move(primal_side.quadratics);
  certificate.outputs = std::move(primal_side.outputs);
  if (!std::isfinite(certificate.primal) || !std::isfinite(certificate.dual)) {
    return NothingKnown(std::move(certificate));
  }
  certificate.gap = std::max(certificate.primal - certificate.dual, 0.0);
  certificate.relative_gap = RelativeGap(certificate.primal, certificate.dual);
  return certificate;
}

}  // namespace kweave::bounds

#endif  // KWEAVE_CERTIFICATE_BOUNDS_H_
