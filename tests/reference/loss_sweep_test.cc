// Every loss with every method that serves it and both drivers, with a bias and without: each run must be
// certified, and all of them must meet. A new loss or method is in as soon as its table lists it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/constants.h"
#include "base/random.h"
#include "loss/loss.h"
#include "regularizer/lp_norm.h"
#include "tests/support/learn_reference.h"
#include "weights/methods/method_table.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::Learn;
using testing::ReferenceProblem;
using testing::WithMethod;

constexpr double kGap = 1e-6;
// The papers' methods reach larger gaps, and crawl at norms close to 1.
constexpr double kBaselineGap = 1e-3;
constexpr long kMostSolves = 100, kMostBaselineSolves = 500;

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
                       const std::string& method, DriverKind driver = DriverKind::kAuto) {
  const bool is_baseline = FindMethod(method, LpNorm(norm), *risk.loss).is_baseline;
  const double gap = is_baseline ? kBaselineGap : kGap;
  LearnOptions options = WithMethod(method, gap);
  options.driver = driver;
  const Learned learned = Learn(problem.matrices, risk, norm, options);
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_LE(learned.certificate.relative_gap, gap);
  EXPECT_GE(learned.certificate.gap, 0);
  EXPECT_EQ(learned.history.back().fallbacks, 0);
  EXPECT_LE(learned.solves, is_baseline ? kMostBaselineSolves : kMostSolves);
  return learned;
}

/// All methods at one norm; the bounds of each must hold for the others.
void ExpectAllMethodsMeet(const ReferenceProblem& problem, const Risk& risk, double norm) {
  double largest_dual = -kInfinity, smallest_primal = kInfinity;
  for (const MethodRecord& method : MethodTable()) {
    if (method.needs_whole_solves) continue;
    if (!method.serves(LpNorm(norm), *risk.loss)) continue;
    for (const DriverKind driver : {DriverKind::kAuto, DriverKind::kInterleaved}) {
      SCOPED_TRACE(fmt::format("{}, {}", method.name, ToString(driver)));
      const Certificate found =
          LearnCertified(problem, risk, norm, std::string(method.name), driver).certificate;
      largest_dual = std::max(largest_dual, found.dual);
      smallest_primal = std::min(smallest_primal, found.primal);
    }
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

/// A Gaussian kernel on two features that say everything, then linear kernels on features of noise, unit
/// variance each.
ReferenceProblem PlantedNoise() {
  constexpr std::size_t kSamples = 150, kNoise = 5;
  Random random(7);
  const auto normal = [&] {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += random.Uniform();
    return sum;
  };
  ReferenceProblem problem;
  for (std::size_t i = 0; i < kSamples; ++i) {
    std::vector<double>& x = problem.features.emplace_back();
    for (std::size_t k = 0; k < 2 + kNoise; ++k) x.push_back(normal());
    problem.y.push_back(std::sin(2 * x[0]) + 0.5 * x[1] * x[1] > 0.4 ? 1 : -1);
  }
  problem.upper.assign(kSamples, 0.05);  // a larger one pays for fitting noise
  problem.matrices.resize(1 + kNoise);
  for (const std::vector<double>& a : problem.features) {
    for (const std::vector<double>& b : problem.features) {
      const double squared = std::pow(a[0] - b[0], 2) + std::pow(a[1] - b[1], 2);
      problem.matrices[0].push_back(1.5 * std::exp(-0.5 * squared));
      for (std::size_t k = 0; k < kNoise; ++k) problem.matrices[1 + k].push_back(a[2 + k] * b[2 + k]);
    }
  }
  return problem;
}

TEST(LossSweep, PlantedNoiseGetsLittleWeightWithEveryLoss) {
  const ReferenceProblem problem = PlantedNoise();
  for (const LossRecord& record : LossTable()) {
    const Targets targets(record, problem);
    for (const double norm : {1.0, 4.0 / 3, 2.0}) {
      SCOPED_TRACE(fmt::format("{}, norm {}", record.name, norm));
      const std::vector<double> theta = LearnCertified(problem, targets.risk(true), norm, "auto").theta;
      const double largest_noise = *std::max_element(theta.begin() + 1, theta.end());
      EXPECT_LE(largest_noise, norm == 1 ? 0 : 0.2 * theta[0]);
    }
  }
}

}  // namespace
}  // namespace kweave
