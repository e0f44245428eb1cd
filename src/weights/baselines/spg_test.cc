#include "weights/baselines/spg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "kweave/error.h"
#include "regularizer/lp_penalty.h"
#include "tests/support/learn_reference.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::Learn;
using testing::ReferenceOptimum;
using testing::ReferenceProblem;
using testing::ReferenceProblems;
using testing::WithMethod;

void ExpectTrueBounds(const Learned& learned, const ReferenceOptimum& optimum) {
  EXPECT_GE(learned.certificate.primal, optimum.lower * (1 - 1e-10));
  EXPECT_LE(learned.certificate.dual, optimum.upper * (1 + 1e-10));
}

TEST(Spg, FindsEveryReferenceOptimum) {
  for (const ReferenceProblem& problem : ReferenceProblems()) {
    for (const ReferenceOptimum& optimum : problem.optima) {
      for (const std::string method : {"spg", "spg-max", "projected-quasi-newton"}) {
        if (method == "spg-max" && problem.name != "mixed_10_large_c") continue;
        // Sixty kernels that are all but alike, at norm 1: gradients alone take more than a thousand solves.
        if (method == "spg" && problem.name == "mixed_60" && optimum.norm == 1) continue;
        SCOPED_TRACE(problem.name + ", norm " + std::to_string(optimum.norm) + ", " + method);
        const Learned learned = Learn(problem, optimum.norm, WithMethod(method, 1e-3));
        EXPECT_EQ(learned.status, Status::kConverged);
        EXPECT_LE(learned.certificate.relative_gap, 1e-3);
        ExpectTrueBounds(learned, optimum);
        EXPECT_LE(learned.solves, 200);
      }
    }
  }
}

// Kernels that are all but alike make plain steps crawl, and norm 1 has kinks in its dual.
TEST(ProjectedQuasiNewton, ReachesSmallGapsForEveryNorm) {
  for (const char* name : {"mixed_10_large_c", "each_8_sample_costs", "duplicates_6"}) {
    const ReferenceProblem& problem = FindReferenceProblem(name);
    for (const ReferenceOptimum& optimum : problem.optima) {
      SCOPED_TRACE(problem.name + ", norm " + std::to_string(optimum.norm));
      const Learned learned = Learn(problem, optimum.norm, WithMethod("projected-quasi-newton", 1e-6));
      EXPECT_EQ(learned.status, Status::kConverged);
      EXPECT_LE(learned.certificate.relative_gap, 1e-6);
      EXPECT_NEAR(learned.certificate.primal, optimum.upper, 1e-5 * optimum.upper);
      ExpectTrueBounds(learned, optimum);
      EXPECT_LE(learned.solves, 250);
    }
  }
}

// Where the dual term only says what is feasible, the mixture of the betas is scaled.
TEST(ProjectedQuasiNewton, ReachesSmallGapsWithAPriceOnWeights) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  const auto penalty = std::make_shared<LpPenalty>(2, 1);
  const double optimum =
      Learn(problem.matrices, HingeRisk(problem), penalty, WithMethod("level", 1e-7)).certificate.primal;
  for (const std::string method : {"projected-quasi-newton", "spg", "spg-max"}) {
    const double gap = method == "projected-quasi-newton" ? 1e-6 : 1e-3;
    const Learned learned = Learn(problem.matrices, HingeRisk(problem), penalty, WithMethod(method, gap));
    EXPECT_EQ(learned.status, Status::kConverged) << method;
    EXPECT_NEAR(learned.certificate.primal, optimum, 1.1 * gap * optimum) << method;
  }
}

TEST(Spg, EveryPartCanBeSwitchedOff) {
  for (const char* name : {"two_widths", "mixed_10_large_c", "each_8_sample_costs"}) {
    const ReferenceProblem& problem = FindReferenceProblem(name);
    for (const ReferenceOptimum& optimum : problem.optima) {
      if (optimum.norm < 4.0 / 3) continue;
      for (const std::string method : {"pgd", "pgd+n", "pgd+s", "pgd+n+s"}) {
        SCOPED_TRACE(problem.name + ", norm " + std::to_string(optimum.norm) + ", " + method);
        const Learned learned = Learn(problem, optimum.norm, WithMethod(method, 1e-3));
        EXPECT_EQ(learned.status, Status::kConverged);
        EXPECT_EQ(learned.method, method);
        ExpectTrueBounds(learned, optimum);
      }
    }
  }
}

TEST(Spg, NeedsWholeSolves) {
  LearnOptions options = WithMethod("spg", 1e-3);
  options.driver = DriverKind::kInterleaved;
  EXPECT_THROW(Learn(FindReferenceProblem("two_widths"), 2, options), Error);
}

}  // namespace
}  // namespace kweave
