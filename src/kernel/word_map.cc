#include "kernel/word_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "base/offset.h"
#include "compute/cpu/mismatch_profile.h"

namespace kweave {
namespace {

// Left rows that are spread out side by side, so that every right row is read once for all of them.
constexpr Index kRowsAbreast = 4;

// A table of all words of up to half a gigabyte.
constexpr std::uint64_t kMostWordsOfTable = std::uint64_t{1} << 26;

std::vector<PackedLetters> PartsOf(const SequenceRequest& request) {
  if (request.is_training) return {request.left};
  return {request.left, request.right};
}

// Equal words: sparse products of the counts.
template <class T>
class EqualWords final : public SequenceValues<T> {
 public:
  EqualWords(const SequenceRequest& request, const WordMap& map)
      : right_begin_(request.is_training ? 0 : request.left.size()) {
    const std::vector<PackedLetters> parts = PartsOf(request);
    const WordCounts counts(parts, map.shape, RangeOf(request.region), /*ranks=*/true);
    const std::vector<double> factors = FactorsOf(map, counts);
    features_ = WordFeatures::Of(counts, factors);
    for (Index i = 0; i < counts.size(); ++i) {
      const double factor = factors.empty() ? 1 : factors[Offset(i)];
      diagonal_.push_back(factor * factor * counts.Squares(i));
    }
  }

  void Rows(std::span<const Index> rows, Index begin, Index end, T* out, Index stride) const override {
    for (std::size_t first = 0; first < rows.size(); first += Offset(kRowsAbreast)) {
      const auto some = rows.subspan(first, std::min(Offset(kRowsAbreast), rows.size() - first));
      SomeRows(some, begin, end, out + static_cast<Index>(first) * stride, stride);
    }
  }
  double LeftDiagonal(Index i) const override { return diagonal_[Offset(i)]; }
  double RightDiagonal(Index j) const override { return diagonal_[Offset(right_begin_ + j)]; }

 private:
  // Calls use(column, value) for words of a sequence that others have, too.
  template <class Use>
  void ForShared(Index i, const Use& use) const {
    for (Index e = features_.offsets[Offset(i)]; e < features_.offsets[Offset(i) + 1]; ++e) {
      if (features_.columns[Offset(e)] < features_.shared) {
        use(features_.columns[Offset(e)], features_.values[Offset(e)]);
      }
    }
  }

  void SomeRows(std::span<const Index> rows, Index begin, Index end, T* out, Index stride) const {
    thread_local std::vector<double> spread;  // all zeros between calls
    if (spread.size() < Offset(features_.shared * kRowsAbreast)) {
      spread.resize(Offset(features_.shared * kRowsAbreast), 0.0);
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      ForShared(rows[r], [&](Index u, double value) { spread[Offset(u * kRowsAbreast) + r] = value; });
    }
    for (Index j = begin; j < end; ++j) {
      std::array<double, kRowsAbreast> sums{};
      ForShared(right_begin_ + j, [&](Index u, double value) {
        for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += value * spread[Offset(u * kRowsAbreast) + r];
      });
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const bool is_itself = right_begin_ == 0 && rows[r] == j;
        out[static_cast<Index>(r) * stride + j - begin] =
            static_cast<T>(is_itself ? diagonal_[Offset(j)] : sums[r]);
      }
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      ForShared(rows[r], [&](Index u, double) { spread[Offset(u * kRowsAbreast) + r] = 0; });
    }
  }

  Index right_begin_;  // of the sequences of `features_`
  WordFeatures features_;
  std::vector<double> diagonal_;
};

// Words that differ: through a table of all words, or word by word.
template <class T>
class NearWords final : public SequenceValues<T> {
 public:
  NearWords(const SequenceRequest& request, const WordMap& map)
      : request_(request), map_(map), range_(RangeOf(request.region)) {
    if (!map.HasTable()) return;
    counts_.emplace(PartsOf(request), map.shape, range_, /*ranks=*/false);
    operator_.emplace(map.shape.letters(), map.shape.alphabet, map.weights);
  }

  void Rows(std::span<const Index> rows, Index begin, Index end, T* out, Index stride) const override {
    if (UsesTable(begin, end)) {
      for (std::size_t r = 0; r < rows.size(); ++r) {
        TableRow(rows[r], begin, end, out + static_cast<Index>(r) * stride);
      }
      return;
    }
    std::vector<Windows> left;
    for (const Index i : rows) left.push_back(WindowsOf(request_.left, i));
    for (Index j = begin; j < end; ++j) {
      const Windows right = WindowsOf(request_.right, j);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        out[static_cast<Index>(r) * stride + j - begin] = static_cast<T>(PairValue(left[r], right));
      }
    }
  }
  double LeftDiagonal(Index i) const override { return Diagonal(request_.left, i); }
  double RightDiagonal(Index j) const override { return Diagonal(request_.right, j); }

 private:
  // The words of a sequence, and of its reverse complement where they count.
  struct Windows {
    WordWindows forward;
    std::optional<WordWindows> reverse;
  };

  Windows WindowsOf(const PackedLetters& letters, Index i) const {
    std::vector<std::uint8_t> bytes;
    CopyLetters(letters, i, bytes);
    const WordRange range = range_(static_cast<Index>(bytes.size()));
    Windows windows{WordWindows(bytes, range, map_.shape.letters()), {}};
    if (!map_.shape.adds_reverse) return windows;
    std::vector<std::uint8_t> turned(bytes.rbegin(), bytes.rend());
    for (std::uint8_t& letter : turned) {
      if (letter != kUnknownLetter) letter = static_cast<std::uint8_t>(map_.shape.alphabet - 1 - letter);
    }
    // The same words, seen from the other end.
    const auto length = static_cast<Index>(bytes.size());
    const Index last = std::min(range.end + map_.shape.letters() - 1, range.limit);
    const Index begin = length - std::max(last, range.begin);
    windows.reverse.emplace(turned, WordRange{begin, length - range.begin, length - range.begin},
                            map_.shape.letters());
    return windows;
  }

  // With the reverse complement on both sides each pair of words is there twice.
  double PairValue(const Windows& x, const Windows& z) const {
    std::vector<std::int64_t> counts(Offset(map_.Reach() + 1), 0);
    AddMismatchProfile(x.forward, z.forward, counts);
    if (z.reverse) AddMismatchProfile(x.forward, *z.reverse, counts);
    double sum = 0;
    for (std::size_t d = 0; d < counts.size(); ++d) sum += map_.weights[d] * static_cast<double>(counts[d]);
    return z.reverse ? 2 * sum : sum;
  }
  double Diagonal(const PackedLetters& letters, Index i) const {
    const Windows windows = WindowsOf(letters, i);
    return PairValue(windows, windows);
  }

  // Whichever costs less for one row, in nanoseconds measured on one core: 2 for a letter and word of the
  // table and 1 for a word that is looked up in it, or a third for two words that are compared.
  bool UsesTable(Index begin, Index end) const {
    if (!operator_) return false;
    double words = 0;
    for (Index j = begin; j < end; ++j) words += static_cast<double>(counts_->row(RightRow(j)).words.size());
    const double table = 2.0 * map_.shape.letters() * static_cast<double>(operator_->words()) + words;
    const double of_left = static_cast<double>(counts_->entries()) / static_cast<double>(counts_->size());
    return table < of_left * words / 3;
  }

  Index RightRow(Index j) const { return request_.is_training ? j : request_.left.size() + j; }

  void TableRow(Index i, Index begin, Index end, T* out) const {
    std::vector<double> table(Offset(operator_->words()), 0.0);
    const WordCounts::Row left = counts_->row(i);
    for (std::size_t e = 0; e < left.words.size(); ++e)
      table[left.words[e]] = static_cast<double>(left.counts[e]);
    operator_->Apply(table, nullptr);
    for (Index j = begin; j < end; ++j) {
      const WordCounts::Row right = counts_->row(RightRow(j));
      double sum = 0;
      for (std::size_t e = 0; e < right.words.size(); ++e) {
        sum += static_cast<double>(right.counts[e]) * table[right.words[e]];
      }
      out[j - begin] = static_cast<T>(sum);
    }
  }

  SequenceRequest request_;
  WordMap map_;
  WordRangeOf range_;
  std::optional<WordCounts> counts_;
  std::optional<HammingOperator> operator_;
};

// Letters that a region has at most.
double LettersOfRegion(const SequenceRequest& request) {
  double letters = 0;
  for (const PackedLetters& part : PartsOf(request)) {
    for (Index i = 0; i < part.size(); ++i) {
      const LetterRange range = Resolve(request.region, part.LengthOf(i));
      letters += static_cast<double>(range.end - range.begin);
    }
  }
  return letters;
}

}  // namespace

int WordMap::Reach() const {
  int reach = 0;
  for (std::size_t d = 0; d < weights.size(); ++d) {
    if (weights[d] != 0) reach = static_cast<int>(d);
  }
  return reach;
}

bool WordMap::HasTable() const {
  const std::uint64_t words = shape.WordsInAll();
  return words > 0 && words <= kMostWordsOfTable;
}

WordRangeOf RangeOf(const Region& region) {
  return [region](Index length) {
    const LetterRange range = Resolve(region, length);
    return WordRange{range.begin, range.end, range.limit};
  };
}

std::vector<double> FactorsOf(const WordMap& map, const WordCounts& counts) {
  std::vector<double> factors;
  if (!map.is_relative) return factors;
  for (Index i = 0; i < counts.size(); ++i) {
    const double total = counts.Total(i);
    factors.push_back(total > 0 ? 1 / total : 0);
  }
  return factors;
}

template <class T>
std::unique_ptr<SequenceValues<T>> MakeWordValues(const SequenceRequest& request, const WordMap& map) {
  if (map.weights.empty()) return std::make_unique<EqualWords<T>>(request, map);
  return std::make_unique<NearWords<T>>(request, map);
}

std::size_t WordValueBytes(const SequenceRequest& request, const WordMap& map) {
  if (!map.weights.empty() && !map.HasTable()) return 0;
  constexpr double kBytesOfWord = 24;  // a number of 8 bytes that is sorted, its count, and its feature
  const double words = LettersOfRegion(request) * (map.shape.adds_reverse ? 2 : 1);
  const double table = map.weights.empty() ? 0 : static_cast<double>(map.shape.WordsInAll()) * sizeof(double);
  return static_cast<std::size_t>(kBytesOfWord * words + table);
}

double PlainWordValue(std::span<const int> x, std::span<const int> z, const WordMap& map,
                      const Region& region) {
  const auto words_of = [&](std::span<const int> letters) {
    std::vector<std::vector<int>> words;
    const LetterRange range = Resolve(region, static_cast<Index>(letters.size()));
    const int width = map.shape.width();
    for (Index i = range.begin; i < range.end && i + width <= range.limit; ++i) {
      for (int turn = 0; turn <= (map.shape.adds_reverse ? 1 : 0); ++turn) {
        std::vector<int>& word = words.emplace_back();
        for (const int place : map.shape.places) {
          const int letter = letters[Offset(i + (turn == 0 ? place : width - 1 - place))];
          word.push_back(turn == 0 || letter < 0 ? letter : map.shape.alphabet - 1 - letter);
        }
        if (std::ranges::find_if(word, [](int letter) { return letter < 0; }) != word.end()) words.pop_back();
      }
    }
    return words;
  };
  const std::vector<std::vector<int>> of_x = words_of(x), of_z = words_of(z);
  double sum = 0;
  for (const std::vector<int>& u : of_x) {
    for (const std::vector<int>& v : of_z) {
      std::size_t differing = 0;
      for (std::size_t t = 0; t < u.size(); ++t) differing += u[t] != v[t];
      sum += map.weights.empty() ? (differing == 0 ? 1 : 0) : map.weights[differing];
    }
  }
  if (!map.is_relative || sum == 0) return sum;
  return sum / static_cast<double>(of_x.size()) / static_cast<double>(of_z.size());
}

template std::unique_ptr<SequenceValues<float>> MakeWordValues(const SequenceRequest&, const WordMap&);
template std::unique_ptr<SequenceValues<double>> MakeWordValues(const SequenceRequest&, const WordMap&);

}  // namespace kweave
