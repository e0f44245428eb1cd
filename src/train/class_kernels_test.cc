#include "train/class_kernels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "kweave/error.h"
#include "kweave/train.h"
#include "tests/support/verified_train.h"

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

TEST(ClassKernels, ValuesMayStandInThePlaceOfAFile) {
  const ClassKernels kernels = MakeClassKernels(
      std::vector<std::string>{R"(matrix(values=[["c","a","b"],[2,0,0],[0,1,0.5],[0,0.5,1]]))",
                               R"(taxonomy(values={"a":"x/y","b":"x/z","c":"w"}))"},
      kClasses);
  EXPECT_EQ(kernels.names[0], "matrix 1");
  EXPECT_EQ(kernels.matrices[0], (ClassMatrix{1, 0.5, 0, 0.5, 1, 0, 0, 0, 2}));
  EXPECT_EQ(kernels.matrices[1], (ClassMatrix{1, 1, 0, 1, 1, 0, 0, 0, 1}));
  for (const char* wrong : {R"(matrix(values=[["a","b","c"],[1,0,0]]))", "matrix(values=[1])",
                            "matrix(values=[)", R"(taxonomy(values={"a":1}))"}) {
    EXPECT_THROW(MakeClassKernels(std::vector<std::string>{wrong}, kClasses), Error) << wrong;
  }
}

TEST(ClassKernels, LabelsInTablesMayHoldAnything) {
  const std::vector<std::string> classes = {"old oak", "a,b", "the \"x\"", "plain"};
  const std::string matrix = Write("my matrix.csv",
                                   ",old oak,\"a,b\",\"the \"\"x\"\"\",plain\n"
                                   "old oak,1,0.5,0,0\n\"a,b\", 0.5, 2, 0, 0\n\n"
                                   "\"the \"\"x\"\"\",0,0,3,0\r\nplain,0,0,0,4");
  const ClassMatrix expected = {1, 0.5, 0, 0, 0.5, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4};
  for (const std::string& file : {matrix, '"' + matrix + '"'}) {
    const ClassKernels kernels =
        MakeClassKernels(std::vector<std::string>{"matrix(file=" + file + ")"}, classes);
    EXPECT_EQ(kernels.matrices[0], expected);
  }
  const std::string taxonomy = Write(
      "places.tsv", "old oak\t\tbig trees/broad\n\"a,b\"\tbig trees\n\"the \"\"x\"\"\"\tbig/x\nplain\n");
  const ClassKernels levels =
      MakeClassKernels(std::vector<std::string>{"taxonomy(file=" + taxonomy + ")"}, classes);
  EXPECT_EQ(levels.matrices[0], (ClassMatrix{1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}));
}

TEST(ClassKernels, SaysThatLabelsNeedATable) {
  const auto refusal = [](const std::string& kind, const std::string& text) -> std::string {
    try {
      MakeClassKernels(std::vector<std::string>{kind + "(file=" + Write("bare.txt", text) + ")"},
                       std::vector<std::string>{"old oak", "plain"});
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  using ::testing::EndsWith;
  EXPECT_THAT(
      refusal("matrix", "old oak plain\nold oak 1 0\nplain 0 1\n"),
      EndsWith("bare.txt: the first line does not name class 'old oak'; a label with blanks or commas "
               "needs a file in CSV format"));
  EXPECT_THAT(refusal("taxonomy", "old oak a/b\nplain a\n"),
              EndsWith("there is no line for class 'old oak'; a label with blanks or commas needs a file in "
                       "CSV format"));
  EXPECT_THAT(refusal("matrix", "old oak,plain\nold oak,1,\nplain,0,1\n"),
              EndsWith("class 'old oak' has no value for class 'plain', expected a finite number"));
}

TEST(ClassKernels, CornerMayBeTheNameOfAClass) {
  const std::string path = Write("corner.csv", "a,b,c,a\nb,1,0,0\nc,0,1,0\na,0,0,2\n");
  const ClassKernels kernels =
      MakeClassKernels(std::vector<std::string>{"matrix(file=" + path + ")"}, kClasses);
  EXPECT_EQ(kernels.matrices[0], (ClassMatrix{2, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(ClassKernels, NamesTheClassThatIsWrong) {
  const auto refusal = [](const std::string& kind, const std::string& text) -> std::string {
    const std::string spec = text.empty() ? kind : kind + "(file=" + Write("refused.txt", text) + ")";
    try {
      MakeClassKernels(std::vector<std::string>{spec}, kClasses);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  using ::testing::EndsWith;
  EXPECT_THAT(refusal("cubes", ""), ::testing::HasSubstr("class-kernel 'cubes' is not known"));
  EXPECT_THAT(
      refusal("matrix", "a b c\na 1 0.5 0\nb 0 1 0\nc 0 0 1\n"),
      EndsWith("refused.txt: class 'a' has 0.5 for class 'b', which has 0 for it; a kernel is symmetric"));
  EXPECT_THAT(refusal("matrix", "a b c\na 1 2 0\nb 2 1 0\nc 0 0 1\n"),
              EndsWith("a kernel has no negative eigenvalue, but this one has -1"));
  EXPECT_THAT(refusal("matrix", "a b\na 1 0\nb 0 1\n"), EndsWith("the first line does not name class 'c'"));
  EXPECT_THAT(refusal("matrix", "a b c b\na 1 0 0 0\nb 0 1 0 0\nc 0 0 1 0\n"),
              EndsWith("the first line names class 'b' twice, expected once"));
  EXPECT_THAT(refusal("matrix", "a b c\na 1 0 0\nb 0 1 0\nc 0 0 1\nb 0 1 0\n"),
              EndsWith("two lines are for class 'b', expected one"));
  EXPECT_THAT(refusal("matrix", "a b c\na 1 x 0\nb x 1 0\nc 0 0 1\n"),
              EndsWith("class 'a' has \"x\" for class 'b', expected a finite number"));
  EXPECT_THAT(refusal("matrix", "a b c\na 1 0 0\nb 0 1 0\nc 0 0\n"),
              EndsWith("class 'c' has no value for class 'c', expected a finite number"));
  EXPECT_THAT(refusal("matrix", " , \n"), ::testing::HasSubstr("this file is empty"));
  EXPECT_THAT(refusal("taxonomy", "a x\nb x\n"), EndsWith("there is no line for class 'c'"));
  EXPECT_THAT(refusal("taxonomy", "a x\nb x\nc y\na y\n"),
              EndsWith("two lines are for class 'a', expected one"));
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

// What a model tells about its kernels is what training told, though its machines hold products of both
// weights.
TEST(ClassKernels, ModelsTellTheWeightsOfTraining) {
  Dataset data;
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) {
    values.push_back(i % 3 + 0.37 * (i % 7));
    values.push_back(i % 3 == 1 ? 1 + 0.1 * (i % 5) : 0.2 * (i % 4));
    data.labels.text.push_back(kClasses[static_cast<std::size_t>(i % 3)]);
  }
  data.size = 60;
  data.views = {{"data", MakeDense(std::move(values), 60, 2), {}}};
  TrainOptions options;
  options.kernels = {"each(linear)"};
  options.multiclass = Multiclass::kJoint;
  options.class_kernels = {"blocks"};
  const Model model = TrainVerified(data, options, {});
  const std::string text = model.Describe();
  for (const KernelReport& kernel : model.summary().kernels) {
    EXPECT_NE(text.find(fmt::format("{:>10.4g} ", kernel.weight)), std::string::npos) << kernel.name << text;
  }
  for (const KernelReport& kernel : model.summary().class_kernel->kernels) {
    EXPECT_NE(text.find(fmt::format("{:>10.4g}  {}\n", kernel.weight, kernel.name)), std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace kweave
