#include "compute/cpu/family_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "compute/cpu/chebyshev_totals.h"

namespace kweave {
namespace {

// Lengths around vector sizes, and one that leaves the pointer misaligned.
const Index kLengths[] = {1, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 130, 514};

template <class T>
class FamilyLoops : public testing::Test {
 protected:
  static constexpr double kTolerance = std::is_same_v<T, float> ? 1e-6 : 1e-14;

  std::vector<T> Values(Index count, double low, double high) {
    std::vector<T> values(count);
    for (T& v : values) v = static_cast<T>(low + (high - low) * random_.Uniform());
    return values;
  }
  // Five rows starting one element off alignment, with factors.
  struct Rows {
    std::vector<std::vector<T>> storage;
    std::vector<const T*> pointers;
    std::vector<T> factors;
    WeightedRows<T> view() const { return {pointers, factors}; }
  };
  Rows MakeRows(Index count, double low, double high) {
    Rows rows;
    for (int r = 0; r < 5; ++r) rows.storage.push_back(Values(count + 1, low, high));
    for (const auto& row : rows.storage) rows.pointers.push_back(row.data() + 1);
    rows.factors = Values(5, -1, 1);
    return rows;
  }
  Random random_{7};
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FamilyLoops, Types);

TYPED_TEST(FamilyLoops, ExponentialsMatchPlainLoops) {
  using T = TypeParam;
  const std::vector<T> gammas{T(0), T(1e-6), T(0.1), T(1), T(50), T(1e6)};
  const auto weights = this->Values(6, -1, 1);
  for (Index n : kLengths) {
    const auto rows = this->MakeRows(n, 0, 20);
    std::vector<T> out(n, T(1)), moments(6 * n, T(0));
    AddExponentials<T>(rows.pointers[0], n, gammas, weights, out.data());
    AddExponentialMoments<T>(rows.view(), n, gammas, moments.data(), n);
    for (Index j = 0; j < n; ++j) {
      double sum = 1;
      for (int m = 0; m < 6; ++m) {
        sum += weights[m] * std::expm1(-double(gammas[m]) * rows.pointers[0][j]);
        double moment = 0;
        for (int r = 0; r < 5; ++r)
          moment += rows.factors[r] * std::expm1(-double(gammas[m]) * rows.pointers[r][j]);
        EXPECT_NEAR(moments[m * n + j], moment, 5 * this->kTolerance);
      }
      EXPECT_NEAR(out[j], sum, 5 * this->kTolerance);
    }
  }
}

TYPED_TEST(FamilyLoops, SmallArgumentsKeepRelativeDigits) {
  using T = TypeParam;
  const std::vector<T> gamma{T(1e-9)}, weight{T(1)}, base{T(0.5), T(3)};
  std::vector<T> out(2, T(0));
  AddExponentials<T>(base.data(), 2, gamma, weight, out.data());
  for (int j = 0; j < 2; ++j) {
    const double want = std::expm1(-double(gamma[0]) * base[j]);
    EXPECT_NEAR(out[j] / want, 1, 4 * this->kTolerance);
  }
}

TYPED_TEST(FamilyLoops, PowersMatchPlainLoops) {
  using T = TypeParam;
  const std::vector<PowerTerm<T>> terms{
      {T(1), T(0), 1}, {T(0.5), T(1), 2}, {T(0.3), T(0.5), 3}, {T(0.2), T(1), 13}};
  const auto weights = this->Values(4, -1, 1);
  for (Index n : kLengths) {
    const auto rows = this->MakeRows(n, -1, 1);
    std::vector<T> out(n, T(0)), moments(4 * n, T(0));
    AddPowers<T>(rows.pointers[0], n, terms, weights, out.data());
    AddPowerMoments<T>(rows.view(), n, terms, moments.data(), n);
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (int m = 0; m < 4; ++m) {
        const auto value = [&](double b) {
          return std::pow(terms[m].gamma * b + terms[m].coef0, terms[m].degree);
        };
        sum += weights[m] * value(rows.pointers[0][j]);
        double moment = 0;
        for (int r = 0; r < 5; ++r) moment += rows.factors[r] * value(rows.pointers[r][j]);
        EXPECT_NEAR(moments[m * n + j], moment, 100 * this->kTolerance);
      }
      EXPECT_NEAR(out[j], sum, 100 * this->kTolerance);
    }
  }
}

TYPED_TEST(FamilyLoops, ChebyshevMatchesPlainLoops) {
  using T = TypeParam;
  const Index terms = 19;
  const auto coefficients = this->Values(terms, -1, 1);
  for (const TableVariable<T> variable :
       {TableVariable<T>{T(0), T(0.1), T(-1)}, TableVariable<T>{T(30), T(2 / std::log(601.0)), T(-1)}}) {
    for (Index n : kLengths) {
      const auto rows = this->MakeRows(n, 0, 20);
      std::vector<T> out(n, T(0)), moments(terms * n, T(0));
      AddChebyshev<T>(rows.pointers[0], n, variable, coefficients, out.data());
      AddChebyshevMoments<T>(rows.view(), n, variable, terms, moments.data(), n);
      const auto value = [&](Index k, double b) {
        const double u = variable.stretch != 0 ? std::log1p(variable.stretch * b) : b;
        return std::cos(k * std::acos(std::clamp(variable.slope * u + variable.offset, -1.0, 1.0)));
      };
      for (Index j = 0; j < n; ++j) {
        double sum = 0;
        for (Index k = 0; k < terms; ++k) {
          sum += coefficients[k] * value(k, rows.pointers[0][j]);
          double moment = 0;
          for (int r = 0; r < 5; ++r) moment += rows.factors[r] * value(k, rows.pointers[r][j]);
          // T_k(t) moves by up to k^2 times the rounding of t near the ends of the interval.
          EXPECT_NEAR(moments[k * n + j], moment, 400 * this->kTolerance);
        }
        EXPECT_NEAR(out[j], sum, 1000 * this->kTolerance);
      }
    }
  }
}

TEST(Shorten, RoundsEveryValue) {
  Random random(4);
  for (const Index n : kLengths) {
    std::vector<double> values(n);
    for (double& value : values) value = 4 * random.Uniform() - 2;
    std::vector<float> out(n + 1, 7.0F);
    Shorten(values.data(), n, out.data());
    for (Index j = 0; j < n; ++j) EXPECT_EQ(out[j], static_cast<float>(values[j])) << j << " of " << n;
    EXPECT_EQ(out[n], 7.0F) << "nothing is written behind the last";
  }
}

TYPED_TEST(FamilyLoops, SimpleLoopsMatchPlainLoops) {
  using T = TypeParam;
  for (Index n : kLengths) {
    const auto right = this->Values(n, -1, 1);
    std::vector<T> scaled(n, T(1));
    AddScaled<T>(right.data(), n, T(2), scaled.data());
    std::vector<double> sums(n, 1.0);
    std::vector<T> flushed(right.begin(), right.begin() + n);
    Flush<T>(flushed.data(), n, sums.data());
    for (Index j = 0; j < n; ++j) {
      EXPECT_NEAR(scaled[j], 1 + 2 * double(right[j]), 4 * this->kTolerance);
      EXPECT_EQ(sums[j], 1.0 + double(right[j]));
      EXPECT_EQ(flushed[j], T(0));
    }
  }
}

TYPED_TEST(FamilyLoops, SparseDotsMatchPlainLoops) {
  using T = TypeParam;
  const std::vector<Index> offsets{0, 2, 2, 5};
  const std::vector<std::int32_t> columns{0, 3, 1, 2, 3};
  const std::vector<T> values{T(1), T(-2), T(0.5), T(3), T(4)};
  const auto left = this->Values(4 * 16, -1, 1);
  std::vector<T> out(16 * 3);
  SparseDots<T>(offsets.data(), columns.data(), values.data(), 0, 3, left.data(), out.data(), 3, 16);
  for (int r = 0; r < 16; ++r) {
    for (int j = 0; j < 3; ++j) {
      double want = 0;
      for (Index e = offsets[j]; e < offsets[j + 1]; ++e) want += values[e] * left[columns[e] * 16 + r];
      EXPECT_NEAR(out[r * 3 + j], want, 10 * this->kTolerance);
    }
  }
}

TEST(ChebyshevTotals, MatchPlainLoops) {
  Random random(7);
  for (std::size_t count : {0, 1, 7, 32, 33, 500}) {
    std::vector<double> t(count), factors(count), totals(19, 1.0);
    for (double& value : t) value = 2 * random.Uniform() - 1;
    for (double& value : factors) value = random.Uniform() - 0.5;
    AddChebyshevTotals(t, factors, totals);
    for (std::size_t k = 0; k < totals.size(); ++k) {
      double want = 1;
      for (std::size_t j = 0; j < count; ++j)
        want += factors[j] * std::cos(static_cast<double>(k) * std::acos(t[j]));
      EXPECT_NEAR(totals[k], want, 1e-12) << count << " values, term " << k;
    }
  }
}

}  // namespace
}  // namespace kweave
