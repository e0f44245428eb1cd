#include "weights/spg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kweave/error.h"
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
      for (const std::string method : {"spg", "spg-max"}) {
        if (method == "spg-max" && problem.name != "mixed_10_large_c") continue;
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
  options.driver = "interleaved";
  EXPECT_THROW(Learn(FindReferenceProblem("two_widths"), 2, options), Error);
}

}  // namespace
}  // namespace kweave
