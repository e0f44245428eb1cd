#include "train/regularizer_choice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>

#include "base/constants.h"
#include "kweave/error.h"
#include "kweave/train.h"
#include "tests/support/verified_train.h"

namespace kweave {
namespace {

using ::testing::HasSubstr;

// Two views of two features; the first of each tells the classes apart a little.
Dataset TwoViews() {
  constexpr Index kSamples = 60;
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise;
  Dataset data;
  data.size = kSamples;
  for (const char* name : {"a", "b"}) {
    std::vector<double> values;
    for (Index i = 0; i < kSamples; ++i) {
      values.push_back(noise(random) + (i % 2 == 0 ? 0.8 : -0.8));
      values.push_back(noise(random));
    }
    data.views.push_back({name, MakeDense(std::move(values), kSamples, 2), {}});
  }
  for (Index i = 0; i < kSamples; ++i) {
    data.labels.text.push_back(i % 2 == 0 ? "1" : "-1");
    data.labels.number.push_back(i % 2 == 0 ? 1 : -1);
  }
  return data;
}

TrainOptions FourKernels() {
  TrainOptions options;
  options.kernels = {"linear", "rbf(gamma=0.5)"};
  return options;
}

Summary Learn(const TrainOptions& options) { return TrainVerified(TwoViews(), options, {}).summary(); }

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

std::vector<double> Weights(const Summary& summary) {
  std::vector<double> weights;
  for (const KernelReport& kernel : summary.kernels) weights.push_back(kernel.weight);
  return weights;
}

TEST(RegularizerChoice, BoundsHoldByNameNumberAndForAll) {
  for (const double norm : {1.0, 2.0, kInfinity}) {
    TrainOptions options = FourKernels();
    options.norm = norm;
    const std::vector<double> free = Weights(Learn(options));
    const std::string name = Learn(options).kernels[1].name;
    options.weight_bounds = {{"*", {0, 0.6}}, {name, {0.25, 0.3}}, {"4", {0, 0.05}}};
    const Summary summary = Learn(options);
    const std::vector<double> bound = Weights(summary);
    EXPECT_EQ(summary.status, Status::kConverged);
    EXPECT_LE(*std::max_element(bound.begin(), bound.end()), 0.6 + 1e-9);
    EXPECT_GE(bound[1], 0.25 - 1e-9);
    EXPECT_LE(bound[1], 0.3 + 1e-9);
    EXPECT_LE(bound[3], 0.05 + 1e-9);
    EXPECT_NE(free, bound);
  }
}

TEST(RegularizerChoice, BoundsThatCannotBeMetAreRefused) {
  const auto learn = [](const std::string& kernel, double lower, double upper) {
    TrainOptions options = FourKernels();
    options.norm = 1;
    options.weight_bounds = {{kernel, {lower, upper}}};
    return Learn(options);
  };
  EXPECT_THROW(learn("5", 0, 1), Error);
  EXPECT_THROW(learn("no such kernel", 0, 1), Error);
  EXPECT_THROW(learn("1", 0.5, 0.2), Error);
  EXPECT_THROW(learn("1", -0.5, 0.2), Error);
  EXPECT_THROW(learn("*", 0.5, 1), Error);  // their sum is 2
  TrainOptions options = FourKernels();
  options.weight_bounds = {{"1", {0, 0.5}}};
  options.penalty = 1;
  EXPECT_THROW(Learn(options), Error);
}

// The weight of a kernel is that of its group times that within it, and those within have norm one.
TEST(RegularizerChoice, GroupsAreReported) {
  TrainOptions options = FourKernels();
  options.regularizer = "mixed";
  options.groups = "view";
  options.norm = 1.5;
  options.inner_norm = 2;
  const Model model = TrainVerified(TwoViews(), options, {});
  const Summary& summary = model.summary();
  ASSERT_EQ(summary.groups.size(), 2u);
  EXPECT_EQ(summary.groups[0].name, "a");
  EXPECT_EQ(summary.groups[1].name, "b");
  for (const GroupReport& group : summary.groups) {
    double squares = 0;
    for (std::size_t k = 0; k < group.kernels.size(); ++k) {
      const auto kernel = std::ranges::find(summary.kernels, group.kernels[k], &KernelReport::name);
      EXPECT_NEAR(group.weight * group.within[k], kernel->weight, 1e-12);
      squares += group.within[k] * group.within[k];
    }
    EXPECT_NEAR(squares, 1, 1e-9);
  }
  EXPECT_THAT(model.Describe(), HasSubstr("within"));
  const Model copy = Model::FromBytes(model.ToBytes());
  EXPECT_EQ(copy.summary().groups[1].kernels, summary.groups[1].kernels);
  EXPECT_EQ(copy.summary().groups[1].within, summary.groups[1].within);
}

TEST(RegularizerChoice, GroupsByFileAreThoseByView) {
  TrainOptions options = FourKernels();
  options.regularizer = "mixed";
  options.groups = Write("groups.txt", "a\nb\na\nb\n");
  const Summary by_file = Learn(options);
  ASSERT_EQ(by_file.kernels[0].name, "linear@a");
  ASSERT_EQ(by_file.kernels[1].name, "linear@b");
  options.groups = "view";
  EXPECT_EQ(Weights(by_file), Weights(Learn(options)));
}

// <K, L> / (||K|| ||L||) of linear kernels, from their features; centred: features less their means.
double LinearAlignment(const Dataset& data, bool is_centered) {
  std::vector<std::vector<double>> columns;  // two of each view
  for (const View& view : data.views) {
    std::vector<double> row(2);
    columns.resize(columns.size() + 2);
    for (Index i = 0; i < data.size; ++i) {
      CopyRow(view.features, i, row);
      columns[columns.size() - 2].push_back(row[0]);
      columns.back().push_back(row[1]);
    }
  }
  for (std::vector<double>& column : columns) {
    const double mean =
        std::accumulate(column.begin(), column.end(), 0.0) / static_cast<double>(column.size());
    for (double& value : column) value -= is_centered ? mean : 0;
  }
  const auto product =
      [&](int a, int b) {  // of the matrices of two views: sum of squared inner products of features
        double sum = 0;
        for (int j : {0, 1}) {
          for (int k : {0, 1}) {
            const std::vector<double>&x = columns[2 * a + j], &z = columns[2 * b + k];
            const double inner = std::inner_product(x.begin(), x.end(), z.begin(), 0.0);
            sum += inner * inner;
          }
        }
        return sum;
      };
  return product(0, 1) / std::sqrt(product(0, 0) * product(1, 1));
}

TEST(RegularizerChoice, AlignmentsAreComputedFromTheKernels) {
  for (const bool is_centered : {false, true}) {
    TrainOptions options;
    options.kernels = {"linear"};
    options.regularizer = "matrix";
    options.gap = 1e-6;
    const double alignment = LinearAlignment(TwoViews(), is_centered);
    options.matrix = Write("alignment.txt", fmt::format("1 {0}\n{0} 1\n", alignment));
    const Summary by_file = Learn(options);
    options.matrix = is_centered ? "centered-alignment" : "alignment";
    const Summary computed = Learn(options);
    EXPECT_NEAR(by_file.primal, computed.primal, 2e-6 * computed.primal);
    EXPECT_LE(computed.relative_gap, 1e-6);
    options.matrix = Write("other.txt", fmt::format("1 {0}\n{0} 1\n", alignment + 0.05));
    EXPECT_GT(std::abs(Learn(options).primal - computed.primal), 1e-5 * computed.primal);
  }
}

TEST(RegularizerChoice, OneValuePerKernelIsADiagonal) {
  TrainOptions options = FourKernels();
  options.regularizer = "matrix";
  options.matrix = Write("diagonal.txt", "1\n2\n4\n0.5\n");
  const Summary by_column = Learn(options);
  options.matrix = Write("row.txt", "1 2 4 0.5\n");
  const Summary by_row = Learn(options);
  options.matrix = Write("whole.txt", "1 0 0 0\n0 2 0 0\n0 0 4 0\n0 0 0 0.5\n");
  EXPECT_EQ(Weights(by_column), Weights(Learn(options)));
  EXPECT_EQ(Weights(by_row), Weights(Learn(options)));
  options.matrix = Write("few.txt", "1 2 4\n");
  EXPECT_THROW(Learn(options), Error);
}

}  // namespace
}  // namespace kweave
