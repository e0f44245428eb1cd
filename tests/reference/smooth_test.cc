// Machines with smooth losses against the optima of an independent solver (generate_smooth.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

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

std::unique_ptr<Loss> MakeLoss(const std::string& name) {
  for (const LossRecord& record : LossTable()) {
    if (record.name == name) return record.make({});
  }
  return nullptr;
}

TEST(SmoothReference, EveryMethodFindsTheOptimum) {
  std::ifstream file("tests/reference/smooth.json");
  ASSERT_TRUE(file);
  const nlohmann::json document = nlohmann::json::parse(file);
  ASSERT_GE(document.at("optima").size(), 90U);
  for (const nlohmann::json& stored : document.at("optima")) {
    const ReferenceProblem& problem = FindReferenceProblem(stored.at("problem"));
    const nlohmann::json& p = stored.at("norm");
    const double norm = p.is_string() ? std::numeric_limits<double>::infinity() : p.get<double>();
    const std::string name = stored.at("loss");
    SCOPED_TRACE(
        fmt::format("{}, {}, norm {}, bias {}", problem.name, name, norm, stored.at("has_bias").get<bool>()));
    const std::unique_ptr<Loss> loss = MakeLoss(name);
    ASSERT_TRUE(loss);
    const Risk risk{loss.get(), problem.y, problem.upper, stored.at("has_bias")};
    const double lower = stored.at("lower"), upper = stored.at("upper");
    for (const MethodRecord& method : MethodTable()) {
      if (method.needs_whole_solves) continue;
      const double gap = method.is_baseline ? 1e-3 : kGap;
      if (!method.serves(LpNorm(norm), *loss)) continue;
      SCOPED_TRACE(method.name);
      const Learned learned = Learn(problem.matrices, risk, norm, WithMethod(std::string(method.name), gap));
      EXPECT_EQ(learned.status, Status::kConverged);
      const Certificate& certificate = learned.certificate;
      EXPECT_LE(certificate.relative_gap, gap);
      EXPECT_GE(certificate.primal, lower * (1 - 1e-10));
      EXPECT_LE(certificate.dual, upper * (1 + 1e-10));
      EXPECT_GE(certificate.gap, certificate.primal - upper);
      EXPECT_LE(certificate.primal, upper * (1 + 1.01 * gap));
    }
  }
}

}  // namespace
}  // namespace kweave
