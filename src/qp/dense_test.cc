#include "qp/dense.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "loss/loss.h"

namespace kweave {
namespace {

std::vector<double> MakeKernel(const std::string& kind, Index n, double size, Random& random) {
  std::vector<double> x(static_cast<std::size_t>(3 * n)), K;
  for (double& value : x) value = (2 * random.Uniform() - 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      double product = 0, distance = 0;
      for (Index f = 0; f < 3; ++f) {
        product += x[3 * i + f] * x[3 * j + f];
        distance += (x[3 * i + f] - x[3 * j + f]) * (x[3 * i + f] - x[3 * j + f]);
      }
      K.push_back(size * (kind == "linear" ? product : std::exp(-distance)));
    }
  }
  return K;
}

// The gap is its own proof: whatever beta comes back, the optimum is at most that far away.
TEST(Dense, SolvesEveryLossAtEveryScale) {
  Random random(3);
  const auto proceed = [] { return true; };
  for (const LossRecord& record : LossTable()) {
    for (const double epsilon : {0.0, 0.1}) {
      const std::unique_ptr<Loss> loss = record.make({.epsilon = epsilon});
      for (const char* kind : {"linear", "rbf"}) {
        for (const double cost : {1e-4, 1.0, 1e3, 1e6}) {
          for (const double size : {1e-6, 1.0, 1e4}) {
            const Index n = 60;
            std::vector<double> y, C(static_cast<std::size_t>(n), cost);
            for (Index i = 0; i < n; ++i) {
              const double target = (2 * random.Uniform() - 1);
              y.push_back(record.task == Task::kRegress ? target : target > 0 ? 1 : -1);
            }
            if (record.task == Task::kOneClass) y.assign(y.size(), 1), C.assign(C.size(), 2.0 / 60);
            const Risk risk{loss.get(), y, C, true, record.task == Task::kOneClass ? 1.0 : 0.0};
            const DenseMatrix K =
                MakeDenseMatrix(MakeKernel(kind, n, size, random), n, 0, risk.bias_slope == 0);
            std::vector<double> beta = risk.FeasibleStart();
            const double gap = SolveDense(risk, K, 1e-8, beta, proceed);
            // One class around the origin has an optimum of 0. Elsewhere double precision sets the limit: the
            // rounding of outputs counts C times, and where all targets are met exactly nothing else does.
            if (record.task == Task::kOneClass && std::string(kind) == "linear") continue;
            if (epsilon == 0 && cost * size > 1e7) continue;
            EXPECT_LE(gap, cost * size > 1e5 ? 1e-4 : 1e-8)
                << record.name << " epsilon " << epsilon << ' ' << kind << " C " << cost << " size " << size;
          }
        }
      }
    }
  }
}

TEST(Dense, NeverReturnsAWorsePoint) {
  const std::unique_ptr<Loss> loss = LossTable().front().make({});
  const std::vector<double> y{1, -1}, C{1, 1};
  const Risk risk{loss.get(), y, C};
  const DenseMatrix K = MakeDenseMatrix({1, 0, 0, 1}, 2, 0, true);
  std::vector<double> beta{1, -1};
  EXPECT_EQ(SolveDense(risk, K, 0, beta, [] { return false; }), 0);
  EXPECT_EQ(beta, (std::vector<double>{1, -1}));
}

}  // namespace
}  // namespace kweave
