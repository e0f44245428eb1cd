#include "weights/run/dual_terms.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "base/constants.h"

namespace kweave {

namespace {

void ClearIfZero(std::vector<double>& values) {
  if (std::all_of(values.begin(), values.end(), [](double value) { return value == 0; })) values.clear();
}

}  // namespace

DualTerms::DualTerms(const Risk& risk) : has_sum_(risk.has_bias) {
  for (std::size_t i = 0; i < risk.y.size(); ++i) {
    // A machine whose output is far too small wants beta to grow: the two sides of a corner at 0.
    const DualPiece above = risk.PieceAt(i, 0, -kInfinity), below = risk.PieceAt(i, 0, kInfinity);
    const Interval range = risk.Feasible(i);
    linear_.push_back(-std::midpoint(above.slope, below.slope));
    lower_.push_back(range.lower);
    upper_.push_back(range.upper);
    kink_.push_back(std::max(0.5 * (below.slope - above.slope), 0.0));
    curvature_.push_back(above.curvature);
  }
  ClearIfZero(kink_);
  ClearIfZero(curvature_);
}

void DualTerms::OutputsToGradient(std::span<const double> beta, std::span<double> values) const {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += linear_[i];
  for (std::size_t i = 0; i < curvature_.size(); ++i) values[i] += curvature_[i] * beta[i];
}

void DualTerms::GradientToOutputs(std::span<const double> beta, std::span<double> values) const {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= linear_[i];
  for (std::size_t i = 0; i < curvature_.size(); ++i) values[i] -= curvature_[i] * beta[i];
}

}  // namespace kweave
