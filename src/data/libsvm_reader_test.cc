#include "data/libsvm_reader.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "data/test_files.h"

namespace kweave {
namespace {

using ::testing::HasSubstr;

Table Read(const std::string& text, Index expected_columns = 0) {
  return ReadLibsvm(MakeFileBytes("a.svm", text), expected_columns);
}

std::vector<std::vector<double>> AllRows(const Features& features) {
  std::vector<std::vector<double>> rows(RowCount(features), std::vector<double>(ColumnCount(features)));
  for (std::size_t i = 0; i < rows.size(); ++i) CopyRow(features, static_cast<Index>(i), rows[i]);
  return rows;
}

using Rows = std::vector<std::vector<double>>;

TEST(LibsvmReader, ReadsSamples) {
  const Table table = Read("+1 1:0.5 3:-2\n-1 2:1e3\n");
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(AllRows(table.features), (Rows{{0.5, 0, -2}, {0, 1000, 0}}));
  EXPECT_EQ(table.labels.text, (std::vector<std::string>{"+1", "-1"}));
  EXPECT_EQ(table.labels.number, (std::vector<double>{1, -1}));
}

TEST(LibsvmReader, ToleratesWhatPeopleWrite) {
  const Rows expected = {{1, 0}, {0, 2}};
  for (const char* text : {"1 1:1\r\n2 2:2\r\n", "1 1:1\n2 2:2", "\n\n1 1:1\n\n  \n2 2:2\n\n",
                           "# head\n1 1:1 # note 5:x\n2 2:2#\n", "  1\t1:1  \n2  2:2\t\n",
                           "\xef\xbb\xbf"
                           "1 1:1\n2 2:2\n",
                           "1 qid:7 1:1\n2 qid:8 2:2\n", "1 01:1. 2:0\n2 1:-0 2:+2\n"}) {
    const Table table = Read(text);
    EXPECT_EQ(AllRows(table.features), expected) << text;
    EXPECT_EQ(table.labels.number, (std::vector<double>{1, 2})) << text;
  }
}

TEST(LibsvmReader, TakesAnyWordAsLabelOrNone) {
  const Table words = Read("cat 1:1\n1e\n3 1:2\n");
  EXPECT_EQ(words.labels.text, (std::vector<std::string>{"cat", "1e", "3"}));
  EXPECT_FALSE(words.labels.is_numeric());
  const Table none = Read("1:1\n2:2\n");
  EXPECT_TRUE(none.labels.empty());
  EXPECT_EQ(AllRows(none.features), (Rows{{1, 0}, {0, 2}}));
}

TEST(LibsvmReader, ChoosesStorageByDensityAndPrecision) {
  EXPECT_TRUE(std::holds_alternative<DenseRows<float>>(Read("1 1:0.5 40:1\n").features));
  EXPECT_TRUE(std::holds_alternative<DenseRows<double>>(Read("1 1:0.1 40:1\n").features));
  EXPECT_TRUE(std::holds_alternative<DenseRows<float>>(Read("1 40:1\n").features));
  EXPECT_TRUE(std::holds_alternative<SparseRows>(Read("1 41:1\n").features));
  EXPECT_TRUE(std::holds_alternative<SparseRows>(Read("1 1:0 40:1 41:0\n").features));
  const Table huge = Read("1 1:1 2147483647:0.25\n");
  const auto& sparse = std::get<SparseRows>(huge.features);
  EXPECT_EQ(sparse.cols, 2147483647);
  EXPECT_EQ(sparse.columns[1], 2147483646);
  EXPECT_EQ(sparse.values[1], 0.25);
}

TEST(LibsvmReader, AcceptsUnderflow) {
  EXPECT_EQ(AllRows(Read("1 1:1e-999 2:4.9e-324\n").features), (Rows{{0, 4.9e-324}}));
}

TEST(LibsvmReader, PadsToTheExpectedColumns) {
  EXPECT_EQ(AllRows(Read("1 1:2\n", 3).features), (Rows{{2, 0, 0}}));
  EXPECT_THAT(SentenceOf([] { Read("# nothing\n", 3); }), HasSubstr("there is no sample"));
  const Table table = Read("1 1:2\n1 2:1 4:1\n", 3);
  EXPECT_EQ(AllRows(table.features), (Rows{{2, 0, 0}, {0, 1, 0}}));
  EXPECT_EQ(table.notes, (std::vector<std::string>{
                             "a.svm: 1 value with an index above 3, the largest in training, is ignored"}));
}

TEST(LibsvmReader, NamesWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "a.svm: this file is empty"},
      {"\n \r\n", "a.svm: this file is empty"},
      {"# only a comment\n", "there is no sample"},
      {"1\n2\n", "no sample has a feature"},
      {"1 0:1\n", "line 1, column 3: found index \"0\", expected a whole number from 1 to 2147483647"},
      {"1 -1:1\n", "found index \"-1\""},
      {"1 +1:1\n", "found index \"+1\""},
      {"1 1.5:1\n", "found index \"1.5\""},
      {"1 2147483648:1\n", "found index \"2147483648\""},
      {"1 99999999999999999999999:1\n", "found index \"99999999999999999999999\""},
      {"1 18446744073709551617:1\n", "found index \"18446744073709551617\""},
      {"1 x:1\n", "found index \"x\""},
      {"1 :1\n", "found index \"\""},
      {"1 1:1 1:2\n", "line 1, column 7: index 1 follows index 1, expected ascending indices"},
      {"1 1:1\n1 3:1 2:2\n", "line 2, column 7: index 2 follows index 3"},
      {"1 1:\n", "line 1, column 5: the value of feature 1 is missing"},
      {"1 1: 2\n", "line 1, column 5: the value of feature 1 is missing"},
      {"1 1:1 2:", "line 1, column 9: the value of feature 2 is missing"},
      {"1 1:nan\n", "line 1, column 5: feature 1 has value \"nan\", expected a finite number"},
      {"1 1:NaN\n", "\"NaN\""},
      {"1 1:inf\n", "\"inf\""},
      {"1 1:-Infinity\n", "\"-Infinity\""},
      {"1 1:1e999\n", "feature 1 has value \"1e999\", expected a finite number"},
      {"1 1:-1e309\n", "\"-1e309\""},
      {"1 1:0.5abc\n", "feature 1 has value \"0.5abc\""},
      {"1 1:1e\n", "\"1e\""},
      {"1 1:1:2\n", "\"1:2\""},
      {"1 1:0x10\n", "\"0x10\""},
      {"1 1:1,5\n", "feature 1 has value \"1\""},
      {"1 2 1:1\n", "line 1, column 3: found \"2\", expected index:value"},
      {"1 1:1 word\n", "line 1, column 7: found \"word\", expected index:value"},
      {"1 1:1 qid:3\n", "found index \"qid\""},
      {"1 1:1\n1:1\n",
       "line 2, column 1: a label is missing: found \"1:1\", expected a label as on the lines before"},
      {"1:1\n1 1:1\n",
       "line 1, column 1: a label is missing: found \"1:1\", but line 2 starts with \"1\"; expected a label "
       "in front of "
       "every sample or of none"},
      {"\n 3:1\n1:1\ncat 1:1\n",
       "line 2, column 2: a label is missing: found \"3:1\", but line 4 starts with \"cat\""},
      {"1 1:1\n 2:1\n",
       "line 2, column 2: a label is missing: found \"2:1\", expected a label as on the lines before"},
      {"NA 1:1\n", "line 1, column 1: a label is missing: found \"NA\", expected a label"},
      {"1,? 1:1\n", "line 1, column 1: found \"1,?\", expected a label"},
      {"nan 1:1\n", "found \"nan\", expected a label"},
      {"-inf 1:1\n", "found \"-inf\", expected a label"},
      {"1e999 1:1\n", "found \"1e999\", expected a label"},
      {std::string("\x01\x02 1:1\n"), "found \"\\x01\\x02\", expected a label"},
      {std::string("\x80\xff 1:1\n"), "found \"\\x80\\xff\", expected a label"},
      {std::string("1 1:1\0 2:1\n", 11), "\"1\\x00\""},
      {std::string("\xff\xfe"
                   "1\0",
                   4),
       "UTF-16"},
  };
  for (const auto& [text, fragment] : cases) {
    EXPECT_THAT(SentenceOf([&] { Read(text); }), HasSubstr(fragment)) << text;
  }
}

TEST(LibsvmReader, ReadsSeveralLabelsOfASample) {
  const Table table = Read("1,3 1:1\n2 1:2\n 1:3\n");
  EXPECT_EQ(table.labels.separator, ",");
  EXPECT_THAT(table.labels.text, ::testing::ElementsAre("1,3", "2", ""));
  EXPECT_FALSE(table.labels.is_numeric());
}

TEST(LibsvmReader, ShortensLongValues) {
  const std::string sentence = SentenceOf([] { Read("1 1:" + std::string(100'000, 'x')); });
  EXPECT_LT(sentence.size(), 200u);
}

TEST(LibsvmReader, GivesBackWhatWasWritten) {
  EXPECT_TRUE(rc::check("text -> features is the inverse of features -> text", [] {
    using Row = std::map<int, double>;
    const auto value =
        rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double v) { return std::isfinite(v); });
    const auto row = rc::gen::container<Row>(rc::gen::inRange(1, 200), value);
    const auto rows =
        *rc::gen::suchThat(rc::gen::container<std::vector<Row>>(row), [](const std::vector<Row>& all) {
          return std::ranges::any_of(all, [](const Row& one) { return !one.empty(); });
        });
    std::string text;
    int cols = 0;
    for (const Row& one : rows) {
      text += "0";
      for (const auto& [index, number] : one) text += fmt::format(" {}:{}", index, number);
      text += '\n';
      if (!one.empty()) cols = std::max(cols, one.rbegin()->first);
    }
    Rows expected;
    for (const Row& one : rows) {
      expected.emplace_back(cols);
      for (const auto& [index, number] : one) expected.back()[index - 1] = number;
    }
    RC_ASSERT(AllRows(Read(text).features) == expected);
    RC_ASSERT(AllRows(Read(GzipBytes(text)).features) == expected);
  }));
}

}  // namespace
}  // namespace kweave
