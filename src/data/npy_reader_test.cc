#include "data/npy_reader.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "data/test_files.h"

namespace kweave {
namespace {

using ::testing::HasSubstr;

DenseMatrix Read(const std::string& bytes) { return ReadNpyMatrix(MakeFileBytes("x.npy", bytes)); }

std::vector<double> Values(const DenseMatrix& matrix) {
  std::vector<double> values;
  std::visit(
      [&](const auto& dense) {
        for (Index i = 0; i < dense.rows; ++i)
          values.insert(values.end(), dense.row(i).begin(), dense.row(i).end());
      },
      matrix);
  return values;
}

template <class T>
void ExpectConverted(const std::string& type, std::vector<T> stored) {
  const DenseMatrix matrix = Read(NpyBytes(NpyDictionary(type, "(2, 3)"), RawBytes(stored)));
  EXPECT_EQ(Values(matrix), std::vector<double>(stored.begin(), stored.end())) << type;
}

TEST(NpyReader, ReadsEveryNumberType) {
  ExpectConverted<double>("<f8", {1, 2, 3.1, 4, 5, -6});
  ExpectConverted<float>("<f4", {1, 2, 3.5f, 4, 5, -6});
  ExpectConverted<std::int8_t>("|i1", {1, 2, 3, 4, 5, -6});
  ExpectConverted<std::uint8_t>("|u1", {1, 2, 3, 4, 5, 255});
  ExpectConverted<std::uint8_t>("|b1", {1, 0, 1, 1, 0, 0});
  ExpectConverted<std::int16_t>("<i2", {1, 2, 3, 4, 5, -600});
  ExpectConverted<std::uint16_t>("<u2", {1, 2, 3, 4, 5, 65535});
  ExpectConverted<std::int32_t>("<i4", {1, 2, 3, 4, 5, -16777217});
  ExpectConverted<std::uint32_t>("<u4", {1, 2, 3, 4, 5, 4294967295u});
  ExpectConverted<std::int64_t>("<i8", {1, 2, 3, 4, 5, -(1LL << 40) - 1});
  ExpectConverted<std::uint64_t>("<u8", {1, 2, 3, 4, 5, 1ULL << 60});
}

TEST(NpyReader, ReadsHalfPrecisionAndBigEndian) {
  const std::vector<std::uint16_t> halves = {0x3c00, 0xc000, 0x3555, 0x0001, 0x0000, 0x7bff};
  const auto values = Values(Read(NpyBytes(NpyDictionary("<f2", "(6,)"), RawBytes(halves))));
  EXPECT_EQ(values, (std::vector<double>{1, -2, 0.333251953125, std::ldexp(1, -24), 0, 65504}));
  const std::string big_endian("\x3f\xf8\0\0\0\0\0\0", 8);
  EXPECT_EQ(Values(Read(NpyBytes(NpyDictionary(">f8", "(1, 1)"), big_endian))), std::vector<double>{1.5});
}

TEST(NpyReader, ReadsFortranOrderAndAllVersions) {
  const std::string payload = RawBytes<double>({1, 4, 2, 5, 3, 6});
  for (const int version : {1, 2, 3}) {
    const DenseMatrix matrix = Read(NpyBytes(NpyDictionary("<f8", "(2, 3)", true), payload, version));
    EXPECT_EQ(Values(matrix), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(NpyReader, LeavesFloatsWhereTheyAre) {
  const FileBytes file =
      MakeFileBytes("x.npy", NpyBytes(NpyDictionary("<f4", "(3,)"), RawBytes<float>({1, 2, 3})));
  const auto dense = std::get<DenseRows<float>>(ReadNpyMatrix(file));
  EXPECT_EQ(reinterpret_cast<const char*>(dense.data),
            file.bytes.data() + file.bytes.size() - 3 * sizeof(float));
  EXPECT_EQ(dense.rows, 3);
  EXPECT_EQ(dense.cols, 1);
}

TEST(NpyReader, FindsWhatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values(3 * 40, 1.0);
  EXPECT_NO_THROW(CheckFinite(Read(NpyBytes(NpyDictionary("<f8", "(3, 40)"), RawBytes(values))), "x.npy"));
  for (const Index bad : {0, 15, 16, 39, 79, 119}) {
    for (const double value : {nan, std::numeric_limits<double>::infinity()}) {
      auto damaged = values;
      damaged[bad] = value;
      const DenseMatrix matrix = Read(NpyBytes(NpyDictionary("<f8", "(3, 40)"), RawBytes(damaged)));
      const std::string place =
          "row " + std::to_string(bad / 40 + 1) + ", column " + std::to_string(bad % 40 + 1) + ":";
      EXPECT_THAT(SentenceOf([&] { CheckFinite(matrix, "x.npy"); }), HasSubstr(place));
    }
  }
}

TEST(NpyReader, ReadsLabels) {
  const auto read = [](const std::string& bytes) { return ReadNpyLabels(MakeFileBytes("y.npy", bytes)); };
  const Labels numbers = read(NpyBytes(NpyDictionary("<i8", "(3,)"), RawBytes<std::int64_t>({1, -1, 1})));
  EXPECT_EQ(numbers.text, (std::vector<std::string>{"1", "-1", "1"}));
  EXPECT_EQ(numbers.number, (std::vector<double>{1, -1, 1}));
  const Labels words =
      read(NpyBytes(NpyDictionary("<U2", "(2,)"), RawBytes<std::uint32_t>({'a', 0x00e9, 'b', 0})));
  EXPECT_THAT(SentenceOf([&] {
                read(NpyBytes(NpyDictionary("<U2", "(2,)"), RawBytes<std::uint32_t>({'a', 'b', 'N', 'A'})));
              }),
              ::testing::HasSubstr("y.npy, row 2: a label is missing: found \"NA\", expected a label"));
  EXPECT_EQ(words.text, (std::vector<std::string>{"a\u00e9", "b"}));
  EXPECT_FALSE(words.is_numeric());
  EXPECT_EQ(read(NpyBytes(NpyDictionary("|S3", "(2,)"), "catdog")).text,
            (std::vector<std::string>{"cat", "dog"}));
}

TEST(NpyReader, RefusesBadFiles) {
  const std::string payload = RawBytes<double>({1, 2});
  const auto dictionary = [&](const std::string& text) { return NpyBytes(text, payload); };
  const std::pair<std::string, const char*> cases[] = {
      {"\x93NUMPY", "truncated"},
      {"\x93NUMPY\x01", "truncated"},
      {std::string("\x93NUMPY\x01\0\xff\xff{", 11), "truncated"},
      {std::string("\x93NUMPY\x09\0\x01\0\0\0{", 13), "format version 9"},
      {"NUMPY", "not a NumPy file"},
      {NpyBytes(NpyDictionary("<f8", "(2, 2)"), payload),
       "16 bytes follow the NumPy header, expected 32 for shape (2, 2)"},
      {NpyBytes(NpyDictionary("<f8", "(1,)"), payload), "expected 8"},
      {NpyBytes(NpyDictionary("<f8", "(4294967296, 4294967296)"), payload), "impossible shape"},
      {NpyBytes(NpyDictionary("<f8", "(99999999999999999999,)"), payload), "expected a length"},
      {NpyBytes(NpyDictionary("<f8", "(-1, 2)"), payload), "expected a length"},
      {NpyBytes(NpyDictionary("<f8", "(0, 3)"), ""), "is empty"},
      {NpyBytes(NpyDictionary("<f8", "(1, 1, 2)"), payload), "3 dimensions"},
      {NpyBytes(NpyDictionary("<f8", "()"), RawBytes<double>({1})), "0 dimensions"},
      {NpyBytes(NpyDictionary("|O", "(2,)"), payload), "\"|O\""},
      {NpyBytes(NpyDictionary("<c16", "(1,)"), payload), "\"<c16\""},
      {NpyBytes(NpyDictionary("<M8[ns]", "(2,)"), payload), "\"<M8[ns]\""},
      {NpyBytes(NpyDictionary("", "(2,)"), payload), "\"\""},
      {NpyBytes(NpyDictionary("<U2", "(2,)"), payload), "holds text"},
      {dictionary("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}"), "records"},
      {dictionary("{'descr': '<f8', 'fortran_order': False}"), "lacks an entry"},
      {dictionary("{'descr': '<f8', 'fortran_order': 1, 'shape': (2,)}"), "expected True or False"},
      {dictionary("{'descr': '<f8' 'fortran_order': False, 'shape': (2,)}"), "damaged"},
      {dictionary("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} x"), "the end of the header"},
      {dictionary("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}"),
       "unknown entry \"more\""},
      {dictionary("nonsense"), "expected '{'"},
  };
  for (const auto& [bytes, fragment] : cases) {
    EXPECT_THAT(SentenceOf([&] { Read(bytes); }), HasSubstr(fragment));
  }
}

}  // namespace
}  // namespace kweave
