#include "data/sequence_reader.h"

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "data/sequences.h"
#include "data/test_files.h"
#include "kweave/dataset.h"

namespace kweave {
namespace {

using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

Table Fasta(const std::string& text, const SequenceOptions& options = {}) {
  return ReadFasta(MakeFileBytes("a.fa", text), options);
}

Texts TextsOf(const Features& features) {
  Texts texts;
  for (Index i = 0; i < RowCount(features); ++i)
    texts.push_back(SequenceText(std::get<SequenceRows>(features), i));
  return texts;
}

TEST(SequenceReader, ReadsFasta) {
  const Table table = Fasta(">a label=1, x=2\nACGT\nAC\n\n>b some class=3 label=-1\r\nttg\r\nNC\r\n");
  EXPECT_EQ(TextsOf(table.features), (Texts{"ACGTAC", "TTG?C"}));
  EXPECT_EQ(table.ids, (Texts{"a", "b"}));
  EXPECT_EQ(table.id_lines, (std::vector<Index>{1, 5}));
  EXPECT_EQ(table.labels.number, (std::vector<double>{1, -1}));
  const auto& sequences = std::get<SequenceRows>(table.features);
  EXPECT_EQ(sequences.alphabet, "ACGT");
  EXPECT_EQ(sequences.bits, 2);
  EXPECT_EQ(sequences.cols, 6);
  ASSERT_EQ(table.notes.size(), 1U);
  EXPECT_THAT(table.notes[0], HasSubstr("1 letter is not known and matches nothing"));
}

TEST(SequenceReader, ReadsWhatHasNoIdsOrLabels) {
  const Table table = Fasta("> chr=1, label=+1\nACG\n> chr=2, label=-1\nACC\n");
  EXPECT_TRUE(table.ids.empty());
  EXPECT_EQ(table.labels.text, (Texts{"+1", "-1"}));
  EXPECT_TRUE(Fasta(">x\nACGT\n>y\nACGT").labels.empty());
  EXPECT_EQ(Fasta(">x kind=7 label=1\nAC\n", {.label_key = "kind"}).labels.text, Texts{"7"});
}

TEST(SequenceReader, ReadsFastqAndLines) {
  const Table fastq =
      ReadFastq(MakeFileBytes("a.fq", "@r1 label=x\nACGT\n+\n!!!!\n@r2 label=y\nAC\n+r2\n@@\n"), {});
  EXPECT_EQ(TextsOf(fastq.features), (Texts{"ACGT", "AC"}));
  EXPECT_EQ(fastq.labels.text, (Texts{"x", "y"}));
  const Table lines = ReadSequenceLines(MakeFileBytes("a.txt", "ER P1 MKIW\n\nCYT P2 MMAX*\n"), {});
  EXPECT_EQ(TextsOf(lines.features), (Texts{"MKIW", "MMA??"}));
  EXPECT_EQ(lines.ids, (Texts{"P1", "P2"}));
  EXPECT_EQ(std::get<SequenceRows>(lines.features).bits, 5);
  EXPECT_TRUE(ReadSequenceLines(MakeFileBytes("a.txt", "1 - ACG\n2 - ACT\n"), {}).ids.empty());
}

TEST(SequenceReader, TellsFormatsApart) {
  const auto is = [](bool (*recognizes)(const FileBytes&), const char* text) {
    return recognizes(MakeFileBytes("x", text));
  };
  EXPECT_TRUE(is(IsFasta, "\n>a\nAC\n"));
  EXPECT_FALSE(is(IsFasta, "1 1:2\n"));
  EXPECT_TRUE(is(IsFastq, "@a\nAC\n+\n!!\n"));
  EXPECT_FALSE(is(IsFastq, "@relation x\n@attribute y\n@data\n"));
  EXPECT_TRUE(is(IsSequenceLines, "1 - ACGT\n"));
  for (const char* text : {"1 1:2 2:3\n", "a b\n", "1 2 3\n", "1 2 abc 4\n", "a,b,c\n"}) {
    EXPECT_FALSE(is(IsSequenceLines, text)) << text;
  }
}

TEST(SequenceReader, GuessesTheAlphabetOrTakesIt) {
  const auto alphabet = [](const Table& table) { return std::get<SequenceRows>(table.features).alphabet; };
  EXPECT_EQ(alphabet(Fasta(">a\nACGUUG\n")), "ACGU");
  EXPECT_EQ(alphabet(Fasta(">a\nMKVLA\n")), "ACDEFGHIKLMNPQRSTVWY");
  EXPECT_EQ(TextsOf(Fasta(">a\nACGU\n", {.alphabet = "DNA"}).features), Texts{"ACGT"});
  const Table own = Fasta(">a\nabBA?\n", {.alphabet = "abB"});
  EXPECT_EQ(TextsOf(own.features), Texts{"abBa?"});
}

template <class Action>
void ExpectError(const Action& action, const std::string& sentence, ErrorKind kind = ErrorKind::kData) {
  EXPECT_THAT(SentenceOf(action, kind), HasSubstr(sentence));
}

TEST(SequenceReader, SaysWhatIsWrongInOneSentence) {
  const auto fasta = [](const char* text) { return [=] { Fasta(text); }; };
  ExpectError(fasta(">a\nAC\n>b\n>c\nAC\n"), "a.fa, record 2: the sequence is empty");
  ExpectError(fasta(">a\nACAC\n>b\nACACACACACAC\nAC7T\n"),
              "a.fa, record 2, position 15: found \"7\", expected a letter of dna, ACGT");
  ExpectError(fasta(">a label=1\nAC\n>b\nAC\n"),
              "a.fa, record 2: there is no label, expected label= as in record 1");
  ExpectError(fasta(">a\nAC\n> \nAC\n"), "a.fa, record 2: there is no id");
  ExpectError(fasta("AC\n>a\nAC\n"), "a.fa, line 1: expected a line that begins with >");
  ExpectError([] { ReadFastq(MakeFileBytes("a.fq", "@a\nACG\n+\n!!\n"), {}); },
              "a.fq, record 1: 2 qualities for 3 letters");
  ExpectError([] { ReadFastq(MakeFileBytes("a.fq", "@a\nACG\n+\n"), {}); },
              "a.fq, record 1: the file ends before its qualities");
  ExpectError([] { ReadSequenceLines(MakeFileBytes("a.txt", "1 a ACG\n1 ACG\n"), {}); },
              "a.txt, line 2: expected a label, an id");
  ExpectError([] { MakeAlphabet("AA"); }, "letter \"A\" is there twice", ErrorKind::kUsage);
  ExpectError([] { MakeAlphabet("A"); }, "not from 2 to 64", ErrorKind::kUsage);
}

TEST(SequenceReader, JoinsSequencesWithNumbersById) {
  const TemporaryFolder folder;
  ReadOptions options;
  options.views = {{"seq", folder.Write("s.fa", ">a label=1\nACG\n>b label=-1\nTTG\n")},
                   {"numbers", folder.Write("n.csv", "id,x\nb,5\na,6\n")}};
  const Dataset data = ReadDataset(options);
  EXPECT_EQ(data.ids, (Texts{"a", "b"}));
  EXPECT_EQ(data.labels.number, (std::vector<double>{1, -1}));
  EXPECT_EQ(TextsOf(data.views[0].features), (Texts{"ACG", "TTG"}));
  std::vector<double> row(1);
  CopyRow(data.views[1].features, 0, row);
  EXPECT_EQ(row[0], 6);
}

RC_GTEST_PROP(Sequences, PackingLosesNothing, ()) {
  const std::string letters =
      *rc::gen::element<std::string>("ACGT", "ab", "ACDEFGHIKLMNPQRSTVWY", "012345678");
  const auto texts = *rc::gen::nonEmpty(rc::gen::container<Texts>(
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(letters + "?")))));
  const Features features = MakeSequences(texts, letters);
  RC_ASSERT(TextsOf(features) == texts);
  const std::vector<Index> last = {static_cast<Index>(texts.size()) - 1, 0};
  RC_ASSERT(TextsOf(SelectRows(features, last)) == (Texts{texts.back(), texts[0]}));
}

}  // namespace
}  // namespace kweave
