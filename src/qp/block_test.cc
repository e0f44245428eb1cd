// What the block solver adds: sets smaller than the problem and than what is kept, threads, few rows.
#include "qp/block.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/threads.h"
#include "qp/smo.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

/// exp(-|x - z|^2) between points of the plane, so that problems may be larger than a matrix in memory.
template <class T>
class PlaneRows : public RowSource<T> {
 public:
  explicit PlaneRows(Index size) {
    Random random(1);
    for (Index i = 0; i < 2 * size; ++i) x_.push_back(4 * random.Uniform() - 2);
  }
  Index size() const override { return static_cast<Index>(x_.size()) / 2; }
  void Diagonal(std::span<double> out) override { std::fill(out.begin(), out.end(), 1.0); }
  void Rows(std::span<const Index> rows, T* out, Index stride) override {
    most_per_call = std::max(most_per_call, static_cast<Index>(rows.size()));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (Index j = 0; j < size(); ++j)
        out[static_cast<Index>(r) * stride + j] = static_cast<T>(At(rows[r], j));
    }
  }
  void Multiply(std::span<const double> beta, std::span<double> out) override {
    std::fill(out.begin(), out.end(), 0.0);
    for (Index i = 0; i < size(); ++i) {
      const double factor = beta[static_cast<std::size_t>(i)];
      for (Index j = 0; factor != 0 && j < size(); ++j) out[static_cast<std::size_t>(j)] += factor * At(i, j);
    }
  }
  double x(Index i) const { return x_[static_cast<std::size_t>(2 * i)]; }
  double y(Index i) const { return x_[static_cast<std::size_t>(2 * i + 1)]; }
  Index most_per_call = 0;

 private:
  double At(Index i, Index j) const {
    const double dx = x(i) - x(j), dy = y(i) - y(j);
    return std::exp(-dx * dx - dy * dy);
  }
  std::vector<double> x_;
};

/// Two classes on both sides of a wave, one label in twenty wrong.
struct PlaneProblem {
  explicit PlaneProblem(Index size, double c = 1) : rows(size) {
    Random random(2);
    for (Index i = 0; i < size; ++i) {
      const bool is_above = rows.y(i) > std::sin(3 * rows.x(i));
      const double label = is_above != (random.Uniform() < 0.05) ? 1 : -1;
      linear.push_back(-label);
      lower.push_back(label > 0 ? 0 : -c);
      upper.push_back(label > 0 ? c : 0);
    }
  }
  DualProblem view() const { return {linear, lower, upper}; }
  SolverState start() const { return {std::vector<double>(linear.size(), 0.0), {}, false}; }
  PlaneRows<float> rows;
  std::vector<double> linear, lower, upper;
};

TEST(Block, MeetsSmoWithManyAndFewRows) {
  PlaneProblem problem(3000);
  SolverState smo = problem.start();
  const SolverResult expected = SolveSmo<float>(problem.view(), problem.rows, smo, {});
  for (const Index kept : {Index{0}, Index{20}, Index{100}, Index{600}, Index{3000}}) {
    SCOPED_TRACE(kept);
    SolverState state = problem.start();
    const SolverOptions options{.cache_bytes =
                                    static_cast<std::size_t>(kept * problem.rows.size()) * sizeof(float)};
    const SolverResult result = SolveBlock<float>(problem.view(), problem.rows, state, options);
    EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
    EXPECT_LE(result.violation, options.tolerance);
    EXPECT_NEAR(result.objective, expected.objective, 1e-5 * std::abs(expected.objective));
    // The gradient it kept is that of its beta.
    SolverState again{state.beta, {}, false};
    EXPECT_EQ(SolveBlock<float>(problem.view(), problem.rows, again, {.tolerance = 1.1e-3}).steps, 0);
    if (kept == 3000) {
      EXPECT_LE(result.rows_computed, 3000);
    }
  }
}

TEST(Block, RowsAreComputedTogether) {
  PlaneProblem problem(3000);
  SolverState state = problem.start();
  SolveBlock<float>(problem.view(), problem.rows, state, {});
  EXPECT_GE(problem.rows.most_per_call, 64);
}

TEST(Block, ThreadsDoNotChangeTheResult) {
  PlaneProblem problem(9000, 0.01);
  SolverState alone = problem.start(), together = problem.start();
  ThreadPool pool(3);
  SolveBlock<float>(problem.view(), problem.rows, alone, {.tolerance = 0.1});
  SolveBlock<float>(problem.view(), problem.rows, together, {.tolerance = 0.1, .pool = &pool});
  EXPECT_EQ(alone.beta, together.beta);
  EXPECT_EQ(alone.gradient, together.gradient);
}

}  // namespace
}  // namespace kweave
