#include "compute/cpu/word_counts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kweave {
namespace {

// Words as digits, sequence after sequence.
struct NumberedWords {
  std::vector<Index> offsets{0};
  std::vector<std::uint64_t> words;
  std::vector<float> counts;

  // Appends the words of one sequence, which are sorted on the way.
  void Append(std::vector<std::uint64_t>& found) {
    std::ranges::sort(found);
    for (std::size_t i = 0; i < found.size();) {
      std::size_t next = i + 1;
      while (next < found.size() && found[next] == found[i]) ++next;
      words.push_back(found[i]);
      counts.push_back(static_cast<float>(next - i));
      i = next;
    }
    offsets.push_back(static_cast<Index>(words.size()));
  }
};

// The word that begins at `first`, or its reverse complement; false: a letter of it is not known.
bool ReadWord(const std::uint8_t* first, const WordShape& shape, bool is_reverse, std::uint64_t& word) {
  word = 0;
  const auto base = static_cast<std::uint64_t>(shape.alphabet);
  for (int t = shape.letters() - 1; t >= 0; --t) {
    const int place = shape.places[Offset(t)];
    const std::uint8_t letter = is_reverse ? first[shape.width() - 1 - place] : first[place];
    if (letter == kUnknownLetter) return false;
    word = word * base + (is_reverse ? base - 1 - letter : letter);
  }
  return true;
}

void FindWords(std::span<const std::uint8_t> letters, const WordShape& shape, const WordRange& range,
               std::vector<std::uint64_t>& found) {
  found.clear();
  const Index last = std::min(range.end, range.limit - shape.width() + 1);
  for (Index i = range.begin; i < last; ++i) {
    std::uint64_t word = 0;
    for (int reverse = 0; reverse <= (shape.adds_reverse ? 1 : 0); ++reverse) {
      if (ReadWord(letters.data() + i, shape, reverse == 1, word)) found.push_back(word);
    }
  }
}

}  // namespace

WordShape WordShape::Contiguous(int letters, int alphabet, bool adds_reverse) {
  WordShape shape;
  for (int t = 0; t < letters; ++t) shape.places.push_back(t);
  shape.alphabet = alphabet;
  shape.adds_reverse = adds_reverse;
  return shape;
}

std::uint64_t WordShape::WordsInAll() const {
  std::uint64_t words = 1;
  for (int t = 0; t < letters(); ++t) {
    if (words > std::numeric_limits<std::uint64_t>::max() / static_cast<std::uint64_t>(alphabet)) return 0;
    words *= static_cast<std::uint64_t>(alphabet);
  }
  return words;
}

void CopyLetters(const PackedLetters& letters, Index i, std::vector<std::uint8_t>& out) {
  out.resize(Offset(letters.LengthOf(i)));
  const std::uint64_t* words = letters.words + letters.offsets[Offset(i)];
  const auto mask = (std::uint64_t{1} << letters.bits) - 1;
  for (std::size_t at = 0; at < out.size();) {
    std::uint64_t word = *words++;
    for (int k = 0; k < letters.per_word() && at < out.size(); ++k, word >>= letters.bits) {
      out[at++] = static_cast<std::uint8_t>(word & mask);
    }
  }
  for (const std::int32_t position : letters.UnknownOf(i)) out[Offset(position)] = kUnknownLetter;
}

WordCounts::WordCounts(std::span<const PackedLetters> parts, const WordShape& shape, const WordRangeOf& range,
                       bool ranks) {
  NumberedWords numbered;
  std::vector<std::uint8_t> letters;
  std::vector<std::uint64_t> found;
  for (const PackedLetters& part : parts) {
    for (Index i = 0; i < part.size(); ++i) {
      CopyLetters(part, i, letters);
      FindWords(letters, shape, range(static_cast<Index>(letters.size())), found);
      numbered.Append(found);
    }
  }
  offsets_ = std::move(numbered.offsets);
  counts_ = std::move(numbered.counts);
  words_.reserve(numbered.words.size());
  if (!ranks) {
    words_in_all_ = static_cast<Index>(shape.WordsInAll());
    for (const std::uint64_t word : numbered.words) words_.push_back(static_cast<std::uint32_t>(word));
    return;
  }
  std::vector<std::uint64_t> different = numbered.words;
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());
  words_in_all_ = static_cast<Index>(different.size());
  for (const std::uint64_t word : numbered.words) {
    words_.push_back(
        static_cast<std::uint32_t>(std::ranges::lower_bound(different, word) - different.begin()));
  }
}

double WordCounts::Total(Index i) const {
  double total = 0;
  for (const float count : row(i).counts) total += static_cast<double>(count);
  return total;
}

double WordCounts::Squares(Index i) const {
  double squares = 0;
  for (const float count : row(i).counts) squares += static_cast<double>(count) * static_cast<double>(count);
  return squares;
}

std::size_t WordCounts::bytes() const {
  return words_.size() * (sizeof(std::uint32_t) + sizeof(float)) + offsets_.size() * sizeof(Index);
}

WordFeatures WordFeatures::Of(const WordCounts& counts, std::span<const double> factors) {
  // How many sequences have a word, then its column.
  constexpr std::int32_t kNoColumn = -1;
  std::vector<std::int32_t> column(Offset(counts.words()), 0);
  for (Index i = 0; i < counts.size(); ++i) {
    for (const std::uint32_t word : counts.row(i).words) ++column[word];
  }
  WordFeatures features;
  for (std::int32_t& at : column) at = at > 1 ? static_cast<std::int32_t>(features.width++) : kNoColumn;
  features.shared = features.width;
  for (Index i = 0; i < counts.size(); ++i) {
    const WordCounts::Row row = counts.row(i);
    const double factor = factors.empty() ? 1 : factors[Offset(i)];
    double own = 0;
    for (std::size_t e = 0; e < row.words.size(); ++e) {
      const auto count = static_cast<double>(row.counts[e]);
      const std::int32_t at = column[row.words[e]];
      if (at == kNoColumn) {
        own += count * count;
        continue;
      }
      features.columns.push_back(at);
      features.values.push_back(factor * count);
    }
    if (own > 0) {
      features.columns.push_back(static_cast<std::int32_t>(features.width++));
      features.values.push_back(factor * std::sqrt(own));
    }
    features.offsets.push_back(static_cast<Index>(features.columns.size()));
  }
  return features;
}

}  // namespace kweave
