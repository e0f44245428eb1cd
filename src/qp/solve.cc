#include "qp/solve.h"

#include <memory>

#include "base/threads.h"
#include "qp/block.h"
#include "qp/smo.h"
#include "qp/solver_setup.h"

namespace kweave {

namespace {

// On one thread (8 to 780 features, 5,000 to 60,000 samples) pairs take up to a tenth less while a quarter of
// all rows fits into the cache, and blocks take a few percent to a quarter less where fewer do. Pairs run on
// one thread but for their rows, blocks on all: with 16 of them solves by blocks take 0.4 to 0.75 of the
// time. A step over few samples costs as little as one over a working set.
constexpr Index kManySamples = 4000;
constexpr Index kPlentyOfRows = 4;  // one row in this many is kept
constexpr int kManyThreads = 4;     // between 1 and 16, where it was measured

}  // namespace

template <class T>
SolverKind ChooseSolver(SolverKind kind, const DualProblem& problem, const SolverOptions& options) {
  if (kind != SolverKind::kAuto) return kind;
  const std::size_t size = static_cast<std::size_t>(problem.size());
  const bool has_plenty = options.cache_bytes >= size * sizeof(T) * size / kPlentyOfRows;
  const bool has_threads = options.pool != nullptr && options.pool->size() >= kManyThreads;
  return problem.size() >= kManySamples && (has_threads || !has_plenty) ? SolverKind::kBlock
                                                                        : SolverKind::kSmo;
}

template <class T>
SolverResult SolveDual(SolverKind kind, const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                       const SolverOptions& options, SolveObserver* observer) {
  if (const std::unique_ptr<DualSolver> own = problem.has_sum ? rows.MakeSolver(problem, options) : nullptr) {
    ValidateSolve(problem, rows.size(), state, options);
    CompleteGradient<T>(problem, rows, state);
    return RunSolver(*own, problem, state, options, observer);
  }
  return ChooseSolver<T>(kind, problem, options) == SolverKind::kBlock
             ? SolveBlock<T>(problem, rows, state, options, observer)
             : SolveSmo<T>(problem, rows, state, options, observer);
}

template SolverKind ChooseSolver<float>(SolverKind, const DualProblem&, const SolverOptions&);
template SolverKind ChooseSolver<double>(SolverKind, const DualProblem&, const SolverOptions&);
template SolverResult SolveDual(SolverKind, const DualProblem&, RowSource<float>&, SolverState&,
                                const SolverOptions&, SolveObserver*);
template SolverResult SolveDual(SolverKind, const DualProblem&, RowSource<double>&, SolverState&,
                                const SolverOptions&, SolveObserver*);

}  // namespace kweave
