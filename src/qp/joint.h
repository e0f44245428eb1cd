// Decomposition for machines with one output per class and one slack per sample.
//
// Solves   minimise   1/2 sum over t of <beta, K_t beta A_t> + 1/2 beta' J beta - L(beta)
//          subject to what loss/joint_risk.h says: caps, sums over the classes of a sample and, with biases,
//          over the samples of a class. beta is n x m, K_t a kernel on samples, A_t one on classes (Zien, Ong
//          2007, eq. (9) with eq. (12); their alpha is our beta). Most often there is one term, with A the
//          identity. J, a kernel on pairs of sample and class that is no such product, is most often absent.
// Method   a step takes the samples that violate most at the present biases, solves the problem over them
//          with all others fixed (qp/joint_set.h), and brings all outputs up to date by the rows of those
//          that moved. Biases are the potentials of the classes (loss/class_cycle.h), found anew for every
//          step; the gap they give (qp/joint_standing.h) says when to stop.
// Takes    beta and its outputs, and rows; leaves both where the gap is small enough.
// Holds    beta stays feasible, outputs belong to it, and so both bounds hold at any time. Never a matrix
//          over pairs of sample and class.
// Costs    rows of K_t, each once for all classes, kept in cache_bytes; a few n m numbers; per step n m plus
//          n for each beta that moved, on all threads. With J all m rows of every sample of a step, n m
//          values each.
//
// Next on the main path: qp/joint_set.h, then the row source of gram/.
#ifndef KWEAVE_QP_JOINT_H_
#define KWEAVE_QP_JOINT_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "loss/joint_risk.h"
#include "qp/dual_problem.h"
#include "qp/solver.h"

namespace kweave {

/// K (x) A: a kernel on the samples times one on the classes. Or J: a kernel on pairs of sample and class.
template <class T>
struct JointTerm {
  RowSource<T>* rows = nullptr;     ///< over samples; of J over pairs, class after class
  std::span<const double> classes;  ///< A, m x m, symmetric positive semidefinite; empty: J
};

struct JointOptions {
  double relative_gap = 1e-3;                                          ///< of the primal
  std::int64_t most_steps = std::numeric_limits<std::int64_t>::max();  ///< of JointResult::work, about
  std::size_t cache_bytes = std::size_t{256} << 20;
  MemoryReserve* reserve = nullptr;         ///< for the rows of one term, where solves follow each other
  ThreadPool* pool = nullptr;               ///< null: one thread
  std::function<bool()> proceed = nullptr;  ///< asked before every step; false ends the solve
};

/// Class after class: entry u n + i.
struct JointState {
  std::vector<double> beta;  ///< feasible
  std::vector<double>
      outputs;  ///< sum over t of K_t beta A_t; up to a constant for each class where there are biases
};

struct JointResult {
  SolverOutcome outcome = SolverOutcome::kConverged;
  std::int64_t steps = 0;   ///< of few samples
  std::int64_t blocks = 0;  ///< of steps
  std::int64_t work = 0;    ///< in steps: a block of them costs as much as one for each of its samples
  std::int64_t rows_computed = 0;
  double primal = 0;
  double dual = 0;
  std::vector<double> biases;
};

template <class T>
JointResult SolveJoint(const JointRisk& risk, std::span<const JointTerm<T>> terms, JointState& state,
                       const JointOptions& options);

extern template JointResult SolveJoint(const JointRisk&, std::span<const JointTerm<float>>, JointState&,
                                       const JointOptions&);
extern template JointResult SolveJoint(const JointRisk&, std::span<const JointTerm<double>>, JointState&,
                                       const JointOptions&);

}  // namespace kweave

#endif  // KWEAVE_QP_JOINT_H_
