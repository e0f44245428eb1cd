// Agreement with LIBSVM on the problems of tests/reference/generate_svm_objectives.py.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "qp/solve.h"
#include "qp/test_problems.h"

namespace kweave {
namespace {

struct Case {
  std::uint64_t seed;
  Index n, d;
  double noise;
  bool is_weighted;
  std::string kernel;
  double gamma, c, objective;
};

std::vector<Case> ReadCases() {
  std::ifstream file("tests/reference/svm_objectives.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Case one;
    words >> one.seed >> one.n >> one.d >> one.noise >> one.is_weighted >> one.kernel >> one.gamma >> one.c >>
        one.objective;
    EXPECT_FALSE(words.fail()) << line;
    cases.push_back(one);
  }
  return cases;
}

double KernelValue(const Case& one, const double* x, const double* z) {
  double inner = 0, squared = 0;
  for (Index k = 0; k < one.d; ++k) {
    inner += x[k] * z[k];
    squared += (x[k] - z[k]) * (x[k] - z[k]);
  }
  return one.kernel == "rbf" ? std::exp(-one.gamma * squared) : one.gamma * inner;
}

TestProblem MakeProblem(const Case& one) {
  Random random(one.seed);
  TestProblem problem;
  std::vector<double> x(static_cast<std::size_t>(one.n * one.d));
  for (Index i = 0; i < one.n; ++i) {
    double* row = x.data() + i * one.d;
    for (Index k = 0; k < one.d; ++k) row[k] = 2 * random.Uniform() - 1;
    const double score = row[0] * row[one.d - 1] + 0.5 * row[0] + one.noise * (2 * random.Uniform() - 1);
    const double y = score > 0 ? 1 : -1;
    const double c = one.c * (one.is_weighted ? 0.5 + random.Uniform() : 1);
    problem.linear.push_back(-y);
    problem.lower.push_back(y > 0 ? 0 : -c);
    problem.upper.push_back(y > 0 ? c : 0);
    problem.start.push_back(0);
  }
  problem.matrix = {one.n, std::vector<double>(static_cast<std::size_t>(one.n * one.n))};
  for (Index i = 0; i < one.n; ++i) {
    for (Index j = 0; j < one.n; ++j) {
      problem.matrix(i, j) = KernelValue(one, x.data() + i * one.d, x.data() + j * one.d);
    }
  }
  return problem;
}

class SolverReference : public testing::TestWithParam<SolverKind> {};

INSTANTIATE_TEST_SUITE_P(All, SolverReference, testing::ValuesIn(kSolvers), ParameterName);

TEST_P(SolverReference, AgreesWithLibsvm) {
  const std::vector<Case> cases = ReadCases();
  ASSERT_GE(cases.size(), 8u);
  for (const Case& one : cases) {
    SCOPED_TRACE(testing::Message() << "seed " << one.seed);
    const TestProblem problem = MakeProblem(one);
    MatrixRows<double> rows(problem.matrix);
    SolverState state{problem.start, {}, false};
    const auto result = SolveDual<double>(GetParam(), problem.view(), rows, state, {.tolerance = 1e-9});
    EXPECT_EQ(result.outcome, SolverOutcome::kConverged);
    EXPECT_NEAR(result.objective, one.objective, 1e-6 * std::abs(one.objective));

    MatrixRows<float> float_rows(problem.matrix);
    SolverState float_state{problem.start, {}, false};
    const auto float_result =
        SolveDual<float>(GetParam(), problem.view(), float_rows, float_state, {.tolerance = 1e-5});
    EXPECT_EQ(float_result.outcome, SolverOutcome::kConverged);
    EXPECT_NEAR(Check(problem, float_state.beta).objective, one.objective, 1e-5 * std::abs(one.objective));
  }
}

}  // namespace
}  // namespace kweave
