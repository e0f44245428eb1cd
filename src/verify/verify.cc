// Solves   whether a model's claim holds: P and D of docs/dev/notation.md, at the weights, betas and biases
//          of the model and at the dual point that it keeps.
// Method   the problem is put together from the model and the data (training_problem.h); one pass over all
//          kernels multiplies their matrices with the betas and the dual points; sums do the rest
//          (judge.cc).
// Takes    a model with its problem (format 5) and the data of training.
// Holds    shares no code with training but the readers, the parser of kernels and the model file. Bounds
//          are compared up to a bound on rounding errors, and no more.
// Costs    plain_kernels.h, on one thread; memory for some products of kernel matrices with vectors at a
//          time.
#include "kweave/verify.h"

#include "verify/training_problem.h"

namespace kweave {

Verification Verify(const Model& model, const Dataset& data, const Context& context) {
  verify::TrainingProblem problem(model.content(), data, context);
  verify::JudgeModel(problem);
  problem.found.holds = problem.found.failures.empty();
  return std::move(problem.found);
}

}  // namespace kweave
