#include "qp/active_set.h"

#include <limits>
#include <numeric>

namespace kweave {

void ActiveSet::Fill(const SolverState& state) {
  samples_.resize(Offset(problem_.size()));
  std::iota(samples_.begin(), samples_.end(), 0);
  beta_ = state.beta;
  gradient_.assign(state.gradient.begin(), state.gradient.end());
  diagonal_.assign(diagonal_of_all_.begin(), diagonal_of_all_.end());
  const double largest = diagonal_.empty() ? 0 : *std::ranges::max_element(diagonal_);
  least_curvature_ = std::max(kLeastStepCurvature * largest, std::numeric_limits<double>::min());
  sides_.resize(samples_.size());
  for (Index k = 0; k < size(); ++k) sides_[Offset(k)] = SideAt(k);
  if (has_kinks()) {
    kinks_.resize(samples_.size());
    for (Index k = 0; k < size(); ++k) PlaceKink(k);
  }
  MarkRows([](Index) { return false; });
}

void ActiveSet::Keep(std::span<const Index> positions) { Select(*this, positions); }

void ActiveSet::Select(const ActiveSet& from, std::span<const Index> positions) {
  // Ascending positions: a value is read before its place is written, when both are in this set.
  const auto select = [&](const auto& source, auto& values) {
    if (&source != &values) values.resize(positions.size());
    for (std::size_t k = 0; k < positions.size(); ++k) values[k] = source[Offset(positions[k])];
    values.resize(positions.size());
  };
  select(from.samples_, samples_);
  select(from.beta_, beta_);
  select(from.gradient_, gradient_);
  select(from.diagonal_, diagonal_);
  least_curvature_ = from.least_curvature_;
  select(from.sides_, sides_);
  if (has_kinks()) select(from.kinks_, kinks_);
  MarkRows([](Index) { return false; });
}

void ActiveSet::Save(SolverState& state) const {
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    state.beta[Offset(samples_[k])] = beta_[k];
    state.gradient[Offset(samples_[k])] = gradient_[k] - KinkSlope(static_cast<Index>(k));
  }
}

void ActiveSet::SetBeta(Index k, double beta) {
  if (has_kinks()) gradient_[Offset(k)] -= KinkSlope(k);
  beta_[Offset(k)] = beta;
  sides_[Offset(k)] = cached_sides_[Offset(k)] = SideAt(k);
  if (has_kinks()) PlaceKink(k);
}

// The slope of the kink's term on the piece that the variable is on; where 0 is a bound there is one piece
// only.
double ActiveSet::KinkSlope(Index k) const {
  if (!has_kinks()) return 0;
  const double kink = problem_.kink[Offset(sample(k))];
  if (beta(k) > 0 || lower(k) >= 0) return kink;
  return beta(k) < 0 || upper(k) <= 0 ? -kink : 0;
}

// Adds the kink's part to a gradient without it.
void ActiveSet::PlaceKink(Index k) {
  const double slope = KinkSlope(k);
  kinks_[Offset(k)] = slope == 0 ? problem_.kink[Offset(sample(k))] : 0;
  gradient_[Offset(k)] += slope;
}

}  // namespace kweave
