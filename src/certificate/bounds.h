// What certificates of machines with one output and with several have in common.
#ifndef KWEAVE_CERTIFICATE_BOUNDS_H_
#define KWEAVE_CERTIFICATE_BOUNDS_H_

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/constants.h"
#include "certificate/certificate.h"
#include "gram/gram.h"

namespace kweave::bounds {

inline bool AllFinite(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

inline double LargestMagnitude(std::span<const double> x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

/// At their worst, given the errors of kernel values; `magnitude` is that of the vector.
inline std::vector<double> LargestQuadratics(const VectorAnswer& at, double magnitude,
                                             const GramShape& kernels) {
  std::vector<double> q = at.quadratics;
  for (std::size_t m = 0; m < q.size(); ++m) q[m] += kernels.value_error(m) * magnitude * magnitude;
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
  std::vector<VectorAnswer> measured;
  VectorAnswer& primal_side() { return measured.front(); }
  const VectorAnswer& dual_side() const { return measured.back(); }
};

/// Whether it is as it stands.
template <class AnyRisk>
bool IsFeasible(const AnyRisk& risk, std::span<const double> beta) {
  std::vector<double> feasible(beta.begin(), beta.end());
  risk.MakeFeasible(feasible);
  return std::equal(feasible.begin(), feasible.end(), beta.begin(), beta.end());
}

/// Nothing is measured yet.
template <class AnyRisk>
Answer MakeAnswer(const AnyRisk& risk, const Regularizer& regularizer, std::span<const double> theta,
                  std::span<const double> dual_beta) {
  Answer answer{{theta.begin(), theta.end()}, {dual_beta.begin(), dual_beta.end()}, {}};
  regularizer.MakeFeasible(answer.weights);
  risk.MakeFeasible(answer.feasible);
  return answer;
}

/// What must be asked of the kernels: about one vector where both sides have the same.
inline std::vector<VectorRequest> RequestsFor(const Answer& answer, std::span<const double> beta) {
  std::vector<VectorRequest> requests = {{.a = beta, .theta = answer.weights}};
  if (!std::equal(answer.feasible.begin(), answer.feasible.end(), beta.begin(), beta.end())) {
    requests.push_back({.a = answer.feasible, .theta = answer.weights});
  }
  return requests;
}

template <class AnyRisk>
Answer Measure(Gram& gram, const AnyRisk& risk, const Regularizer& regularizer, std::span<const double> theta,
               std::span<const double> beta, std::span<const double> dual_beta) {
  Answer answer = MakeAnswer(risk, regularizer, theta, dual_beta);
  answer.measured = gram.AnswerAll(RequestsFor(answer, beta));
  return answer;
}

/// Fills in the gap of both bounds, and takes over the dual point and what was measured for the primal.
inline Certificate Finish(Certificate certificate, Answer& answer, double least_size = 0) {
  VectorAnswer& primal_side = answer.primal_side();
  if (answer.measured.size() > 1 || certificate.scale != 1)
    certificate.dual_beta = std::move(answer.feasible);
  certificate.quadratics = std::move(primal_side.quadratics);
  certificate.outputs = std::move(primal_side.outputs);
  if (!std::isfinite(certificate.primal) || !std::isfinite(certificate.dual)) {
    return NothingKnown(std::move(certificate));
  }
  // Both bounds hold up to the errors that they include. A dual above the primal says that there are larger
  // ones, at least as large as what they are apart.
  const auto [lower, upper] = std::minmax(certificate.primal, certificate.dual);
  certificate.gap = upper - lower;
  certificate.relative_gap = RelativeGap(upper, lower, least_size);
  return certificate;
}

}  // namespace kweave::bounds

#endif  // KWEAVE_CERTIFICATE_BOUNDS_H_
