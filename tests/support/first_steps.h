// What tests of a method's first steps need: a machine that is solved as precisely as it can be.
#ifndef KWEAVE_TESTS_SUPPORT_FIRST_STEPS_H_
#define KWEAVE_TESTS_SUPPORT_FIRST_STEPS_H_

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "base/constants.h"
#include "base/run_control.h"
#include "tests/support/learn_reference.h"
#include "weights/run/sample_machine.h"
#include "weights/run/weight_method.h"

namespace kweave::testing {

using Vector = std::vector<double>;

constexpr int kSteps = 10;
constexpr double kExact = 1e-10;  // inner gap

// A machine on exact matrices that is solved as precisely as it can be.
class Bench {
 public:
  Bench(const ReferenceProblem& problem, const Risk& risk, double p)
      : gram_(problem.matrices),
        learning_{risk, LpConstraint(p)},
        control_(context_),
        machine_(learning_, options_, control_) {
    machine_.UseGram(gram_, false);
  }

  const Regularizer& regularizer() const { return *learning_.regularizer; }
  Evaluation Solve(const Vector& theta) { return machine_.Solve(theta, kExact); }
  // What the method asks for, one theta after the other, from its own start; and the dual points that it
  // finds.
  std::vector<Evaluation> Run(WeightMethod& method, std::vector<Vector>* dual_points = nullptr) {
    Vector theta(gram_.matrices().size());
    method.Begin(theta);
    std::vector<Evaluation> steps;
    for (int k = 0; k <= kSteps; ++k) {
      steps.push_back(Solve(theta));
      method.Move(steps.back(), machine_, {.relative_gap = 1e-9, .target_gap = 1e-12}, theta);
      if (dual_points != nullptr) dual_points->push_back(method.dual_point()->beta);
    }
    return steps;
  }

 private:
  MatrixGram gram_;
  LearningProblem learning_;
  Context context_;
  LearnOptions options_;
  RunControl control_;
  SampleMachine machine_;
};

inline void ExpectNear(const Vector& theta, const Vector& expected, double tolerance, std::size_t step) {
  ASSERT_EQ(theta.size(), expected.size());
  for (std::size_t m = 0; m < theta.size(); ++m) {
    EXPECT_NEAR(theta[m], expected[m], tolerance) << "step " << step << ", kernel " << m;
  }
}

// The first two kernels of a problem with eight that differ.
inline ReferenceProblem TwoKernels() {
  ReferenceProblem problem = FindReferenceProblem("mixed_10_large_c");
  problem.matrices.resize(2);
  return problem;
}

inline double MinimumOnLine(const std::function<double(double)>& value, double low, double high) {
  constexpr double kGolden = 0.6180339887498949;
  for (int k = 0; k < 200; ++k) {
    const double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
    (value(left) < value(right) ? high : low) = value(left) < value(right) ? right : left;
  }
  return 0.5 * (low + high);
}

}  // namespace kweave::testing

#endif  // KWEAVE_TESTS_SUPPORT_FIRST_STEPS_H_
