#include "train/class_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "kweave/error.h"

namespace kweave {
namespace {

const std::vector<std::string> kClasses = {"a", "b", "c"};

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = (std::filesystem::path(::testing::TempDir()) / name).string();
  std::ofstream(path) << text;
  return path;
}

TEST(ClassKernels, BlocksAreAllPairsWithBothSigns) {
  const ClassKernels kernels = MakeClassKernels(std::vector<std::string>{"blocks"}, kClasses);
  ASSERT_EQ(kernels.matrices.size(), 6u);
  EXPECT_EQ(kernels.names[1], "a-b");
  EXPECT_EQ(kernels.matrices[1], (ClassMatrix{1, -1, 0, -1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(MakeClassKernels({}, kClasses).matrices[0], IdentityClasses(3));
}

TEST(ClassKernels, MatrixIsReadByLabel) {
  const std::string path = Write("matrix.csv", "class,c,a,b,other\nb,0,0.5,1,0\na,0,1,0.5,0\nc,2,0,0,0\n");
  const ClassKernels kernels =
      MakeClassKernels(std::vector<std::string>{"matrix(file=" + path + ")"}, kClasses);
  EXPECT_EQ(kernels.matrices[0], (ClassMatrix{1, 0.5, 0, 0.5, 1, 0, 0, 0, 2}));
}

TEST(ClassKernels, TaxonomyHasAKernelForEachLevel) {
  const std::string path = Write("taxonomy.txt", "a\tanimal/mammal\nb\tanimal/bird\nc\tplant\n");
  const ClassKernels kernels =
      MakeClassKernels(std::vector<std::string>{"taxonomy(file=" + path + ")"}, kClasses);
  ASSERT_EQ(kernels.matrices.size(), 3u);
  EXPECT_EQ(kernels.matrices[0], (ClassMatrix{1, 1, 0, 1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(kernels.matrices[1], IdentityClasses(3));
  EXPECT_EQ(kernels.matrices[2], IdentityClasses(3));
}

TEST(ClassKernels, RefusesWhatIsNoKernel) {
  const auto make = [](const std::string& spec) {
    MakeClassKernels(std::vector<std::string>{spec}, kClasses);
  };
  EXPECT_THROW(make("cubes"), Error);
  EXPECT_THROW(make("matrix(file=" + Write("asymmetric.csv", "a b c\na 1 1 0\nb 0 1 0\nc 0 0 1\n") + ")"),
               Error);
  EXPECT_THROW(make("matrix(file=" + Write("indefinite.csv", "a b c\na 1 2 0\nb 2 1 0\nc 0 0 1\n") + ")"),
               Error);
  EXPECT_THROW(make("matrix(file=" + Write("missing.csv", "a b\na 1 0\nb 0 1\n") + ")"), Error);
  EXPECT_THROW(make("matrix(file=" + Write("text.csv", "a b c\na 1 x 0\nb x 1 0\nc 0 0 1\n") + ")"), Error);
  EXPECT_THROW(make("taxonomy(file=" + Write("short.txt", "a x\nb x\n") + ")"), Error);
}

// Distances in the plane are those of the matrix: three points need no more.
TEST(ClassKernels, EmbeddingKeepsDistances) {
  const ClassKernels kernels = MakeClassKernels(std::vector<std::string>{"blocks"}, kClasses);
  const std::vector<double> theta = {0.1, 0.3, 0.2, 0, 0.4, 0};
  const ClassKernelReport report = ReportClassKernels(kernels, kClasses, theta, std::vector<double>(6, 1.0));
  for (std::size_t u = 0; u < 3; ++u) {
    for (std::size_t v = 0; v < u; ++v) {
      const double squared = report.matrix[4 * u] + report.matrix[4 * v] - 2 * report.matrix[3 * u + v];
      const double x = report.embedding[2 * u] - report.embedding[2 * v];
      const double y = report.embedding[2 * u + 1] - report.embedding[2 * v + 1];
      EXPECT_NEAR(x * x + y * y, squared, 1e-12);
    }
  }
}

}  // namespace
}  // namespace kweave
