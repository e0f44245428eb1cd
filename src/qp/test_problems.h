// Row sources and random problems for the tests of the solvers.
#ifndef KWEAVE_QP_TEST_PROBLEMS_H_
#define KWEAVE_QP_TEST_PROBLEMS_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "qp/dual_problem.h"
#include "qp/solve.h"
#include "qp/solver.h"

namespace kweave {

inline constexpr SolverKind kSolvers[] = {SolverKind::kSmo, SolverKind::kBlock};

/// For names of parameterised tests; `info.param` is a SolverKind.
inline constexpr auto ParameterName = [](const auto& info) { return std::string(ToString(info.param)); };

/// A symmetric matrix held in memory.
struct Matrix {
  Index size = 0;
  std::vector<double> values;
  double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i * size + j)]; }
  double& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i * size + j)]; }
};

/// Its rows, rounded to T, with `shift` added to every entry.
template <class T>
class MatrixRows : public RowSource<T> {
 public:
  explicit MatrixRows(const Matrix& matrix, double shift = 0) : matrix_(matrix), shift_(shift) {}
  Index size() const override { return matrix_.size; }
  void Diagonal(std::span<double> out) override {
    for (Index i = 0; i < size(); ++i) out[static_cast<std::size_t>(i)] = matrix_(i, i) + shift_;
  }
  void Rows(std::span<const Index> rows, T* out, Index stride) override {
    ++calls;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (Index j = 0; j < size(); ++j) {
        out[static_cast<Index>(r) * stride + j] = static_cast<T>(matrix_(rows[r], j) + shift_);
      }
    }
  }
  void Multiply(std::span<const double> beta, std::span<double> out) override {
    for (Index i = 0; i < size(); ++i) {
      double sum = 0;
      for (Index j = 0; j < size(); ++j) sum += matrix_(i, j) * beta[static_cast<std::size_t>(j)];
      out[static_cast<std::size_t>(i)] = sum;
    }
  }
  double Shift() override { return -shift_; }
  long calls = 0;

 private:
  const Matrix& matrix_;
  double shift_;
};

/// A problem that owns its vectors, with a feasible start.
struct TestProblem {
  Matrix matrix;
  std::vector<double> linear, lower, upper, start, kink = {}, curvature = {};
  bool has_sum = true;
  DualProblem view() const { return {linear, lower, upper, kink, curvature, has_sum}; }
  Index size() const { return matrix.size; }
};

inline double Normal(Random& random) {
  double sum = -6;
  for (int k = 0; k < 12; ++k) sum += random.Uniform();
  return sum;
}

/// A Gram matrix of random vectors: positive semidefinite, of rank at most `rank`.
inline Matrix RandomGram(Index size, Index rank, Random& random) {
  std::vector<double> features(static_cast<std::size_t>(size * rank));
  for (double& value : features) value = Normal(random);
  Matrix matrix{size, std::vector<double>(static_cast<std::size_t>(size * size))};
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < size; ++j) {
      double sum = 0;
      for (Index k = 0; k < rank; ++k) {
        sum += features[static_cast<std::size_t>(i * rank + k)] *
               features[static_cast<std::size_t>(j * rank + k)];
      }
      matrix(i, j) = sum / static_cast<double>(rank);
    }
  }
  return matrix;
}

/// Classification with random labels and weights, one sample in ten fixed at zero.
inline TestProblem RandomClassification(Index size, Index rank, double largest_c, Random& random) {
  TestProblem problem;
  problem.matrix = RandomGram(size, rank, random);
  for (Index i = 0; i < size; ++i) {
    const double y = random.Uniform() < 0.4 ? 1 : -1;
    const double c = random.Uniform() < 0.1 ? 0 : largest_c * (0.1 + 0.9 * random.Uniform());
    problem.linear.push_back(-y);
    problem.lower.push_back(y > 0 ? 0 : -c);
    problem.upper.push_back(y > 0 ? c : 0);
    problem.start.push_back(0);
  }
  return problem;
}

/// Any box and linear term; the start anywhere inside the box, so sum beta is not zero.
inline TestProblem RandomBox(Index size, Index rank, Random& random) {
  TestProblem problem;
  problem.matrix = RandomGram(size, rank, random);
  for (Index i = 0; i < size; ++i) {
    const double a = 2 * Normal(random), b = 2 * Normal(random);
    problem.linear.push_back(Normal(random));
    problem.lower.push_back(std::min(a, b));
    problem.upper.push_back(random.Uniform() < 0.1 ? std::min(a, b) : std::max(a, b));
    const double share = random.Uniform();
    const double start = problem.lower.back() + share * (problem.upper.back() - problem.lower.back());
    problem.start.push_back(std::clamp(start, problem.lower.back(), problem.upper.back()));
  }
  return problem;
}

/// Regression with random targets and weights.
inline TestProblem RandomRegression(Index size, Index rank, double largest_c, Random& random) {
  TestProblem problem;
  problem.matrix = RandomGram(size, rank, random);
  for (Index i = 0; i < size; ++i) {
    const double c = largest_c * (0.1 + 0.9 * random.Uniform());
    problem.linear.push_back(Normal(random));
    problem.lower.push_back(-c);
    problem.upper.push_back(c);
    problem.kink.push_back(random.Uniform() < 0.1 ? 0 : 0.4);
    problem.start.push_back(0);
  }
  return problem;
}

/// The violation and the objective of beta by the plain definition.
struct PlainCheck {
  double violation = 0;
  double objective = 0;
  double sum = 0;
  bool is_feasible = true;
};

inline PlainCheck Check(const TestProblem& problem, const std::vector<double>& beta) {
  PlainCheck check;
  double min_up = std::numeric_limits<double>::infinity(), max_low = -min_up;
  if (!problem.has_sum) min_up = max_low = 0;
  for (Index i = 0; i < problem.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    double gradient = problem.linear[k];
    for (Index j = 0; j < problem.size(); ++j)
      gradient += problem.matrix(i, j) * beta[static_cast<std::size_t>(j)];
    if (!problem.curvature.empty()) gradient += problem.curvature[k] * beta[k];
    const double kink = problem.kink.empty() ? 0 : problem.kink[k];
    check.is_feasible = check.is_feasible && problem.lower[k] <= beta[k] && beta[k] <= problem.upper[k];
    check.objective += 0.5 * beta[k] * (gradient + problem.linear[k]) + kink * std::abs(beta[k]);
    check.sum += beta[k];
    if (beta[k] < problem.upper[k]) min_up = std::min(min_up, gradient + (beta[k] >= 0 ? kink : -kink));
    if (beta[k] > problem.lower[k]) max_low = std::max(max_low, gradient + (beta[k] > 0 ? kink : -kink));
  }
  check.violation = std::max(0.0, max_low - min_up);
  return check;
}

}  // namespace kweave

#endif  // KWEAVE_QP_TEST_PROBLEMS_H_
