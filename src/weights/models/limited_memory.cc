#include "weights/models/limited_memory.h"

#include <cmath>
#include <utility>

namespace kweave {

namespace {
constexpr double kLeastCosine = 1e-10;  // between step and change: below it rounding is all there is
}

void LimitedMemory::Add(std::vector<double> step, std::vector<double> change) {
  pairs_.push_back({std::move(step), std::move(change)});
  if (pairs_.size() > most_pairs_) pairs_.pop_front();
}

void LimitedMemory::UseDiagonal(std::vector<double> inverse_diagonal) {
  diagonal_ = std::move(inverse_diagonal);
  is_free_.resize(diagonal_.size());
  for (std::size_t i = 0; i < diagonal_.size(); ++i) is_free_[i] = diagonal_[i] > 0 ? 1 : 0;
  const Pair* latest = nullptr;
  for (Pair& pair : pairs_) {
    const double lengths = FreeDot(pair.step, pair.step) * FreeDot(pair.change, pair.change);
    pair.curvature = FreeDot(pair.step, pair.change);
    if (!(pair.curvature > kLeastCosine * std::sqrt(lengths))) pair.curvature = 0;
    if (pair.curvature > 0) latest = &pair;
  }
  if (latest == nullptr) return;
  double square = 0;  // change' diagonal change
  for (std::size_t i = 0; i < diagonal_.size(); ++i) {
    square += latest->change[i] * diagonal_[i] * latest->change[i];
  }
  for (double& value : diagonal_) value *= latest->curvature / square;
}

void LimitedMemory::Multiply(std::span<double> v) const {
  std::vector<double> shares(pairs_.size());
  for (std::size_t k = pairs_.size(); k-- > 0;) {
    const Pair& pair = pairs_[k];
    if (pair.curvature == 0) continue;
    shares[k] = FreeDot(pair.step, v) / pair.curvature;
    for (std::size_t i = 0; i < v.size(); ++i) v[i] -= shares[k] * pair.change[i];
  }
  for (std::size_t i = 0; i < v.size(); ++i) v[i] *= diagonal_[i];
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const Pair& pair = pairs_[k];
    if (pair.curvature == 0) continue;
    const double share = shares[k] - FreeDot(pair.change, v) / pair.curvature;
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += share * pair.step[i];
  }
  for (std::size_t i = 0; i < v.size(); ++i) v[i] *= is_free_[i];
}

double LimitedMemory::FreeDot(std::span<const double> a, std::span<const double> b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += is_free_[i] * a[i] * b[i];
  return sum;
}

}  // namespace kweave
