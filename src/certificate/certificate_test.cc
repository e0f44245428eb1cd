#include "certificate/certificate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "loss/logistic.h"
#include "regularizer/lp_norm.h"
#include "tests/support/matrix_gram.h"
#include "tests/support/reference_problem.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::MatrixGram;
using testing::ReferenceOptimum;
using testing::ReferenceProblem;
using testing::ReferenceProblems;

// A machine at fixed theta, trained by `steps` steps on the most violating pair of samples.
std::vector<double> TrainPairwise(MatrixGram& gram, const ReferenceProblem& problem,
                                  const std::vector<double>& theta, int steps) {
  const std::size_t n = problem.y.size();
  std::vector<Index> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<Index>(i);
  std::vector<double> k(n * n), beta(n, 0.0), gradient(n);
  gram.Learn(theta)->Rows(all, k.data(), static_cast<Index>(n));
  for (std::size_t i = 0; i < n; ++i) gradient[i] = -problem.y[i];
  for (int step = 0; step < steps; ++step) {
    std::size_t up = n, down = n;
    for (std::size_t i = 0; i < n; ++i) {
      const double most = problem.y[i] > 0 ? problem.upper[i] : 0,
                   least = problem.y[i] > 0 ? 0 : -problem.upper[i];
      if (beta[i] < most && (up == n || gradient[i] < gradient[up])) up = i;
      if (beta[i] > least && (down == n || gradient[i] > gradient[down])) down = i;
    }
    if (up == n || down == n || gradient[down] - gradient[up] < 1e-9) break;
    const double curvature = std::max(k[up * n + up] + k[down * n + down] - 2 * k[up * n + down], 1e-12);
    const double most = problem.y[up] > 0 ? problem.upper[up] : 0;
    const double least = problem.y[down] > 0 ? 0 : -problem.upper[down];
    const double move =
        std::min({(gradient[down] - gradient[up]) / curvature, most - beta[up], beta[down] - least});
    beta[up] += move;
    beta[down] -= move;
    for (std::size_t i = 0; i < n; ++i) gradient[i] += move * (k[up * n + i] - k[down * n + i]);
  }
  return beta;
}

std::vector<double> RandomTheta(const LpNorm& norm, std::size_t kernels, Random& random) {
  std::vector<double> theta(kernels);
  for (double& value : theta) value = random.Uniform();
  norm.Normalize(theta);
  return theta;
}

void ExpectBounds(const Certificate& certificate, const ReferenceOptimum& optimum, const std::string& what) {
  SCOPED_TRACE(what);
  EXPECT_GE(certificate.primal, optimum.lower * (1 - 1e-12));
  EXPECT_LE(certificate.dual, optimum.upper * (1 + 1e-12));
  EXPECT_GE(certificate.gap, certificate.primal - optimum.upper * (1 + 1e-12));
  EXPECT_GE(certificate.gap, 0);
  EXPECT_NEAR(certificate.relative_gap, certificate.gap / certificate.primal, 1e-12);
}

class CertificateBounds : public ::testing::Test {
 protected:
  // Runs `check(problem, optimum)` on every small problem and norm.
  template <class Check>
  void ForAll(Check check) {
    for (const ReferenceProblem& problem : ReferenceProblems()) {
      if (problem.matrices.size() > 20) continue;
      for (const ReferenceOptimum& optimum : problem.optima) check(problem, optimum);
    }
  }
};

TEST_F(CertificateBounds, HoldForASolverStoppedEarly) {
  Random random(1);
  ForAll([&](const ReferenceProblem& problem, const ReferenceOptimum& optimum) {
    MatrixGram gram(problem.matrices);
    const std::vector<double> theta = RandomTheta(LpNorm(optimum.norm), problem.matrices.size(), random);
    for (const int steps : {0, 1, 3, 10, 100, 3000}) {
      const std::vector<double> beta = TrainPairwise(gram, problem, theta, steps);
      ExpectBounds(Certify(gram, HingeRisk(problem), LpNorm(optimum.norm), theta, beta, beta), optimum,
                   problem.name);
    }
  });
}

TEST_F(CertificateBounds, HoldForPlantedErrorsInTheSolversRows) {
  Random random(2);
  ForAll([&](const ReferenceProblem& problem, const ReferenceOptimum& optimum) {
    MatrixGram gram(problem.matrices), wrong(problem.matrices);
    const std::vector<double> theta = RandomTheta(LpNorm(optimum.norm), problem.matrices.size(), random);
    for (const double error : {1e-4, 1e-2, 1.0}) {
      wrong.PlantErrors(error, 0);
      const std::vector<double> beta = TrainPairwise(wrong, problem, theta, 300);
      ExpectBounds(Certify(gram, HingeRisk(problem), LpNorm(optimum.norm), theta, beta, beta), optimum,
                   problem.name);
    }
  });
}

TEST_F(CertificateBounds, HoldForTablesWhoseErrorIsDeclared) {
  Random random(3);
  ForAll([&](const ReferenceProblem& problem, const ReferenceOptimum& optimum) {
    const std::vector<double> theta = RandomTheta(LpNorm(optimum.norm), problem.matrices.size(), random);
    for (const double error : {1e-9, 1e-6, 1e-3}) {
      MatrixGram table(problem.matrices);
      table.PlantErrors(error, error);
      const std::vector<double> beta = TrainPairwise(table, problem, theta, 1000);
      ExpectBounds(Certify(table, HingeRisk(problem), LpNorm(optimum.norm), theta, beta, beta), optimum,
                   problem.name);
    }
  });
}

TEST_F(CertificateBounds, HoldForInfeasibleInput) {
  Random random(4);
  ForAll([&](const ReferenceProblem& problem, const ReferenceOptimum& optimum) {
    MatrixGram gram(problem.matrices);
    std::vector<double> theta = RandomTheta(LpNorm(optimum.norm), problem.matrices.size(), random);
    std::vector<double> beta = TrainPairwise(gram, problem, theta, 200), noise = beta;
    theta[0] = -1;
    theta[1] *= 10;
    for (std::size_t i = 0; i < beta.size(); ++i) noise[i] += 3 * problem.upper[i] * (random.Uniform() - 0.3);
    ExpectBounds(Certify(gram, HingeRisk(problem), LpNorm(optimum.norm), theta, noise, noise), optimum,
                 problem.name);
    ExpectBounds(Certify(gram, HingeRisk(problem), LpNorm(optimum.norm), theta, beta, noise), optimum,
                 problem.name);
  });
}

TEST_F(CertificateBounds, CloseAtTheOptimumOfTheUniformSum) {
  ForAll([&](const ReferenceProblem& problem, const ReferenceOptimum& optimum) {
    if (std::isfinite(optimum.norm)) return;
    MatrixGram gram(problem.matrices);
    const std::vector<double> theta(problem.matrices.size(), 1.0);
    const std::vector<double> beta = TrainPairwise(gram, problem, theta, 1000000);
    const Certificate certificate =
        Certify(gram, HingeRisk(problem), LpNorm(optimum.norm), theta, beta, beta);
    ExpectBounds(certificate, optimum, problem.name);
    EXPECT_LT(certificate.relative_gap, 1e-6) << problem.name;
  });
}

TEST(Certificate, OfSeveralMachinesIsThatOfEach) {
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  MatrixGram gram(problem.matrices);
  const LpNorm norm(2);
  Random random(8);
  const Risk risk = HingeRisk(problem);
  std::vector<std::vector<double>> thetas, betas;
  for (const int steps : {3, 100, 1000}) {
    thetas.push_back(RandomTheta(norm, problem.matrices.size(), random));
    betas.push_back(TrainPairwise(gram, problem, thetas.back(), steps));
  }
  std::vector<JudgedMachine> machines;
  for (std::size_t k = 0; k < betas.size(); ++k) {
    machines.push_back({&risk, &norm, thetas[k], betas[k], betas[(k + 1) % betas.size()]});
  }
  std::vector<double> broken = betas[0];
  broken[0] = std::nan("");
  machines.push_back({&risk, &norm, thetas[0], broken, betas[0]});
  const std::vector<Certificate> all = CertifyAll(gram, machines);
  ASSERT_EQ(all.size(), machines.size());
  for (std::size_t k = 0; k < machines.size(); ++k) {
    const Certificate one =
        Certify(gram, risk, norm, machines[k].theta, machines[k].beta, machines[k].dual_beta);
    EXPECT_DOUBLE_EQ(all[k].primal, one.primal);
    EXPECT_DOUBLE_EQ(all[k].dual, one.dual);
    EXPECT_DOUBLE_EQ(all[k].bias, one.bias);
    EXPECT_EQ(all[k].quadratics, one.quadratics);
  }
  EXPECT_TRUE(std::isinf(all.back().relative_gap));
}

// Outputs that may be wrong are so, in the direction that makes losses smaller.
class FlatteringGram : public MatrixGram {
 public:
  FlatteringGram(const ReferenceProblem& problem) : MatrixGram(problem.matrices), y_(problem.y) {}
  std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) override {
    std::vector<VectorAnswer> measured = MatrixGram::AnswerAll(requests);
    for (std::size_t v = 0; v < requests.size(); ++v) {
      measured[v].rough_error = requests[v].rough_error;
      for (std::size_t i = 0; i < y_.size(); ++i) {
        if (std::ranges::binary_search(requests[v].precise_at, static_cast<Index>(i))) continue;
        measured[v].outputs[i] += y_[i] * requests[v].rough_error;
      }
    }
    return measured;
  }

 private:
  const std::vector<double> y_;
};

// Losses that matter are found precisely, whichever samples were said to count.
TEST(Certificate, DoesNotTrustRoughOutputs) {
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  FlatteringGram gram(problem);
  const LpNorm norm(2);
  Random random(8);
  const Risk risk = HingeRisk(problem);
  const std::vector<double> theta = RandomTheta(norm, problem.matrices.size(), random);
  const std::vector<double> beta = TrainPairwise(gram, problem, theta, 1000);
  const Certificate exact = Certify(gram, risk, norm, theta, beta, beta);
  const auto counted = [&](double margin) {
    std::vector<Index> samples;
    for (std::size_t i = 0; i < beta.size(); ++i) {
      const double f = exact.outputs[i] + exact.bias;
      if (problem.y[i] * f < 1 + margin) samples.push_back(static_cast<Index>(i));
    }
    return samples;
  };
  for (const std::vector<Index>& some : {counted(0.1), counted(-0.01), {0}}) {
    SCOPED_TRACE(some.size());
    ASSERT_LT(some.size(), beta.size());
    const Certificate rough = CertifyAll(gram, {{{&risk, &norm, theta, beta, beta, some}}}).front();
    EXPECT_NEAR(rough.primal, exact.primal, 1e-12 * exact.primal);
    EXPECT_NEAR(rough.dual, exact.dual, 1e-12 * exact.dual);
  }
}

// The dual point is another than beta, and the loss is zero nowhere, so that every sample counts.
TEST(Certificate, WithRoughOutputsIsThatOfPreciseOnes) {
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  FlatteringGram gram(problem);
  const LpNorm norm(2);
  Random random(8);
  const std::vector<double> theta = RandomTheta(norm, problem.matrices.size(), random);
  const std::vector<double> beta = TrainPairwise(gram, problem, theta, 1000);
  const std::vector<double> dual_beta = TrainPairwise(gram, problem, theta, 30);
  const LogisticLoss logistic;
  const Risk hinge = HingeRisk(problem);
  Risk smooth = hinge;
  smooth.loss = &logistic;
  for (const Risk& risk : {hinge, smooth}) {
    const Certificate exact = Certify(gram, risk, norm, theta, beta, dual_beta);
    const std::vector<Index> few = {0, 3};
    const Certificate rough = CertifyAll(gram, {{{&risk, &norm, theta, beta, dual_beta, few}}}).front();
    EXPECT_NEAR(rough.primal, exact.primal, 1e-12 * exact.primal);
    EXPECT_NEAR(rough.dual, exact.dual, 1e-12 * exact.dual);
  }
}

// An output that is no number costs nothing by itself: comparisons with it are false.
class BrokenGram : public MatrixGram {
 public:
  using MatrixGram::MatrixGram;
  std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) override {
    std::vector<VectorAnswer> measured = MatrixGram::AnswerAll(requests);
    measured[0].outputs[1] = std::nan("");
    return measured;
  }
};

TEST(Certificate, OfOutputsThatAreNoNumbersIsInfinite) {
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  BrokenGram gram(problem.matrices);
  const LpNorm norm(2);
  const Risk risk = HingeRisk(problem);
  const std::vector<double> theta = {1, 0};
  const std::vector<double> beta = TrainPairwise(gram, problem, theta, 50);
  EXPECT_TRUE(std::isinf(Certify(gram, risk, norm, theta, beta, beta).relative_gap));
  EXPECT_TRUE(std::isinf(CertifyAll(gram, {{{&risk, &norm, theta, beta, beta}}}).front().relative_gap));
}

TEST(Certificate, ChoosesTheBiasItself) {
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  MatrixGram gram(problem.matrices);
  const std::vector<double> theta = {1, 0};
  const std::vector<double> beta = TrainPairwise(gram, problem, theta, 50);
  const Certificate certificate = Certify(gram, HingeRisk(problem), LpNorm(2), theta, beta, beta);
  const auto primal = [&](double bias) {
    double sum = 0.5 * certificate.quadratics[0];
    for (std::size_t i = 0; i < beta.size(); ++i) {
      sum += problem.upper[i] * std::max(0.0, 1 - problem.y[i] * (certificate.outputs[i] + bias));
    }
    return sum;
  };
  EXPECT_NEAR(primal(certificate.bias), certificate.primal, 1e-10 * certificate.primal);
  for (const double wrong : {-1.0, -0.01, 0.01, 1.0}) {
    EXPECT_GE(primal(certificate.bias + wrong), primal(certificate.bias));
  }
}

TEST(Certificate, SaysNothingAboutNumbersThatAreNone) {
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  MatrixGram gram(problem.matrices);
  const std::vector<double> theta = {0.5, 0.5}, beta(problem.y.size(), 0.0);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> bad_beta = beta, bad_theta = theta;
    bad_beta[3] = bad_theta[1] = bad;
    for (const Certificate& certificate :
         {Certify(gram, HingeRisk(problem), LpNorm(2), bad_theta, beta, beta),
          Certify(gram, HingeRisk(problem), LpNorm(2), theta, bad_beta, beta),
          Certify(gram, HingeRisk(problem), LpNorm(2), theta, beta, bad_beta)}) {
      EXPECT_EQ(certificate.gap, std::numeric_limits<double>::infinity());
      EXPECT_EQ(certificate.relative_gap, std::numeric_limits<double>::infinity());
    }
  }
}

TEST(Certificate, OfAKernelWithBadValuesIsInfinite) {
  ReferenceProblem problem = FindReferenceProblem("two_widths");
  problem.matrices[1][0] = std::nan("");
  MatrixGram gram(problem.matrices);
  const std::vector<double> theta = {0.5, 0.5}, beta = problem.y;
  EXPECT_EQ(Certify(gram, HingeRisk(problem), LpNorm(2), theta, beta, beta).gap,
            std::numeric_limits<double>::infinity());
}

TEST(Certificate, OfTheBiasAloneIsTheLossOfTheSmallerClass) {
  const ReferenceProblem& problem = FindReferenceProblem("two_widths");
  MatrixGram gram(problem.matrices);
  const std::vector<double> theta = {0, 0}, beta(problem.y.size(), 0.0);
  const Certificate certificate = Certify(gram, HingeRisk(problem), LpNorm(1), theta, beta, beta);
  EXPECT_NEAR(certificate.primal, 100, 1e-9);  // 50 samples of each class, C = 1
  EXPECT_EQ(certificate.dual, 0);
}

}  // namespace
}  // namespace kweave
