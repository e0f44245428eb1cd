#include "qp/joint.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/threads.h"
#include "loss/hinge.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

class JointSolverTest : public ::testing::Test {
 protected:
  static constexpr Index kSamples = 200, kClasses = 5;

  JointSolverTest() {
    Random random(11);
    matrix_ = RandomGram(kSamples, 40, random);
    for (Index i = 0; i < kSamples; ++i) {
      y_.push_back(i % kClasses);
      C_.push_back(0.2 + random.Uniform());
    }
    identity_.assign(kClasses * kClasses, 0.0);
    for (Index u = 0; u < kClasses; ++u) identity_[static_cast<std::size_t>(u * kClasses + u)] = 1;
    risk_ = {&hinge_, y_, C_, kClasses, true};
    state_.beta.assign(kSamples * kClasses, 0.0);
    state_.outputs.assign(kSamples * kClasses, 0.0);
  }

  template <class T>
  JointResult Solve(const JointOptions& options, double shift = 0) {
    MatrixRows<T> rows(matrix_, shift);
    const JointTerm<T> term{&rows, identity_};
    return SolveJoint<T>(risk_, std::span(&term, 1), state_, options);
  }

  void ExpectFeasible() const {
    for (Index u = 0; u < kClasses; ++u) {
      double sum = 0;
      for (Index i = 0; i < kSamples; ++i) sum += state_.beta[risk_.At(i, u)];
      if (risk_.has_bias) {
        EXPECT_NEAR(sum, 0, 1e-10);
      }
    }
    for (Index i = 0; i < kSamples; ++i) {
      double sum = 0;
      for (Index u = 0; u < kClasses; ++u) {
        EXPECT_LE(state_.beta[risk_.At(i, u)], risk_.Cap(i, u));
        sum += state_.beta[risk_.At(i, u)];
      }
      EXPECT_NEAR(sum, 0, 1e-12);
    }
  }

  HingeLoss hinge_;
  Matrix matrix_;
  std::vector<Index> y_;
  std::vector<double> C_, identity_;
  JointRisk risk_;
  JointState state_;
};

TEST_F(JointSolverTest, ReachesTheGapAndStaysFeasible) {
  for (const bool has_bias : {true, false}) {
    risk_.has_bias = has_bias;
    std::fill(state_.beta.begin(), state_.beta.end(), 0.0);
    std::fill(state_.outputs.begin(), state_.outputs.end(), 0.0);
    const JointResult result = Solve<double>({.relative_gap = 1e-8});
    EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
    EXPECT_LE(result.primal - result.dual, 1e-8 * result.primal);
    ExpectFeasible();
    // The outputs belong to the betas.
    MatrixRows<double> rows(matrix_);
    std::vector<double> expected(kSamples);
    for (Index u = 0; u < kClasses; ++u) {
      rows.Multiply(std::span(state_.beta).subspan(static_cast<std::size_t>(u * kSamples), kSamples),
                    expected);
      for (Index i = 0; i < kSamples; ++i) {
        EXPECT_NEAR(state_.outputs[risk_.At(i, u)], expected[static_cast<std::size_t>(i)], 1e-9);
      }
    }
    EXPECT_EQ(Solve<double>({.relative_gap = 1e-8}).steps, 0);  // warm
  }
}

TEST_F(JointSolverTest, LeavesOutAConstantOfTheRows) {
  for (const bool has_bias : {true, false}) {
    risk_.has_bias = has_bias;
    std::fill(state_.beta.begin(), state_.beta.end(), 0.0);
    std::fill(state_.outputs.begin(), state_.outputs.end(), 0.0);
    const double plain = Solve<double>({.relative_gap = 1e-6}).dual;
    std::fill(state_.beta.begin(), state_.beta.end(), 0.0);
    std::fill(state_.outputs.begin(), state_.outputs.end(), 0.0);
    EXPECT_NEAR(Solve<double>({.relative_gap = 1e-6}, /*shift=*/-3).dual, plain, 2e-6 * plain);
  }
}

TEST_F(JointSolverTest, MeetsWithFewRowsAndSinglePrecision) {
  const double dual = Solve<double>({.relative_gap = 1e-6}).dual;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1} << 20}) {
    std::fill(state_.beta.begin(), state_.beta.end(), 0.0);
    std::fill(state_.outputs.begin(), state_.outputs.end(), 0.0);
    const JointResult result = Solve<float>({.relative_gap = 1e-4, .cache_bytes = bytes});
    EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
    EXPECT_NEAR(result.dual, dual, 2e-4 * dual);
  }
}

// The same kernel as a product, as one over pairs, and half of each.
TEST_F(JointSolverTest, MeetsWithTheKernelGivenOnPairs) {
  const double dual = Solve<double>({.relative_gap = 1e-8}).dual;
  std::vector<double> pairs(state_.beta.size() * state_.beta.size(), 0.0);
  for (Index u = 0; u < kClasses; ++u) {
    for (Index i = 0; i < kSamples; ++i) {
      for (Index j = 0; j < kSamples; ++j) {
        pairs[risk_.At(i, u) * state_.beta.size() + risk_.At(j, u)] = matrix_(i, j);
      }
    }
  }
  std::vector<double> half = identity_;
  for (double& value : half) value /= 2;
  const Matrix whole{static_cast<Index>(state_.beta.size()), pairs};
  for (double& value : pairs) value /= 2;
  const Matrix part{whole.size, pairs};
  MatrixRows<double> rows(matrix_), whole_rows(whole, /*shift=*/1), part_rows(part);
  const JointTerm<double> on_pairs{&whole_rows, {}};
  const JointTerm<double> mixed[] = {{&rows, half}, {&part_rows, {}}};
  using Terms = std::span<const JointTerm<double>>;
  for (const Terms terms : {Terms(&on_pairs, 1), Terms(mixed)}) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{1} << 28}) {
      std::fill(state_.beta.begin(), state_.beta.end(), 0.0);
      std::fill(state_.outputs.begin(), state_.outputs.end(), 0.0);
      const JointResult result =
          SolveJoint<double>(risk_, terms, state_, {.relative_gap = 1e-8, .cache_bytes = bytes});
      EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
      EXPECT_NEAR(result.dual, dual, 2e-8 * dual);
      ExpectFeasible();
    }
  }
}

TEST_F(JointSolverTest, DoesNotDependOnTheNumberOfThreads) {
  Solve<double>({.relative_gap = 1e-6});
  const JointState alone = state_;
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    std::fill(state_.beta.begin(), state_.beta.end(), 0.0);
    std::fill(state_.outputs.begin(), state_.outputs.end(), 0.0);
    Solve<double>({.relative_gap = 1e-6, .pool = &pool});
    EXPECT_EQ(state_.beta, alone.beta);
    EXPECT_EQ(state_.outputs, alone.outputs);
  }
}

// A kernel that only changed its size asks for the same betas at another size, up to their caps.
TEST_F(JointSolverTest, FollowsAMatrixThatChangedItsSizeInOneStep) {
  for (double& C : C_) C *= 1000;
  for (Index i = 0; i < kSamples; ++i) matrix_(i, i) += 10;  // all samples can be told apart
  Solve<double>({.relative_gap = 1e-6});
  for (const double factor : {1.9, 0.6}) {
    for (double& value : matrix_.values) value *= factor;
    for (double& value : state_.outputs) value *= factor;
    const JointResult result = Solve<double>({.relative_gap = 1e-5});
    EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
    EXPECT_EQ(result.steps, 0);
    ExpectFeasible();
  }
}

TEST_F(JointSolverTest, StopsWhenAsked) {
  int asked = 0;
  const JointResult result = Solve<double>({.relative_gap = 1e-12, .proceed = [&] { return ++asked < 3; }});
  EXPECT_EQ(result.outcome, SolverOutcome::kStoppedByObserver);
  EXPECT_EQ(result.blocks, 2);
  ExpectFeasible();
}

}  // namespace
}  // namespace kweave
