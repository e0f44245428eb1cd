#include "qp/joint_dense.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "base/random.h"
#include "loss/loss.h"

namespace kweave {
namespace {

// Gaussian or linear kernel on three features, within classes only or with a class kernel.
std::vector<double> MakeKernel(bool is_linear, double size, Index n, Index classes, Random& random) {
  std::vector<double> x(static_cast<std::size_t>(3 * n)),
      K(static_cast<std::size_t>(n * n * classes * classes));
  for (double& value : x) value = 2 * random.Uniform() - 1;
  for (Index u = 0; u < classes; ++u) {
    for (Index v = 0; v < classes; ++v) {
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          double product = 0, distance = 0;
          for (Index f = 0; f < 3; ++f) {
            product += x[3 * i + f] * x[3 * j + f];
            distance += (x[3 * i + f] - x[3 * j + f]) * (x[3 * i + f] - x[3 * j + f]);
          }
          const double value = size * (is_linear ? product : std::exp(-distance));
          K[static_cast<std::size_t>((u * n + i) * n * classes + v * n + j)] = u == v ? value : 0;
        }
      }
    }
  }
  return K;
}

// The gap is its own proof: whatever beta comes back, the optimum is at most that far away.
TEST(JointDense, SolvesEveryLossAtEveryScale) {
  Random random(3);
  const Index n = 24, classes = 3;
  std::vector<Index> y;
  for (Index i = 0; i < n; ++i) y.push_back(i % classes);
  for (const LossRecord& record : LossTable()) {
    const std::unique_ptr<Loss> loss = record.make({});
    if (record.task != Task::kClassify || !ServesJoint(*loss)) continue;
    for (const bool has_bias : {true, false}) {
      for (const bool is_linear : {true, false}) {
        for (const double cost : {1e-4, 1.0, 1e3, 1e6}) {
          for (const double size : {1e-6, 1.0, 1e4}) {
            std::vector<double> C(y.size(), cost), beta(y.size() * classes, 0.0);
            C[0] *= 0.01;
            const JointRisk risk{loss.get(), y, C, classes, has_bias};
            const double gap = SolveJointDense(risk, MakeKernel(is_linear, size, n, classes, random), 1e-8,
                                               beta, [] { return true; });
            // Double precision sets the limit: the rounding of outputs counts C times.
            if (cost * size > 1e7) continue;
            EXPECT_LE(gap, cost * size > 1e5 ? 1e-4 : 1e-7)
                << record.name << " bias " << has_bias << " linear " << is_linear << " C " << cost << " size "
                << size;
          }
        }
      }
    }
  }
}

TEST(JointDense, NeverReturnsAWorsePoint) {
  const std::unique_ptr<Loss> loss = LossTable().front().make({});
  const std::vector<Index> y{0, 1};
  const std::vector<double> C{1, 1};
  const JointRisk risk{loss.get(), y, C, 2, true};
  const std::vector<double> start{0.5, -0.5, -0.5, 0.5};
  std::vector<double> beta = start;
  const std::vector<double> identity{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  EXPECT_NEAR(SolveJointDense(risk, identity, 0, beta, [] { return false; }), 0, 1e-15);
  EXPECT_EQ(beta, start);
}

// A class that no sample has takes no part where there are biases.
TEST(JointDense, ServesClassesWithoutSamples) {
  Random random(4);
  const std::vector<Index> y{0, 1, 0, 1, 0, 1, 1, 0};
  const std::vector<double> C(y.size(), 10.0);
  for (const LossRecord& record : LossTable()) {
    const std::unique_ptr<Loss> loss = record.make({});
    if (record.task != Task::kClassify || !ServesJoint(*loss)) continue;
    const JointRisk risk{loss.get(), y, C, 3, true};
    std::vector<double> beta(y.size() * 3, 0.0);
    EXPECT_LE(SolveJointDense(risk, MakeKernel(false, 1, 8, 3, random), 1e-8, beta, [] { return true; }),
              1e-8)
        << record.name;
  }
}

}  // namespace
}  // namespace kweave
