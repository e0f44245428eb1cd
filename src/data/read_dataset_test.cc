#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "data/test_files.h"
#include "kweave/dataset.h"

namespace kweave {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReadDatasetTest : public ::testing::Test {
 protected:
  /// Writes a file and adds it as a view named by its stem.
  void AddView(const std::string& file, std::string_view bytes) {
    options_.views.push_back({file.substr(0, file.find('.')), folder_.Write(file, bytes)});
  }
  void SetLabels(const std::string& file, std::string_view bytes) {
    options_.labels_path = folder_.Write(file, bytes);
  }
  std::string Sentence(ErrorKind kind = ErrorKind::kData) const {
    return SentenceOf([&] { ReadDataset(options_); }, kind);
  }
  static std::vector<double> Column(const View& view, Index column) {
    std::vector<double> values, row(ColumnCount(view.features));
    for (Index i = 0; i < RowCount(view.features); ++i) {
      CopyRow(view.features, i, row);
      values.push_back(row[column]);
    }
    return values;
  }

  TemporaryFolder folder_;
  ReadOptions options_;
};

TEST_F(ReadDatasetTest, DetectsFormats) {
  const std::string csv = "a,y\n1,0\n2,1\n";
  const std::string tsv = "a\ty\n1\t0\n2\t1\n";
  const std::string svm = "0 1:1\n1 1:2\n";
  const std::pair<const char*, std::string> files[] = {
      {"a.csv", csv},
      {"b.tsv", tsv},
      {"c.txt", svm},
      {"d.csv.gz", GzipBytes(csv)},
      {"e.CSV.zst", ZstdBytes(csv)},
      {"f", GzipBytes(svm)},
      {"g.csv", ZstdBytes(csv)},
      {"h.csv", NpyBytes(NpyDictionary("<f4", "(2, 1)"), RawBytes<float>({1, 2}))}};
  for (const auto& [file, bytes] : files) AddView(file, bytes);
  const Dataset data = ReadDataset(options_);
  EXPECT_EQ(data.size, 2);
  EXPECT_THAT(data.labels.text, ElementsAre("0", "1"));
  ASSERT_EQ(data.views.size(), 8u);
  for (const View& view : data.views) EXPECT_THAT(Column(view, 0), ElementsAre(1, 2)) << view.name;
}

TEST_F(ReadDatasetTest, ObeysTheFormatGiven) {
  AddView("a.txt", "x,y\n1,0\n2,1\n");
  options_.format = "csv";
  EXPECT_THAT(ReadDataset(options_).views[0].feature_names, ElementsAre("x"));
  options_.format = "npy";
  EXPECT_THAT(Sentence(), HasSubstr("not a NumPy file"));
  options_.format = "parquet";
  EXPECT_THAT(
      Sentence(ErrorKind::kUsage),
      HasSubstr("'parquet' is not available; available: npy, csv, tsv, fasta, fastq, sequences, libsvm"));
}

TEST_F(ReadDatasetTest, SaysWhereLabelsOfSequencesAre) {
  AddView("a.fa", ">seq1\nACGT\n");
  EXPECT_THAT(Sentence(), HasSubstr("label= in the description of each sequence (FASTA)"));
}

TEST_F(ReadDatasetTest, JoinsById) {
  AddView("a.csv", "id,x,label\ns1,1,p\ns2,2,q\ns3,3,p\n");
  AddView("b.csv", "z,sample\n30,s3\n10,s1\n99,s9\n20,s2\n");
  const Dataset data = ReadDataset(options_);
  EXPECT_THAT(data.ids, ElementsAre("s1", "s2", "s3"));
  EXPECT_THAT(Column(data.views[1], 0), ElementsAre(10, 20, 30));
  EXPECT_THAT(data.labels.text, ElementsAre("p", "q", "p"));
}

TEST_F(ReadDatasetTest, TakesIdsFromAllFilesOrNone) {
  AddView("a.txt", "1:1\n1:2\n");
  AddView("b.csv", "id,x\nu,1\nv,2\n");
  AddView("c.csv", "id,x,y\nv,20,5\nu,10,4\n");
  options_.label_column = "y";
  EXPECT_THAT(Sentence(),
              AllOf(HasSubstr("b.csv has ids and"), HasSubstr("a.txt has none"), HasSubstr("`id_column`")));
  options_.id_column = "none";
  const Dataset by_row = ReadDataset(options_);
  EXPECT_THAT(Column(by_row.views[2], 0), ElementsAre(20, 10));
  EXPECT_EQ(ColumnCount(by_row.views[2].features), 1) << "ids are no features";
  EXPECT_TRUE(by_row.ids.empty());
  options_.id_column.clear();
  options_.views.erase(options_.views.begin());
  const Dataset data = ReadDataset(options_);
  EXPECT_THAT(data.ids, ElementsAre("u", "v"));
  EXPECT_THAT(Column(data.views[1], 0), ElementsAre(10, 20));
  EXPECT_THAT(data.labels.number, ElementsAre(4, 5));
}

TEST_F(ReadDatasetTest, GuessesLabelsInTheFirstViewOnly) {
  std::vector<std::string> notes;
  options_.log = [&](LogLevel, std::string_view note) { notes.emplace_back(note); };
  AddView("a.csv", "x,class\n1,p\n2,q\n");
  AddView("b.csv", "x,y\n3,4\n5,6\n");
  const Dataset data = ReadDataset(options_);
  EXPECT_THAT(data.labels.text, ElementsAre("p", "q"));
  EXPECT_THAT(data.views[1].feature_names, ElementsAre("x", "y"));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("b.csv: column \"y\" is a feature")));
  options_.label_column = "class";
  EXPECT_THAT(ReadDataset(options_).views[1].feature_names, ElementsAre("x", "y"));
  options_.label_column = "y";
  EXPECT_THAT(Sentence(), HasSubstr("column 2 (\"class\"): found \"p\", expected a finite number"));
}

TEST_F(ReadDatasetTest, GuessesNoLabelsBesideAFileOfLabels) {
  AddView("a.csv", "x,y\n3,4\n5,6\n");
  SetLabels("labels.txt", "p\nq\n");
  const Dataset data = ReadDataset(options_);
  EXPECT_THAT(data.labels.text, ElementsAre("p", "q"));
  EXPECT_THAT(data.views[0].feature_names, ElementsAre("x", "y"));
  options_.views[0].path = folder_.Write("a.csv", "x,label\n1,r\n2,s\n");
  EXPECT_THAT(Sentence(), AllOf(HasSubstr("a.csv, line 2, column 2 (\"label\"): found \"r\""),
                                HasSubstr("`label_column` label leaves this column out")));
  options_.label_column = "label";
  EXPECT_THAT(ReadDataset(options_).views[0].feature_names, ElementsAre("x"));
  options_.label_column.clear();
  options_.labels_path = options_.views[0].path;
  EXPECT_THAT(ReadDataset(options_).labels.text, ElementsAre("r", "s")) << "the same file";
}

TEST_F(ReadDatasetTest, KeepsTheFeaturesOfTraining) {
  AddView("a.csv", "x,note,y,label\n1,high,2,p\n3,low,4,q\n");
  options_.expected_columns = {2};
  options_.expected_names = {{"y", "x"}};
  const Dataset data = ReadDataset(options_);
  EXPECT_THAT(data.views[0].feature_names, ElementsAre("x", "y"));
  EXPECT_THAT(Column(data.views[0], 1), ElementsAre(2, 4));
  EXPECT_THAT(data.labels.text, ElementsAre("p", "q"));
  options_.expected_names = {{"x", "z", "y", "w"}};
  EXPECT_THAT(Sentence(),
              HasSubstr("a.csv: there is no column called \"z\" (and 1 more), a feature in training"));
  options_.views[0].path = folder_.Write("a.csv", "1,2\n3,4\n");
  options_.labels_required = false;
  EXPECT_EQ(ColumnCount(ReadDataset(options_).views[0].features), 2) << "without a header by position";
  options_.label_column = "1";
  EXPECT_THAT(Sentence(), HasSubstr("column 1 is a feature in training, expected one with labels"));
}

TEST_F(ReadDatasetTest, IgnoresIndicesBeyondTraining) {
  std::vector<std::string> notes;
  options_.log = [&](LogLevel, std::string_view note) { notes.emplace_back(note); };
  AddView("a.txt", "1 1:1 7:2\n0 2:3 5:0 9:1\n");
  options_.expected_columns = {2};
  const Dataset data = ReadDataset(options_);
  EXPECT_THAT(Column(data.views[0], 1), ElementsAre(0, 3));
  EXPECT_THAT(
      notes,
      ElementsAre(HasSubstr("a.txt: 3 values with an index above 2, the largest in training, are ignored")));
  options_.views[0].path = folder_.Write("a.txt", "1 1:1 7:x\n");
  EXPECT_THAT(Sentence(), HasSubstr("feature 7 has value \"x\""));
}

TEST_F(ReadDatasetTest, NamesIdsThatDoNotMatch) {
  AddView("a.csv", "id,x,y\ns1,1,0\ns2,2,1\n");
  AddView("b.csv", "id,z\ns1,1\ns4,2\n");
  EXPECT_THAT(Sentence(), AllOf(HasSubstr("b.csv: there is no row with id \"s2\", which"),
                                HasSubstr("a.csv has on line 3")));
  options_.views[1].path = folder_.Write("b.csv", "id,z\ns1,1\ns2,2\ns1,3\n");
  EXPECT_THAT(Sentence(), HasSubstr("b.csv, line 4: id \"s1\" is already on line 2"));
  options_.views[0].path = folder_.Write("a.csv", "id,x,y\ns1,1,0\ns1,2,1\n");
  EXPECT_THAT(Sentence(), HasSubstr("a.csv, line 3: id \"s1\" is already on line 2"));
  options_.views.pop_back();
  EXPECT_EQ(ReadDataset(options_).size, 2) << "repeated ids are harmless where nothing is joined";
}

TEST_F(ReadDatasetTest, NamesFilesOfDifferentLength) {
  AddView("a.txt", "1 1:1\n0 1:2\n");
  AddView("b.txt", "1 1:1\n0 1:2\n1 1:1\n");
  EXPECT_THAT(Sentence(), AllOf(HasSubstr("a.txt has 2 rows"), HasSubstr("b.txt has 3")));
}

TEST_F(ReadDatasetTest, ReadsLabelFiles) {
  AddView("a.csv", "x\n1\n2\n");
  SetLabels("y.txt", "cat\r\nbig dog\r\n\r\n");
  EXPECT_THAT(ReadDataset(options_).labels.text, ElementsAre("cat", "big dog"));
  SetLabels("y.npy", NpyBytes(NpyDictionary("<i4", "(2,)"), RawBytes<std::int32_t>({3, 4})));
  EXPECT_THAT(ReadDataset(options_).labels.text, ElementsAre("3", "4"));
  SetLabels("y.txt", "1\n\n2\n");
  EXPECT_THAT(Sentence(), HasSubstr("y.txt, line 2: a label is missing: found \"\", expected a label"));
  SetLabels("y.txt", "1\n2\n3\n");
  EXPECT_THAT(Sentence(), AllOf(HasSubstr("a.csv has 2 rows"), HasSubstr("y.txt has 3")));
  options_.views[0].path = folder_.Write("a.csv", "id,x\ns1,1\ns2,2\n");
  EXPECT_THAT(Sentence(), AllOf(HasSubstr("a.csv has ids and"), HasSubstr("y.txt has none")));
  SetLabels("y.csv", "id,label\ns2,5\ns7,1\ns1,6\n");
  EXPECT_THAT(ReadDataset(options_).labels.number, ElementsAre(6, 5));
  SetLabels("y.csv", "id,label\ns2,5\n");
  EXPECT_THAT(Sentence(), HasSubstr("y.csv: there is no row with id \"s1\""));
}

TEST_F(ReadDatasetTest, ReadsLabelsAlone) {
  SetLabels("y.txt", "1\n-1\n");
  const Dataset data = ReadDataset(options_);
  EXPECT_EQ(data.size, 2);
  EXPECT_TRUE(data.views.empty());
}

TEST_F(ReadDatasetTest, InsistsOnLabelsOnlyWhereRequired) {
  AddView("a.csv", "x,z\n1,2\n");
  EXPECT_THAT(Sentence(), HasSubstr("there are no labels"));
  options_.labels_required = false;
  EXPECT_TRUE(ReadDataset(options_).labels.empty());
}

TEST_F(ReadDatasetTest, InsistsOnTheLabelColumnThatIsAskedFor) {
  AddView("a.csv", "x,class\n1,p\n2,q\n");
  for (const bool is_required : {true, false}) {
    options_.labels_required = is_required;
    options_.label_column = "clas";
    EXPECT_THAT(Sentence(),
                HasSubstr("a.csv: there is no column called \"clas\", only \"x\", \"class\"; did you "
                          "mean \"class\"?"));
    options_.label_column = "3";
    EXPECT_THAT(Sentence(), HasSubstr("the label column is not there, expected an index from 1 to 2"));
  }
  options_.label_column = "clas";
  options_.views[0].path = folder_.Write("a.csv", "1,2\n3,4\n");
  EXPECT_THAT(Sentence(), HasSubstr("there is no column called \"clas\", as there is no header"));
  options_.views[0].path = folder_.Write("a.txt", "p 1:1\nq 1:2\n");
  for (const char* column : {"clas", "2"}) {
    options_.label_column = column;
    EXPECT_THAT(Sentence(),
                HasSubstr(fmt::format("a.txt: `label_column` {} needs columns, expected a CSV", column)));
  }
}

TEST_F(ReadDatasetTest, LooksForTheLabelColumnInAllFiles) {
  AddView("a.csv", "x\n1\n2\n");
  AddView("b.txt", "1:1\n1:2\n");
  AddView("c.csv", "z,kind\n1,p\n2,q\n");
  options_.labels_required = false;
  options_.label_column = "kind";
  EXPECT_THAT(ReadDataset(options_).labels.text, ElementsAre("p", "q"));
  options_.label_column = "kinds";
  EXPECT_THAT(Sentence(),
              AllOf(HasSubstr("a.csv, "), HasSubstr("c.csv: there is no column called \"kinds\", only "
                                                    "\"x\", \"z\", \"kind\"; did you mean \"kind\"?")));
  SetLabels("y.txt", "r\ns\n");
  EXPECT_THAT(Sentence(), HasSubstr("there is no column called \"kinds\"")) << "to leave it out";
  options_.label_column = "diagnosis";
  SetLabels("y.csv", "diagnosis\nr\ns\n");
  options_.views.pop_back();
  EXPECT_THAT(ReadDataset(options_).labels.text, ElementsAre("r", "s"));
}

TEST_F(ReadDatasetTest, TakesALabelIndexForTheFirstViewOnly) {
  AddView("a.csv", "p,1\nq,2\n");
  AddView("b.csv", "3,4\n5,6\n");
  options_.label_column = "1";
  const Dataset data = ReadDataset(options_);
  EXPECT_THAT(data.labels.text, ElementsAre("p", "q"));
  EXPECT_EQ(ColumnCount(data.views[1].features), 2);
}

TEST_F(ReadDatasetTest, ChecksTheNumberOfFeatures) {
  AddView("a.txt", "1 2:1\n");
  AddView("b.npy", NpyBytes(NpyDictionary("<f8", "(1, 2)"), RawBytes<double>({1, 2})));
  options_.expected_columns = {5, 2};
  EXPECT_EQ(ColumnCount(ReadDataset(options_).views[0].features), 5);
  options_.expected_columns = {5, 3};
  EXPECT_THAT(Sentence(), HasSubstr("b.npy: this file has 2 features, expected 3"));
  options_.expected_columns = {5};
  EXPECT_THAT(Sentence(ErrorKind::kUsage), HasSubstr("2 views are given, expected 1"));
}

TEST_F(ReadDatasetTest, RefusesNonFiniteArrays) {
  AddView("a.npy", NpyBytes(NpyDictionary("<f8", "(1, 2)"),
                            RawBytes<double>({1, std::numeric_limits<double>::infinity()})));
  EXPECT_THAT(Sentence(), HasSubstr("a.npy, row 1, column 2: found inf"));
}

TEST_F(ReadDatasetTest, RefusesWrongUse) {
  EXPECT_THAT(Sentence(ErrorKind::kUsage), HasSubstr("no data"));
  options_.views = {{"v", "a"}, {"v", "b"}};
  EXPECT_THAT(Sentence(ErrorKind::kUsage), HasSubstr("two views are called \"v\""));
  options_.views = {{"v", folder_.Path("absent.csv")}};
  EXPECT_THAT(Sentence(), HasSubstr("absent.csv: cannot open this file: No such file"));
}

}  // namespace
}  // namespace kweave
