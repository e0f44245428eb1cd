// Tests may be run with fewer instructions than the machine has: KWEAVE_TEST_SIMD names the best of Highway's
// targets that may be used.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace kweave::testing {
namespace {

class SimdEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* const wanted = std::getenv("KWEAVE_TEST_SIMD");
    if (wanted == nullptr) return;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      if (std::string_view(hwy::TargetName(target)) != wanted) continue;
      // Better targets have lower bits.
      hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(target - 1));
      return;
    }
    std::cerr << "no " << wanted << " here: the tests use what there is\n";
  }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

const auto* const environment = ::testing::AddGlobalTestEnvironment(new SimdEnvironment);

}  // namespace
}  // namespace kweave::testing
