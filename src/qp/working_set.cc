#include "qp/working_set.h"

#include <algorithm>
#include <functional>

#include "compute/cpu/smo_loops.h"
#include "qp/pair_step.h"

namespace kweave {

namespace {

// About one variable in eight of a large set moves (measured, qp/block.cc).
constexpr Index kSetPerMove = 8;
constexpr Index kRowsPerPiece = 16;  // starting a thread costs as much as gathering some rows

}  // namespace

template <class T>
WorkingSet<T>::WorkingSet(const DualProblem& problem, std::span<const double> diagonal, Index most,
                          ThreadPool* pool)
    : pool_(pool),
      variables_(problem, diagonal),
      stride_((most + 15) / 16 * 16),
      matrix_(static_cast<std::size_t>(most * stride_)) {}

template <class T>
void WorkingSet<T>::Assign(const ActiveSet& all, std::span<const Index> positions,
                           std::span<const T* const> rows) {
  variables_.Select(all, positions);
  variables_.MarkRows([](Index) { return true; });
  rows_ = rows;
  is_gathered_.assign(positions.size(), 0);
}

template <class T>
typename WorkingSet<T>::Outcome WorkingSet<T>::Solve(double target, std::int64_t most_steps) {
  Outcome outcome;
  GradientEnds ends =
      FindGradientEnds(variables_.gradient(), variables_.kinks(), variables_.sides(), variables_.size());
  if (pool_ != nullptr && pool_->size() > 1 && ends.max_low - ends.min_up > target) GatherWorst(ends);
  while (outcome.steps < most_steps && ends.max_low - ends.min_up > target) {
    const Index i = ends.up;
    const T* row_i = Row(i);
    const Index j = FindPartner(variables_, variables_.sides(), i, row_i);
    if (j < 0 || !StepOnPair(variables_, i, j, row_i, Row(j), ends, outcome.decrease)) break;
    ++outcome.steps;
  }
  return outcome;
}

template <class T>
void WorkingSet<T>::GatherWorst(const GradientEnds& ends) {
  const Index count = variables_.size() / kSetPerMove;
  if (count <= kRowsPerPiece) return;
  worst_.clear();
  for (Index k = 0; k < variables_.size(); ++k) {
    const float at = variables_.sides()[k];
    const double as_up = at <= 0 ? ends.max_low - variables_.up_gradient(k) : 0;
    const double as_low = at >= 0 ? variables_.low_gradient(k) - ends.min_up : 0;
    worst_.emplace_back(std::max(as_up, as_low), k);
  }
  std::nth_element(worst_.begin(), worst_.begin() + count, worst_.end(), std::greater<>());
  pool_->ParallelFor(count, kRowsPerPiece, [this](Index begin, Index end, int) {
    for (Index r = begin; r < end; ++r) Gather(worst_[static_cast<std::size_t>(r)].second);
  });
}

template <class T>
void WorkingSet<T>::Gather(Index k) {
  is_gathered_[static_cast<std::size_t>(k)] = 1;
  T* row = matrix_.data() + k * stride_;
  const T* from = rows_[static_cast<std::size_t>(k)];
  const auto& columns = variables_.samples();
  for (std::size_t c = 0; c < columns.size(); ++c) row[c] = from[columns[c]];
}

template <class T>
const T* WorkingSet<T>::Row(Index k) {
  if (is_gathered_[static_cast<std::size_t>(k)] == 0) Gather(k);
  return matrix_.data() + k * stride_;
}

template class WorkingSet<float>;
template class WorkingSet<double>;

}  // namespace kweave
