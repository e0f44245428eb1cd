#include "qp/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kweave/error.h"
#include "qp/block.h"
#include "qp/smo.h"

namespace kweave {

namespace {

// By CPU time (one Gaussian kernel, 8 to 780 features, 20,000 to 60,000 samples) the two are level while a quarter of
// all rows fits into the cache, and blocks take a few percent to a quarter less where fewer do. A step over few samples costs
// as little as one over a working set.
constexpr Index kManySamples = 4000;
constexpr Index kPlentyOfRows = 4;  // one row in this many is kept

constexpr std::array<std::string_view, 4> kNames = {"auto", "smo", "block",
                                                    "linear"};  // in the order of SolverKind

}  // namespace

std::string_view SolverName(SolverKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

SolverKind SolverByName(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("solver '{}' is not available; available: {}", name, fmt::join(kNames, ", ")));
  }
  return static_cast<SolverKind>(found - kNames.begin());
}

template <class T>
SolverKind ChooseSolver(SolverKind kind, const DualProblem& problem, const SolverOptions& options) {
  if (kind != SolverKind::kAuto) return kind;
  const std::size_t size = static_cast<std::size_t>(problem.size());
  const bool has_plenty = options.cache_bytes >= size * sizeof(T) * size / kPlentyOfRows;
  return problem.size() >= kManySamples && !has_plenty ? SolverKind::kBlock : SolverKind::kSmo;
}

template <class T>
SolverResult SolveDual(SolverKind kind, const DualProblem& problem, RowSource<T>& rows, SolverState& state,
                       const SolverOptions& options, SolveObserver* observer) {
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
