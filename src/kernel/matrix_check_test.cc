#include "kernel/matrix_check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "data/matrix_file.h"
#include "kweave/error.h"

namespace kweave {
namespace {

// Writes rows of text and checks them as one kernel matrix.
MatrixCheck Check(const std::string& text, Index samples, std::uint64_t seed = 0) {
  const std::string path = ::testing::TempDir() + "/kweave_matrix_check.txt";
  std::ofstream(path) << text;
  ThreadPool pool(2);
  const MatrixSource sources[] = {{path}};
  return CheckKernelMatrices(sources, samples, pool, "sample", seed).front();
}

std::string Message(const std::string& text, Index samples) {
  try {
    Check(text, samples);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.what();
  }
  return "no error";
}

TEST(MatrixCheck, FindsTheEndsOfASmallSpectrum) {
  const MatrixCheck check = Check("2 1 0\n1 2 1\n0 1 2\n", 3);
  EXPECT_FALSE(check.is_indefinite);
  EXPECT_NEAR(check.smallest_eigenvalue, 2 - std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(check.largest_eigenvalue, 2 + std::sqrt(2.0), 1e-9);
}

TEST(MatrixCheck, AcceptsSingularMatrices) {
  EXPECT_FALSE(Check("1 1\n1 1\n", 2).is_indefinite);
  EXPECT_FALSE(Check("0 0\n0 0\n", 2).is_indefinite);
  EXPECT_FALSE(Check("3\n", 1).is_indefinite);
}

TEST(MatrixCheck, SeesNegativeDirections) {
  EXPECT_TRUE(Check("0 1\n1 0\n", 2).is_indefinite);
  EXPECT_TRUE(Check("1 0 0\n0 1 0\n0 0 -0.1\n", 3).is_indefinite);
}

// Ends of a spectrum that take more steps than there are depend on where these begin.
TEST(MatrixCheck, BeginsWhereTheSeedSays) {
  constexpr int kSize = 200;
  std::string text;
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) text += fmt::format("{} ", i == j ? i + 1 : 0);
    text += "\n";
  }
  EXPECT_EQ(Check(text, kSize, 1).smallest_eigenvalue, Check(text, kSize, 1).smallest_eigenvalue);
  EXPECT_NE(Check(text, kSize, 1).smallest_eigenvalue, Check(text, kSize, 2).smallest_eigenvalue);
}

// One step, all that a budget shared by very many matrices leaves to each, sees none of them.
TEST(MatrixCheck, LooksAsCloselyAtEachOfMany) {
  constexpr Index kSize = 400, kMany = 1000;
  std::vector<double> values(kSize * kSize, 0.0);
  for (Index i = 0; i < kSize; ++i) values[i * kSize + i] = i == 7 ? -0.2 : static_cast<double>(i) / kSize;
  const GramMatrix gram{"K", DenseRows<double>{values.data(), kSize, kSize, kSize, nullptr}};
  const auto held = std::make_shared<const MatrixFile>(MatrixFile::Wrap(gram));
  const std::vector<MatrixSource> sources(kMany, MatrixSource{"K", held});
  ThreadPool pool(2);
  for (const MatrixCheck& check : CheckKernelMatrices(sources, kSize, pool)) {
    ASSERT_TRUE(check.is_indefinite);
  }
}

TEST(MatrixCheck, NamesThePlaceOfAnAsymmetry) {
  EXPECT_THAT(Message("1 0 0\n0 1 0.5\n0 0 1\n", 3), ::testing::HasSubstr("not symmetric: "));
  EXPECT_THAT(Message("1 0 0\n0 1 0.5\n0 0 1\n", 3), ::testing::HasSubstr("0.5 at row 2, column 3"));
}

TEST(MatrixCheck, NamesTheShapeItExpected) {
  EXPECT_THAT(Message("1 0\n0 1\n", 3), ::testing::HasSubstr("2 x 2 values, expected 3 x 3"));
}

}  // namespace
}  // namespace kweave
