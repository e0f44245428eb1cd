// The formulas that verification rests on, against closed forms and against their definitions by search.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "kernel/kernel_table.h"
#include "kernel/language.h"
#include "kernel/shape.h"
#include "kweave/error.h"
#include "verify/plain_kernels.h"
#include "verify/plain_losses.h"
#include "verify/plain_regularizers.h"

namespace kweave::verify {
namespace {

const std::vector<std::string> kSigned = {"hinge", "squared-hinge", "smoothed-hinge", "logistic",
                                          "least-squares"};

// The smallest C l(f, y) + beta f on a fine grid of f.
double Searched(const PlainLoss& loss, double beta, double y, double C) {
  double least = kInfinity;
  for (double f = -30; f <= 30; f += 1e-3) least = std::min(least, C * loss.Value(f, y) + beta * f);
  return least;
}

TEST(PlainLosses, HaveTheDualTermsOfTheirDefinition) {
  for (const std::string& name : kSigned) {
    const PlainLoss loss{name, 0, 4};
    for (const double y : {-1.0, 1.0}) {
      for (const double alpha : {0.0, 0.3, 1.7}) {
        EXPECT_NEAR(loss.Dual(y * alpha, y, 2, 0), Searched(loss, y * alpha, y, 2), 1e-4)
            << name << ' ' << alpha;
      }
    }
  }
  for (const std::string name : {"epsilon-insensitive", "squared"}) {
    const PlainLoss loss{name, 0.25, 0};
    for (const double beta : {-1.5, 0.0, 0.7})
      EXPECT_NEAR(loss.Dual(beta, 3, 2, 0), Searched(loss, beta, 3, 2), 1e-3) << name;
  }
  EXPECT_NEAR((PlainLoss{"one-class"}.Dual(0.5, 1, 2, 0)), 0, 1e-12);
}

TEST(PlainLosses, HaveNoDualTermOutsideTheirInterval) {
  for (const std::string name : {"hinge", "smoothed-hinge", "logistic", "one-class"}) {
    const PlainLoss loss{name, 0, 4};
    EXPECT_EQ(loss.Dual(2.1, 1, 2, 1e-9), -kInfinity) << name;
    EXPECT_EQ(loss.Dual(-0.1, 1, 2, 1e-9), -kInfinity) << name;
    EXPECT_TRUE(std::isfinite(loss.Dual(2 + 1e-12, 1, 2, 1e-9))) << name;
  }
  EXPECT_EQ((PlainLoss{"squared-hinge"}.Dual(-0.1, 1, 2, 1e-9)), -kInfinity);
  EXPECT_EQ((PlainLoss{"epsilon-insensitive", 0.1}.Dual(2.1, 1, 2, 1e-9)), -kInfinity);
  EXPECT_THROW((PlainLoss{"unheard"}.Value(0, 1)), Error);
}

struct Case {
  const char* name;
  ModelRegularizer about;
};

std::vector<Case> Cases() {
  const std::vector<double> E = {2, -0.5, 0, -0.5, 1, 0.3, 0, 0.3, 1.5};
  return {
      {"norm 1", {.exponent = 1}},
      {"norm 1.5", {.exponent = 1.5}},
      {"norm inf", {.exponent = kInfinity}},
      {"bounds", {.exponent = 2, .lower = {0.1, 0, 0.3}, .upper = {0.4, kInfinity, 0.5}}},
      {"bounds at norm 1", {.exponent = 1, .lower = {0.1, 0, 0.3}, .upper = {0.4, kInfinity, 0.5}}},
      {"bounds at norm inf", {.exponent = kInfinity, .lower = {0.1, 0, 0.3}, .upper = {0.4, kInfinity, 0.5}}},
      {"penalty", {.exponent = 2, .penalty = 0.7}},
      {"groups", {.form = "block", .exponent = 1.2, .inner_exponent = 1.6, .groups = {0, 1, 1}}},
      {"groups with a penalty",
       {.form = "block", .exponent = 1.2, .inner_exponent = 1.6, .groups = {0, 1, 1}, .penalty = 0.7}},
      {"block norm 1.5", {.form = "block", .exponent = 1.5, .inner_exponent = 1.5}},
      {"matrix", {.form = "weight-matrix", .matrix = SparseVector::From(E)}},
      {"elastic", {.form = "elastic", .elastic = 0.3}},
      {"entropy", {.form = "entropy", .penalty = 0.7}}};
}

// Where weights are minimised over, the dual term is the largest 1/2 theta' q - r(theta): none of many theta
// gives more, and one gives nearly as much.
TEST(PlainRegularizers, HaveTheDualTermsOfTheirDefinition) {
  const std::vector<double> q = {0.8, 2, 0.5}, none(3, 0.0);
  for (const Case& one : Cases()) {
    const PlainRegularizer regularizer(one.about, 3);
    double largest = -kInfinity;
    const double step = 0.02;
    for (double a = 0; a <= 2; a += step) {
      for (double b = 0; b <= 2; b += step) {
        for (double c = 0; c <= 1.4; c += step) {
          std::vector<double> theta = {a, b, c};
          if (one.about.form == "entropy") {
            const double sum = a + b + c;
            if (sum == 0) continue;
            for (double& value : theta) value /= sum;
          }
          if (regularizer.Violation(theta) > 1e-9) continue;
          const double value = 0.5 * (a * q[0] + b * q[1] + c * q[2]);
          const double r = regularizer.Primal(theta, none);
          largest = std::max(largest, one.about.form == "entropy"
                                          ? 0.5 * (theta[0] * q[0] + theta[1] * q[1] + theta[2] * q[2]) - r
                                          : value - r);
        }
      }
    }
    const double dual = regularizer.DualTerm(q);
    EXPECT_GE(dual, largest - 1e-9) << one.name;
    EXPECT_LE(dual, largest + 0.05) << one.name;
  }
}

// 1/2 ||w||^2 and its conjugate meet in u' sqrt(q) <= primal + dual, with equality somewhere.
TEST(PlainRegularizers, MeetOnTheParts) {
  const std::vector<double> E = {2, -0.5, 0, -0.5, 1, 0.3, 0, 0.3, 1.5};
  const std::vector<double> q = {0.8, 2, 0.5};
  const std::vector<Case> cases = {
      {"block norm 3", {.form = "block", .exponent = 3, .inner_exponent = 3}},
      {"block norm inf", {.form = "block", .exponent = kInfinity, .inner_exponent = kInfinity}},
      {"groups across 2", {.form = "block", .exponent = 4, .inner_exponent = 1.5, .groups = {0, 1, 1}}},
      {"matrix on the parts", {.form = "part-matrix", .matrix = SparseVector::From(E)}}};
  for (const Case& one : cases) {
    const PlainRegularizer regularizer(one.about, 3);
    const double dual = regularizer.DualTerm(q);
    double largest = -kInfinity;
    for (double a = 0; a <= 4.8; a += 0.06) {
      for (double b = 0; b <= 4.8; b += 0.06) {
        for (double c = 0; c <= 4.8; c += 0.06) {
          const std::vector<double> theta = {a, b, c};  // u_m = theta_m sqrt(q_m)
          largest = std::max(largest, a * q[0] + b * q[1] + c * q[2] - regularizer.Primal(theta, q));
        }
      }
    }
    EXPECT_GE(dual, largest - 1e-9) << one.name;
    EXPECT_LE(dual, largest + 0.02) << one.name;
  }
}

TEST(PlainRegularizers, FindTheLargestValueBeforeADomainEnds) {
  for (const double end : {1e-3, 0.3, 0.9, 1 - 1e-12}) {
    const auto value_at = [&](double s) {
      return s <= end ? 2 * s : -std::numeric_limits<double>::infinity();
    };
    EXPECT_NEAR(LargestOnInterval(0, 1, value_at), 2 * end, 1e-12);
  }
}

TEST(PlainRegularizers, SaysWhenWeightsAreOutside) {
  const PlainRegularizer norm({.exponent = 2}, 2);
  EXPECT_LE(norm.Violation(std::vector{0.6, 0.8}), 1e-15);
  EXPECT_NEAR(norm.Violation(std::vector{1.2, 1.6}), 1, 1e-12);
  EXPECT_NEAR(norm.Violation(std::vector{-0.25, 0.5}), 0.25, 1e-12);
  EXPECT_THROW(PlainRegularizer({.form = "unheard"}, 2), Error);
  EXPECT_THROW(PlainRegularizer({.form = "block", .groups = {0}}, 2), Error);
}

class Kernels : public testing::Test {
 protected:
  // Three samples with two features.
  std::vector<View> views_ = {{"data", MakeDense({1, 2, 3, 0.5, 0, 0}, 3, 2), {}}};

  double Value(const std::string& specification, Index i, Index j) {
    const KernelSet set = ParseKernels(std::vector{specification}, views_, 0);
    PlainKernels<double> plain(set, views_, 3);
    double value = 0;
    plain.Row(0, i, j, j + 1, std::span(&value, 1));
    return value;
  }
};

TEST_F(Kernels, FollowTheirFormulas) {
  EXPECT_DOUBLE_EQ(Value("linear", 0, 1), 4);
  EXPECT_DOUBLE_EQ(Value("poly(degree=3,gamma=2,coef0=1)", 0, 1), 729);
  EXPECT_DOUBLE_EQ(Value("rbf(gamma=0.5)", 0, 1), std::exp(-0.5 * (4 + 2.25)));
  EXPECT_DOUBLE_EQ(Value("laplacian(gamma=0.5)", 0, 1), std::exp(-0.5 * 3.5));
  EXPECT_DOUBLE_EQ(Value("chi2(gamma=2)", 0, 1), std::exp(-2 * (4 / 4.0 + 2.25 / 2.5)));
  EXPECT_DOUBLE_EQ(Value("intersection", 0, 1), 1.5);
  EXPECT_DOUBLE_EQ(Value("tanimoto", 0, 1), 4 / (5 + 9.25 - 4));
  EXPECT_DOUBLE_EQ(Value("tanimoto", 2, 2), 1);
  EXPECT_DOUBLE_EQ(Value("linear@data[2]", 0, 1), 1);
  EXPECT_DOUBLE_EQ(Value("linear*rbf(gamma=0.5)", 0, 1), 4 * std::exp(-0.5 * 6.25));
  EXPECT_DOUBLE_EQ(Value("linear+intersection", 0, 1), 5.5);
  EXPECT_DOUBLE_EQ(Value("mean(linear,intersection)", 0, 1), 2.75);
}

// A kernel that training knows and this does not would leave its models unverified.
TEST_F(Kernels, AreAllKnown) {
  for (const KernelKind* kind : KernelTable()) {
    if (kind->base->source == BaseQuantity::Source::kFile || kind->IsOnSequences()) continue;
    const std::string name(kind->name);
    const KernelSet set = ParseKernels(std::vector{name}, views_, 0);
    const KernelTerm term = set.Term(0);
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        std::vector<double> x(2), z(2);
        CopyRow(views_[0].features, i, x);
        CopyRow(views_[0].features, j, z);
        const double base = kind->base->plain(x, z, kind->BaseParameter(term.parameters));
        const double value = ShapeValue(*kind->shape, term.parameters, base);
        EXPECT_NEAR(Value(name, i, j), value, 1e-14 * std::max(1.0, std::abs(value)))
            << name << ' ' << i << ' ' << j;
      }
    }
  }
}

TEST_F(Kernels, AreTheSameOnSparseFeatures) {
  const std::vector<double> x = {1, 2, 3, 0.5};
  struct Storage {
    std::vector<Index> offsets{0, 2, 4, 4};
    std::vector<std::int32_t> columns{0, 1, 0, 1};
    std::vector<double> values{1, 2, 3, 0.5};
  };
  const auto owner = std::make_shared<Storage>();
  const std::vector<View> dense = views_;
  for (const std::string specification : {"linear", "rbf(gamma=0.5)", "laplacian", "chi2", "intersection",
                                          "tanimoto", "rbf(gamma=1)@data[2]"}) {
    views_ = dense;
    const double of_dense = Value(specification, 0, 1), with_zero = Value(specification, 0, 2);
    views_ = {{"data",
               SparseRows{owner->offsets.data(), owner->columns.data(), owner->values.data(), 3, 2, owner},
               {}}};
    EXPECT_DOUBLE_EQ(Value(specification, 0, 1), of_dense) << specification;
    EXPECT_DOUBLE_EQ(Value(specification, 0, 2), with_zero) << specification;
  }
}

TEST_F(Kernels, AreNormalisedAsTheStepsSay) {
  const KernelSet set = ParseKernels(std::vector<std::string>{"linear"}, views_, 0);
  PlainKernels<double> plain(set, views_, 3);
  const auto diagonal_and_mean = [&](std::vector<Normalizer> sequence) {
    const auto fitted = plain.Fit(sequence, 0, 1);
    double diagonal = 0, sum = 0;
    plain.ForEachRow(fitted, 0, 1, [&](Index, Index i, std::span<const double> row) {
      diagonal += row[i] / 3;
      for (Index j = 0; j <= i; ++j) sum += (j == i ? 1 : 2) * row[j] / 9;
    });
    return std::pair(diagonal, sum);
  };
  EXPECT_NEAR(diagonal_and_mean({Normalizer::kTrace}).first, 1, 1e-14);
  const auto [diagonal, mean] = diagonal_and_mean({Normalizer::kMultiplicative});
  EXPECT_NEAR(diagonal - mean, 1, 1e-14);
  EXPECT_NEAR(diagonal_and_mean({Normalizer::kCenter}).second, 0, 1e-14);
  EXPECT_NEAR(diagonal_and_mean({Normalizer::kSpherical}).first, 2.0 / 3, 1e-14);  // one sample is zero
  EXPECT_NEAR(diagonal_and_mean({Normalizer::kSpherical, Normalizer::kCenter}).second, 0, 1e-14);
}

}  // namespace
}  // namespace kweave::verify
