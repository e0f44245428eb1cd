#include "data/csv_reader.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <cmath>

#include "data/csv_scanner.h"
#include "data/test_files.h"

namespace kweave {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Rows = std::vector<std::vector<double>>;

Table Read(const std::string& text, const CsvOptions& options = {}) {
  return ReadCsv(MakeFileBytes("a.csv", text), options);
}

Rows AllRows(const Features& features) {
  Rows rows(RowCount(features), std::vector<double>(ColumnCount(features)));
  for (std::size_t i = 0; i < rows.size(); ++i) CopyRow(features, static_cast<Index>(i), rows[i]);
  return rows;
}

TEST(CsvReader, ReadsHeaderLabelsAndIds) {
  const Table table = Read("id,height,label,width\ns1,1.5,cat,2\ns2,0.1,dog,-3\n");
  EXPECT_THAT(table.feature_names, ElementsAre("height", "width"));
  EXPECT_THAT(table.labels.text, ElementsAre("cat", "dog"));
  EXPECT_THAT(table.ids, ElementsAre("s1", "s2"));
  EXPECT_THAT(table.id_lines, ElementsAre(2, 3));
  EXPECT_EQ(AllRows(table.features), (Rows{{1.5, 2}, {0.1, -3}}));
}

TEST(CsvReader, ToleratesWhatPeopleWrite) {
  for (const char* text : {"a,b,y\r\n1,2,0\r\n3,4,1\r\n", "a,b,y\n1,2,0\n3,4,1",
                           "\xef\xbb\xbf"
                           "a,b,y\n1,2,0\n\n3,4,1\n\n",
                           "a , b,\ty\n 1 ,2 , 0\n3,\t4,1 \n",
                           "\"a\",\"b\",\"y\"\n\"1\",2,\"0\"\n3,\"4\",1\n", "1,2,Y\n1,2,0\n3,4,1\n"}) {
    const Table table = Read(text);
    EXPECT_EQ(AllRows(table.features), (Rows{{1, 2}, {3, 4}})) << text;
    EXPECT_EQ(table.labels.number, (std::vector<double>{0, 1})) << text;
    EXPECT_TRUE(std::holds_alternative<DenseRows<float>>(table.features));
  }
}

TEST(CsvReader, ReadsQuotedFields) {
  const Table table = Read("label,\"a, \"\"big\"\"\nname\"\n\"x,\"\"1\"\"\",5\n\"y\",6\n");
  EXPECT_THAT(table.feature_names, ElementsAre("a, \"big\" name"));
  EXPECT_THAT(table.labels.text, ElementsAre("x,\"1\"", "y"));
}

TEST(CsvReader, FindsColumnsByNameAndIndex) {
  CsvOptions by_name;
  by_name.label_column = "b";
  by_name.id_column = "a";
  const Table named = Read("a,b,c\n1,2,3\n", by_name);
  EXPECT_THAT(named.ids, ElementsAre("1"));
  EXPECT_THAT(named.labels.text, ElementsAre("2"));
  CsvOptions by_index;
  by_index.label_column = "3";
  by_index.id_column = "1";
  const Table indexed = Read("s1,2,cat\ns2,3,dog\n", by_index);
  EXPECT_THAT(indexed.feature_names, IsEmpty());
  EXPECT_THAT(indexed.labels.text, ElementsAre("cat", "dog"));
  EXPECT_EQ(AllRows(indexed.features), (Rows{{2}, {3}}));
  const Table with_header = Read("who,size,what\ns1,2,cat\ns2,3,dog\n", by_index);
  EXPECT_THAT(with_header.feature_names, ElementsAre("size"));
  EXPECT_EQ(with_header.rows, 2);
}

TEST(CsvReader, TakesAnUnnamedFirstColumnAsIds) {
  const Table table = Read(",a,label\n0,1,x\n1,2,y\n");
  EXPECT_THAT(table.ids, ElementsAre("0", "1"));
  EXPECT_THAT(table.feature_names, ElementsAre("a"));
}

TEST(CsvReader, ReadsWithoutHeaderOrLabels) {
  const Table table = Read("1,2\n3,4\n");
  EXPECT_TRUE(table.labels.empty());
  EXPECT_TRUE(table.feature_names.empty());
  EXPECT_EQ(AllRows(table.features), (Rows{{1, 2}, {3, 4}}));
}

TEST(CsvReader, TakesNoFeatureOfTrainingForLabels) {
  CsvOptions options;
  options.label_column = "1";
  options.expected_columns = 2;
  EXPECT_THAT(Read("x,5,6\n", options).labels.text, ElementsAre("x"));
  EXPECT_THAT(
      SentenceOf([&] { Read("5,6\n", options); }),
      HasSubstr("a.csv: column 1 is a feature in training, expected one with labels (where there are none, "
                "leave out `label_column`)"));
  options.expected_names = {"a", "b"};
  EXPECT_THAT(Read("c,a,b\nx,5,6\n", options).labels.text, ElementsAre("x"));
  EXPECT_THAT(SentenceOf([&] { Read("a,b,c\n5,6,x\n", options); }),
              HasSubstr("a.csv: column 1 (\"a\") is a feature in training"));
}

TEST(CsvReader, SuggestsWhereTheLabelsMayBe) {
  const auto sentence = [](const std::string& text) { return SentenceOf([&] { Read(text); }); };
  EXPECT_THAT(
      sentence("width,species\n1,setosa\n"),
      HasSubstr("line 2, column 2 (\"species\"): found \"setosa\", expected a finite number (if this column "
                "holds the labels, `label_column` species says so)"));
  EXPECT_THAT(sentence("width,the species\n1,setosa\n"), HasSubstr("`label_column` 2 says so"));
  EXPECT_THAT(sentence("3.5,setosa\n1,setosa\n"), HasSubstr("`label_column` 2 says so")) << "no header";
  for (const char* text : {"width,species\n1,NA\n", "width,species\n1,inf\n", "width,species\n1,2x\n",
                           "width,species,label\n1,setosa,0\n"}) {
    EXPECT_THAT(sentence(text), Not(HasSubstr("`label_column`"))) << text;
  }
}

TEST(CsvReader, RefusesMissingLabelsHoweverWritten) {
  for (const char* mark : {"", "NA", "n/a", "NaN", "null", "?"}) {
    EXPECT_THAT(SentenceOf([&] { Read(fmt::format("a,y\n1,p\n2,{}\n", mark)); }),
                HasSubstr(fmt::format(
                    "line 3, column 2 (\"y\"): a label is missing: found \"{}\", expected a label", mark)));
  }
  EXPECT_THAT(Read("a,y\n1,mild\n2,none\n").labels.text, ElementsAre("mild", "none")) << "an answer";
  CsvOptions several;
  several.label_separator = ";";
  EXPECT_THAT(Read("a,y\n1,p;q\n2,\n", several).labels.text, ElementsAre("p;q", ""))
      << "none, not a missing one";
  for (const char* text : {"a,y\n1,NA\n", "a,y\n1,p;NA\n", "a,y\n1,?;p\n"}) {
    EXPECT_THAT(SentenceOf([&] { Read(text, several); }), HasSubstr("expected a label")) << text;
  }
}

TEST(CsvReader, DetectsDelimiters) {
  EXPECT_EQ(DetectDelimiter("a;b\n1,5;2\n"), ';');
  EXPECT_EQ(DetectDelimiter("a\tb\n"), '\t');
  EXPECT_EQ(DetectDelimiter("a;b,c\n"), ',');
  EXPECT_EQ(DetectDelimiter("a"), ',');
  CsvOptions options;
  options.delimiter = '\t';
  EXPECT_EQ(AllRows(Read("a b\ty\n1\t2\n", options).features), (Rows{{1}}));
}

TEST(CsvReader, ReadsFilesOfLabels) {
  const auto read = [](const std::string& text) { return ReadCsvLabels(MakeFileBytes("y.csv", text), {}); };
  const Table joined = read("id,label,note\ns1,cat,\ns2,dog,x\n");
  EXPECT_THAT(joined.labels.text, ElementsAre("cat", "dog"));
  EXPECT_THAT(joined.ids, ElementsAre("s1", "s2"));
  EXPECT_THAT(read("diagnosis,sample\nill,s1\nwell,s2\n").labels.text, ElementsAre("ill", "well"));
  EXPECT_THAT(read("cat\ndog\n").labels.text, ElementsAre("cat", "dog"));
  EXPECT_THAT(read("label\n1\n0\n").labels.text, ElementsAre("1", "0"));
  EXPECT_THAT(SentenceOf([&] { read("a,b\n1,2\n"); }),
              HasSubstr("cannot tell which column holds the labels"));
}

TEST(CsvReader, NamesWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"\n\n", "a.csv: this file is empty"},
      {"a,b,y\n", "there is no sample after the header"},
      {"y\n1\n", "there is no column of features"},
      {"a,b,y\n1,2,0\n3,x,1\n", "a.csv, line 3, column 2 (\"b\"): found \"x\", expected a finite number"},
      {"a,b,y\n1,,0\n", "line 2, column 2 (\"b\"): a value is missing: found \"\""},
      {"a,b,y\n1,NA,0\n", "a value is missing: found \"NA\""},
      {"1,NA,3\n", "a.csv, line 1, column 2: a value is missing: found \"NA\""},
      {"a,b,y\n1,nan,0\n", "found \"nan\""},
      {"a,b,y\n1,-inf,0\n", "line 2, column 2 (\"b\"): found \"-inf\", expected a finite number"},
      {"1,+Infinity,3\n", "a.csv, line 1, column 2: found \"+Infinity\", expected a finite number"},
      {"1,-NaN,3\n", "a.csv, line 1, column 2: found \"-NaN\""},
      {"a,b,y\n1,1e400,0\n", "found \"1e400\", expected a finite number"},
      {"a,b,y\n1,2x,0\n", "found \"2x\""},
      {"a,b,y\n1,2,0\n3,4\n", "a.csv, line 3: 2 fields, expected 3"},
      {"a,b,y\n1,2,0\n3,4,1,5\n", "a.csv, line 3: 4 fields, expected 3"},
      {"a,b,y\n1,2,\n", "line 2, column 3 (\"y\"): a label is missing: found \"\", expected a label"},
      {"a,b,y\n1,2,-inf\n", "line 2, column 3 (\"y\"): found \"-inf\", expected a label"},
      {"id,b,y\n ,2,1\n", "line 2, column 1 (\"id\"): found \"\", expected a sample id"},
      {"a,b,y\n1,\"2,0\n3,4,1\n", "line 2, column 3: this quoted field is never closed"},
      {"a,b,y\n1,\"2\"3,0\n", "line 2, column 6: found \"3\" after a closing quote"},
      {"a,label,class\n1,2,0\n", "columns 2 and 3 could both be the label column (\"label\" and \"class\")"},
      {"a,\x01\n1,2\n", "the header holds \"\\x01\""},
      {"a,b,y\n\"1\n\",x,0\n", "line 2, column 1 (\"a\"): found \"1\\x0a\""},
      {"a,b,y\n1,2,\"\n\"\n3,x,0\n", "line 2, column 3 (\"y\"): found \"\\x0a\", expected a label"},
  };
  for (const auto& [text, fragment] : cases) {
    EXPECT_THAT(SentenceOf([&] { Read(text); }), HasSubstr(fragment)) << text;
  }
}

TEST(CsvReader, NamesColumnsThatAreNotThere) {
  const auto sentence = [](const std::string& label, const std::string& id) {
    CsvOptions options;
    options.label_column = label;
    options.id_column = id;
    return SentenceOf([&] { Read("a,b\n1,2\n", options); });
  };
  EXPECT_THAT(sentence("3", ""), HasSubstr("the label column is not there, expected an index from 1 to 2"));
  EXPECT_THAT(sentence("0", ""), HasSubstr("the label column is not there"));
  EXPECT_THAT(sentence("", "who"), HasSubstr("there is no id column called \"who\", only \"a\", \"b\""));
  EXPECT_THAT(sentence("1", "1"), HasSubstr("column 1 cannot hold both"));
  CsvOptions expected;
  expected.expected_columns = 3;
  EXPECT_THAT(SentenceOf([&] { Read("1,2\n", expected); }),
              HasSubstr("2 features, expected 3 as in training"));
}

TEST(CsvReader, GivesBackWhatWasWritten) {
  EXPECT_TRUE(rc::check("text -> features is the inverse of features -> text", [] {
    const auto value =
        rc::gen::suchThat(rc::gen::arbitrary<double>(), [](double v) { return std::isfinite(v); });
    const int cols = *rc::gen::inRange(1, 6);
    const auto row = rc::gen::container<std::vector<double>>(cols, value);
    const auto rows = *rc::gen::nonEmpty(rc::gen::container<Rows>(row));
    const std::string field = *rc::gen::element<std::string>("{}", "\"{}\"", " {} ");
    std::string text;
    for (const auto& one : rows) {
      for (const double number : one) text += fmt::format(fmt::runtime(field), number) + ',';
      text.pop_back();
      text += *rc::gen::element<std::string>("\n", "\r\n");
    }
    RC_ASSERT(AllRows(Read(text).features) == rows);
    RC_ASSERT(AllRows(Read(ZstdBytes(text)).features) == rows);
  }));
}

}  // namespace
}  // namespace kweave
