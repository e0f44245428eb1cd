#include "gram/alignment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "tests/support/matrix_gram.h"

namespace kweave {
namespace {

constexpr Index kSamples = 9;

// x x' + offset over random features: a kernel matrix, far from centred.
std::vector<double> RandomKernel(std::uint64_t seed, double offset) {
  Random random(seed);
  std::vector<double> x(kSamples * 3), matrix(kSamples * kSamples, offset);
  for (double& value : x) value = random.Uniform();
  for (Index i = 0; i < kSamples; ++i) {
    for (Index j = 0; j < kSamples; ++j) {
      for (Index f = 0; f < 3; ++f) matrix[i * kSamples + j] += x[i * 3 + f] * x[j * 3 + f];
    }
  }
  return matrix;
}

// H K H by its definition.
std::vector<double> Center(std::vector<double> matrix) {
  std::vector<double> means(kSamples);
  for (Index i = 0; i < kSamples; ++i) {
    for (Index j = 0; j < kSamples; ++j) means[i] += matrix[i * kSamples + j] / kSamples;
  }
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / kSamples;
  for (Index i = 0; i < kSamples; ++i) {
    for (Index j = 0; j < kSamples; ++j) matrix[i * kSamples + j] += mean - means[i] - means[j];
  }
  return matrix;
}

double Cosine(const std::vector<double>& a, const std::vector<double>& b) {
  const auto dot = [](const auto& u, const auto& v) {
    return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
  };
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}

TEST(Alignment, FollowsItsDefinitionInBlocksOfAnySize) {
  const std::vector<double> a = RandomKernel(1, 0), b = RandomKernel(2, 5);
  testing::MatrixGram gram({a, b});
  for (const std::size_t block_bytes :
       {std::size_t{1}, 4 * kSamples * sizeof(double), std::size_t{1} << 20}) {
    const KernelMoments moments = ComputeMoments(gram, block_bytes);
    EXPECT_NEAR(Alignments(moments.products, 2)[1], Cosine(a, b), 1e-12);
    EXPECT_NEAR(Alignments(moments.centered_products, 2)[2], Cosine(Center(a), Center(b)), 1e-12);
    EXPECT_NEAR(moments.mean[1], std::accumulate(b.begin(), b.end(), 0.0) / (kSamples * kSamples), 1e-12);
  }
}

TEST(Alignment, WithLabels) {
  const std::vector<double> a = RandomKernel(1, 0), b = RandomKernel(2, 5);
  const std::vector<double> y = {1, 1, -1, 1, -1, -1, -1, -1, 1};
  std::vector<double> target;
  for (double u : y) {
    for (double v : y) target.push_back(u * v);
  }
  testing::MatrixGram gram({a, b});
  const KernelMoments moments = ComputeMoments(gram, 1 << 20);
  EXPECT_NEAR(LabelAlignments(gram, moments, y)[1], Cosine(b, target), 1e-12);
  EXPECT_NEAR(CenteredLabelAlignments(gram, moments, {y})[1], Cosine(Center(b), Center(target)), 1e-12);
}

TEST(Alignment, WithClasses) {
  const std::vector<double> a = RandomKernel(1, 0), b = RandomKernel(2, 5);
  const std::vector<int> classes = {0, 1, 2, 2, 1, 0, 2, 3, 1};
  std::vector<std::vector<double>> columns(4, std::vector<double>(kSamples));
  std::vector<double> target;
  for (std::size_t i = 0; i < kSamples; ++i) {
    columns[static_cast<std::size_t>(classes[i])][i] = 1;
    for (const int other : classes) target.push_back(classes[i] == other ? 1 : 0);
  }
  testing::MatrixGram gram({a, b});
  const KernelMoments moments = ComputeMoments(gram, 1 << 20);
  const std::vector<double> alignments = CenteredLabelAlignments(gram, moments, columns);
  EXPECT_NEAR(alignments[0], Cosine(Center(a), Center(target)), 1e-12);
  EXPECT_NEAR(alignments[1], Cosine(Center(b), Center(target)), 1e-12);
}

TEST(Alignment, WithTwoClassesIsThatWithTheirSigns) {
  testing::MatrixGram gram({RandomKernel(1, 0), RandomKernel(2, 5)});
  const KernelMoments moments = ComputeMoments(gram, 1 << 20);
  const std::vector<double> signs = {1, 1, -1, 1, -1, -1, -1, -1, 1};
  std::vector<std::vector<double>> columns(2);
  for (const double sign : signs) {
    columns[0].push_back(sign < 0 ? 1 : 0);
    columns[1].push_back(sign > 0 ? 1 : 0);
  }
  const std::vector<double> by_signs = CenteredLabelAlignments(gram, moments, {signs});
  const std::vector<double> by_classes = CenteredLabelAlignments(gram, moments, columns);
  for (std::size_t m = 0; m < 2; ++m) EXPECT_NEAR(by_classes[m], by_signs[m], 1e-12);
}

TEST(Alignment, OfAConstantKernelIsZeroOnceCentred) {
  testing::MatrixGram gram({std::vector<double>(kSamples * kSamples, 3.0), RandomKernel(1, 0)});
  const KernelMoments moments = ComputeMoments(gram, 1 << 20);
  EXPECT_NEAR(Alignments(moments.products, 2)[0], 1, 1e-12);
  EXPECT_EQ(Alignments(moments.centered_products, 2)[0], 0);
  EXPECT_EQ(Alignments(moments.centered_products, 2)[1], 0);
}

}  // namespace
}  // namespace kweave
