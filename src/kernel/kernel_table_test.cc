#include "kernel/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "hwy/targets.h"

namespace kweave {
namespace {

// Longest vectors of any target: 16 floats, 8 doubles. Lengths around each multiple are tested.
constexpr Index kLongestVector = 16;
constexpr Index kCounts[] = {1,
                             3,
                             kLongestVector / 2 - 1,
                             kLongestVector / 2,
                             kLongestVector / 2 + 1,
                             kLongestVector - 1,
                             kLongestVector,
                             kLongestVector + 1,
                             4 * kLongestVector,
                             8 * kLongestVector + 2};

/// Samples with zeros (and, but for kernels on histograms, negative values) among the features; the first two
/// are zero vectors.
std::vector<std::vector<double>> MakeSamples(const KernelKind& kind, Index count, Index features,
                                             std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<double>> samples(count, std::vector<double>(features));
  for (Index i = 2; i < count; ++i) {
    for (double& value : samples[i]) {
      value =
          random.Uniform() < 0.2 ? 0 : 2 * random.Uniform() - (kind.base->needs_nonnegative_features ? 0 : 1);
      value = static_cast<float>(value);
    }
  }
  return samples;
}

template <class T>
void RunRow(const BaseQuantity& base, const T* x, const T* right, Index features, Index stride, Index count,
            const ListedFeatures<T>* listed, double parameter, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    base.row_f32(x, right, features, stride, count, listed, parameter, out);
  } else {
    base.row_f64(x, right, features, stride, count, listed, parameter, out);
  }
}

/// The row once more, from the features of x that are not zero.
template <class T>
void CheckListedRow(const BaseQuantity& base, const T* x, const T* right, Index features, Index stride,
                    const std::vector<T>& row, double parameter, double tolerance) {
  const auto count = static_cast<Index>(row.size());
  std::vector<T> zero(features, T{0}), values, at_zero(row.size()), out(row.size());
  std::vector<Index> columns;
  for (Index f = 0; f < features; ++f) {
    if (x[f] != 0) columns.push_back(f), values.push_back(x[f]);
  }
  RunRow<T>(base, zero.data(), right, features, stride, count, nullptr, parameter, at_zero.data());
  const ListedFeatures<T> listed = {columns.data(), at_zero.data()};
  RunRow<T>(base, values.data(), right, static_cast<Index>(values.size()), stride, count, &listed, parameter,
            out.data());
  for (Index j = 0; j < count; ++j) EXPECT_NEAR(out[j], row[j], tolerance) << "listed, sample " << j;
}

template <class T>
void RunFinish(const BaseQuantity& base, T* values, Index count, T squared_norm, const T* squared_norms) {
  if constexpr (std::is_same_v<T, float>) {
    if (base.finish_f32 != nullptr) base.finish_f32(values, count, squared_norm, squared_norms);
  } else {
    if (base.finish_f64 != nullptr) base.finish_f64(values, count, squared_norm, squared_norms);
  }
}

double PlainValue(const KernelKind& kind, const KernelParameters& parameters, const std::vector<double>& x,
                  const std::vector<double>& z) {
  return ShapeValue(*kind.shape, parameters, kind.base->plain(x, z, kind.BaseParameter(parameters)));
}

double InnerProduct(const std::vector<double>& x, const std::vector<double>& z) {
  return FindKernelKind("linear")->base->plain(x, z, 0);
}

/// One row of the quantity against the plain loop; pointers start `offset` elements off a cache line, and the
/// memory around the output must stay as it was.
template <class T>
void CheckRow(const KernelKind& kind, Index features, Index count, Index offset) {
  SCOPED_TRACE(testing::Message() << kind.name << " features " << features << " count " << count << " offset "
                                  << offset << " bytes " << sizeof(T));
  const auto samples = MakeSamples(kind, count + 2, features, 7 + count);
  const Index stride = count + 1;
  constexpr T kUntouched = -77;
  const double parameter = kind.BaseParameter(PlainDefaults(kind));
  for (const std::vector<double>& x : {samples[0], samples.back()}) {
    AlignedVector<T> left(features + offset), right(features * stride + offset), norms(count + offset);
    AlignedVector<T> out(count + offset + 1, kUntouched);
    for (Index f = 0; f < features; ++f) {
      left[offset + f] = static_cast<T>(x[f]);
      for (Index j = 0; j < count; ++j) right[offset + f * stride + j] = static_cast<T>(samples[j + 1][f]);
    }
    if (kind.base->source == BaseQuantity::Source::kFeatures) {
      RunRow<T>(*kind.base, &left[offset], &right[offset], features, stride, count, nullptr, parameter,
                &out[offset]);
    } else {
      for (Index j = 0; j < count; ++j) {
        out[offset + j] = static_cast<T>(InnerProduct(x, samples[j + 1]));
        norms[offset + j] = static_cast<T>(InnerProduct(samples[j + 1], samples[j + 1]));
      }
      RunFinish<T>(*kind.base, &out[offset], count, static_cast<T>(InnerProduct(x, x)), &norms[offset]);
    }
    const double tolerance = 4.0 * std::sqrt(features) * features * std::numeric_limits<T>::epsilon();
    for (Index j = 0; j < count; ++j) {
      EXPECT_NEAR(out[offset + j], kind.base->plain(x, samples[j + 1], parameter), tolerance)
          << "sample " << j;
    }
    if (kind.base->source == BaseQuantity::Source::kFeatures) {
      const std::vector<T> row(out.begin() + offset, out.begin() + offset + count);
      CheckListedRow<T>(*kind.base, &left[offset], &right[offset], features, stride, row, parameter,
                        tolerance);
    }
    for (Index j = 0; j < offset; ++j) EXPECT_EQ(out[j], kUntouched);
    EXPECT_EQ(out[offset + count], kUntouched);
  }
}

/// Runs `body` once for every instruction set that was compiled and that this machine has.
template <class Body>
void ForEveryInstructionSet(const Body& body) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

class EveryKernel : public testing::TestWithParam<const KernelKind*> {
 protected:
  const KernelKind& kind() const { return *GetParam(); }
  bool HasFormula() const {
    return kind().base->source != BaseQuantity::Source::kFile && !kind().IsOnSequences();
  }
};

INSTANTIATE_TEST_SUITE_P(Table, EveryKernel, testing::ValuesIn(KernelTable().begin(), KernelTable().end()),
                         [](const auto& kernel) { return std::string(kernel.param->name); });

TEST_P(EveryKernel, RowsAgreeWithThePlainLoop) {
  if (!HasFormula()) return;
  for (Index features : {1, 5, 300}) {
    for (Index count : kCounts) {
      for (Index offset : {0, 1}) {
        ForEveryInstructionSet([&] {
          CheckRow<float>(kind(), features, count, offset);
          CheckRow<double>(kind(), features, count, offset);
        });
      }
    }
  }
}

/// Some values of every parameter, in all combinations.
std::vector<KernelParameters> SomeParameters(const KernelKind& kind) {
  std::vector<KernelParameters> some = {{}};
  for (std::size_t p = 0; p < kind.parameters.size(); ++p) {
    const ParameterRule& rule = kind.parameters[p];
    std::vector<double> values = {0.3, 1, 2.5};
    if (rule.is_whole) values = {1, 2, 3};
    if (!rule.choices.empty()) values.assign(rule.choices.begin(), rule.choices.end());
    std::vector<KernelParameters> more;
    for (KernelParameters one : some) {
      for (const double value : values) one[p] = value, more.push_back(one);
    }
    some = std::move(more);
  }
  return some;
}

void ExpectPositiveSemidefinite(std::vector<double> matrix, Index n) {
  double trace = 0;
  for (Index i = 0; i < n; ++i) trace += matrix[i * n + i];
  // Cholesky of the matrix plus a tiny ridge goes through exactly when there is no eigenvalue below -ridge.
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) EXPECT_EQ(matrix[i * n + j], matrix[j * n + i]);
    matrix[i * n + i] += 1e-10 * trace;
  }
  for (Index k = 0; k < n; ++k) {
    ASSERT_GT(matrix[k * n + k], 0) << "pivot " << k;
    for (Index i = k + 1; i < n; ++i) {
      const double factor = matrix[i * n + k] / matrix[k * n + k];
      for (Index j = k + 1; j < n; ++j) matrix[i * n + j] -= factor * matrix[k * n + j];
    }
  }
}

TEST_P(EveryKernel, IsSymmetricAndPositiveSemidefinite) {
  if (!HasFormula()) return;
  const Index n = 24;
  const auto samples = MakeSamples(kind(), n, 3, 11);
  for (const KernelParameters& parameters : SomeParameters(kind())) {
    std::vector<double> matrix(n * n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        matrix[i * n + j] = PlainValue(kind(), parameters, samples[i], samples[j]);
      }
    }
    ExpectPositiveSemidefinite(std::move(matrix), n);
  }
}

/// The loops of all members at base values from 0 on, some tiny.
template <class T>
void CheckLoops(const KernelKind& kind, Index count) {
  SCOPED_TRACE(testing::Message() << kind.name << " count " << count << " bytes " << sizeof(T));
  const std::vector<KernelParameters> members = SomeParameters(kind);
  const Shape& shape = *kind.shape;
  const std::unique_ptr<MemberLoops<T>> loops = MakeLoops<T>(shape, members);
  constexpr T kUntouched = -77;
  std::vector<T> first(count), second(count), weights;
  for (Index j = 0; j < count; ++j) {
    first[j] = j % 7 == 0 ? T{0} : static_cast<T>(std::pow(10.0, 2.0 - static_cast<double>(j % 23)));
    second[j] = static_cast<T>(0.05 * static_cast<double>(j));
  }
  for (std::size_t m = 0; m < members.size(); ++m) weights.push_back(static_cast<T>(m % 3) - T{0.5});
  const auto want = [&](std::size_t m, T base) { return shape.value(members[m], base); };
  const auto tolerance = [](double value) {
    return 8 * std::numeric_limits<T>::epsilon() * (1 + std::abs(value));
  };

  std::vector<T> sum(count + 1, T{1}), values(count + 1, kUntouched);
  sum[count] = kUntouched;
  loops->Add(first.data(), count, weights, sum.data());
  const T* rows[] = {first.data(), second.data()};
  const T factors[] = {T{2}, T{-1}};
  std::vector<T> moments(members.size() * count, T{1});
  loops->AddMoments({rows, factors}, count, moments.data(), count);
  for (Index j = 0; j < count; ++j) {
    double expected = 1, size = 1;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const double value = want(m, first[j]), other = want(m, second[j]);
      expected += weights[m] * value;
      size += std::abs(weights[m] * value);
      EXPECT_NEAR(moments[m * count + j], 1 + 2 * value - other,
                  tolerance(2 * std::abs(value) + std::abs(other)));
    }
    EXPECT_NEAR(sum[j], expected, tolerance(size) * static_cast<double>(members.size()));
  }
  EXPECT_EQ(sum[count], kUntouched);
  for (std::size_t m = 0; m < members.size(); ++m) {
    loops->Values(m, first.data(), count, values.data());
    for (Index j = 0; j < count; ++j) {
      // Values close to the shift keep their digits: members that hardly vary are scaled up by normalisation.
      const double exact = want(m, first[j]);
      EXPECT_NEAR(values[j], exact,
                  20 * std::numeric_limits<T>::epsilon() * std::abs(exact) + std::numeric_limits<T>::min())
          << "member " << m << " at " << first[j];
    }
    EXPECT_EQ(values[count], kUntouched);
  }
}

TEST_P(EveryKernel, LoopsAgreeWithTheValue) {
  for (Index count : kCounts) {
    ForEveryInstructionSet([&] {
      CheckLoops<float>(kind(), count);
      CheckLoops<double>(kind(), count);
    });
  }
}

TEST_P(EveryKernel, TellsTheTruthAboutItsBaseAtZeroAndAtItsBounds) {
  if (!HasFormula()) return;
  const BaseQuantity& base = *kind().base;
  const auto samples = MakeSamples(kind(), 20, 3, 5);
  for (const KernelParameters& parameters : SomeParameters(kind())) {
    const double parameter = kind().BaseParameter(parameters);
    for (const auto& x : samples) {
      const double diagonal = base.plain(x, x, parameter);
      if (base.is_zero_on_diagonal) {
        EXPECT_EQ(diagonal, 0);
      }
      const std::optional<double> constant = kind().ConstantDiagonal(parameters);
      if (constant) {
        EXPECT_EQ(ShapeValue(*kind().shape, parameters, diagonal), *constant);
      }
      for (const auto& z : samples) {
        EXPECT_LE(base.plain(x, z, parameter), base.most_per_feature * 3);
        EXPECT_EQ(base.plain(x, z, parameter), base.plain(z, x, parameter));
      }
    }
    if (!base.grows_with_difference) continue;
    for (double x = 0; x < 3; x += 0.25) {
      const double low = 0.25, high = x + 0.25, higher = x + 0.5;
      EXPECT_LE(base.plain({&low, 1}, {&high, 1}, parameter), base.plain({&low, 1}, {&higher, 1}, parameter));
    }
  }
}

TEST_P(EveryKernel, DefaultsAreAllowed) {
  ASSERT_LE(kind().parameters.size(), kMostParameters);
  const KernelParameters defaults = PlainDefaults(kind());
  for (std::size_t p = 0; p < kind().parameters.size(); ++p) {
    const ParameterRule& rule = kind().parameters[p];
    EXPECT_TRUE(rule.Allows(defaults[p])) << rule.name;
    EXPECT_FALSE(rule.Allows(std::numeric_limits<double>::infinity())) << rule.name;
    EXPECT_FALSE(rule.sentence.empty()) << rule.name;
    EXPECT_EQ(rule.width_of != nullptr, rule.width != ParameterRule::Width::kNone) << rule.name;
  }
}

TEST_P(EveryKernel, TellsTheTruthAboutTranslation) {
  if (!HasFormula() || !kind().base->is_translation_invariant) return;
  const std::vector<double> x = {1, -2, 3}, z = {0.5, 4, 1}, shifted_x = {9, 6, 11}, shifted_z = {8.5, 12, 9};
  const double parameter = kind().BaseParameter(PlainDefaults(kind()));
  EXPECT_NEAR(kind().base->plain(x, z, parameter), kind().base->plain(shifted_x, shifted_z, parameter),
              1e-14);
}

TEST_P(EveryKernel, IsFoundByItsNameAndInTheHelp) {
  EXPECT_EQ(FindKernelKind(kind().name), &kind());
  EXPECT_THAT(KernelHelp(), testing::HasSubstr(std::string(kind().sentence)));
}

TEST(KernelTable, KnowsNoOtherNames) {
  EXPECT_EQ(FindKernelKind("gauss"), nullptr);
  EXPECT_EQ(FindKernelKind(""), nullptr);
}

TEST(KernelTable, ValuesByHand) {
  const std::vector<double> x = {1, 2, 0}, z = {3, 0, 0}, zero = {0, 0, 0};
  const auto base = [](std::string_view name) { return FindKernelKind(name)->base; };
  EXPECT_EQ(base("linear")->plain(x, z, 0), 3);
  EXPECT_EQ(base("rbf")->plain(x, z, 0), 8);
  EXPECT_EQ(base("laplacian")->plain(x, z, 0), 4);
  EXPECT_EQ(base("chi2")->plain(x, z, 0), 4. / 4 + 4. / 2);
  EXPECT_EQ(base("intersection")->plain(x, z, 0), 1);
  EXPECT_EQ(base("tanimoto")->plain(x, z, 0), 3. / (5 + 9 - 3));
  EXPECT_EQ(base("tanimoto")->plain(zero, zero, 0), 1);
  EXPECT_EQ(ShapeValue(kPowerShape, PlainDefaults(*FindKernelKind("poly")), 3), 64);
}

}  // namespace
}  // namespace kweave
