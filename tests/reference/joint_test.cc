// Machines with several classes against optima found by a conic solver (generate_joint.py and others).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "certificate/joint_certificate.h"
#include "tests/support/joint_problem.h"
#include "tests/support/learn_reference.h"
#include "weights/methods/method_table.h"
#include "weights/run/joint_gram.h"
#include "weights/run/learn_common.h"

namespace kweave {
namespace {

using testing::FindJointReference;
using testing::JointReference;
using testing::JointReferences;
using testing::WithMethod;

constexpr double kGap = 1e-6;

void ExpectOptimum(const Learned& learned, const testing::ReferenceOptimum& optimum, double gap = kGap) {
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_LE(learned.certificate.relative_gap, gap);
  EXPECT_GE(learned.certificate.primal, optimum.lower * (1 - 1e-9));
  EXPECT_LE(learned.certificate.dual, optimum.upper * (1 + 1e-9));
  const double off = std::max(1e-5, 1.01 * gap) * optimum.upper;
  EXPECT_NEAR(learned.certificate.primal, optimum.upper, off);
  EXPECT_NEAR(learned.certificate.dual, optimum.lower, off);
}

void ExpectOptimaOfEveryMethod(const std::vector<JointReference>& problems) {
  for (const JointReference& problem : problems) {
    for (const testing::ReferenceOptimum& optimum : problem.optima) {
      for (const MethodRecord& method : MethodTable()) {
        if (method.needs_whole_solves || method.needs_one_output) continue;
        if (method.make == nullptr || !method.serves(*LpConstraint(optimum.norm), *problem.loss)) continue;
        for (const DriverKind driver : {DriverKind::kWrapper, DriverKind::kInterleaved}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", problem.name, method.name, optimum.norm, ToString(driver)));
          const double gap = method.is_baseline ? 1e-3 : kGap;
          LearnOptions options = WithMethod(std::string(method.name), gap);
          options.driver = driver;
          ExpectOptimum(LearnJoint(problem, optimum.norm, options), optimum, gap);
        }
      }
    }
  }
}

TEST(Joint, EveryMethodMeetsTheConicOptimum) { ExpectOptimaOfEveryMethod(JointReferences()); }

TEST(Joint, EveryMethodMeetsTheConicOptimumOfKernelsOnPairs) {
  ExpectOptimaOfEveryMethod(testing::ReadJointReferences("tests/reference/joint_pairs.json"));
}

TEST(Joint, EveryMethodMeetsTheConicOptimumOfALossThatGrowsOnEitherSide) {
  ExpectOptimaOfEveryMethod(testing::ReadJointReferences("tests/reference/joint_least_squares.json"));
}

// Whatever is certified, the optimum lies between the bounds.
TEST(Joint, CertificateHoldsForAnyAnswer) {
  Random random(3);
  std::vector<JointReference> problems = JointReferences();
  for (const char* file : {"joint_pairs.json", "joint_least_squares.json"}) {
    for (JointReference& problem : testing::ReadJointReferences(std::string("tests/reference/") + file))
      problems.push_back(std::move(problem));
  }
  for (const JointReference& problem : problems) {
    testing::MatrixGram samples(problem.matrices, static_cast<Index>(problem.y.size()));
    testing::MatrixGram given(problem.pair_matrices);
    JointGram gram(samples, problem.classes, problem.class_matrices,
                   problem.pair_matrices.empty() ? nullptr : &given);
    for (const testing::ReferenceOptimum& optimum : problem.optima) {
      SCOPED_TRACE(fmt::format("{} {}", problem.name, optimum.norm));
      std::vector<double> theta(static_cast<std::size_t>(gram.kernels()));
      std::vector<double> beta(static_cast<std::size_t>(gram.left_count()));
      for (double& value : theta) value = random.Uniform();
      for (double& value : beta) value = 0.1 * (2 * random.Uniform() - 1);
      const RegularizerPointer norm = LpConstraint(optimum.norm);
      const Certificate certificate = CertifyJoint(gram, problem.risk(), *norm, theta, beta, beta);
      EXPECT_GE(certificate.primal, optimum.lower);
      EXPECT_LE(certificate.dual, optimum.upper);
      EXPECT_GE(certificate.dual, 0);
      beta[0] = std::nan("");
      EXPECT_TRUE(std::isinf(CertifyJoint(gram, problem.risk(), *norm, theta, beta, beta).relative_gap));
    }
  }
}

// A function that is a little too small, or too large, is judged at its best size, and the answer says which
// that is.
TEST(Joint, CertificateJudgesAFunctionAtItsBestSize) {
  const JointReference problem = JointReferences().front();
  const testing::ReferenceOptimum& optimum = problem.optima.front();
  const Learned learned = LearnJoint(problem, optimum.norm, WithMethod("auto", kGap));
  testing::MatrixGram samples(problem.matrices, static_cast<Index>(problem.y.size()));
  JointGram gram(samples, problem.classes, problem.class_matrices);
  const RegularizerPointer norm = LpConstraint(optimum.norm);
  for (const double factor : {0.9, 1.0, 1.1}) {
    std::vector<double> beta = learned.beta;
    for (double& value : beta) value *= factor;
    const Certificate certificate =
        CertifyJoint(gram, problem.risk(), *norm, learned.theta, beta, learned.dual_beta);
    const auto primal_at = [&](double scale) {
      std::vector<double> scaled = beta, biases = certificate.biases;
      for (double& value : scaled) value *= scale;
      for (double& value : biases) value *= scale / certificate.scale;
      std::vector<double> quadratics(learned.theta.size()), outputs(beta.size());
      const std::unique_ptr<Expansion> expansion = gram.Expand(scaled);
      expansion->Quadratics(quadratics);
      expansion->Outputs(learned.theta, outputs);
      return norm->Primal(learned.theta, quadratics) + problem.risk().Value(outputs, biases);
    };
    EXPECT_NEAR(certificate.primal, primal_at(certificate.scale), 1e-9 * optimum.upper);
    EXPECT_LE(certificate.primal, primal_at(1) * (1 + 1e-9));
    if (factor < 1) {
      EXPECT_GT(certificate.scale, 1.01);
      EXPECT_LT(certificate.primal, primal_at(1) * (1 - 1e-3));
    }
  }
}

// Machines of one class against the rest, with common weights (generate_common.py).
struct CommonProblem {
  explicit CommonProblem(const JointReference& joint) : gram(joint.matrices), loss(joint.loss) {
    signs.resize(static_cast<std::size_t>(joint.classes));
    for (Index u = 0; u < joint.classes; ++u) {
      std::vector<double>& y = signs[static_cast<std::size_t>(u)];
      for (const Index own : joint.y) y.push_back(own == u ? 1 : -1);
      risks.push_back({loss.get(), y, joint.C, joint.has_bias});
    }
  }
  Learned Learn(double norm, const LearnOptions& options) {
    const Context context;
    RunControl control(context);
    const GramPair pair{&gram, false, [this]() -> Gram& { return gram; }};
    return LearnCommon(pair, {risks, LpConstraint(norm)}, options, control);
  }

  testing::MatrixGram gram;
  std::shared_ptr<Loss> loss;
  std::vector<std::vector<double>> signs;
  std::vector<Risk> risks;
};

std::map<std::string, std::vector<testing::ReferenceOptimum>> CommonOptima() {
  std::ifstream file("tests/reference/common.json");
  const nlohmann::json document = nlohmann::json::parse(file);
  std::map<std::string, std::vector<testing::ReferenceOptimum>> optima;
  for (const auto& [name, list] : document.items()) {
    for (const nlohmann::json& one : list) {
      const nlohmann::json& norm = one.at("norm");
      optima[name].push_back({norm.is_string() ? std::numeric_limits<double>::infinity() : norm.get<double>(),
                              one.at("lower"), one.at("upper")});
    }
  }
  return optima;
}

TEST(CommonWeights, EveryMethodMeetsTheConicOptimum) {
  for (const auto& [name, optima] : CommonOptima()) {
    CommonProblem problem(FindJointReference(name));
    for (const testing::ReferenceOptimum& optimum : optima) {
      for (const MethodRecord& method : MethodTable()) {
        if (method.needs_whole_solves || method.needs_one_output) continue;
        if (method.make == nullptr || !method.serves(*LpConstraint(optimum.norm), *problem.loss)) continue;
        for (const DriverKind driver : {DriverKind::kWrapper, DriverKind::kInterleaved}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", name, method.name, optimum.norm, ToString(driver)));
          const double gap = method.is_baseline ? 1e-3 : kGap;
          LearnOptions options = WithMethod(std::string(method.name), gap);
          options.driver = driver;
          ExpectOptimum(problem.Learn(optimum.norm, options), optimum, gap);
        }
      }
    }
  }
}

TEST(CommonWeights, CertificateHoldsForAnyAnswer) {
  Random random(4);
  for (const auto& [name, optima] : CommonOptima()) {
    CommonProblem problem(FindJointReference(name));
    JointGram gram(problem.gram, static_cast<Index>(problem.risks.size()), {});
    for (const testing::ReferenceOptimum& optimum : optima) {
      SCOPED_TRACE(fmt::format("{} {}", name, optimum.norm));
      std::vector<double> theta(static_cast<std::size_t>(gram.kernels()));
      std::vector<double> beta(static_cast<std::size_t>(gram.left_count()));
      for (double& value : theta) value = random.Uniform();
      for (double& value : beta) value = 0.1 * (2 * random.Uniform() - 1);
      const RegularizerPointer norm = LpConstraint(optimum.norm);
      const Certificate certificate = CertifyCommon(gram, problem.risks, *norm, theta, beta, beta);
      EXPECT_GE(certificate.primal, optimum.lower);
      EXPECT_LE(certificate.dual, optimum.upper);
      EXPECT_GE(certificate.dual, 0);
      beta[0] = std::nan("");
      EXPECT_TRUE(std::isinf(CertifyCommon(gram, problem.risks, *norm, theta, beta, beta).relative_gap));
    }
  }
}

// With two classes the two outputs are f / 2 and -f / 2: half the objective of one output at twice the cost.
TEST(Joint, TwoClassesAreHalfTheBinaryMachineAtTwiceTheCost) {
  JointReference problem = FindJointReference("two_classes");
  std::vector<double> y, twice;
  for (std::size_t i = 0; i < problem.y.size(); ++i) {
    y.push_back(problem.y[i] == 0 ? 1 : -1);
    twice.push_back(2 * problem.C[i]);
  }
  for (const char* loss : {"hinge", "squared-hinge", "smoothed-hinge", "logistic", "least-squares"}) {
    problem.loss = testing::LossNamed(loss);
    for (const double norm : {1.0, 2.0}) {
      SCOPED_TRACE(fmt::format("{} {}", loss, norm));
      const Learned joint = LearnJoint(problem, norm, WithMethod("auto", kGap));
      const Learned binary =
          testing::Learn(problem.matrices, {problem.loss.get(), y, twice}, norm, WithMethod("auto", kGap));
      ASSERT_EQ(joint.status, Status::kConverged);
      EXPECT_NEAR(joint.certificate.primal, 0.5 * binary.certificate.primal, 1e-5 * joint.certificate.primal);
      const std::vector<double>& biases = joint.certificate.biases;
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double difference =
            joint.certificate.outputs[i] + biases[0] - joint.certificate.outputs[y.size() + i] - biases[1];
        const double output = binary.certificate.outputs[i] + binary.certificate.bias;
        if (std::abs(output) > 0.05) {
          EXPECT_EQ(difference > 0, output > 0) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kweave
