#include "weights/run/joint_gram.h"

#include <gtest/gtest.h>

#include <tuple>

#include "base/random.h"
#include "tests/support/matrix_gram.h"

namespace kweave {
namespace {

constexpr std::size_t kSamples = 5, kClasses = 3, kPairs = kSamples * kClasses;

std::vector<double> Draw(std::size_t count, Random& random) {
  std::vector<double> values(count);
  for (double& value : values) value = 2 * random.Uniform() - 1;
  return values;
}

// X X' for random X.
std::vector<double> DrawKernel(std::size_t size, Random& random) {
  const std::vector<double> x = Draw(size * size, random);
  std::vector<double> kernel(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t k = 0; k < size; ++k) kernel[i * size + j] += x[i * size + k] * x[j * size + k];
    }
  }
  return kernel;
}

// Against the whole matrix over pairs, for fewer and for more kernels on classes than on samples, with and
// without kernels given on pairs.
TEST(JointGram, AgreesWithTheMatrixOverPairs) {
  Random random(5);
  for (const auto& [inputs, matrices, on_pairs] : {std::tuple{3, 1, 0}, {2, 2, 1}, {1, 4, 2}, {3, 2, 0}}) {
    std::vector<std::vector<double>> kernels, whole;
    std::vector<ClassMatrix> classes;
    for (int x = 0; x < inputs; ++x) kernels.push_back(DrawKernel(kSamples, random));
    for (int y = 0; y < matrices; ++y) classes.push_back(DrawKernel(kClasses, random));
    for (const auto& kernel : kernels) {
      for (const ClassMatrix& matrix : classes) {
        std::vector<double>& pairs = whole.emplace_back();
        for (std::size_t r = 0; r < kPairs; ++r) {
          for (std::size_t c = 0; c < kPairs; ++c) {
            pairs.push_back(matrix[r / kSamples * kClasses + c / kSamples] *
                            kernel[r % kSamples * kSamples + c % kSamples]);
          }
        }
      }
    }
    std::vector<std::vector<double>> given_kernels;
    for (int m = 0; m < on_pairs; ++m) given_kernels.push_back(DrawKernel(kPairs, random));
    whole.insert(whole.end(), given_kernels.begin(), given_kernels.end());
    testing::MatrixGram samples(kernels), given(given_kernels), expected(whole);
    samples.set_row_shift(0.25);
    given.set_row_shift(-0.5);
    JointGram gram(samples, kClasses, classes, on_pairs > 0 ? &given : nullptr);
    ASSERT_EQ(gram.kernels(), expected.kernels());
    std::vector<double> theta = Draw(whole.size(), random), a = Draw(kPairs, random),
                        b = Draw(kPairs, random);
    for (double& weight : theta) weight += 1;
    const auto found = gram.Expand(b);
    found->MoveTo(a);
    const auto reference = expected.Expand(a);
    std::vector<double> q(whole.size()), q_expected(q), out(kPairs), out_expected(out);
    found->Quadratics(q);
    reference->Quadratics(q_expected);
    for (std::size_t m = 0; m < q.size(); ++m) EXPECT_NEAR(q[m], q_expected[m], 1e-12);
    found->Products(b, q);
    reference->Products(b, q_expected);
    for (std::size_t m = 0; m < q.size(); ++m) EXPECT_NEAR(q[m], q_expected[m], 1e-12);
    found->Outputs(theta, out);
    reference->Outputs(theta, out_expected);
    for (std::size_t i = 0; i < kPairs; ++i) EXPECT_NEAR(out[i], out_expected[i], 1e-12);
    const std::vector<Index> rows = {0, 7, 14};
    std::vector<double> values(3 * kPairs), values_expected(values);
    gram.Learn(theta)->Rows(rows, values.data(), kPairs);
    expected.Learn(theta)->Rows(rows, values_expected.data(), kPairs);
    for (std::size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], values_expected[k], 1e-12);
    gram.Learn(theta)->Diagonal(out);
    expected.Learn(theta)->Diagonal(out_expected);
    for (std::size_t i = 0; i < kPairs; ++i) EXPECT_NEAR(out[i], out_expected[i], 1e-12);
  }
}

TEST(JointGram, OneInputKernelIsOneTerm) {
  Random random(6);
  testing::MatrixGram samples({DrawKernel(kSamples, random)});
  const std::vector<ClassMatrix> classes(4, IdentityClasses(kClasses));
  const JointGram gram(samples, kClasses, classes);
  EXPECT_EQ(gram.TermsAt(std::vector<double>{1, 0, 2, 1}).size(), 1u);
  EXPECT_TRUE(gram.TermsAt(std::vector<double>(4, 0.0)).empty());
}

}  // namespace
}  // namespace kweave
