// Machines with piecewise linear losses against the optima of an independent solver (generate_piecewise.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "regularizer/lp_norm.h"
#include "tests/support/learn_reference.h"
#include "weights/methods/method_table.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::Learn;
using testing::ReferenceProblem;
using testing::WithMethod;

/// One stored optimum with what it takes to find it again.
struct Stored {
  Stored(const nlohmann::json& document, const nlohmann::json& json)
      : problem(FindReferenceProblem(json.at("problem"))),
        loss_name(json.at("loss")),
        y(problem.y),
        C(problem.upper),
        has_bias(json.at("has_bias")),
        lower(json.at("lower")),
        upper(json.at("upper")) {
    const nlohmann::json& p = json.at("norm");
    norm = p.is_string() ? std::numeric_limits<double>::infinity() : p.get<double>();
    if (json.at("y") == "ones") y.assign(y.size(), 1.0);
    if (json.at("y") == "targets") y = document.at("targets").at(problem.name).get<std::vector<double>>();
    for (const LossRecord& record : LossTable()) {
      if (record.name != loss_name) continue;
      loss = record.make({.epsilon = document.at("epsilon")});
      if (record.task == Task::kOneClass) {
        C.assign(y.size(), 1 / (document.at("nu").get<double>() * static_cast<double>(y.size())));
        slope = 1;
      }
    }
  }

  Risk risk() const { return {loss.get(), y, C, has_bias, slope}; }

  const ReferenceProblem& problem;
  std::string loss_name;
  std::vector<double> y, C;
  bool has_bias;
  double lower, upper, norm = 0, slope = 0;
  std::unique_ptr<Loss> loss;
};

TEST(PiecewiseReference, EveryMethodFindsTheOptimum) {
  std::ifstream file("tests/reference/piecewise.json");
  ASSERT_TRUE(file);
  const nlohmann::json document = nlohmann::json::parse(file);
  ASSERT_GE(document.at("optima").size(), 60U);
  for (const nlohmann::json& json : document.at("optima")) {
    const Stored stored(document, json);
    ASSERT_TRUE(stored.loss);
    const double rounding = 1e-10 * std::abs(stored.upper);
    for (const MethodRecord& method : MethodTable()) {
      if (method.needs_whole_solves) continue;
      if (!method.serves(LpNorm(stored.norm), *stored.loss)) continue;
      for (const double gap : {1e-3, 1e-6}) {
        if (method.is_baseline && gap < 1e-3) continue;
        SCOPED_TRACE(fmt::format("{}, {} with y = {}, bias {}, norm {}, {}, gap {}", stored.problem.name,
                                 stored.loss_name, json.at("y").get<std::string>(), stored.has_bias,
                                 stored.norm, method.name, gap));
        const Learned learned = Learn(stored.problem.matrices, stored.risk(), stored.norm,
                                      WithMethod(std::string(method.name), gap));
        const Certificate& certificate = learned.certificate;
        EXPECT_EQ(learned.status, Status::kConverged);
        EXPECT_LE(certificate.relative_gap, gap);
        EXPECT_GE(certificate.primal, stored.lower - rounding);
        EXPECT_LE(certificate.dual, stored.upper + rounding);
        EXPECT_GE(certificate.gap, certificate.primal - stored.upper);  // it bounds the true error
        EXPECT_LE(certificate.primal, stored.upper + 1.01 * gap * std::abs(stored.upper));
      }
    }
  }
}

}  // namespace
}  // namespace kweave
