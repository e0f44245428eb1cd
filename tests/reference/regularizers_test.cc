// Learned optima against those of a conic solver (generate_regularizers.py), for every regulariser and every method that
// serves it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "regularizer/bounded_norm.h"
#include "regularizer/elastic_norm.h"
#include "regularizer/lp_penalty.h"
#include "regularizer/matrix_norm.h"
#include "regularizer/mixed_norm.h"
#include "tests/support/learn_reference.h"
#include "weights/method_table.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::HingeRisk;
using testing::Learn;
using testing::ReferenceProblem;
using testing::WithMethod;

double Exponent(const nlohmann::json& value) {
  return value.is_string() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

RegularizerPointer MakeRegularizer(const nlohmann::json& json, std::size_t kernels) {
  const std::string kind = json.at("kind");
  if (kind == "block") return BlockNorm(Exponent(json.at("P")), kernels);
  if (kind == "mixed") {
    return std::make_shared<MixedNorm>(json.at("groups").get<std::vector<int>>(), Exponent(json.at("P")),
                                       Exponent(json.at("Q")));
  }
  if (kind == "weight-matrix") {
    return std::make_shared<WeightMatrixNorm>(json.at("matrix").get<std::vector<double>>());
  }
  if (kind == "part-matrix") {
    return std::make_shared<PartMatrixNorm>(json.at("matrix").get<std::vector<double>>());
  }
  if (kind == "elastic") return std::make_shared<ElasticNorm>(json.at("share"));
  if (kind == "bounded") {
    return std::make_shared<BoundedNorm>(json.at("p"), json.at("lower").get<std::vector<double>>(),
                                         json.at("upper").get<std::vector<double>>());
  }
  return std::make_shared<LpPenalty>(json.at("mu").get<double>(), json.at("p").get<double>());
}

// The first samples of a stored problem.
ReferenceProblem FirstSamples(const std::string& name, std::size_t samples) {
  const ReferenceProblem& whole = FindReferenceProblem(name);
  const std::size_t n = whole.y.size();
  ReferenceProblem part;
  part.name = name;
  part.y.assign(whole.y.begin(), whole.y.begin() + static_cast<std::ptrdiff_t>(samples));
  part.upper.assign(whole.upper.begin(), whole.upper.begin() + static_cast<std::ptrdiff_t>(samples));
  for (const std::vector<double>& matrix : whole.matrices) {
    std::vector<double>& kept = part.matrices.emplace_back();
    for (std::size_t i = 0; i < samples; ++i) {
      const auto row = matrix.begin() + static_cast<std::ptrdiff_t>(i * n);
      kept.insert(kept.end(), row, row + static_cast<std::ptrdiff_t>(samples));
    }
  }
  return part;
}

TEST(RegularizerReference, EveryMethodFindsTheOptimum) {
  std::ifstream file("tests/reference/regularizers.json");
  ASSERT_TRUE(file.good());
  for (const nlohmann::json& json : nlohmann::json::parse(file).at("cases")) {
    const ReferenceProblem problem = FirstSamples(json.at("problem"), json.at("samples").get<std::size_t>());
    const Risk risk = HingeRisk(problem);
    const RegularizerPointer regularizer = MakeRegularizer(json, problem.matrices.size());
    const double optimum = json.at("optimum");
    for (const MethodRecord& method : MethodTable()) {
      if (!method.serves(*regularizer, *risk.loss)) continue;
      SCOPED_TRACE(problem.name + ", " + regularizer->Name() + ", " + std::string(method.name));
      const Learned learned =
          Learn(problem.matrices, risk, regularizer, WithMethod(std::string(method.name), 1e-6));
      EXPECT_EQ(learned.status, Status::kConverged);
      EXPECT_LE(learned.certificate.relative_gap, 1e-6);
      EXPECT_NEAR(learned.certificate.primal, optimum, 1e-5 * optimum);
      EXPECT_GE(learned.certificate.primal, optimum * (1 - 2e-6));
      EXPECT_LE(learned.certificate.dual, optimum * (1 + 2e-6));
      if (::testing::Test::HasFailure() || std::getenv("KWEAVE_SWEEP") != nullptr) {
        std::printf("%s %s %s: %ld solves, gap %g\n", problem.name.c_str(), regularizer->Name().c_str(),
                    std::string(method.name).c_str(), static_cast<long>(learned.solves),
                    learned.certificate.relative_gap);
      }
    }
  }
}

}  // namespace
}  // namespace kweave
