#include "train/memory_plan.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernel/language.h"

namespace kweave {
namespace {

constexpr Index kSamples = 1000;
constexpr Index kManyFeatures = 200;  // so that distances are worth keeping

MemoryPlan Plan(const std::vector<std::string>& specifications, double norm, double gap,
                std::size_t memory_bytes, Index features = 4) {
  const std::vector<View> views = {
      {"data", MakeDense(std::vector<double>(kSamples * features, 1.0), kSamples, features), {}}};
  TrainOptions options;
  options.norm = norm;
  options.gap = gap;
  Context context;
  context.memory_bytes = memory_bytes;
  const KernelSet kernels = ParseKernels(specifications, views, 0);
  return PlanMemory(kernels, views, kSamples, options, context);
}

TEST(MemoryPlan, CountsVectorsOverSamplesAndOutputs) {
  const std::vector<View> views = {{"data", MakeDense(std::vector<double>(kSamples, 1.0), kSamples, 1), {}}};
  const std::vector<std::string> specifications = {"rbf(gamma=1)"};
  const KernelSet kernels = ParseKernels(specifications, views, 0);
  const auto working_bytes = [&](Index outputs) {
    return PlanMemory(kernels, views, kSamples, {}, {}, 1, outputs).working_bytes;
  };
  EXPECT_GE(working_bytes(500), working_bytes(1) + 500 * kSamples * 10 * sizeof(double));
}

TEST(MemoryPlan, CountsMachinesAndKernels) {
  const std::vector<View> views = {{"data", MakeDense(std::vector<double>(kSamples, 1.0), kSamples, 1), {}}};
  const auto working_bytes = [&](const char* specification, Index machines) {
    const std::vector<std::string> specifications = {specification};
    return PlanMemory(ParseKernels(specifications, views, 0), views, kSamples, {}, {}, machines)
        .working_bytes;
  };
  // Measured: 19,900 machines on 6 kernels took 105 MB, a million kernels 1.5 GB.
  constexpr const char *kSix = "rbf(gamma=[1,2,3,4,5,6])", *kMany = "rbf(gamma=logspace(1e-3,1e3,10000))";
  EXPECT_GE(working_bytes(kSix, 19900), working_bytes(kSix, 1) + (std::size_t{100} << 20));
  EXPECT_GE(working_bytes(kMany, 1), working_bytes(kSix, 1) + (std::size_t{14} << 20));
}

TEST(MemoryPlan, TellsWhatIsNeededWhateverIsAllowed) {
  const std::size_t needed = Plan({"rbf(gamma=[1,2])"}, 2, 1e-3, 100).needed_bytes;
  EXPECT_EQ(needed, Plan({"rbf(gamma=[1,2])"}, 2, 1e-3, std::size_t{1} << 32).needed_bytes);
  const MemoryPlan plan = Plan({"rbf(gamma=[1,2])"}, 2, 1e-3, needed);
  EXPECT_LE(plan.working_bytes + plan.base_cache_bytes + plan.row_cache_bytes, needed);
}

TEST(MemoryPlan, CountsSharedBasesOnce) {
  EXPECT_EQ(Plan({"rbf(gamma=[1,2,3])", "linear"}, 2, 1e-3, 1 << 20).bases, 1);
  EXPECT_EQ(Plan({"rbf(gamma=1)", "laplacian(gamma=1)"}, 2, 1e-3, 1 << 20).bases, 2);
  EXPECT_EQ(Plan({"linear"}, 2, 1e-3, 1 << 20).bases, 0);
}

TEST(MemoryPlan, LeavesRowsTheRoomThatSingleFeaturesDoNotNeed) {
  const MemoryPlan single = Plan({"each(rbf(gamma=[1,2]))"}, 2, 1e-3, std::size_t{1} << 32);
  EXPECT_EQ(single.bases, 0);
  EXPECT_EQ(single.base_cache_bytes, 0);
  EXPECT_EQ(single.row_cache_bytes, kSamples * kSamples * sizeof(float));
  // Single features whose kernels are not smooth have matrices.
  EXPECT_EQ(Plan({"each(laplacian(gamma=[1,2]))"}, 2, 1e-3, std::size_t{1} << 32).bases, 4);
}

// Distances over few features are computed again instead.
TEST(MemoryPlan, LeavesRowsTheRoomThatCheapBasesDoNotNeed) {
  const std::size_t budget = Plan({"rbf(gamma=[1,2])"}, 2, 1e-3, 100).working_bytes + (1 << 20);
  const MemoryPlan plan = Plan({"rbf(gamma=[1,2])"}, 2, 1e-3, budget);
  EXPECT_EQ(plan.bases, 1);
  EXPECT_EQ(plan.base_cache_bytes, 0);
  EXPECT_EQ(plan.row_cache_bytes, 1 << 20);
}

TEST(MemoryPlan, GivesNothingMoreThanItCanFill) {
  const MemoryPlan plan = Plan({"rbf(gamma=[1,2])"}, 2, 1e-3, std::size_t{1} << 32, kManyFeatures);
  EXPECT_EQ(plan.base_cache_bytes, kSamples * kSamples * sizeof(float));
  EXPECT_EQ(plan.row_cache_bytes, kSamples * kSamples * sizeof(float));
  EXPECT_EQ(Plan({"rbf(gamma=[1,2])"}, 2, 1e-6, std::size_t{1} << 32).row_cache_bytes,
            kSamples * kSamples * sizeof(double));
}

TEST(MemoryPlan, StaysWithinItsBudgetAndPrefersRowsWhereTheyLast) {
  const MemoryPlan ample = Plan({"rbf(gamma=[1,2])"}, 2, 1e-3, std::size_t{1} << 32, kManyFeatures);
  const std::size_t budget = ample.working_bytes + (1 << 20);
  const MemoryPlan moving = Plan({"rbf(gamma=[1,2])"}, 2, 1e-3, budget, kManyFeatures);
  const MemoryPlan uniform =
      Plan({"rbf(gamma=[1,2])"}, std::numeric_limits<double>::infinity(), 1e-3, budget, kManyFeatures);
  const MemoryPlan single = Plan({"rbf(gamma=1)"}, 2, 1e-3, budget, kManyFeatures);
  for (const MemoryPlan& plan : {moving, uniform, single}) {
    EXPECT_LE(plan.working_bytes + plan.base_cache_bytes + plan.row_cache_bytes, budget);
  }
  EXPECT_GT(moving.base_cache_bytes, moving.row_cache_bytes);
  EXPECT_LT(uniform.base_cache_bytes, uniform.row_cache_bytes);
  EXPECT_LT(single.base_cache_bytes, single.row_cache_bytes);
  EXPECT_EQ(Plan({"rbf(gamma=1)"}, 2, 1e-3, 100).row_cache_bytes, 64 * kSamples * sizeof(float));
}

}  // namespace
}  // namespace kweave
