// Every loss with every method that serves the norm, with a bias and without: each run must be certified, and all of
// them must meet. A new loss or method is in as soon as its table lists it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "loss/loss.h"
#include "tests/support/learn_reference.h"
#include "weights/method_table.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::Learn;
using testing::ReferenceProblem;
using testing::WithMethod;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGap = 1e-6;
constexpr long kMostSolves = 100;  // so that a method which crawls fails, not only one which errs

/// Targets and costs for one loss on the samples of a classification problem.
struct Targets {
  Targets(const LossRecord& record, const ReferenceProblem& problem)
      : loss(record.make({})), y(problem.y), C(problem.upper) {
    const std::size_t n = y.size();
    if (record.task == Task::kRegress) {
      Random random(3);
      for (std::size_t i = 0; i < n; ++i) {
        const std::vector<double>& x = problem.features[i];
        y[i] = std::sin(2 * x[0]) + 0.5 * x[1] * x[1] + 0.3 * (random.Uniform() - 0.5);
      }
    }
    if (record.task == Task::kOneClass) {
      y.assign(n, 1);
      C.assign(n, 1 / (0.3 * static_cast<double>(n)));
      slope = 1;
    }
  }

  Risk risk(bool has_bias) const { return {loss.get(), y, C, has_bias, has_bias ? slope : 0}; }

  std::unique_ptr<Loss> loss;
  std::vector<double> y, C;
  double slope = 0;
};

Learned LearnCertified(const ReferenceProblem& problem, const Risk& risk, double norm,
                       const std::string& method) {
  const Learned learned = Learn(problem.matrices, risk, norm, WithMethod(method, kGap));
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_LE(learned.certificate.relative_gap, kGap);
  EXPECT_GE(learned.certificate.gap, 0);
  EXPECT_LE(learned.solves, kMostSolves);
  return learned;
}

/// All methods at one norm; the bounds of each must hold for the others.
void ExpectAllMethodsMeet(const ReferenceProblem& problem, const Risk& risk, double norm) {
  double largest_dual = -kInfinity, smallest_primal = kInfinity;
  for (const MethodRecord& method : MethodTable()) {
    if (!method.serves(norm)) continue;
    SCOPED_TRACE(method.name);
    const Certificate found = LearnCertified(problem, risk, norm, std::string(method.name)).certificate;
    largest_dual = std::max(largest_dual, found.dual);
    smallest_primal = std::min(smallest_primal, found.primal);
  }
  EXPECT_LE(largest_dual, smallest_primal);
}

TEST(LossSweep, EveryLossWithEveryMethod) {
  for (const std::string name : {"two_widths", "each_8_sample_costs", "mixed_10_large_c"}) {
    const ReferenceProblem& problem = FindReferenceProblem(name);
    for (const LossRecord& record : LossTable()) {
      const Targets targets(record, problem);
      for (const bool has_bias : {true, false}) {
        if (!has_bias && record.task == Task::kOneClass) continue;  // all its losses would be 0
        for (const double norm : {1.0, 4.0 / 3, 2.0, kInfinity}) {
          SCOPED_TRACE(fmt::format("{}, {}, {} bias, norm {}", name, record.name,
                                   has_bias ? "with" : "without", norm));
          ExpectAllMethodsMeet(problem, targets.risk(has_bias), norm);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kweave
