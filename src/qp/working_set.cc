#include "qp/working_set.h"

#include "compute/cpu/smo_loops.h"
#include "qp/pair_step.h"

namespace kweave {

template <class T>
WorkingSet<T>::WorkingSet(const DualProblem& problem, std::span<const double> diagonal, Index most)
    : variables_(problem, diagonal),
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
const T* WorkingSet<T>::Row(Index k) {
  T* row = matrix_.data() + k * stride_;
  if (is_gathered_[static_cast<std::size_t>(k)] == 0) {
    is_gathered_[static_cast<std::size_t>(k)] = 1;
    const T* from = rows_[static_cast<std::size_t>(k)];
    const auto& columns = variables_.samples();
    for (std::size_t c = 0; c < columns.size(); ++c) row[c] = from[columns[c]];
  }
  return row;
}

template class WorkingSet<float>;
template class WorkingSet<double>;

}  // namespace kweave
