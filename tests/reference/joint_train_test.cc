// Train() on problems of joint.json and others, and what its model predicts: the losses must be those of the
// certificate.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kweave/error.h"
#include "kweave/train.h"
#include "tests/support/reference_problem.h"
#include "tests/support/verified_train.h"

namespace kweave {
namespace {

/// How far, relatively, the optimum can move when every scale is rounded to six digits.
constexpr double kRoundedScales = 1e-5;
constexpr double kGap = 1e-4;

nlohmann::json FindProblem(const std::string& name, const char* path = "tests/reference/joint.json") {
  std::ifstream file(path);
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
  const auto columns = static_cast<Index>(values.size()) / data.size;
  data.views.push_back(
      {.name = "data", .features = MakeDense(values, data.size, columns), .feature_names = {}});
  return data;
}

/// Kernels on all features, whose scales multiplicative normalisation finds.
TrainOptions MakeOptions(const nlohmann::json& problem, double norm) {
  TrainOptions options;
  options.multiclass = Multiclass::kJoint;
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

/// The hinge loss of what the model says of a training sample.
double LossOf(const Model& model, const Dataset& data, const Prediction& prediction, std::size_t i) {
  const auto classes = static_cast<std::size_t>(model.outputs());
  const std::vector<std::string> names = model.classes();
  const double* f = prediction.decision.data() + i * classes;
  double own = 0, best = -1e300;
  for (std::size_t u = 0; u < classes; ++u) {
    names[u] == data.labels.text[i] ? own = f[u] : best = std::max(best, f[u]);
  }
  return std::max(0.0, 1 - own + best);
}

/// Of all samples.
double Losses(const Model& model, const Dataset& data, double C) {
  const Prediction prediction = model.Predict(data, {});
  double sum = 0;
  for (std::size_t i = 0; i < data.labels.text.size(); ++i) sum += C * LossOf(model, data, prediction, i);
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
    const Model model = TrainVerified(data, options, {});
    SCOPED_TRACE(name);
    ExpectOptimum(model.summary(), problem, 2);
    EXPECT_EQ(model.summary().multiclass, Multiclass::kJoint);
    EXPECT_NEAR(Losses(model, data, options.C) + Regularization(model.summary()), model.summary().primal,
                1e-6 * model.summary().primal);
  }
}

TEST(TrainJoint, LearnedClassKernelIsReportedAndPredicts) {
  const nlohmann::json problem = FindProblem("blocks");
  const Dataset data = MakeDataset(problem);
  TrainOptions options = MakeOptions(problem, 1);
  options.class_kernels = {"blocks"};
  const Model model = TrainVerified(data, options, {});
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

constexpr const char* kPairs = "tests/reference/joint_pairs.json";

/// A matrix over pairs, those of one sample together.
GramMatrix PairMatrix(std::string name, std::vector<double> values) {
  auto held = std::make_shared<std::vector<double>>(std::move(values));
  const auto size = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(held->size()))));
  return {std::move(name), DenseRows<double>{held->data(), size, size, size, held}};
}

/// The data with a matrix for each kernel on pairs, and the options with these kernels, in front of the
/// others.
void AddPairKernels(const nlohmann::json& problem, Dataset& data, TrainOptions& options) {
  const auto points = problem.at("points").get<std::vector<std::vector<double>>>();
  for (const nlohmann::json& kernel : problem.at("pair_kernels")) {
    const std::string name = fmt::format("pairs {}", data.matrices.size());
    options.kernels.insert(options.kernels.begin(), fmt::format("joint(file='{}')", name));
    data.matrices.push_back(PairMatrix(name, testing::ReferenceKernel(points, kernel)));
  }
}

TEST(TrainJoint, KernelsGivenOnPairsMeetTheConicOptimumAndPredictIt) {
  for (const char* name : {"one_on_pairs", "one_on_pairs_no_bias"}) {
    const nlohmann::json problem = FindProblem(name, kPairs);
    Dataset data = MakeDataset(problem);
    TrainOptions options = MakeOptions(problem, 2);
    options.sample_weights = problem.at("C").get<std::vector<double>>();
    options.C = 1;
    options.normalize = "none";
    AddPairKernels(problem, data, options);
    data.views.clear();  // the matrix is all there is
    const Model trained = TrainVerified(data, options, {});
    SCOPED_TRACE(name);
    ExpectOptimum(trained.summary(), problem, 0);
    const Model model = Model::FromBytes(trained.ToBytes());
    const Prediction prediction = model.Predict(data, {});
    EXPECT_EQ(prediction.decision, trained.Predict(data, {}).decision);
    double losses = 0;
    for (std::size_t i = 0; i < data.labels.text.size(); ++i) {
      losses += options.sample_weights[i] * LossOf(model, data, prediction, i);
    }
    EXPECT_NEAR(losses + Regularization(model.summary()), model.summary().primal,
                1e-6 * model.summary().primal);
    EXPECT_THROW(model.PredictByKernel(data, {}), Error);
  }
}

/// The kernel on samples times the identity on classes, or any other matrix over them.
std::vector<double> Kronecker(const std::vector<double>& samples, const std::vector<double>& classes) {
  const auto root = [](std::size_t squared) {
    return static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(squared))));
  };
  const std::size_t n = root(samples.size()), m = root(classes.size());
  std::vector<double> product;
  for (std::size_t r = 0; r < n * m; ++r) {
    for (std::size_t c = 0; c < n * m; ++c) {
      product.push_back(samples[r / m * n + c / m] * classes[r % m * m + c % m]);
    }
  }
  return product;
}

// A product that is given as a matrix over pairs is learned like the product: with its normalisation, beside
// other kernels, and by whatever method.
TEST(TrainJoint, GivenProductsAreProducts) {
  const nlohmann::json problem = FindProblem("three_classes");
  const Dataset data = MakeDataset(problem);
  const auto features = problem.at("features").get<std::vector<std::vector<double>>>();
  Dataset with_pairs = data;
  for (nlohmann::json kernel : problem.at("kernels")) {
    kernel["scale"] = 3.0;  // which normalisation undoes
    with_pairs.matrices.push_back(
        PairMatrix(fmt::format("pairs {}", with_pairs.matrices.size()),
                   Kronecker(testing::ReferenceKernel(features, kernel), {1, 0, 0, 0, 1, 0, 0, 0, 1})));
  }
  for (const double norm : {1.0, 4.0 / 3, 2.0}) {
    SCOPED_TRACE(norm);
    TrainOptions options = MakeOptions(problem, norm);
    options.gap = 1e-10;
    const Model products = TrainVerified(data, options, {});
    for (const bool has_both : {true, false}) {
      options.kernels[0] = "joint(file='pairs 0', name=given)";
      if (!has_both) options.kernels[1] = "joint(file='pairs 1')";
      const Model given = TrainVerified(with_pairs, options, {});
      EXPECT_NEAR(given.summary().primal, products.summary().primal, 1e-6 * products.summary().primal);
      ASSERT_EQ(given.summary().kernels.size(), 2u);
      EXPECT_EQ(given.summary().kernels[0].name, "given");
      const Prediction found = given.Predict(with_pairs, {}), expected = products.Predict(data, {});
      EXPECT_EQ(found.labels, expected.labels);
      if (norm == 1) continue;  // the optimum is flat in weights and outputs
      for (std::size_t m = 0; m < 2; ++m) {
        EXPECT_NEAR(given.summary().kernels[m].weight, products.summary().kernels[m].weight, 1e-6);
      }
      for (std::size_t k = 0; k < found.decision.size(); ++k) {
        EXPECT_NEAR(found.decision[k], expected.decision[k], 1e-6);
      }
    }
  }
}

TEST(TrainJoint, RefusesWhatKernelsOnPairsCannotDo) {
  const nlohmann::json problem = FindProblem("pairs_and_products", kPairs);
  Dataset data = MakeDataset(problem);
  TrainOptions good = MakeOptions(problem, 2);
  AddPairKernels(problem, data, good);
  const auto message = [&](const TrainOptions& options) -> std::string {
    try {
      TrainVerified(data, options, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(good), "");
  TrainOptions options = good;
  options.multiclass = Multiclass::kOneAgainstRest;
  EXPECT_THAT(message(options), ::testing::HasSubstr("train with `multiclass` joint"));
  options = good;
  options.normalize = "center";
  EXPECT_THAT(message(options), ::testing::HasSubstr("normalised by a factor only"));
  options = good;
  options.kernels[0] = "joint(file='pairs 0')*linear";
  EXPECT_THAT(message(options), ::testing::HasSubstr("cannot be part of"));
  options = good;
  data.matrices[0] = PairMatrix("pairs 0", std::vector<double>(45 * 45, 1.0));
  EXPECT_THAT(message(options), ::testing::HasSubstr("expected 135 x 135, one row and column per pair"));
  std::vector<double> skew(135 * 135, 1.0);
  skew[7] = 5;
  data.matrices[0] = PairMatrix("pairs 0", skew);
  EXPECT_THAT(message(options), ::testing::HasSubstr("not symmetric"));
  skew[7] = std::nan("");
  data.matrices[0] = PairMatrix("pairs 0", skew);
  EXPECT_THAT(message(options), ::testing::HasSubstr("not a finite number"));
}

TEST(TrainJoint, StartsFromAModel) {
  const nlohmann::json problem = FindProblem("three_classes");
  const Dataset data = MakeDataset(problem);
  const TrainOptions options = MakeOptions(problem, 2);
  const Model first = TrainVerified(data, options, {});
  const Model second = TrainVerified(data, options, {}, &first);
  ExpectOptimum(second.summary(), problem, 2);
  EXPECT_LT(second.summary().solves, first.summary().solves);
}

TEST(TrainJoint, KernelsOnPairsStartFromAModel) {
  const nlohmann::json problem = FindProblem("pairs_and_products", kPairs);
  Dataset data = MakeDataset(problem);
  TrainOptions options = MakeOptions(problem, 2);
  AddPairKernels(problem, data, options);
  const Model first = TrainVerified(data, options, {});
  const Model second = TrainVerified(data, options, {}, &first);
  EXPECT_NEAR(second.summary().primal, first.summary().primal, 2 * kGap * first.summary().primal);
  EXPECT_LT(second.summary().solves, first.summary().solves);
}

TEST(TrainJoint, MeetsTheConicOptimumOfALossThatGrowsOnEitherSide) {
  const nlohmann::json problem = FindProblem("three_both_sides", "tests/reference/joint_least_squares.json");
  ExpectOptimum(TrainVerified(MakeDataset(problem), MakeOptions(problem, 1), {}).summary(), problem, 0);
  ExpectOptimum(TrainVerified(MakeDataset(problem), MakeOptions(problem, 2), {}).summary(), problem, 2);
}

TEST(TrainJoint, RefusesWhatDoesNotServe) {
  const nlohmann::json problem = FindProblem("three_classes");
  const Dataset data = MakeDataset(problem);
  TrainOptions options = MakeOptions(problem, 2);
  options.multiclass = Multiclass::kOneAgainstRest;
  options.class_kernels = {"blocks"};
  EXPECT_THROW(TrainVerified(data, options, {}), Error);
}

}  // namespace
}  // namespace kweave
