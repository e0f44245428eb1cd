#include "qp/nested_sets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "qp/block.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

constexpr Index kFeatures = 12;

/// X X' of random features, some of the samples.
class TestProducts final : public ProductMatrix {
 public:
  TestProducts(std::shared_ptr<const std::vector<float>> x, std::vector<Index> samples, int* parts)
      : x_(std::move(x)), samples_(std::move(samples)), parts_(parts) {}
  Index size() const override { return static_cast<Index>(samples_.size()); }
  void Diagonal(std::span<double> out) const override {
    for (Index i = 0; i < size(); ++i) out[static_cast<std::size_t>(i)] = Dot(i, i);
  }
  void Rows(std::span<const Index> rows, float* out, Index stride) const override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (Index j = 0; j < size(); ++j)
        out[static_cast<Index>(r) * stride + j] = static_cast<float>(Dot(rows[r], j));
    }
  }
  void Multiply(std::span<const double> a, std::span<double> out) const override {
    std::vector<double> w(kFeatures, 0.0);
    for (Index i = 0; i < size(); ++i) {
      for (Index f = 0; f < kFeatures; ++f)
        w[static_cast<std::size_t>(f)] += a[static_cast<std::size_t>(i)] * At(i, f);
    }
    for (Index i = 0; i < size(); ++i) {
      double sum = 0;
      for (Index f = 0; f < kFeatures; ++f) sum += w[static_cast<std::size_t>(f)] * At(i, f);
      out[static_cast<std::size_t>(i)] = sum;
    }
  }
  std::unique_ptr<ProductMatrix> Part(std::span<const Index> samples, bool multiplies) const override {
    std::vector<Index> of_all;
    for (const Index k : samples) of_all.push_back(samples_[static_cast<std::size_t>(k)]);
    if (multiplies) ++*parts_;
    return std::make_unique<TestProducts>(x_, std::move(of_all), parts_);
  }
  double At(Index i, Index f) const {
    return (*x_)[static_cast<std::size_t>(samples_[static_cast<std::size_t>(i)] * kFeatures + f)];
  }

 private:
  double Dot(Index i, Index j) const {
    double sum = 0;
    for (Index f = 0; f < kFeatures; ++f) sum += At(i, f) * At(j, f);
    return sum;
  }
  std::shared_ptr<const std::vector<float>> x_;
  std::vector<Index> samples_;
  int* parts_;
};

class TestRows final : public RowSource<float> {
 public:
  explicit TestRows(Index size) {
    Random random(3);
    auto x = std::make_shared<std::vector<float>>();
    for (Index k = 0; k < size * kFeatures; ++k) x->push_back(static_cast<float>(Normal(random)));
    std::vector<Index> all(static_cast<std::size_t>(size));
    for (Index i = 0; i < size; ++i) all[static_cast<std::size_t>(i)] = i;
    matrix_ = std::make_unique<TestProducts>(x, all, &parts);
  }
  Index size() const override { return matrix_->size(); }
  void Diagonal(std::span<double> out) override { matrix_->Diagonal(out); }
  void Rows(std::span<const Index> rows, float* out, Index stride) override {
    matrix_->Rows(rows, out, stride);
  }
  void Multiply(std::span<const double> beta, std::span<double> out) override {
    matrix_->Multiply(beta, out);
  }
  std::unique_ptr<ProductMatrix> Products() override {
    std::vector<Index> all(static_cast<std::size_t>(size()));
    for (Index i = 0; i < size(); ++i) all[static_cast<std::size_t>(i)] = i;
    return matrix_->Part(all, false);
  }
  const TestProducts& matrix() const { return *matrix_; }
  int parts = 0;  // that multiplied

 private:
  std::unique_ptr<TestProducts> matrix_;
};

/// Classes that overlap a little, or values to be met, with a kink and a curvature.
struct OverlapProblem {
  OverlapProblem(Index size, bool is_regression) : rows(size) {
    Random random(4);
    for (Index i = 0; i < size; ++i) {
      const double output = rows.matrix().At(i, 0) + 0.5 * rows.matrix().At(i, 1) + 0.2 * Normal(random);
      const double label = is_regression ? output : output > 1 ? 1 : -1;  // classes are not balanced
      linear.push_back(-label);
      lower.push_back(!is_regression && label > 0 ? 0 : -0.1);
      upper.push_back(!is_regression && label < 0 ? 0 : 0.1);
      if (is_regression) kink.push_back(0.4), curvature.push_back(0.3);
    }
  }
  DualProblem view() const { return {linear, lower, upper, kink, curvature}; }
  SolverState start() const { return {std::vector<double>(linear.size(), 0.0), {}, false}; }
  TestRows rows;
  std::vector<double> linear, lower, upper, kink, curvature;
};

void ExpectMeetsBlocks(OverlapProblem& problem) {
  const SolverOptions options{.tolerance = 1e-2};
  SolverState blocks = problem.start(), nested = problem.start();
  const SolverResult expected = SolveBlock<float>(problem.view(), problem.rows, blocks, options);
  const SolverResult result = SolveNested<float>(problem.view(), problem.rows, nested, options);
  EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
  EXPECT_LE(result.violation, options.tolerance);
  EXPECT_NEAR(result.objective, expected.objective, 1e-3 * std::abs(expected.objective));
  SolverState again{nested.beta, {}, false};  // the gradient it kept is that of its beta
  EXPECT_EQ(SolveNested<float>(problem.view(), problem.rows, again, {.tolerance = 1.01e-2}).steps, 0);
  double sum = 0;
  for (const double beta : nested.beta) sum += beta;
  EXPECT_NEAR(sum, 0, 1e-9);
}

TEST(NestedSets, MeetsBlocksInAnActiveSet) {
  OverlapProblem problem(30'000, false);
  ASSERT_TRUE(ShouldNest(problem.view()));
  ExpectMeetsBlocks(problem);
  EXPECT_GT(problem.rows.parts, 0);
}

TEST(NestedSets, MeetsBlocksOfAllVariables) {
  OverlapProblem problem(15'000, false);
  ExpectMeetsBlocks(problem);
  EXPECT_EQ(problem.rows.parts, 0);
}

TEST(NestedSets, MeetsBlocksInRegression) {
  OverlapProblem problem(20'000, true);
  ExpectMeetsBlocks(problem);
}

TEST(NestedSets, EndsAtTheStepLimit) {
  OverlapProblem problem(20'000, false);
  SolverState state = problem.start();
  const SolverResult result =
      SolveNested<float>(problem.view(), problem.rows, state, {.tolerance = 1e-9, .max_steps = 50});
  EXPECT_EQ(result.outcome, SolverOutcome::kStepLimit);
}

}  // namespace
}  // namespace kweave
