#ifndef KWEAVE_TESTS_SUPPORT_LEARN_REFERENCE_H_
#define KWEAVE_TESTS_SUPPORT_LEARN_REFERENCE_H_

#include <string>
#include <vector>

#include "base/run_control.h"
#include "kweave/context.h"
#include "regularizer/lp_norm.h"
#include "tests/support/matrix_gram.h"
#include "tests/support/reference_problem.h"
#include "weights/run/learn.h"

namespace kweave::testing {

/// Learns weights for any risk and regulariser on exact kernel matrices.
inline Learned Learn(const std::vector<std::vector<double>>& matrices, const Risk& risk,
                     const RegularizerPointer& regularizer, const LearnOptions& options,
                     const Context& context = {}) {
  MatrixGram gram(matrices);
  RunControl control(context);
  return LearnWeights({&gram, false, [&gram]() -> Gram& { return gram; }}, {risk, regularizer}, options,
                      control);
}
inline Learned Learn(const std::vector<std::vector<double>>& matrices, const Risk& risk, double norm,
                     const LearnOptions& options, const Context& context = {}) {
  return Learn(matrices, risk, LpConstraint(norm), options, context);
}

/// As a classification with the hinge loss.
inline Learned Learn(const ReferenceProblem& problem, double norm, const LearnOptions& options = {},
                     const Context& context = {}) {
  return Learn(problem.matrices, HingeRisk(problem), norm, options, context);
}

inline LearnOptions WithMethod(const std::string& method, double target_gap) {
  LearnOptions options;
  options.method = method;
  options.target_gap = target_gap;
  return options;
}

}  // namespace kweave::testing

#endif  // KWEAVE_TESTS_SUPPORT_LEARN_REFERENCE_H_
