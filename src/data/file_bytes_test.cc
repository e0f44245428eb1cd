#include "data/file_bytes.h"

#include <string>

#include "base/random.h"
#include "data/test_files.h"

namespace kweave {
namespace {

using ::testing::HasSubstr;

/// Text that compresses a little, long enough for several blocks.
std::string LongText() {
  Random random(3);
  std::string text;
  while (text.size() < 300'000) text += std::to_string(random.Below(1000)) + '\n';
  return text;
}

TEST(FileBytes, ReadsPlainAndCompressedFilesWhateverTheirName) {
  const TemporaryFolder folder;
  for (const std::string& plain : {std::string("x"), LongText(), std::string(5'000'000, 'a')}) {
    EXPECT_EQ(OpenFileBytes(folder.Write("a.gz", plain)).bytes, plain);
    EXPECT_EQ(OpenFileBytes(folder.Write("b.txt", GzipBytes(plain))).bytes, plain);
    EXPECT_EQ(OpenFileBytes(folder.Write("c", ZstdBytes(plain))).bytes, plain);
    EXPECT_EQ(OpenFileBytes(folder.Write("d", GzipBytes(plain) + GzipBytes("more"))).bytes, plain + "more");
    EXPECT_EQ(OpenFileBytes(folder.Write("e", ZstdBytes(plain) + ZstdBytes("more"))).bytes, plain + "more");
    EXPECT_EQ(OpenFileBytes(folder.Write("f", GzipBytes(plain) + std::string(512, '\0'))).bytes, plain);
  }
}

TEST(FileBytes, RefusesEveryTruncation) {
  const std::string text = LongText();
  for (const std::string& packed : {GzipBytes(text), ZstdBytes(text)}) {
    for (const std::size_t missing : {1, 4, 8, 9, 100, 50'000}) {
      EXPECT_THAT(SentenceOf([&] { MakeFileBytes("a", packed.substr(0, packed.size() - missing)); }),
                  HasSubstr("corrupt"))
          << missing;
    }
    EXPECT_THAT(SentenceOf([&] { MakeFileBytes("a", packed.substr(0, 5)); }), HasSubstr("ends too early"));
  }
}

TEST(FileBytes, RefusesDamage) {
  std::string gzip = GzipBytes("some text");
  EXPECT_THAT(SentenceOf([&] { MakeFileBytes("a", gzip + "rest"); }),
              HasSubstr("other bytes follow its end"));
  gzip[gzip.size() - 6] ^= 1;
  EXPECT_THAT(SentenceOf([&] { MakeFileBytes("a", gzip); }), HasSubstr("the gzip stream is corrupt"));
  const std::string zstd = ZstdBytes("some text");
  EXPECT_THAT(SentenceOf([&] { MakeFileBytes("a", zstd + "rest"); }),
              HasSubstr("the zstd stream is corrupt"));
  EXPECT_THAT(SentenceOf([&] { MakeFileBytes("a", GzipBytes("")); }),
              HasSubstr("decompressed, this file is empty"));
}

TEST(FileBytes, NamesCompressionsItDoesNotRead) {
  using std::string_literals::operator""s;
  for (const auto& [bytes, name] : {std::pair("\xfd"
                                              "7zXZ\0rest"s,
                                              "xz"),
                                    std::pair("BZh91AY&SYrest"s, "bzip2"), std::pair("PK\3\4rest"s, "zip")}) {
    EXPECT_THAT(SentenceOf([&] { MakeFileBytes("a", bytes); }),
                HasSubstr("a: this file is compressed with "s + name + ", which is not supported"));
  }
  EXPECT_EQ(MakeFileBytes("a", "BZh 1:1\n").bytes, "BZh 1:1\n") << "a label may look like it";
}

TEST(FileBytes, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(SentenceOf([&] { OpenFileBytes(folder.Path("absent")); }), HasSubstr("No such file"));
  EXPECT_THAT(SentenceOf([&] { OpenFileBytes(folder.Path(".")); }), HasSubstr("this is a directory"));
  EXPECT_THAT(SentenceOf([&] { OpenFileBytes(folder.Write("empty", "")); }), HasSubstr("this file is empty"));
}

TEST(FileBytes, RefusesWhatDoesNotEnd) {
  EXPECT_THAT(SentenceOf([&] { OpenFileBytes("/dev/zero", std::size_t{1} << 20); }, ErrorKind::kResource),
              HasSubstr("/dev/zero: there are more than 1048576 bytes, which do not fit into memory"));
}

}  // namespace
}  // namespace kweave
