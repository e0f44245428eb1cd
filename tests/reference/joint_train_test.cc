// Train() on problems of joint.json, and what its model predicts: the losses must be those of the certificate.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kweave/error.h"
#include "kweave/train.h"

namespace kweave {
namespace {

/// How far, relatively, the optimum can move when every scale is rounded to six digits.
constexpr double kRoundedScales = 1e-5;
constexpr double kGap = 1e-4;

nlohmann::json FindProblem(const std::string& name) {
  std::ifstream file("tests/reference/joint.json");
  const nlohmann::json document = nlohmann::json::parse(file);
  for (const nlohmann::json& problem : document.at("problems")) {
    if (problem.at("name") == name) return problem;
  }
  throw std::runtime_error("no joint problem " + name);
}

Dataset MakeDataset(const nlohmann::json& problem) {
  Dataset data;
  std::vector<double> values;
  for (const nlohmann::json& row : problem.at("features")) {
    for (const nlohmann::json& value : row) values.push_back(value);
  }
  for (const int u : problem.at("y")) data.labels.text.push_back(fmt::format("class {}", u));
  data.size = static_cast<Index>(data.labels.text.size());
  data.views.push_back({.name = "data", .features = MakeDense(values, data.size, 4), .feature_names = {}});
  return data;
}

/// Kernels on all features, whose scales multiplicative normalisation finds.
TrainOptions MakeOptions(const nlohmann::json& problem, double norm) {
  TrainOptions options;
  options.multiclass = "joint";
  options.norm = norm;
  options.gap = kGap;
  options.C = problem.at("C")[0];
  options.bias = problem.at("bias");
  options.loss = problem.at("loss");
  for (const nlohmann::json& kernel : problem.at("kernels")) {
    const std::string kind = kernel.at("kind");
    options.kernels.push_back(kind == "rbf" ? fmt::format("rbf(gamma={})", kernel.at("gamma").get<double>())
                                            : "linear");
  }
  return options;
}

void ExpectOptimum(const Summary& summary, const nlohmann::json& problem, std::size_t k) {
  const double optimum = problem.at("optima")[k].at("upper");
  EXPECT_EQ(summary.status, Status::kConverged);
  EXPECT_NEAR(summary.primal, optimum, (kGap + kRoundedScales) * optimum);
  EXPECT_LE(summary.dual, optimum * (1 + kRoundedScales));
}

/// The hinge losses of what the model says of its training samples.
double Losses(const Model& model, const Dataset& data, double C) {
  const Prediction prediction = model.Predict(data, {});
  const auto classes = static_cast<std::size_t>(model.outputs());
  const std::vector<std::string> names = model.classes();
  double sum = 0;
  for (std::size_t i = 0; i < data.labels.text.size(); ++i) {
    const double* f = prediction.decision.data() + i * classes;
    double own = 0, best = -1e300;
    for (std::size_t u = 0; u < classes; ++u) {
      names[u] == data.labels.text[i] ? own = f[u] : best = std::max(best, f[u]);
    }
    sum += C * std::max(0.0, 1 - own + best);
  }
  return sum;
}

double Regularization(const Summary& summary) {
  double sum = 0;
  for (const KernelReport& kernel : summary.kernels) sum += 0.5 * kernel.weight * kernel.quadratic;
  return sum;
}

TEST(TrainJoint, MeetsTheConicOptimumAndPredictsIt) {
  for (const char* name : {"two_classes", "three_classes", "no_bias"}) {
    const nlohmann::json problem = FindProblem(name);
    const Dataset data = MakeDataset(problem);
    const TrainOptions options = MakeOptions(problem, 2);
    const Model model = Train(data, options, {});
    SCOPED_TRACE(name);
    ExpectOptimum(model.summary(), problem, 2);
    EXPECT_EQ(model.summary().multiclass, "joint");
    EXPECT_NEAR(Losses(model, data, options.C) + Regularization(model.summary()), model.summary().primal,
                1e-6 * model.summary().primal);
  }
}

TEST(TrainJoint, LearnedClassKernelIsReportedAndPredicts) {
  const nlohmann::json problem = FindProblem("blocks");
  const Dataset data = MakeDataset(problem);
  TrainOptions options = MakeOptions(problem, 1);
  options.class_kernels = {"blocks"};
  const Model model = Train(data, options, {});
  ExpectOptimum(model.summary(), problem, 0);
  ASSERT_TRUE(model.summary().class_kernel.has_value());
  const ClassKernelReport& report = *model.summary().class_kernel;
  EXPECT_EQ(report.kernels.size(), 6u);
  EXPECT_EQ(report.matrix.size(), 9u);
  double regularization = 0;
  for (const KernelReport& kernel : report.kernels) regularization += 0.5 * kernel.weight * kernel.quadratic;
  EXPECT_NEAR(Losses(model, data, options.C) + regularization, model.summary().primal,
              1e-6 * model.summary().primal);
}

TEST(TrainJoint, StartsFromAModel) {
  const nlohmann::json problem = FindProblem("three_classes");
  const Dataset data = MakeDataset(problem);
  const TrainOptions options = MakeOptions(problem, 2);
  const Model first = Train(data, options, {});
  const Model second = Train(data, options, {}, &first);
  ExpectOptimum(second.summary(), problem, 2);
  EXPECT_LT(second.summary().solves, first.summary().solves);
}

TEST(TrainJoint, RefusesWhatDoesNotServe) {
  const nlohmann::json problem = FindProblem("three_classes");
  const Dataset data = MakeDataset(problem);
  TrainOptions options = MakeOptions(problem, 2);
  options.loss = "least-squares";
  EXPECT_THROW(Train(data, options, {}), Error);
  options = MakeOptions(problem, 2);
  options.multiclass = "ovr";
  options.class_kernels = {"blocks"};
  EXPECT_THROW(Train(data, options, {}), Error);
}

}  // namespace
}  // namespace kweave
