#include "weights/run/driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "loss/hinge.h"
#include "tests/support/learn_reference.h"

namespace kweave {
namespace {

using testing::FindReferenceProblem;
using testing::Learn;
using testing::ReferenceProblem;
using testing::ReferenceProblems;

LearnOptions Interleaved(const std::string& method, double target_gap) {
  LearnOptions options = testing::WithMethod(method, target_gap);
  options.driver = DriverKind::kInterleaved;
  return options;
}

// The most moves inside any one solve.
std::int64_t MostMovesInOneSolve(const Learned& learned) {
  std::map<std::int64_t, std::int64_t> moves;
  for (const HistoryRow& row : learned.history) moves[row.solves] += row.inside_solve;
  return std::max_element(moves.begin(), moves.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

TEST(InterleavedDriver, MeetsTheOptimumWithEveryMethod) {
  for (const ReferenceProblem& problem : ReferenceProblems()) {
    if (problem.matrices.size() < 2) continue;
    for (const auto& optimum : problem.optima) {
      for (const MethodRecord& method : MethodTable()) {
        if (method.needs_whole_solves) continue;
        if (std::isinf(optimum.norm) || !method.serves(LpNorm(optimum.norm), HingeLoss())) continue;
        const double gap = method.is_baseline ? 1e-3 : 1e-5;
        const Learned learned = Learn(problem, optimum.norm, Interleaved(std::string(method.name), gap));
        SCOPED_TRACE(problem.name + " " + std::string(method.name) + " " + std::to_string(optimum.norm));
        EXPECT_EQ(learned.status, Status::kConverged);
        EXPECT_EQ(learned.driver, "interleaved");
        EXPECT_LE(learned.certificate.relative_gap, gap);
        EXPECT_GE(learned.certificate.gap, learned.certificate.primal - optimum.upper * (1 + 1e-12));
      }
    }
  }
}

TEST(InterleavedDriver, MovesAtLeastFiveTimesInsideOneSolve) {
  for (const char* name : {"two_widths", "mixed_10_large_c", "each_8_sample_costs", "mixed_60"}) {
    for (const double norm : {1.0, 4.0 / 3, 2.0}) {
      const Learned learned = Learn(FindReferenceProblem(name), norm, Interleaved("auto", 1e-3));
      EXPECT_GE(MostMovesInOneSolve(learned), 5) << name << " " << norm;
    }
  }
}

TEST(InterleavedDriver, RunsOnTheBlockSolver) {
  LearnOptions options = Interleaved("analytic+newton", 1e-6);
  options.solver = SolverKind::kBlock;
  const Learned learned = Learn(FindReferenceProblem("mixed_10_large_c"), 2, options);
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_EQ(learned.solver, "block");
  EXPECT_GE(MostMovesInOneSolve(learned), 5);
}

TEST(Driver, NothingMovesInsideASolveOfTheWrapper) {
  LearnOptions options = testing::WithMethod("analytic", 1e-4);
  options.driver = DriverKind::kWrapper;
  const Learned learned = Learn(FindReferenceProblem("mixed_10_large_c"), 2, options);
  EXPECT_EQ(learned.driver, "wrapper");
  EXPECT_EQ(MostMovesInOneSolve(learned), 0);
}

}  // namespace
}  // namespace kweave
