#include "data/matrix_file.h"

#include <cmath>
#include <limits>

#include "data/test_files.h"

namespace kweave {
namespace {

using ::testing::HasSubstr;

MatrixFile Parse(const std::string& bytes) { return MatrixFile::Parse(MakeFileBytes("k.txt", bytes)); }

std::vector<double> AllRows(const MatrixFile& matrix) {
  std::vector<double> values(static_cast<std::size_t>(matrix.rows() * matrix.cols()));
  matrix.Rows(0, matrix.rows(), values.data(), matrix.cols());
  return values;
}

TEST(MatrixFile, MapsNumpyFilesAndReleasesThem) {
  const TemporaryFolder folder;
  std::vector<float> values(1000 * 300);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::string path =
      folder.Write("k.npy", NpyBytes(NpyDictionary("<f4", "(1000, 300)"), RawBytes(values)));
  const MatrixFile matrix = MatrixFile::Open(path);
  EXPECT_TRUE(matrix.is_mapped());
  EXPECT_TRUE(matrix.is_float32());
  EXPECT_EQ(matrix.rows(), 1000);
  EXPECT_EQ(matrix.cols(), 300);
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<double> rows(2 * 310, -1.0);
    matrix.Rows(998, 2, rows.data(), 310);
    EXPECT_EQ(rows[0], 998 * 300);
    EXPECT_EQ(rows[310 + 299], 999 * 300 + 299);
    EXPECT_EQ(rows[305], -1.0);
    matrix.Release(0, 1000);
    matrix.Release(999, 1);
    matrix.Release(5, 0);
  }
}

TEST(MatrixFile, DoesNotJudgeMappedValuesButAllOthers) {
  const TemporaryFolder folder;
  const std::vector<double> values = {1, std::numeric_limits<double>::quiet_NaN()};
  const std::string mapped =
      folder.Write("a.npy", NpyBytes(NpyDictionary("<f8", "(1, 2)"), RawBytes(values)));
  EXPECT_TRUE(std::isnan(AllRows(MatrixFile::Open(mapped))[1]));
  const std::string packed = GzipBytes(NpyBytes(NpyDictionary("<f8", "(1, 2)"), RawBytes(values)));
  EXPECT_THAT(SentenceOf([&] { Parse(packed); }), HasSubstr("k.txt, row 1, column 2: found nan"));
}

TEST(MatrixFile, ReadsText) {
  for (const std::string text : {"1 2.5\n3 4\n", "1,2.5\r\n3,4", "# a comment\n\n 1\t2.5 # more\n3 , 4  ",
                                 "\xef\xbb\xbf"
                                 "1 2.5\n3 4"}) {
    for (const std::string& bytes : {text, GzipBytes(text), ZstdBytes(text)}) {
      const MatrixFile matrix = Parse(bytes);
      EXPECT_EQ(matrix.rows(), 2);
      EXPECT_EQ(AllRows(matrix), (std::vector<double>{1, 2.5, 3, 4})) << text;
      EXPECT_TRUE(matrix.is_float32());
    }
  }
  const MatrixFile wide = Parse("0.1 2");
  EXPECT_FALSE(wide.is_float32());
  float row[2];
  wide.Rows(0, 1, row, 2);
  EXPECT_EQ(row[0], 0.1f);
}

TEST(MatrixFile, NamesWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"1 2\n3 x\n", "k.txt, line 2, column 3: found \"x\", expected a finite number"},
      {"1 2\n3\n", "k.txt, line 2: 1 values, expected 2"},
      {"1 2\n3 4 5\n", "k.txt, line 2: 3 values, expected 2"},
      {"1 nan\n", "column 3: found \"nan\""},
      {"1 1e999\n", "found \"1e999\""},
      {"1 2e\n", "found \"2e\""},
      {"1,,2\n", "line 1, column 3: found \"\""},
      {"1,2,\n", "line 1, column 5: a value is missing after the comma"},
      {"# nothing\n", "no numbers"},
      {" \n\n", "is empty"},
      {"\xff\xfe"
       "1",
       "UTF-16"},
  };
  for (const auto& [text, fragment] : cases) {
    EXPECT_THAT(SentenceOf([&] { Parse(text); }), HasSubstr(fragment)) << text;
  }
}

TEST(MatrixFile, ReadsMemoryOfTheCallerInPlace) {
  // Two 3 x 3 matrices, their entries side by side; the second is meant, in another order and without one
  // row.
  std::vector<float> values(18);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  GramMatrix gram{"K", DenseRows<float>{values.data() + 1, 3, 3, 6, {}}, 2, {2, 0}, {2, 1, 0}};
  const MatrixFile matrix = MatrixFile::Wrap(gram);
  EXPECT_EQ(matrix.name(), "K");
  EXPECT_EQ(matrix.rows(), 2);
  EXPECT_EQ(matrix.cols(), 3);
  EXPECT_TRUE(matrix.is_float32());
  EXPECT_FALSE(matrix.is_mapped());
  EXPECT_THAT(AllRows(matrix), ::testing::ElementsAre(17, 15, 13, 5, 3, 1));
  values[17] = -1;
  float part[2];
  matrix.RowPart(0, 0, 2, part);
  EXPECT_THAT(part, ::testing::ElementsAre(-1, 15));
  EXPECT_EQ(matrix.RowNumber(0), 3);
  EXPECT_EQ(matrix.ColumnNumber(2), 1);
  gram.row_numbers = {20, 10};
  EXPECT_EQ(MatrixFile::Wrap(gram).RowNumber(1), 10);
  gram.row_numbers = {20};
  EXPECT_THAT(SentenceOf([&] { MatrixFile::Wrap(gram); }, ErrorKind::kUsage),
              HasSubstr("a number for every row"));
  gram.row_numbers.clear();
  gram.column_indices = {3};
  EXPECT_THAT(SentenceOf([&] { MatrixFile::Wrap(gram); }, ErrorKind::kUsage),
              HasSubstr("'K': there is no column 3, it has 3"));
}

}  // namespace
}  // namespace kweave
