#include "qp/solve.h"

#include <algorithm>

#include "qp/block.h"
#include "qp/smo.h"

namespace kweave {

namespace {

// Below this many samples a step over all of them costs as little as one over a working set.
constexpr Index kManySamples = 4000;

}  // namespace

SolverKind ChooseSolver(Index size, Index rows_kept) {
  (void)rows_kept;
  return size >= kManySamples ? SolverKind::kBlock : SolverKind::kSmo;
}

template <class T>
SolverResult SolveDual(SolverKind kind, const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                       const SolverOptions& options, SolveObserver* observer) {
  if (kind == SolverKind::kAuto) {
    const std::size_t row_bytes = static_cast<std::size_t>(std::max<Index>(problem.size(), 1)) * sizeof(T);
    kind = ChooseSolver(problem.size(), static_cast<Index>(options.cache_bytes / row_bytes));
  }
  return kind == SolverKind::kBlock ? SolveBlock<T>(problem, rows, state, options, observer)
                                    : SolveSmo<T>(problem, rows, state, options, observer);
}

template SolverResult SolveDual(SolverKind, const DualProblem&, RowSource<float>&, SolverState&,
                                const SolverOptions&, SolveObserver*);
template SolverResult SolveDual(SolverKind, const DualProblem&, RowSource<double>&, SolverState&,
                                const SolverOptions&, SolveObserver*);

}  // namespace kweave
