#include "compute/cpu/smo_loops.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"

namespace kweave {
namespace {

/// Around the vectors of all instruction sets: 2 to 8 doubles, 4 to 16 floats, taken two at a time.
std::vector<Index> Lengths() {
  std::vector<Index> lengths{0, 1, 3};
  for (const Index n : {2, 4, 8, 16}) {
    for (const Index length : {n - 1, n, n + 1, 8 * n + 2}) lengths.push_back(length);
  }
  return lengths;
}

/// Runs `body` once for every instruction set that was compiled and that this machine has.
template <class Body>
void ForEveryInstructionSet(const Body& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <class T>
struct Variables {
  Variables(Index count, std::uint64_t seed) : has_kinks(seed % 2 == 1), size(count) {
    Random random(seed);
    constexpr float kSides[] = {side::kAtLower, side::kFree, side::kAtUpper, side::kFixed};
    for (Index k = 0; k < count + 1; ++k) {
      gradient.push_back(std::round(20 * random.Uniform() - 10));  // equal values happen
      sides.push_back(kSides[random.Below(4)]);
      diagonal.push_back(1 + random.Uniform());
      kinks.push_back(random.Below(2) == 0 ? 0 : 1.5);
      row_i.push_back(static_cast<T>(2 * random.Uniform() - 1));
      row_j.push_back(static_cast<T>(2 * random.Uniform() - 1));
    }
  }
  // From position 1 on; null for every other seed.
  const double* Kinks() const { return has_kinks ? kinks.data() + 1 : nullptr; }
  double Kink(Index k) const { return has_kinks ? kinks[static_cast<std::size_t>(k)] : 0; }
  bool has_kinks;
  Index size;  // from position 1 on: position 0 only moves the others off their alignment
  std::vector<double> gradient, diagonal, kinks;
  std::vector<float> sides;
  std::vector<T> row_i, row_j;
};

GradientEnds PlainEnds(const double* gradient, const double* kinks, const float* sides, Index size) {
  GradientEnds ends;
  for (Index k = 0; k < size; ++k) {
    const bool may_grow = sides[k] == side::kAtLower || sides[k] == side::kFree;
    const bool may_fall = sides[k] == side::kAtUpper || sides[k] == side::kFree;
    const double kink = kinks == nullptr ? 0 : kinks[k];
    if (may_grow && gradient[k] + kink < ends.min_up) {
      ends.min_up = gradient[k] + kink;
      ends.up = k;
    }
    if (may_fall) ends.max_low = std::max(ends.max_low, gradient[k] - kink);
  }
  return ends;
}

void ExpectEqual(const GradientEnds& actual, const GradientEnds& expected) {
  EXPECT_EQ(actual.up, expected.up);
  EXPECT_EQ(actual.min_up, expected.min_up);
  EXPECT_EQ(actual.max_low, expected.max_low);
}

template <class T>
class SmoLoops : public testing::Test {
 protected:
  template <class Body>
  void ForAll(const Body& body) {
    ForEveryInstructionSet([&] {
      for (const Index size : Lengths()) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
          SCOPED_TRACE(testing::Message() << "size " << size << " seed " << seed);
          Variables<T> variables(size, seed);
          body(variables);
        }
      }
    });
  }
};
using RowTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(SmoLoops, RowTypes);

TYPED_TEST(SmoLoops, FindGradientEnds) {
  this->ForAll([](Variables<TypeParam>& v) {
    ExpectEqual(FindGradientEnds(v.gradient.data() + 1, v.Kinks(), v.sides.data() + 1, v.size),
                PlainEnds(v.gradient.data() + 1, v.Kinks(), v.sides.data() + 1, v.size));
  });
}

TYPED_TEST(SmoLoops, UpdateGradient) {
  this->ForAll([](Variables<TypeParam>& v) {
    const double step = 0.37;
    std::vector<double> expected = v.gradient;
    for (std::size_t k = 1; k < expected.size(); ++k) {
      expected[k] += step * (static_cast<double>(v.row_i[k]) - static_cast<double>(v.row_j[k]));
    }
    const GradientEnds ends = UpdateGradient(step, v.row_i.data() + 1, v.row_j.data() + 1, v.Kinks(),
                                             v.sides.data() + 1, v.gradient.data() + 1, v.size);
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(v.gradient[k], expected[k], 1e-14);
    ExpectEqual(ends, PlainEnds(v.gradient.data() + 1, v.Kinks(), v.sides.data() + 1, v.size));
  });
}

TYPED_TEST(SmoLoops, FindPartner) {
  this->ForAll([](Variables<TypeParam>& v) {
    const Seeker i{-2, 1.5, 1e-12};
    auto gain = [&](Index k) {
      const double slope = v.gradient[static_cast<std::size_t>(k + 1)] - v.Kink(k + 1) - i.gradient;
      if (!(v.sides[static_cast<std::size_t>(k + 1)] >= 0 && slope > 0)) return -1.0;
      const double curvature = i.diagonal + v.diagonal[static_cast<std::size_t>(k + 1)] -
                               2 * static_cast<double>(v.row_i[static_cast<std::size_t>(k + 1)]);
      return slope * slope / std::max(curvature, i.least_curvature);
    };
    Index expected = -1;
    for (Index k = 0; k < v.size; ++k) {
      if (gain(k) > 0 && (expected < 0 || gain(k) > gain(expected))) expected = k;
    }
    const Index actual = FindPartner(i, v.row_i.data() + 1, v.gradient.data() + 1, v.Kinks(),
                                     v.sides.data() + 1, v.diagonal.data() + 1, v.size);
    ASSERT_EQ(actual < 0, expected < 0);
    if (actual < 0) return;
    EXPECT_NEAR(gain(actual), gain(expected), 1e-12 * gain(expected));
  });
}

TYPED_TEST(SmoLoops, AddScaledRow) {
  this->ForAll([](Variables<TypeParam>& v) {
    std::vector<double> expected = v.gradient;
    for (std::size_t k = 1; k < expected.size(); ++k) expected[k] += -1.7 * static_cast<double>(v.row_i[k]);
    AddScaledRow(-1.7, v.row_i.data() + 1, v.gradient.data() + 1, v.size);
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(v.gradient[k], expected[k], 1e-14);
  });
}

TYPED_TEST(SmoLoops, AddScaledRows) {
  this->ForAll([](Variables<TypeParam>& v) {
    for (const std::size_t count : {0u, 1u, 3u, 4u, 5u, 8u, 11u}) {
      std::vector<const TypeParam*> rows;
      std::vector<double> scales;
      std::vector<double> expected = v.gradient, actual = v.gradient;
      for (std::size_t r = 0; r < count; ++r) {
        const std::vector<TypeParam>& row = r % 2 == 0 ? v.row_i : v.row_j;
        rows.push_back(row.data());
        scales.push_back(0.3 * static_cast<double>(r) - 1);
        for (std::size_t k = 1; k < expected.size(); ++k)
          expected[k] += scales.back() * static_cast<double>(row[k]);
      }
      AddScaledRows(scales.data(), rows.data(), static_cast<Index>(count), Index{1}, actual.data() + 1,
                    v.size);
      for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(actual[k], expected[k], 1e-13);
    }
  });
}

TYPED_TEST(SmoLoops, AllFiniteFindsEveryPosition) {
  using Limits = std::numeric_limits<TypeParam>;
  ForEveryInstructionSet([] {
    for (const Index size : Lengths()) {
      std::vector<TypeParam> values(static_cast<std::size_t>(size), Limits::max());
      EXPECT_TRUE(AllFinite(values.data(), size));
      for (TypeParam& value : values) {
        for (const TypeParam bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
          value = bad;
          EXPECT_FALSE(AllFinite(values.data(), size));
        }
        value = 0;
      }
    }
  });
}

}  // namespace
}  // namespace kweave
