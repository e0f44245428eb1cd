#include "data/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <numeric>
#include <utility>

#include "base/offset.h"
#include "data/table.h"
#include "data/text_source.h"
#include "kweave/error.h"

namespace kweave {
namespace {

struct KnownAlphabet {
  std::string_view name, letters, unknown;
  std::string_view same;  // pairs of a character and the letter that it is read as
};

constexpr KnownAlphabet kAlphabets[] = {
    {"dna", "ACGT", "NRYSWKMBDHV", "UT"},
    {"rna", "ACGU", "NRYSWKMBDHV", "TU"},
    {"protein", "ACDEFGHIKLMNPQRSTVWY", "BJOUXZ*", ""},
};
constexpr std::string_view kGaps = "-?";  // unknown letters of every alphabet

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
char Upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Numbers a character in either case, unless the alphabet has it already.
void Assign(Alphabet& alphabet, char c, std::int16_t number) {
  for (const char form : {c, Upper(c), Lower(c)}) {
    std::int16_t& place = alphabet.number[static_cast<unsigned char>(form)];
    if (place == Alphabet::kNoLetter) place = number;
  }
}

void CheckLetters(std::string_view letters) {
  constexpr std::size_t kMostLetters = 64;  // more are words, not letters, and a wrong file name is longer
  const auto fail = [&](const std::string& rule) {
    throw Error(ErrorKind::kUsage,
                fmt::format("`alphabet` {}: {}, expected dna, rna, protein or the letters themselves",
                            Quoted(letters), rule),
                {"alphabet", std::string(letters), "dna, rna, protein or different letters"});
  };
  if (letters.size() < 2 || letters.size() > kMostLetters) {
    fail(fmt::format("{} letters are not from 2 to {}", letters.size(), kMostLetters));
  }
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto c = static_cast<unsigned char>(letters[i]);
    if (c <= ' ' || c > '~' || c == '>' || c == '@') fail("a character cannot be a letter");
    if (letters.find(letters[i], i + 1) != std::string_view::npos) {
      fail(fmt::format("letter {} is there twice", Quoted(letters.substr(i, 1))));
    }
  }
}

}  // namespace

int Alphabet::bits() const { return std::max(1, static_cast<int>(std::bit_width(letters.size() - 1))); }

Alphabet MakeAlphabet(const std::string& text) {
  const auto known = std::ranges::find_if(kAlphabets, [&](const KnownAlphabet& one) {
    return one.name == LowerCase(text) || one.letters == text;
  });
  const bool is_known = known != std::end(kAlphabets);
  Alphabet alphabet{is_known ? std::string(known->name) : text,
                    is_known ? std::string(known->letters) : text};
  CheckLetters(alphabet.letters);
  alphabet.number.fill(Alphabet::kNoLetter);
  for (std::size_t i = 0; i < alphabet.letters.size(); ++i) {
    alphabet.number[static_cast<unsigned char>(alphabet.letters[i])] = static_cast<std::int16_t>(i);
  }
  for (std::size_t i = 0; i < alphabet.letters.size(); ++i) {
    Assign(alphabet, alphabet.letters[i], static_cast<std::int16_t>(i));
  }
  if (is_known) {
    for (std::size_t i = 0; i < known->same.size(); i += 2) {
      Assign(alphabet, known->same[i], alphabet.number[static_cast<unsigned char>(known->same[i + 1])]);
    }
    for (const char c : known->unknown) Assign(alphabet, c, Alphabet::kUnknown);
  }
  for (const char c : kGaps) Assign(alphabet, c, Alphabet::kUnknown);
  return alphabet;
}

void AlphabetGuess::Add(std::string_view text) {
  for (const char c : text) {
    if (IsBlank(c)) continue;
    ++count_[static_cast<unsigned char>(Upper(c))];
    ++total_;
  }
}

std::string AlphabetGuess::Name() const {
  constexpr double kNearlyAll = 0.9;  // a protein has about a quarter of these letters
  std::int64_t nucleotides = 0;
  for (const char c : std::string_view("ACGTUN")) nucleotides += count_[static_cast<unsigned char>(c)];
  if (static_cast<double>(nucleotides) < kNearlyAll * static_cast<double>(total_)) return "protein";
  return count_['U'] > count_['T'] ? "rna" : "dna";
}

struct SequenceBuilder::Storage {
  std::vector<std::uint64_t> words;
  std::vector<Index> offsets;
  std::vector<std::int32_t> lengths;
  std::vector<Index> unknown_begin{0};
  std::vector<std::int32_t> unknown;
};

SequenceBuilder::SequenceBuilder(Alphabet alphabet, std::size_t letters)
    : alphabet_(std::move(alphabet)), storage_(std::make_shared<Storage>()), bits_(alphabet_.bits()) {
  word_bits_ = 64 / bits_ * bits_;
  storage_->words.reserve(letters / Offset(64 / bits_) + 1);
}

void SequenceBuilder::Start() {
  storage_->offsets.push_back(static_cast<Index>(storage_->words.size()));
  length_ = 0;
  word_ = 0;
  shift_ = 0;
}

std::size_t SequenceBuilder::Append(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::int16_t number = alphabet_.number[static_cast<unsigned char>(text[at])];
    if (number < 0) {
      if (IsBlank(text[at])) continue;
      if (number == Alphabet::kNoLetter) return at;
      storage_->unknown.push_back(static_cast<std::int32_t>(length_));
      number = 0;
    }
    word_ |= static_cast<std::uint64_t>(number) << shift_;
    shift_ += bits_;
    ++length_;
    if (shift_ != word_bits_) continue;
    storage_->words.push_back(word_);
    word_ = 0;
    shift_ = 0;
  }
  return std::string_view::npos;
}

void SequenceBuilder::End() {
  if (shift_ > 0) storage_->words.push_back(word_);
  storage_->lengths.push_back(static_cast<std::int32_t>(length_));
  storage_->unknown_begin.push_back(static_cast<Index>(storage_->unknown.size()));
  longest_ = std::max(longest_, length_);
}

Index SequenceBuilder::rows() const { return static_cast<Index>(storage_->lengths.size()); }
Index SequenceBuilder::unknown() const { return static_cast<Index>(storage_->unknown.size()); }

SequenceRows SequenceBuilder::Take() {
  storage_->words.shrink_to_fit();
  const bool has_unknown = !storage_->unknown.empty();
  if (!has_unknown) storage_->unknown_begin = {};
  SequenceRows sequences;
  sequences.words = storage_->words.data();
  sequences.offsets = storage_->offsets.data();
  sequences.lengths = storage_->lengths.data();
  if (has_unknown) {
    sequences.unknown_begin = storage_->unknown_begin.data();
    sequences.unknown = storage_->unknown.data();
  }
  sequences.rows = rows();
  sequences.cols = longest_;
  sequences.bits = bits_;
  sequences.alphabet = alphabet_.letters;
  sequences.owner = std::exchange(storage_, std::make_shared<Storage>());
  return sequences;
}

std::string NoLetter(char found, const Alphabet& alphabet) {
  return fmt::format("found {}, expected a letter of {}{} (`alphabet`)", Quoted({&found, 1}),
                     alphabet.name == alphabet.letters ? "" : alphabet.name + ", ", alphabet.letters);
}

void CopySequence(const SequenceRows& source, Index i, std::span<double> out) {
  constexpr double kNotKnown = -1, kBehindEnd = -2;  // as CopyRow says
  const std::uint64_t* words = source.words + source.offsets[i];
  const int per_word = 64 / source.bits;
  const std::uint64_t mask = (std::uint64_t{1} << source.bits) - 1;
  std::ranges::fill(out, kBehindEnd);
  for (Index at = 0; at < source.lengths[i]; ++at) {
    const int shift = source.bits * static_cast<int>(at % per_word);
    out[Offset(at)] = static_cast<double>((words[at / per_word] >> shift) & mask);
  }
  if (source.unknown_begin == nullptr) return;
  for (Index u = source.unknown_begin[i]; u < source.unknown_begin[i + 1]; ++u) {
    out[Offset(source.unknown[u])] = kNotKnown;
  }
}

std::string SequenceText(const SequenceRows& sequences, Index i) {
  std::vector<double> numbers(Offset(sequences.lengths[i]));
  CopySequence(sequences, i, numbers);
  std::string text;
  for (const double number : numbers) {
    text += number < 0 ? '?' : sequences.alphabet[static_cast<std::size_t>(number)];
  }
  return text;
}

SequenceRows SelectSequences(const SequenceRows& source, std::span<const Index> indices) {
  struct Selected {
    std::vector<std::uint64_t> words;
    std::vector<Index> offsets, unknown_begin;
    std::vector<std::int32_t> lengths, unknown;
  };
  auto selected = std::make_shared<Selected>();
  const Index per_word = 64 / source.bits;
  const auto words_of = [&](Index i) { return (source.lengths[i] + per_word - 1) / per_word; };
  std::size_t words = 0;
  for (const Index i : indices) words += Offset(words_of(i));
  selected->words.reserve(words);
  if (source.unknown_begin != nullptr) selected->unknown_begin.push_back(0);
  for (const Index i : indices) {
    selected->offsets.push_back(static_cast<Index>(selected->words.size()));
    selected->lengths.push_back(source.lengths[i]);
    const std::uint64_t* from = source.words + source.offsets[i];
    selected->words.insert(selected->words.end(), from, from + words_of(i));
    if (source.unknown_begin == nullptr) continue;
    selected->unknown.insert(selected->unknown.end(), source.unknown + source.unknown_begin[i],
                             source.unknown + source.unknown_begin[i + 1]);
    selected->unknown_begin.push_back(static_cast<Index>(selected->unknown.size()));
  }
  SequenceRows result = source;
  result.words = selected->words.data();
  result.offsets = selected->offsets.data();
  result.lengths = selected->lengths.data();
  if (source.unknown_begin != nullptr) {
    result.unknown_begin = selected->unknown_begin.data();
    result.unknown = selected->unknown.data();
  }
  result.rows = static_cast<Index>(indices.size());
  result.owner = std::move(selected);
  return result;
}

std::size_t SequenceBytes(const SequenceRows& sequences) {
  const Index per_word = 64 / sequences.bits;
  std::size_t words = 0;
  for (Index i = 0; i < sequences.rows; ++i)
    words += Offset((sequences.lengths[i] + per_word - 1) / per_word);
  const Index unknown = sequences.unknown_begin == nullptr ? 0 : sequences.unknown_begin[sequences.rows];
  return words * sizeof(std::uint64_t) + Offset(sequences.rows) * (sizeof(Index) + sizeof(std::int32_t)) +
         Offset(unknown) * sizeof(std::int32_t);
}

Features MakeSequences(std::span<const std::string> texts, const std::string& alphabet) {
  AlphabetGuess guess;
  if (alphabet.empty()) {
    for (const std::string& text : texts) guess.Add(text);
  }
  SequenceBuilder builder(MakeAlphabet(alphabet.empty() ? guess.Name() : alphabet));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    builder.Start();
    const std::size_t bad = builder.Append(texts[i]);
    if (bad != std::string::npos) {
      throw Error(ErrorKind::kData, fmt::format("sample {}, position {}: {}", i + 1, builder.length() + 1,
                                                NoLetter(texts[i][bad], builder.alphabet())));
    }
    if (builder.length() == 0) {
      throw Error(ErrorKind::kData, fmt::format("sample {}: the sequence is empty", i + 1));
    }
    builder.End();
  }
  return builder.Take();
}

}  // namespace kweave
