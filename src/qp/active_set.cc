#include "qp/active_set.h"

#include <numeric>

namespace kweave {

void ActiveSet::Fill(const SolverState& state) {
  samples_.resize(Offset(problem_.size()));
  std::iota(samples_.begin(), samples_.end(), 0);
  beta_ = state.beta;
  gradient_.assign(state.gradient.begin(), state.gradient.end());
  diagonal_.assign(diagonal_of_all_.begin(), diagonal_of_all_.end());
  sides_.resize(samples_.size());
  for (Index k = 0; k < size(); ++k) sides_[Offset(k)] = SideOf(k);
  MarkRows([](Index) { return false; });
}

void ActiveSet::Keep(std::span<const Index> positions) {
  std::size_t to = 0;
  for (const Index position : positions) {
    const std::size_t from = Offset(position);
    samples_[to] = samples_[from];
    beta_[to] = beta_[from];
    gradient_[to] = gradient_[from];
    diagonal_[to] = diagonal_[from];
    sides_[to] = sides_[from];
    ++to;
  }
  samples_.resize(to);
  beta_.resize(to);
  gradient_.resize(to);
  diagonal_.resize(to);
  sides_.resize(to);
  MarkRows([](Index) { return false; });
}

void ActiveSet::Save(SolverState& state) const {
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    state.beta[Offset(samples_[k])] = beta_[k];
    state.gradient[Offset(samples_[k])] = gradient_[k];
  }
}

void ActiveSet::SetBeta(Index k, double beta) {
  beta_[Offset(k)] = beta;
  sides_[Offset(k)] = cached_sides_[Offset(k)] = SideOf(k);
}

float ActiveSet::SideOf(Index k) const {
  const double value = beta_[Offset(k)];
  if (value < upper(k)) return value > lower(k) ? side::kFree : side::kAtLower;
  return value > lower(k) ? side::kAtUpper : side::kFixed;
}

}  // namespace kweave
