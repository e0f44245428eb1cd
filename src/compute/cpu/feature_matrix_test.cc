#include "compute/cpu/feature_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace kweave {
namespace {

struct Case {
  FeatureMatrix matrix;
  std::vector<std::vector<double>> plain;
};

Case MakeCase(Index rows, Index columns, double share, Random& random) {
  Case made{FeatureMatrix(columns), {}};
  for (Index i = 0; i < rows; ++i) {
    std::vector<double>& plain = made.plain.emplace_back(static_cast<std::size_t>(columns), 0.0);
    std::vector<std::int32_t> numbers;
    std::vector<double> values;
    for (Index f = 0; f < columns; ++f) {
      if (random.Uniform() >= share) continue;
      numbers.push_back(static_cast<std::int32_t>(f));
      values.push_back(random.Uniform() - 0.4);
      plain[static_cast<std::size_t>(f)] = values.back();
    }
    made.matrix.Append(numbers, values);
  }
  made.matrix.Finish();
  return made;
}

std::vector<double> RandomVector(std::size_t size, Random& random) {
  std::vector<double> values(size);
  for (double& value : values) value = random.Uniform() < 0.3 ? 0 : random.Uniform() - 0.5;
  return values;
}

void ExpectNear(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-10) << k;
}

TEST(FeatureMatrix, ProductsAreThoseOfPlainLoops) {
  Random random(4);
  ThreadPool pool(3);
  for (const double share : {0.0, 0.1, 0.8}) {
    for (const Index rows : {1, 7, 1500}) {
      for (const Index columns : {1, 5, 33}) {
        const Case made = MakeCase(rows, columns, share, random);
        const auto n = static_cast<std::size_t>(rows), d = static_cast<std::size_t>(columns);
        const std::vector<double> w = RandomVector(d, random), t = RandomVector(n, random);
        std::vector<Index> some;
        std::vector<double> weights;
        std::vector<double> outputs(n, 0.0), combined(d, 0.0), twice(d, 0.0), self(d * d, 1.0),
            diagonal(d, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
          const std::vector<double>& x = made.plain[i];
          for (std::size_t f = 0; f < d; ++f) outputs[i] += x[f] * w[f];
          for (std::size_t f = 0; f < d; ++f) combined[f] += t[i] * x[f];
          if (random.Uniform() < 0.5) continue;
          some.push_back(static_cast<Index>(i));
          weights.push_back(random.Uniform());
          for (std::size_t f = 0; f < d; ++f) {
            twice[f] += weights.back() * x[f] * outputs[i];
            diagonal[f] += weights.back() * x[f] * x[f];
            for (std::size_t e = 0; e <= f; ++e) self[f * d + e] += weights.back() * x[f] * x[e];
          }
        }
        for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
          std::vector<double> over_rows(n, 7.0), over_columns(d, 7.0), square(d * d, 1.0);
          made.matrix.Multiply(w, over_rows, threads);
          ExpectNear(over_rows, outputs);
          made.matrix.MultiplyTransposed(t, over_columns, threads);
          ExpectNear(over_columns, combined);
          made.matrix.MultiplyTwice(some, weights, w, over_columns, threads);
          ExpectNear(over_columns, twice);
          made.matrix.SelfDiagonal(some, weights, over_columns);
          ExpectNear(over_columns, diagonal);
          made.matrix.AddSelfProduct(some, weights, square, threads);
          ExpectNear(square, self);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kweave
