// Intervals of kernel weights against optimal weights: those of a conic solver (generate_importance.py), and
// those of far more precise solves.
#include "certificate/importance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/run_control.h"
#include "regularizer/bounded_norm.h"
#include "regularizer/elastic_norm.h"
#include "regularizer/entropy.h"
#include "regularizer/lp_penalty.h"
#include "regularizer/matrix_norm.h"
#include "regularizer/mixed_norm.h"
#include "regularizer/norm_penalty.h"
#include "tests/support/learn_reference.h"
#include "weights/models/log_determinant.h"
#include "weights/strategies/known_weights.h"

namespace kweave {
namespace {

using testing::HingeRisk;
using testing::Learn;
using testing::MatrixGram;
using testing::ReferenceProblem;

// The conic solver's gap is below 1e-9 of objectives of order ten, and weights err by the root of that.
constexpr double kConicError = 1e-4;
// Solves to a gap of 1e-9: the same.
constexpr double kTightGap = 1e-9, kTightError = 1e-4;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The generator of generate_importance.py.
class Congruence {
 public:
  explicit Congruence(std::uint32_t seed) : state_(seed) {}
  double Next() {
    state_ = (1103515245u * state_ + 12345u) % (1u << 31);
    return (static_cast<double>((state_ >> 8) % 2001) - 1000) / 1000;
  }

 private:
  std::uint32_t state_;
};

ReferenceProblem MakeProblem(std::uint32_t seed, std::size_t samples, std::size_t kernels,
                             std::size_t dimensions, double C) {
  Congruence random(seed);
  std::vector<double> x(samples * kernels * dimensions);
  for (double& value : x) value = random.Next();
  ReferenceProblem problem;
  const std::size_t row = kernels * dimensions;
  for (std::size_t i = 0; i < samples; ++i) {
    const double f = x[i * row] + 0.5 * x[i * row + dimensions] + 0.4 * random.Next();
    problem.y.push_back(f > 0 ? 1 : -1);
  }
  problem.upper.assign(samples, C);
  for (std::size_t m = 0; m < kernels; ++m) {
    std::vector<double>& matrix = problem.matrices.emplace_back();
    for (std::size_t i = 0; i < samples; ++i) {
      for (std::size_t j = 0; j < samples; ++j) {
        double product = 0;
        for (std::size_t d = m * dimensions; d < (m + 1) * dimensions; ++d)
          product += x[i * row + d] * x[j * row + d];
        matrix.push_back(product);
      }
    }
  }
  return problem;
}

double Exponent(const nlohmann::json& value) { return value.is_string() ? kInfinity : value.get<double>(); }
double Block(double p) { return std::isinf(p) ? 2 : 2 * p / (p + 1); }

RegularizerPointer MakeRegularizer(const nlohmann::json& json, const std::vector<int>& groups) {
  const std::string kind = json.at("kind");
  if (kind == "elastic") return std::make_shared<ElasticNorm>(json.at("share").get<double>());
  if (kind == "matrix")
    return std::make_shared<WeightMatrixNorm>(json.at("matrix").get<std::vector<double>>());
  const double p = Exponent(json.at("p"));
  if (kind == "bounded") {
    return std::make_shared<BoundedNorm>(p, json.at("lower").get<std::vector<double>>(),
                                         json.at("upper").get<std::vector<double>>());
  }
  if (kind == "penalty") return std::make_shared<LpPenalty>(json.at("mu").get<double>(), p);
  if (kind == "norm") return LpConstraint(p);
  MixedNorm norm(groups, Block(p), Block(Exponent(json.at("q"))));
  if (json.contains("mu")) return std::make_shared<NormPenalty>(json.at("mu").get<double>(), std::move(norm));
  return std::make_shared<MixedNorm>(std::move(norm));
}

void ExpectInside(double value, const WeightInterval& interval, double error) {
  EXPECT_GE(value, interval.lower - error);
  EXPECT_LE(value, interval.upper + error);
}

// Sums over the first two kernels, and over the others.
const KernelParts kParts = {{0, 1}, {2, 3, 4}};

// The optimal weights, and the learned ones, lie in every interval; returns the mean width of the shares.
double CheckIntervals(const ReferenceProblem& problem, const RegularizerPointer& regularizer, double gap,
                      const std::vector<double>& optimal, double error) {
  LearnOptions options = testing::WithMethod("auto", gap);
  options.keeps_cuts = true;
  Learned learned = Learn(problem.matrices, HingeRisk(problem), regularizer, options);
  MixCuts(*regularizer, learned.certificate);
  const Importance kernels = FindImportance(*regularizer, learned.certificate);
  const Importance parts = FindImportance(*regularizer, learned.certificate, kParts);
  EXPECT_TRUE(kernels.is_known() && parts.is_known());
  if (!kernels.is_known()) return 0;
  double width = 0;
  for (const auto& [theta, slack] :
       {std::pair(&optimal, error), std::pair(&std::as_const(learned.theta), 1e-9)}) {
    double total = 0;
    for (const double value : *theta) total += value;
    ExpectInside(total, kernels.total, slack * (1 + total));
    for (std::size_t m = 0; m < theta->size(); ++m) {
      ExpectInside((*theta)[m], kernels.weights[m], slack * (1 + total));
      if (total > 100 * slack) ExpectInside((*theta)[m] / total, kernels.shares[m], slack / total);
    }
    for (std::size_t k = 0; k < kParts.size(); ++k) {
      double sum = 0;
      for (const Index m : kParts[k]) sum += (*theta)[static_cast<std::size_t>(m)];
      ExpectInside(sum, parts.weights[k], slack * (1 + total));
      if (total > 100 * slack) ExpectInside(sum / total, parts.shares[k], slack / total);
    }
  }
  for (const WeightInterval& share : kernels.shares) width += share.upper - share.lower;
  return width / static_cast<double>(kernels.shares.size());
}

TEST(Importance, ConicOptimaLieInside) {
  std::ifstream file("tests/reference/importance.json");
  ASSERT_TRUE(file.good());
  const nlohmann::json document = nlohmann::json::parse(file);
  ASSERT_GE(document.at("cases").size(), 300u);
  const auto groups = document.at("groups").get<std::vector<int>>();
  double wide = 0, narrow = 0;
  for (const nlohmann::json& json : document.at("cases")) {
    const ReferenceProblem problem =
        MakeProblem(json.at("seed"), document.at("samples"), 5, document.at("dimensions"), json.at("C"));
    const RegularizerPointer regularizer = MakeRegularizer(json, groups);
    SCOPED_TRACE(regularizer->Name() + ", seed " + std::to_string(json.at("seed").get<int>()));
    const auto optimal = json.at("theta").get<std::vector<double>>();
    wide += CheckIntervals(problem, regularizer, 3e-2, optimal, kConicError);
    narrow += CheckIntervals(problem, regularizer, 1e-4, optimal, kConicError);
  }
  EXPECT_LT(narrow, 0.7 * wide);
}

// Regularisers that are no cones, and norms between those of the cones.
TEST(Importance, OptimaOfPreciseSolvesLieInside) {
  const std::vector<int> groups = {0, 0, 1, 1, 2};
  double wide = 0, narrow = 0;
  for (std::uint32_t seed = 100; seed < 120; ++seed) {
    const double C = std::pow(10.0, static_cast<double>(seed % 4) - 1);
    const ReferenceProblem problem = MakeProblem(seed, 30, 5, 3, C);
    MatrixGram gram(problem.matrices);
    const std::vector<RegularizerPointer> regularizers = {
        LpConstraint(8.0 / 7),
        LpConstraint(4.0 / 3),
        LpConstraint(3),
        std::make_shared<EntropyPenalty>(0.5),
        std::make_shared<EntropyPenalty>(5),
        std::make_shared<LpPenalty>(1.5, 1.5),
        std::make_shared<MixedNorm>(groups, 1.2, 1.5),
        std::make_shared<LogDeterminant>(LpConstraint(2), 0.05, 1e-2, MatrixOf(gram))};
    for (const RegularizerPointer& regularizer : regularizers) {
      SCOPED_TRACE(regularizer->Name() + ", seed " + std::to_string(seed));
      const Learned tight =
          Learn(problem.matrices, HingeRisk(problem), regularizer, testing::WithMethod("auto", kTightGap));
      if (tight.certificate.relative_gap > 10 * kTightGap) continue;  // not precise enough to judge by
      wide += CheckIntervals(problem, regularizer, 3e-2, tight.theta, kTightError);
      narrow += CheckIntervals(problem, regularizer, 1e-4, tight.theta, kTightError);
    }
  }
  EXPECT_LT(narrow, 0.3 * wide);
  EXPECT_GT(wide, 0);
}

TEST(Importance, SaysWhereNothingIsKnown) {
  const ReferenceProblem problem = MakeProblem(3, 24, 5, 2, 1);
  const RegularizerPointer regularizer = BlockNorm(4, 5);
  const Learned learned =
      Learn(problem.matrices, HingeRisk(problem), regularizer, testing::WithMethod("auto", 1e-3));
  const Importance importance = FindImportance(*regularizer, learned.certificate);
  EXPECT_FALSE(importance.is_known());
  EXPECT_NE(importance.reason.find("block norm 4"), std::string::npos);
}

// Two kernels, q = (4, 1), L - P = 1/2 max(q) - G: theta_2 <= 2 G / (4 - 1) at norm 1; at norm 2 the angle
// between theta and q has a cosine of at least 1 - 2 G / ||q||.
TEST(Importance, AgreesWithClosedForms) {
  const double G = 0.03;
  Certificate certificate;
  certificate.primal = 10;
  certificate.cuts = {{10 + 2 - G, {4, 1}, false}};
  const Importance sparse = FindImportance(LpNorm(1), certificate);
  EXPECT_NEAR(sparse.weights[1].upper, 2 * G / 3, 1e-9);
  EXPECT_NEAR(sparse.weights[0].lower, 1 - 2 * G / 3, 1e-9);
  EXPECT_NEAR(sparse.weights[0].upper, 1, 1e-9);
  EXPECT_EQ(sparse.weights[1].lower, 0);
  const double norm = std::sqrt(17.0);
  certificate.cuts = {{10 + norm / 2 - G, {4, 1}, false}};
  const Importance round = FindImportance(LpNorm(2), certificate);
  const double angle = std::acos(1 - 2 * G / norm), direction = std::atan2(1, 4);
  EXPECT_NEAR(round.weights[1].upper, std::sin(direction + angle), 1e-6);
  EXPECT_NEAR(round.weights[0].lower, std::cos(direction + angle), 1e-6);
  EXPECT_NEAR(round.weights[1].lower, std::sin(direction - angle), 1e-6);
  // The share of the second is t / (1 + t) with the tangent t of its angle.
  const double t = std::tan(direction + angle);
  EXPECT_NEAR(round.shares[1].upper, t / (1 + t), 2e-3);
  EXPECT_GE(round.shares[1].upper, t / (1 + t) - 1e-9);
}

Learned LearnKnown(const std::vector<std::vector<double>>& matrices, const Risk& risk, double norm,
                   double tolerance) {
  LearnOptions options = testing::WithMethod("auto", 1e-2);
  options.keeps_cuts = true;
  const Context context;
  RunControl control(context);
  return LearnUntilKnown(
      LpNorm(norm), options, tolerance,
      [&](const LearnOptions& own) { return Learn(matrices, risk, norm, own); }, control);
}

TEST(Importance, LearnsUntilSharesAreKnown) {
  const ReferenceProblem problem = MakeProblem(7, 40, 5, 3, 1);
  for (const double norm : {1.0, 4.0 / 3, 2.0}) {
    Learned learned = LearnKnown(problem.matrices, HingeRisk(problem), norm, 0.01);
    EXPECT_EQ(learned.status, Status::kConverged) << norm;
    MixCuts(LpNorm(norm), learned.certificate);
    EXPECT_LE(ShareError(FindImportance(LpNorm(norm), learned.certificate), learned.theta), 0.01) << norm;
  }
}

// Which of two equal kernels has the weight nothing can tell at norm 1.
TEST(Importance, SaysWhenSharesCannotBeKnown) {
  ReferenceProblem problem = MakeProblem(7, 40, 2, 3, 1);
  problem.matrices[1] = problem.matrices[0];
  const Learned learned = LearnKnown(problem.matrices, HingeRisk(problem), 1, 0.01);
  EXPECT_NE(learned.status, Status::kConverged);
  EXPECT_LE(learned.certificate.relative_gap, 1e-2);
}

// A gap that the first theta meets says nothing of the weights.
TEST(Importance, WeightsMoveBeforeTheyAreAnAnswer) {
  const ReferenceProblem problem = MakeProblem(7, 40, 5, 3, 1);
  const LearnOptions options = testing::WithMethod("auto", 0.9);
  for (const double norm : {1.0, 2.0}) {
    const Learned learned = Learn(problem.matrices, HingeRisk(problem), norm, options);
    EXPECT_EQ(learned.status, Status::kConverged);
    EXPECT_GE(learned.iterations, 1);
    EXPECT_NE(learned.theta[0], learned.theta[1]);
  }
  EXPECT_EQ(Learn(problem.matrices, HingeRisk(problem), kInfinity, options).iterations, 0);
}

TEST(Importance, ServesAMillionKernels) {
  constexpr std::size_t kKernels = 1000000;
  Certificate certificate;
  certificate.primal = 10;
  WeightCut cut{10, std::vector<double>(kKernels), false};
  Congruence random(5);
  for (double& value : cut.quadratics) value = std::abs(random.Next());
  for (const double p : {1.0, 2.0}) {
    const LpNorm norm(p);
    certificate.cuts = {cut};
    certificate.cuts[0].linear = 10 + norm.DualTerm(cut.quadratics) * (1 - 1e-3);
    const Importance importance = FindImportance(norm, certificate);
    ASSERT_EQ(importance.weights.size(), kKernels);
    std::vector<double> best(kKernels);
    norm.BestResponse(cut.quadratics, best);
    for (std::size_t m = 0; m < kKernels; m += 997) ExpectInside(best[m], importance.weights[m], 1e-12);
  }
}

}  // namespace
}  // namespace kweave
