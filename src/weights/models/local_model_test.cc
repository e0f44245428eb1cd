#include "weights/models/local_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "loss/hinge.h"
#include "tests/support/learn_reference.h"
#include "weights/run/sample_machine.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::MatrixGram;
using testing::ReferenceProblem;

// A machine on a reference problem, solved as precisely as it can be.
struct Solved {
  explicit Solved(const ReferenceProblem& reference, double norm)
      : gram(reference.matrices),
        control(context),
        problem{HingeRisk(reference), LpConstraint(norm)},
        machine(problem, options, control) {
    gram.set_row_shift(0.7);  // rows may lack a constant
    machine.UseGram(gram, false);
  }
  MatrixGram gram;
  Context context;
  RunControl control;
  LearningProblem problem;
  LearnOptions options;
  SampleMachine machine;
};

std::vector<Direction> EveryKernel(std::size_t count) {
  std::vector<Direction> directions;
  for (std::size_t m = 0; m < count; ++m) directions.push_back({{static_cast<Index>(m)}, {1.0}});
  return directions;
}

TEST(LocalModel, ItsMinimumIsCloserToTheOptimumAndItsBetaFeasible) {
  const std::pair<const char*, std::size_t> cases[] = {{"mixed_10_large_c", kMostBoundedSamples},
                                                       {"mixed_10_large_c", 20},  // the others are eliminated
                                                       {"each_8_sample_costs", kMostBoundedSamples},
                                                       {"mixed_60", kMostBoundedSamples}};
  for (const auto& [name, most_bounded] : cases) {
    const ReferenceProblem& reference = FindReferenceProblem(name);
    Solved solved(reference, 1);
    const std::size_t count = reference.matrices.size();
    const std::vector<Direction> directions = EveryKernel(count);
    std::vector<double> theta(count, 1.0 / static_cast<double>(count));
    double optimum = 0;
    for (const auto& known : reference.optima) {
      if (known.norm == 1) optimum = known.lower;
    }
    double excess = INFINITY;
    for (int step = 0; step < 6; ++step) {
      const Evaluation at = solved.machine.Solve(theta, 1e-10);
      if (at.primal <= optimum * (1 + 1e-7)) break;
      EXPECT_LT(at.primal - optimum, excess) << name << " step " << step;
      excess = at.primal - optimum;
      const LocalModel model(at, solved.machine, directions, most_bounded);
      ASSERT_TRUE(model.is_valid());
      const SaddlePoint point = SolveSaddle(model.problem(), 1, 1e-9 * at.primal);
      ASSERT_EQ(point.t.size(), count);
      theta = point.t;
      LpNorm(1).Normalize(theta);
      const std::vector<double> beta = model.Beta(point);
      EXPECT_NEAR(std::accumulate(beta.begin(), beta.end(), 0.0), 0, 1e-6 * reference.upper[0]);
      for (std::size_t i = 0; i < beta.size(); ++i) {
        const Interval box = HingeLoss().Feasible(reference.y[i], reference.upper[i]);
        EXPECT_GE(beta[i], box.lower);
        EXPECT_LE(beta[i], box.upper);
      }
    }
    EXPECT_LE(excess, 1e-2 * optimum) << name;
  }
}

// Without bounds in the way it makes no difference which samples are eliminated beforehand.
TEST(LocalModel, EliminatedSamplesMoveAsTheOthers) {
  ReferenceProblem reference = FindReferenceProblem("mixed_10_large_c");
  for (std::size_t m = 0; m < reference.matrices.size(); ++m) {
    for (std::size_t i = 0; i < reference.y.size(); ++i)
      reference.matrices[m][i * (reference.y.size() + 1)] += 1;
  }
  Solved solved(reference, 2);
  const std::size_t count = reference.matrices.size();
  std::vector<double> theta(count, 1.0);
  LpNorm(2).Normalize(theta);
  const Evaluation at = solved.machine.Solve(theta, 1e-12);
  const LocalModel all(at, solved.machine, EveryKernel(count));
  const LocalModel few(at, solved.machine, EveryKernel(count), 30);
  ASSERT_GT(all.problem().r.size(), few.problem().r.size());
  const SaddlePoint expected = SolveSaddle(all.problem(), 2, 1e-10 * at.primal);
  const SaddlePoint found = SolveSaddle(few.problem(), 2, 1e-10 * at.primal);
  ASSERT_EQ(found.t.size(), count);
  for (std::size_t m = 0; m < count; ++m) EXPECT_NEAR(found.t[m], expected.t[m], 0.02) << m;
}

// Where theta stays, nothing has to move.
TEST(LocalModel, ASolvedMachineIsItsOwnSolution) {
  const ReferenceProblem& reference = FindReferenceProblem("mixed_10_large_c");
  Solved solved(reference, 1);
  std::vector<double> theta(reference.matrices.size(), 0.0);
  theta[3] = 1;
  const Evaluation at = solved.machine.Solve(theta, 1e-12);
  const std::vector<Direction> only = {{{3}, {1.0}}};
  const LocalModel model(at, solved.machine, only);
  const SaddlePoint point = SolveSaddle(model.problem(), 1, 1e-10 * at.primal);
  ASSERT_EQ(point.t.size(), 1u);
  EXPECT_NEAR(point.t[0], 1, 1e-6);
  const std::vector<double> beta = model.Beta(point);
  std::vector<double> quadratics(theta.size());
  solved.gram.Expand(beta)->Quadratics(quadratics);
  const double linear = std::inner_product(beta.begin(), beta.end(), reference.y.begin(), 0.0);
  EXPECT_NEAR(linear - 0.5 * quadratics[3], at.inner_dual, 1e-6 * at.primal);
}

}  // namespace
}  // namespace kweave
