// Solves   whether a model's claim holds: P and D of docs/dev/notation.md, at the weights, betas and biases
//          of the model and at the dual point that it keeps.
// Method   the problem is put together from the model and the data (training_problem.h); one pass over all
//          kernels multiplies their matrices with the betas and the dual points; sums do the rest
//          (judge.cc). Where rounding may have done more than the gap is, once more with long doubles.
// Takes    a model with its problem (format 5) and the data of training.
// Holds    shares no code with training but the readers, the parser of kernels and the model file. Bounds
//          are compared up to a bound on rounding errors, and no more.
// Costs    plain_kernels.h, on one thread; memory for some products of kernel matrices with vectors at a
//          time.
#include "kweave/verify.h"

#include "verify/training_problem.h"

namespace kweave {

Verification Verify(const Model& model, const Dataset& data, const Context& context) {
  // A long double takes some ten times as long: a quarter of a minute.
  constexpr double kMostExtendedValues = 1e8;
  const auto judge = [&](bool is_extended, Verification& found) {
    verify::TrainingProblem problem(model.content(), data, context, is_extended);
    verify::JudgeModel(problem);
    problem.found.holds = problem.found.failures.empty();
    found = std::move(problem.found);
    return problem.lacks_digits || !found.holds;
  };
  Verification found;
  const bool needs_digits = judge(/*is_extended=*/false, found);
  if (needs_digits && found.kernel_values <= kMostExtendedValues) judge(/*is_extended=*/true, found);
  return found;
}

}  // namespace kweave
