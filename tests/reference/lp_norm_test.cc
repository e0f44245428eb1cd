// Learned optima against those of an independent solver (generate_lp_norm.py), for every method and norm.
#include "regularizer/lp_norm.h"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/support/learn_reference.h"
#include "weights/methods/method_table.h"

namespace kweave {
namespace {

using testing::HingeRisk;
using testing::Learn;
using testing::ReferenceOptimum;
using testing::ReferenceProblem;
using testing::ReferenceProblems;
using testing::WithMethod;

// So that a method which crawls fails, not only one which errs. The papers' methods do crawl at norms close
// to 1.
long MostSolves(const MethodRecord& method) {
  return method.is_baseline || method.needs_whole_solves ? 1000 : 100;
}

void ExpectOptimum(const MethodRecord& method, const Learned& learned, const ReferenceOptimum& optimum,
                   double target_gap) {
  EXPECT_EQ(learned.history.back().fallbacks, 0);
  EXPECT_EQ(learned.status, Status::kConverged);
  const Certificate& certificate = learned.certificate;
  EXPECT_LE(certificate.relative_gap, target_gap);
  EXPECT_GE(certificate.primal, optimum.lower * (1 - 1e-10));
  EXPECT_LE(certificate.dual, optimum.upper * (1 + 1e-10));
  EXPECT_GE(certificate.gap, certificate.primal - optimum.upper);
  EXPECT_LE(certificate.primal, optimum.upper * (1 + 1.01 * target_gap));
  EXPECT_LE(learned.solves, MostSolves(method));
}

TEST(LpNormReference, EveryMethodFindsTheOptimum) {
  for (const ReferenceProblem& problem : ReferenceProblems()) {
    for (const ReferenceOptimum& optimum : problem.optima) {
      for (const MethodRecord& method : MethodTable()) {
        if (!method.serves(LpNorm(optimum.norm), *HingeRisk(problem).loss)) continue;
        const bool is_first_order = method.is_baseline && method.needs_whole_solves;
        if (is_first_order) continue;  // src/weights/baselines/spg_test.cc
        for (const double target_gap : {1e-3, 1e-6}) {
          if (method.is_baseline && target_gap < 1e-3) continue;
          SCOPED_TRACE(problem.name + ", norm " + std::to_string(optimum.norm) + ", " +
                       std::string(method.name));
          const Learned learned =
              Learn(problem, optimum.norm, WithMethod(std::string(method.name), target_gap));
          ExpectOptimum(method, learned, optimum, target_gap);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kweave
