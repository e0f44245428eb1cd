// All kernels on sequences against plain loops over words.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/offset.h"
#include "base/random.h"
#include "compute/cpu/symmetric_eigen.h"
#include "kernel/kernel_table.h"
#include "kernel/sequence_kernel.h"
#include "kernel/word_map.h"
#include "kweave/error.h"

namespace kweave {
namespace {

struct Case {
  const char* kind;
  KernelParameters parameters;
};

const Case kCases[] = {
    {"spectrum", {1, 0, 0}},
    {"spectrum", {3, 0, 0}},
    {"spectrum", {12, 0, 0}},
    {"mismatch", {3, 1, 0}},
    {"mismatch", {5, 2, 0}},
    {"mismatch", {2, 0, 0}},
    {"gapped", {4, 2, 0}},
    {"gapped", {6, 4, 0}},
    {"gapped", {9, 5, 0}},
    {"gapped", {18, 14, 0}},
    {"motif", {1, 0, 0}},
    {"motif", {101, 0, 0}},
    {"motif", {11011, 0, 0}},
    {"wds", {4, 3, 0}},
    {"wds", {3, 0, 0}},
    {"wds", {2, 100, 0}},
    {"wd", {5, 0, 0}},
    {"local_alignment", {0.5, 3, 1}},
    {"local_alignment", {1, 0, 0.5}},
};

const Region kRegions[] = {{1, -1, false}, {3, 12, false}, {-9, -1, false}, {2, 8, true}};

// Letters by their numbers, -1: not known.
std::vector<std::vector<int>> RandomCodes(Index count, Index least, Index most, int letters, Random& random) {
  std::vector<std::vector<int>> codes(Offset(count));
  for (std::vector<int>& of_one : codes) {
    for (Index k = least + random.Below(most - least + 1); k > 0; --k) {
      of_one.push_back(random.Below(13) == 0 ? -1 : static_cast<int>(random.Below(letters)));
    }
  }
  return codes;
}

SequenceRows Pack(const std::vector<std::vector<int>>& codes, const std::string& alphabet) {
  std::vector<std::string> texts;
  for (const std::vector<int>& of_one : codes) {
    std::string& text = texts.emplace_back();
    for (const int code : of_one) text += code < 0 ? '?' : alphabet[Offset(code)];
  }
  return std::get<SequenceRows>(MakeSequences(texts, alphabet));
}

template <class T>
std::unique_ptr<SequenceValues<T>> MakeValues(const SequenceKernel& kernel, const SequenceRequest& request) {
  if constexpr (std::is_same_v<T, float>) {
    return kernel.values_f32(request);
  } else {
    return kernel.values_f64(request);
  }
}

struct Sides {
  std::vector<std::vector<int>> left, right;
  std::string alphabet;
};

// Rows and diagonals of one kernel, relative to the diagonals.
template <class T>
void ExpectPlain(const Case& at, const Region& region, const Sides& sides, bool is_training,
                 double tolerance) {
  SCOPED_TRACE(std::string(at.kind) + " " + std::to_string(at.parameters[0]) + " " +
               std::to_string(at.parameters[1]) + " " + DescribeRegion(region));
  const SequenceKernel& kernel = *FindKernelKind(at.kind)->base->sequences;
  const std::vector<std::vector<int>>& right = is_training ? sides.left : sides.right;
  const SequenceRows left_rows = Pack(sides.left, sides.alphabet), right_rows = Pack(right, sides.alphabet);
  const PackedLetters left = LettersOf(left_rows);
  const auto values = MakeValues<T>(kernel, {left, is_training ? left : LettersOf(right_rows), is_training,
                                             at.parameters, region, sides.alphabet});
  const auto plain = [&](const std::vector<int>& x, const std::vector<int>& z) {
    return kernel.plain(x, z, at.parameters, region, sides.alphabet);
  };
  std::vector<Index> rows;
  for (Index i = static_cast<Index>(sides.left.size()) - 1; i >= 0; --i) rows.push_back(i);
  const auto width = static_cast<Index>(right.size());
  std::vector<T> out(rows.size() * right.size(), T{-1});
  values->Rows(rows, 0, width, out.data(), width);
  double largest = 0;
  for (const auto* side : {&sides.left, &right}) {
    for (const std::vector<int>& x : *side) largest = std::max(largest, plain(x, x));
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::vector<int>& x = sides.left[Offset(rows[r])];
    EXPECT_NEAR(values->LeftDiagonal(rows[r]), plain(x, x), 1e-12 * largest);
    for (std::size_t j = 0; j < right.size(); ++j) {
      EXPECT_NEAR(out[r * right.size() + j], plain(x, right[j]), tolerance * largest);
    }
  }
  for (std::size_t j = 0; j < right.size(); ++j) {
    EXPECT_NEAR(values->RightDiagonal(static_cast<Index>(j)), plain(right[j], right[j]), 1e-12 * largest);
  }
}

Sides RandomSides(const Case& at, const std::string& alphabet, Random& random) {
  const bool is_of_one_length = FindKernelKind(at.kind)->base->sequences->needs_equal_lengths;
  const Index least = is_of_one_length ? 24 : 1;
  const auto letters = static_cast<int>(alphabet.size());
  return {RandomCodes(9, least, 24, letters, random), RandomCodes(7, least, 24, letters, random), alphabet};
}

TEST(SequenceKernels, AreThoseOfTheDefinition) {
  Random random(3);
  for (const Case& at : kCases) {
    for (const std::string alphabet : {"ACGT", "ACDEFGHIKLMNPQRSTVWY"}) {
      const Sides sides = RandomSides(at, alphabet, random);
      for (const Region& region : kRegions) {
        for (const bool is_training : {true, false}) {
          ExpectPlain<double>(at, region, sides, is_training, 1e-12);
          ExpectPlain<float>(at, region, sides, is_training, 1e-6);
        }
      }
    }
  }
}

TEST(SequenceKernels, AddTheReverseComplement) {
  Random random(4);
  for (const Case& at : {Case{"spectrum", {3, 1, 0}}, Case{"mismatch", {4, 1, 1}}, Case{"gapped", {6, 4, 1}},
                         Case{"gapped", {18, 14, 1}}}) {
    const Sides sides = RandomSides(at, "ACGT", random);
    for (const Region& region : kRegions) ExpectPlain<double>(at, region, sides, true, 1e-12);
  }
  // A sequence and its reverse complement are the same.
  const SequenceKernel& kernel = *FindKernelKind("gapped")->base->sequences;
  const std::vector<int> x = {0, 1, 1, 3, 2, 0, 2, 3}, turned = {0, 1, 3, 1, 0, 2, 2, 3};
  EXPECT_EQ(kernel.plain(x, turned, {4, 3, 1}, {}, "ACGT"), kernel.plain(x, x, {4, 3, 1}, {}, "ACGT"));
}

TEST(SequenceKernels, HaveNoNegativeEigenvalues) {
  Random random(5);
  for (const Case& at : kCases) {
    const Sides sides = RandomSides(at, "ACGT", random);
    const SequenceRows packed = Pack(sides.left, "ACGT");
    const PackedLetters letters = LettersOf(packed);
    const auto values = FindKernelKind(at.kind)->base->sequences->values_f64(
        {letters, letters, true, at.parameters, {}, "ACGT"});
    const Index n = letters.size();
    std::vector<Index> all(Offset(n));
    for (Index i = 0; i < n; ++i) all[Offset(i)] = i;
    std::vector<double> matrix(Offset(n * n));
    values->Rows(all, 0, n, matrix.data(), n);
    const SymmetricEigen eigen(matrix, Offset(n));
    EXPECT_GE(eigen.values.back(), -1e-12 * eigen.values.front()) << at.kind;
  }
}

// Through the table of all words, which pays with many sequences, and word by word.
TEST(SequenceKernels, AreTheSameByTableAndByPairs) {
  Random random(6);
  const auto codes = RandomCodes(200, 30, 60, 4, random);
  const SequenceRows many_rows = Pack(codes, "ACGT"), few_rows = Pack({codes[0], codes[1]}, "ACGT");
  const PackedLetters many = LettersOf(many_rows), few = LettersOf(few_rows);
  const SequenceKernel& kernel = *FindKernelKind("gapped")->base->sequences;
  const KernelParameters parameters = {5, 3, 1};
  const auto by_table = kernel.values_f64({few, many, false, parameters, {}, "ACGT"});
  const std::vector<Index> rows = {1, 0};
  std::vector<double> out(400);
  by_table->Rows(rows, 0, 200, out.data(), 200);
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t j = 0; j < 200; ++j) {
      const double plain = kernel.plain(codes[1 - r], codes[j], parameters, {}, "ACGT");
      EXPECT_NEAR(out[200 * r + j], plain, 1e-12 * (1 + plain));
    }
  }
}

void ExpectRefused(const char* kind, const KernelParameters& parameters, std::string_view alphabet,
                   const std::string& expected) {
  try {
    FindWordMap(*FindKernelKind(kind), parameters, alphabet);
    ADD_FAILURE() << kind;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
  }
}

TEST(SequenceKernels, RefuseWhatDoesNotFit) {
  ExpectRefused("mismatch", {3, 3, 0}, "ACGT", "m is 3, expected less than k, which is 3");
  ExpectRefused("gapped", {5, 7, 0}, "ACGT", "k is 7, expected at most l, which is 5");
  ExpectRefused("spectrum", {3, 1, 0}, "ACDEFGHIKLMNPQRSTVWY", "needs DNA or RNA");
  ExpectRefused("spectrum", {20, 0, 0}, "ACDEFGHIKLMNPQRSTVWY",
                "more than 2^64 words of 20 letters out of 20");
}

}  // namespace
}  // namespace kweave
