#include "gram/family_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "compute/cpu/family_loops.h"
#include "kernel/kernel_table.h"

namespace kweave {
namespace {

double Evaluate(const FamilyTable& table, std::size_t m, double base) {
  const double v = table.is_of_root ? std::sqrt(base) : base;
  const double t = std::clamp(table.slope * std::log1p(table.stretch * v) + table.offset, -1.0, 1.0);
  double sum = 0;
  for (Index k = 0; k < table.terms; ++k)
    sum += table.coefficients[m * table.terms + k] * std::cos(k * std::acos(t));
  return sum;
}

struct Case {
  double low, high;
  int count;
  double upper_bound;
  Index most_terms;  // for a relative error of 1e-7
};

class FamilyTableTest : public testing::TestWithParam<Case> {};

TEST_P(FamilyTableTest, StaysWithinItsBoundEverywhere) {
  const Case& c = GetParam();
  std::vector<KernelParameters> gammas;
  for (int i = 0; i < c.count; ++i) {
    gammas.push_back({c.low * std::pow(c.high / c.low, c.count == 1 ? 0.0 : double(i) / (c.count - 1))});
  }
  for (double relative_error : {1e-7, 1e-13}) {
    const auto table = FitFamilyTable(kExponentialShape, gammas, c.upper_bound, relative_error, 300);
    ASSERT_TRUE(table.has_value());
    if (relative_error == 1e-7) {
      EXPECT_LE(table->terms, c.most_terms);
    }
    for (std::size_t m = 0; m < gammas.size(); ++m) {
      EXPECT_LE(table->error[m], 2 * relative_error) << "gamma " << gammas[m][0];
      for (int i = 0; i <= 500; ++i) {
        const double u = i / 500.0;
        for (double base : {u * c.upper_bound, std::expm1(u * std::log1p(c.upper_bound * c.high)) / c.high}) {
          base = std::min(base, c.upper_bound);
          const double rounding = 1e-15 * static_cast<double>(table->terms);
          ASSERT_LE(std::abs(Evaluate(*table, m, base) - std::expm1(-gammas[m][0] * base)),
                    table->error[m] + rounding)
              << "gamma " << gammas[m][0] << ", base " << base;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, FamilyTableTest,
                         testing::Values(Case{1.0 / (5 * std::pow(1.2, 49)), 0.2, 50, 200, 24},
                                         Case{1e-3, 1e3, 100, 4, 40}, Case{1, 1, 1, 1, 12},
                                         Case{1e-6, 1e-5, 7, 3, 6}, Case{1e-4, 1e4, 50, 1000, 80}));

// Families of every kernel that says where it is analytic, at widths over four decades.
TEST(FamilyTable, StaysWithinItsBoundForEveryKernel) {
  for (const KernelKind* kind : KernelTable()) {
    if (kind->shape->analyticity == nullptr) continue;
    std::vector<KernelParameters> members = {PlainDefaults(*kind)};
    for (std::size_t p = 0; p < kind->parameters.size(); ++p) {
      const ParameterRule& rule = kind->parameters[p];
      if (static_cast<int>(p) == kind->base_parameter) continue;  // members of a family have the same
      std::vector<double> values = {0.05, 0.1, 0.3, 1, 4, 10, 30};
      if (!rule.choices.empty()) values.assign(rule.choices.begin(), rule.choices.end());
      std::vector<KernelParameters> more;
      for (KernelParameters one : members) {
        for (const double value : values) one[p] = value, more.push_back(one);
      }
      members = std::move(more);
    }
    for (const auto& [relative_error, upper_bound] :
         {std::pair{1e-7, 2.0}, std::pair{1e-7, 50.0}, std::pair{1e-13, 2.0}, std::pair{1e-13, 50.0}}) {
      SCOPED_TRACE(testing::Message() << kind->name << ", error " << relative_error << " to " << upper_bound);
      const auto table = FitFamilyTable(*kind->shape, members, upper_bound, relative_error, kMostTableTerms);
      ASSERT_TRUE(table.has_value());
      RecordProperty(std::string(kind->name), static_cast<int>(table->terms));
      for (std::size_t m = 0; m < members.size(); ++m) {
        const double range =
            std::abs(kind->shape->value(members[m], upper_bound) - kind->shape->value(members[m], 0));
        EXPECT_LE(table->error[m], 2 * relative_error * range) << "member " << m;
        for (int i = 0; i <= 300; ++i) {
          const double u = i / 300.0, base = u * u * u * upper_bound;
          const double rounding = 1e-15 * static_cast<double>(table->terms);
          ASSERT_LE(std::abs(Evaluate(*table, m, base) - kind->shape->value(members[m], base)),
                    table->error[m] + rounding)
              << "member " << m << ", base " << base;
        }
      }
    }
  }
}

TEST(FamilyTable, GivesUpWithinTheLimitOfTerms) {
  const KernelParameters gammas[] = {{1e-3}, {1e6}};
  EXPECT_FALSE(FitFamilyTable(kExponentialShape, gammas, 1e6, 1e-14, 20).has_value());
  EXPECT_FALSE(FitFamilyTable(kExponentialShape, gammas, std::numeric_limits<double>::infinity(), 1e-7, 100)
                   .has_value());
  EXPECT_FALSE(FitFamilyTable(kExponentialShape, gammas, 0, 1e-7, 100).has_value());
}

}  // namespace
}  // namespace kweave
