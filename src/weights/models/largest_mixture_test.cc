#include "weights/models/largest_mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/dot.h"
#include "base/random.h"
#include "regularizer/mixed_norm.h"
#include "regularizer/norm_penalty.h"
#include "weights/models/hull_saddle.h"

namespace kweave {
namespace {

constexpr double kPrecision = 1e-9;
const std::vector<int> kGroups = {0, 0, 1, 1, 1, 2, 3, 3, 3, 3};

// T betas of a few dimensions for every kernel, drawn at random: q_m(w) = |A_m w|^2.
class MadeModel : public MixtureModel {
 public:
  MadeModel(std::size_t T, std::size_t M, std::size_t rank, int seed) : M_(M), matrices_(M * T * T, 0.0) {
    Random random(static_cast<std::uint64_t>(seed));
    for (std::size_t t = 0; t < T; ++t) linear_.push_back(1 + 0.2 * random.Uniform());
    for (std::size_t m = 0; m < M; ++m) {
      for (std::size_t k = 0; k < rank; ++k) {
        std::vector<double> row(T);
        for (double& value : row) value = random.Uniform() - 0.2;
        for (std::size_t t = 0; t < T; ++t) {
          for (std::size_t s = 0; s < T; ++s) matrices_[(m * T + t) * T + s] += row[t] * row[s];
        }
      }
    }
  }

  double unit() const override { return 3; }
  std::span<const double> linear() const override { return linear_; }
  std::size_t kernels() const override { return M_; }

  void Quadratics(std::span<const double> w, std::span<double> q) const override {
    const std::vector<double> slopes = Slopes(w);
    std::fill(q.begin(), q.end(), 0.0);
    for (std::size_t t = 0; t < w.size(); ++t) {
      for (std::size_t m = 0; m < M_; ++m) q[m] += 0.5 * w[t] * slopes[t * M_ + m];
    }
  }
  std::vector<double> Slopes(std::span<const double> w) const override {
    const std::size_t T = w.size();
    std::vector<double> slopes(T * M_);
    for (std::size_t t = 0; t < T; ++t) {
      for (std::size_t m = 0; m < M_; ++m) slopes[t * M_ + m] = 2 * Dot(Row(m, t), w);
    }
    return slopes;
  }
  void AddCurvature(std::span<const double> theta, std::span<const int> groups,
                    std::span<double> matrices) const override {
    const std::size_t T = linear_.size();
    for (std::size_t m = 0; m < M_; ++m) {
      const std::size_t first = groups.empty() ? 0 : static_cast<std::size_t>(groups[m]) * T * T;
      for (std::size_t k = 0; k < T * T; ++k) matrices[first + k] += theta[m] * matrices_[m * T * T + k];
    }
  }
  const std::vector<double>& matrices() const { return matrices_; }

 private:
  std::span<const double> Row(std::size_t m, std::size_t t) const {
    const std::size_t T = linear_.size();
    return std::span<const double>(matrices_).subspan((m * T + t) * T, T);
  }

  const std::size_t M_;
  std::vector<double> linear_, matrices_;
};

double ValueAt(const Regularizer& norm, const MadeModel& model, const std::vector<double>& w) {
  std::vector<double> q(model.kernels());
  model.Quadratics(w, q);
  for (double& value : q) value *= model.unit();
  return Dot(model.linear(), w) - norm.DualTerm(q) / model.unit();
}

std::vector<double> FirstVertex(std::size_t T) {
  std::vector<double> w(T, 0.0);
  w[0] = 1;
  return w;
}

void ExpectBest(const Regularizer& regularizer, int seed) {
  SCOPED_TRACE(regularizer.Name() + " " + std::to_string(seed));
  constexpr std::size_t kBetas = 8;
  const MadeModel model(kBetas, kGroups.size(), 3, seed);
  const MixturePoint best =
      SolveLargestMixture(*regularizer.largest_part(), model, FirstVertex(kBetas), kPrecision);
  EXPECT_LE(best.error, kPrecision);
  EXPECT_NEAR(best.value, ValueAt(regularizer, model, best.w), 1e-12);
  // theta is a best response: Fenchel's inequality is an equality.
  std::vector<double> q = best.quadratics;
  for (double& value : q) value *= model.unit();
  EXPECT_NEAR(regularizer.Primal(best.theta, q) + regularizer.DualTerm(q), Dot(best.theta, q), 1e-7);
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> other = best.w;
    for (double& value : other) value += (trial % 2 == 0 ? 1 : 1e-3) * -std::log(1 - random.Uniform());
    const double sum = std::accumulate(other.begin(), other.end(), 0.0);
    for (double& value : other) value /= sum;
    EXPECT_LE(ValueAt(regularizer, model, other), best.value + kPrecision);
  }
}

TEST(LargestMixture, NoOtherMixtureIsBetter) {
  for (int seed = 1; seed <= 10; ++seed) {
    for (const double Q : {1.0, 1.2, 4.0 / 3, 2.0, 3.0}) ExpectBest(MixedNorm(kGroups, 1, Q), seed);
    for (const double Q : {1.0, 4.0 / 3, 2.0}) {
      for (const double mu : {1.0, 10.0}) ExpectBest(NormPenalty(mu, MixedNorm(kGroups, 1, Q)), seed);
    }
  }
}

// Groups of one kernel: the hull itself.
TEST(LargestMixture, OfSingleKernelsIsTheHull) {
  const MixedNorm norm({0, 1, 2, 3, 4}, 1, 1.5);
  for (int seed = 1; seed <= 5; ++seed) {
    const MadeModel model(6, 5, 2, seed);
    const MixturePoint best = SolveLargestMixture(*norm.largest_part(), model, FirstVertex(6), kPrecision);
    HullProblem problem;
    problem.l.assign(model.linear().begin(), model.linear().end());
    problem.B = model.matrices();
    const HullPoint hull = SolveHull(problem, 1e-11);
    EXPECT_NEAR(best.value, ValueAt(norm, model, hull.w), 1e-9);
  }
}

// The smoothed maximum lies above the largest by as much as it may.
TEST(LargestMixture, IsWhereSmoothedMaximaLead) {
  const std::vector<int> groups = {0, 0, 1, 1, 2, 2};
  const MixedNorm norm(groups, 1, 4.0 / 3);
  const MadeModel model(7, groups.size(), 3, 1);
  const MixturePoint best = SolveLargestMixture(*norm.largest_part(), model, FirstVertex(7), kPrecision);
  for (const double smoothing : {1e-1, 1e-2, 1e-3}) {
    const MixturePoint smoothed = SolveMixture(*norm.Smoothed(smoothing), model, FirstVertex(7), 1e-9);
    EXPECT_NEAR(smoothed.value, best.value, 2 * smoothing);
    EXPECT_LE(ValueAt(norm, model, smoothed.w), best.value + kPrecision);
  }
}

TEST(LargestMixture, OfOneBetaIsItself) {
  const MixedNorm norm({0, 0, 1}, 1, 2);
  const MadeModel model(1, 3, 2, 4);
  const MixturePoint best = SolveLargestMixture(*norm.largest_part(), model, FirstVertex(1), kPrecision);
  EXPECT_LE(best.error, kPrecision);
  EXPECT_EQ(best.w, std::vector<double>{1.0});
}

}  // namespace
}  // namespace kweave
