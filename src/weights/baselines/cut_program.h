// Solves     minimise z + cost sum_m theta_m subject to z >= L_t - 1/2 theta' q_t for every cut t, theta >=
//            0, sum theta = total (at most ten times that of the best theta so far where weight has a cost;
//            lower <= theta <= upper, sum theta <= total where weights are bounded).
// Method     the dual simplex of CLP, warm.
// Takes and  evaluations, each of which gives a cut, exact or not; returns a vertex and the betas mixed by
//            the multipliers.
// returns
// Holds      the mixture of the betas bounds the optimum from below.
// Costs      one dense row of M values and one beta per cut, at most kMaxCuts of them; a few pivots per
//            solve.
#ifndef KWEAVE_WEIGHTS_BASELINES_CUT_PROGRAM_H_
#define KWEAVE_WEIGHTS_BASELINES_CUT_PROGRAM_H_

#include <memory>
#include <span>

#include "regularizer/regularizer.h"
#include "weights/run/weight_method.h"

namespace kweave {

class CutProgram {
 public:
  CutProgram(std::size_t kernels, const LinearWeights& weights);
  ~CutProgram();

  void AddCut(const Evaluation& at);
  /// False where the numbers do not allow a solution.
  bool Solve();
  /// The program's theta.
  std::span<const double> vertex() const;
  /// The mixture of the betas by the multipliers of their cuts, and the bound it gives: D is concave. Empty
  /// where there is none.
  DualPoint Mixture(const Regularizer& regularizer) const;

 private:
  class Master;
  std::unique_ptr<Master> master_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_BASELINES_CUT_PROGRAM_H_
