// The dual problem restricted to a few variables: all others stand still, the matrix is one dense block.
//
// Solves     minimise the objective over the variables of the set B, their sum fixed (qp/dual_problem.h).
// Method     the pairs of qp/smo.h, whose loops here run over the few variables of the set only.
// Takes and  positions of variables in the set of all, and their rows of K; leaves beta where the violation
//            within
// returns    the set is small enough, or no step is possible.
// Holds      what ActiveSet holds; sum beta up to rounding.
// Costs      two passes over the set a step, one thread; |B|^2 values of memory. Many variables of a set
//            never move, so a row of K_BB is gathered when it is first needed; gathering costs far more than
//            steps, so rows of those that violate most are gathered ahead, on all threads.
#ifndef KWEAVE_QP_WORKING_SET_H_
#define KWEAVE_QP_WORKING_SET_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/threads.h"
#include "qp/active_set.h"

namespace kweave {

template <class T>
class WorkingSet {
 public:
  /// For sets of at most `most` variables. Without a pool nothing is gathered ahead.
  WorkingSet(const DualProblem& problem, std::span<const double> diagonal, Index most, ThreadPool* pool);

  /// The variables at these positions, ascending, of `all`, which holds every variable; rows[k] is that of
  /// positions[k] and stays where it is until the next call.
  void Assign(const ActiveSet& all, std::span<const Index> positions, std::span<const T* const> rows);

  struct Outcome {
    std::int64_t steps = 0;
    double decrease = 0;  ///< of the objective
  };
  /// Until the violation within the set is at most `target`, or after `most_steps`, or when the numbers no
  /// longer change.
  Outcome Solve(double target, std::int64_t most_steps);

  const ActiveSet& variables() const { return variables_; }

 private:
  void GatherWorst(const GradientEnds& ends);
  void Gather(Index k);
  const T* Row(Index k);

  ThreadPool* pool_;
  ActiveSet variables_;
  std::span<const T* const> rows_;
  Index stride_;
  LargeBuffer<T> matrix_;                        // K_BB, as far as it was needed
  std::vector<char> is_gathered_;                // by row of it
  std::vector<std::pair<double, Index>> worst_;  // violation and position
};

extern template class WorkingSet<float>;
extern template class WorkingSet<double>;

}  // namespace kweave

#endif  // KWEAVE_QP_WORKING_SET_H_
