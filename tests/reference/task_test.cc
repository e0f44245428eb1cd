// Regression and one-class machines with one kernel against LIBSVM (generate_task_objectives.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "kweave/train.h"
#include "tests/support/verified_train.h"

namespace kweave {
namespace {

constexpr Index kNew = 5;

struct Case {
  std::string task, kernel;
  std::uint64_t seed = 0;
  Index n = 0, d = 0;
  double noise = 0;
  bool is_weighted = false;
  double gamma = 0, C = 0, epsilon = 0, nu = 0, optimum = 0;
  std::vector<double> decision;  ///< of the new samples
};

std::vector<Case> ReadCases() {
  std::ifstream file("tests/reference/task_objectives.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Case one;
    words >> one.task >> one.seed >> one.n >> one.d >> one.noise >> one.is_weighted >> one.kernel >>
        one.gamma >> one.C >> one.epsilon >> one.nu >> one.optimum;
    for (double value; words >> value;) one.decision.push_back(value);
    EXPECT_EQ(one.decision.size(), static_cast<std::size_t>(kNew)) << line;
    cases.push_back(one);
  }
  return cases;
}

struct Samples {
  Dataset train, fresh;
  std::vector<double> weights;
};

Samples MakeSamples(const Case& one) {
  Random random(one.seed);
  Samples samples;
  std::vector<double> train, fresh;
  for (Index i = 0; i < one.n + kNew; ++i) {
    std::vector<double>& values = i < one.n ? train : fresh;
    const std::size_t first = values.size();
    for (Index k = 0; k < one.d; ++k) values.push_back(2 * random.Uniform() - 1);
    const double y =
        values[first] * values.back() + 2 * values[first] + one.noise * (2 * random.Uniform() - 1);
    const double weight = one.is_weighted ? 0.5 + random.Uniform() : 1;
    if (i >= one.n) continue;
    samples.weights.push_back(weight);
    samples.train.labels.text.push_back(fmt::format("{}", y));
    samples.train.labels.number.push_back(y);
  }
  samples.train.size = one.n;
  samples.fresh.size = kNew;
  samples.train.views.push_back({"data", MakeDense(std::move(train), one.n, one.d), {}});
  samples.fresh.views.push_back({"data", MakeDense(std::move(fresh), kNew, one.d), {}});
  return samples;
}

TEST(TaskReference, AgreesWithLibsvm) {
  const std::vector<Case> cases = ReadCases();
  ASSERT_GE(cases.size(), 10u);
  for (const Case& one : cases) {
    SCOPED_TRACE(fmt::format("{}, seed {}", one.task, one.seed));
    const Samples samples = MakeSamples(one);
    TrainOptions options;
    options.task = FindChoice<Task>(one.task)->choice;
    options.kernels = {one.kernel == "rbf" ? fmt::format("rbf(gamma={})", one.gamma) : one.kernel};
    options.normalize = "none";
    options.C = one.C;
    options.epsilon = one.epsilon;
    options.nu = one.nu;
    if (one.is_weighted) options.sample_weights = samples.weights;
    for (const double gap : {1e-3, 1e-7}) {
      options.gap = gap;
      const Model model = TrainVerified(samples.train, options, Context{});
      const Summary& summary = model.summary();
      EXPECT_EQ(summary.status, Status::kConverged);
      EXPECT_GE(summary.primal, one.optimum - 1e-9 * std::abs(one.optimum));
      EXPECT_LE(summary.dual, one.optimum + 1e-9 * std::abs(one.optimum));
      EXPECT_LE(summary.primal - summary.dual,
                1.001 * gap * std::max(std::abs(summary.primal), std::abs(summary.dual)));
      if (gap > 1e-6) continue;
      EXPECT_NEAR(summary.primal, one.optimum, 1e-6 * std::abs(one.optimum));
      const Prediction prediction = model.Predict(samples.fresh, Context{});
      for (std::size_t i = 0; i < one.decision.size(); ++i) {
        EXPECT_NEAR(prediction.decision[i], one.decision[i], one.task == "regress" ? 2e-3 : 1e-4) << i;
      }
    }
  }
}

}  // namespace
}  // namespace kweave
