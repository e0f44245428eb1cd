#include "compute/cpu/position_words.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace kweave {

namespace {

// Words of the array: as many letters as take these bits (8 of DNA). Their sums stay in the second-level
// cache.
constexpr int kBitsOfArray = 16;
// An array of more words than so many a sequence costs more to sum up than the trees of longer words.
constexpr Index kWordsPerSequence = 2;
// Each piece of the positions has sums of its own; fixed, so that they do not depend on the threads.
constexpr Index kPieces = 16;
// Where a is zero but for one entry in so many, only those are added.
constexpr Index kFewEntries = 4;
// Below so many sequences a loop costs less than a sort.
constexpr std::size_t kFewInTree = 3;

std::uint64_t LowBits(int bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

// The letters in reverse order, so that numbers are sorted as words are.
std::uint64_t Reverse(std::uint64_t letters, int bits, int count) {
  if (bits == 2 && count == 32) {
    letters = __builtin_bswap64(letters);
    letters = ((letters >> 4) & 0x0f0f0f0f0f0f0f0fULL) | ((letters & 0x0f0f0f0f0f0f0f0fULL) << 4);
    return ((letters >> 2) & 0x3333333333333333ULL) | ((letters & 0x3333333333333333ULL) << 2);
  }
  std::uint64_t reversed = 0;
  for (int k = 0; k < count; ++k) {
    reversed = (reversed << bits) | (letters & LowBits(bits));
    letters >>= bits;
  }
  return reversed;
}

}  // namespace

// A sequence in a tree that is sorted.
struct PositionWords::Entry {
  std::uint64_t key;  // its next letters, the first in front
  std::uint32_t sample;
  std::int32_t letters;  // that it has beyond those of the array
};

PositionWords::PositionWords(std::span<const PackedLetters> parts, Index first, Index last, int degree,
                             ThreadPool& pool)
    : length_(parts[0].length),
      first_(first),
      last_(last),
      degree_(std::min(degree, kMostLettersOfWord)),
      bits_(parts[0].bits),
      words_((length_ + parts[0].per_word() - 1) / parts[0].per_word()),
      shared_(Offset(last - first)) {
  for (const PackedLetters& letters : parts) size_ += letters.size();
  array_letters_ = std::min(degree_, kBitsOfArray / bits_);
  while (array_letters_ > 1 && (Index{1} << (bits_ * array_letters_)) > kWordsPerSequence * size_)
    --array_letters_;
  letters_.resize(Offset(words_ * size_));
  Index begin = 0;
  for (const PackedLetters& letters : parts) {
    for (Index j = 0; j < letters.size(); ++j) {
      const std::uint64_t* from = letters.words + letters.offsets[Offset(j)];
      for (Index w = 0; w < words_; ++w) letters_[Offset(w * size_ + begin + j)] = from[w];
    }
    FindShorts(letters, begin);
    begin += letters.size();
  }
  pool.ParallelFor(last_ - first_, 1, [&](Index from, Index to, int) {
    for (Index k = from; k < to; ++k) FindShared(first_ + k, shared_[Offset(k)]);
  });
}

std::size_t PositionWords::bytes() const {
  std::size_t bytes = letters_.size() * sizeof(letters_[0]);
  for (const Shared& at : shared_) {
    bytes += at.samples.capacity() * sizeof(std::uint32_t) + at.common.capacity() +
             at.shorts.capacity() * sizeof(Short);
  }
  return bytes;
}

// Letters beyond those of the array that words at a position may have.
Index PositionWords::DeepLetters(Index position) const {
  return std::max<Index>(std::min<Index>(degree_, length_ - position) - array_letters_, 0);
}

// As many letters from `position` on as a word holds, the first in the lowest bits; zeros behind the last
// one.
std::uint64_t PositionWords::LettersAt(Index sample, Index position) const {
  const int per_word = 64 / bits_, used = per_word * bits_;
  const Index w = position / per_word;
  if (w >= words_) return 0;
  const int shift = bits_ * static_cast<int>(position % per_word);
  std::uint64_t letters = letters_[Offset(w * size_ + sample)] >> shift;
  if (shift > 0 && w + 1 < words_) letters |= letters_[Offset((w + 1) * size_ + sample)] << (used - shift);
  return letters & LowBits(used);
}

// The words of the array.
void PositionWords::FillKeys(Index position, std::uint32_t* keys) const {
  const int per_word = 64 / bits_, used = per_word * bits_;
  const Index w = position / per_word;
  const int shift = bits_ * static_cast<int>(position % per_word);
  const auto mask = static_cast<std::uint32_t>(LowBits(bits_ * array_letters_));
  const std::uint64_t* here = letters_.data() + w * size_;
  if (shift + bits_ * array_letters_ <= used || w + 1 >= words_) {
    for (Index j = 0; j < size_; ++j) keys[j] = static_cast<std::uint32_t>(here[j] >> shift) & mask;
  } else {
    const std::uint64_t* next = here + size_;
    const int rest = used - shift;
    for (Index j = 0; j < size_; ++j) {
      keys[j] = static_cast<std::uint32_t>(here[j] >> shift | next[j] << rest) & mask;
    }
  }
}

// Every unknown letter ends the words in front of it.
void PositionWords::FindShorts(const PackedLetters& letters, Index begin) {
  if (letters.unknown.empty()) return;
  for (Index j = 0; j < letters.size(); ++j) {
    Index from = first_;
    for (const std::int32_t at : letters.UnknownOf(j)) {
      for (Index i = std::max<Index>(from, at - degree_ + 1); i <= std::min<Index>(at, last_ - 1); ++i) {
        shared_[Offset(i - first_)].shorts.push_back(
            {static_cast<std::uint32_t>(begin + j), static_cast<std::int32_t>(at - i)});
      }
      from = std::max<Index>(from, at + 1);
    }
  }
}

Index PositionWords::KnownWords(Index position, int order) const {
  const std::vector<Short>& shorts = shared_[Offset(position - first_)].shorts;
  return size_ - static_cast<Index>(
                     std::ranges::count_if(shorts, [&](const Short& at) { return at.letters < order; }));
}

// Sequences that share the word of the array lie together; their next letters say what else they share.
void PositionWords::FindShared(Index position, Shared& shared) const {
  const Index deep = DeepLetters(position);
  if (deep == 0) return;
  std::vector<std::uint32_t> keys(Offset(size_));
  FillKeys(position, keys.data());
  std::vector<std::int32_t> left(shared.shorts.empty() ? 0 : Offset(size_), static_cast<std::int32_t>(deep));
  for (const Short& at : shared.shorts) {
    left[at.sample] = std::min(at.letters - array_letters_, static_cast<std::int32_t>(deep));
  }
  const auto is_in = [&](Index j) { return left.empty() || left[Offset(j)] > 0; };
  std::vector<std::uint32_t> ends((std::size_t{1} << (bits_ * array_letters_)) + 1, 0);
  for (Index j = 0; j < size_; ++j) ends[keys[Offset(j)] + 1] += is_in(j);
  const std::vector<std::uint32_t> counts(ends.begin() + 1, ends.end());
  for (std::size_t k = 1; k < ends.size(); ++k) ends[k] = ends[k - 1] + (ends[k] > 1 ? ends[k] : 0);
  std::vector<Entry> entries(ends.back());
  for (Index j = 0; j < size_; ++j) {
    const std::uint32_t key = keys[Offset(j)];
    if (counts[key] < 2 || !is_in(j)) continue;
    const auto letters = left.empty() ? static_cast<std::int32_t>(deep) : left[Offset(j)];
    entries[ends[key]++] = {0, static_cast<std::uint32_t>(j), letters};
  }
  std::vector<std::uint8_t> common(entries.size() + 1, 0);  // the last is 0: nothing follows
  std::size_t begin = 0;
  for (std::size_t key = 0; key < counts.size(); ++key) {
    if (counts[key] < 2) continue;
    SortTree(std::span(entries).subspan(begin, counts[key]), position, 0, common.data() + begin);
    common[begin] = 0;
    begin += counts[key];
  }
  for (std::size_t t = 0; t < entries.size(); ++t) {
    if (common[t] == 0 && common[t + 1] == 0) continue;
    shared.samples.push_back(entries[t].sample);
    shared.common.push_back(common[t]);
  }
  shared.samples.shrink_to_fit();
  shared.common.shrink_to_fit();
}

// Sorts by the letters from `depth` beyond those of the array on, and counts those that neighbours share.
// Words that end stand in front of those that go on, as zeros take the place of the letters they miss.
void PositionWords::SortTree(std::span<Entry> entries, Index position, int depth,
                             std::uint8_t* common) const {
  const int per_word = 64 / bits_, used = per_word * bits_;
  for (Entry& entry : entries) {
    const int letters = std::clamp(entry.letters - depth, 0, per_word);
    const std::uint64_t next = LettersAt(entry.sample, position + array_letters_ + depth);
    entry.key = Reverse(next & LowBits(bits_ * letters), bits_, per_word);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(a.key, a.letters, a.sample) < std::tuple(b.key, b.letters, b.sample);
  });
  std::size_t begin = 0;  // of those with the same letters
  for (std::size_t t = 1; t <= entries.size(); ++t) {
    const bool is_end = t == entries.size();
    const std::uint64_t differs = is_end ? 1 : entries[t].key ^ entries[t - 1].key;
    const int leading = std::countl_zero(differs) - (64 - used);
    if (!is_end) {
      const int equal = depth + (differs == 0 ? per_word : leading / bits_);
      common[t] = static_cast<std::uint8_t>(std::min({equal, entries[t].letters, entries[t - 1].letters}));
    }
    if (differs == 0) continue;
    const auto same = entries.subspan(begin, t - begin);
    if (same.size() > 1 && same.back().letters > depth + per_word) {
      // Those that ended already stand in front, and have their counts.
      const std::size_t ended = static_cast<std::size_t>(
          std::ranges::count_if(same, [&](const Entry& entry) { return entry.letters <= depth + per_word; }));
      if (same.size() - ended > 1) {
        SortTree(same.subspan(ended), position, depth + per_word, common + begin + ended);
      }
    }
    begin = t;
  }
}

// One vector at one position after the other.
class PositionWords::Pass {
 public:
  Pass(const PositionWords& words, std::span<const double> a, std::span<const std::uint32_t> entries,
       const RunWeights& weights)
      : words_(words),
        a_(a),
        entries_(entries),
        weights_(weights),
        keys_(Offset(words.size_)),
        levels_(Offset(words.array_letters_) + 1) {
    for (int d = 1; d <= words.array_letters_; ++d) {
      levels_[Offset(d)].resize(std::size_t{1} << (words.bits_ * d));
    }
  }

  // Adds to out, if it is not null, and writes the squares of all orders, likewise.
  void Run(Index position, double* out, double* squares) {
    const Shared& shared = words_.shared_[Offset(position - words_.first_)];
    position_ = position;
    words_.FillKeys(position, keys_.data());
    Scatter(shared.shorts);
    SumUp(shared.shorts, squares);
    if (out != nullptr) {
      AddDown();
      Gather(shared.shorts, out);
    }
    Deep(shared, out, squares);
  }

 private:
  int most() const { return words_.array_letters_; }
  std::uint32_t Node(std::uint32_t key, int letters) const {
    return key & static_cast<std::uint32_t>(LowBits(words_.bits_ * letters));
  }

  void Scatter(const std::vector<Short>& shorts) {
    std::vector<double>& leaves = levels_.back();
    std::ranges::fill(leaves, 0.0);
    if (!entries_.empty() || !shorts.empty()) {
      std::size_t next = 0;
      const auto add = [&](std::uint32_t j) {
        while (next < shorts.size() && shorts[next].sample < j) ++next;
        const bool is_short =
            next < shorts.size() && shorts[next].sample == j && shorts[next].letters < most();
        if (!is_short) leaves[keys_[j]] += a_[j];
      };
      if (entries_.empty()) {
        for (std::uint32_t j = 0; j < keys_.size(); ++j) add(j);
      } else {
        for (const std::uint32_t j : entries_) add(j);
      }
    } else {
      for (std::size_t j = 0; j < keys_.size(); ++j) leaves[keys_[j]] += a_[j];
    }
  }

  // Sums of words by those of words of one letter more.
  void SumUp(const std::vector<Short>& shorts, double* squares) {
    for (int d = most();; --d) {
      std::vector<double>& sums = levels_[Offset(d)];
      for (const Short& at : shorts) {
        if (at.letters == d && d < most()) sums[Node(keys_[at.sample], d)] += a_[at.sample];
      }
      if (squares != nullptr) {
        squares[d - 1] = std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0);
      }
      if (d == 1) return;
      std::vector<double>& shorter = levels_[Offset(d) - 1];
      std::copy_n(sums.begin(), shorter.size(), shorter.begin());
      for (std::size_t from = shorter.size(); from < sums.size(); from += shorter.size()) {
        for (std::size_t u = 0; u < shorter.size(); ++u) shorter[u] += sums[from + u];
      }
    }
  }

  // From sums of words to what all words at the beginning of a word are worth.
  void AddDown() {
    const double* c = weights_.row(position_);
    for (double& value : levels_[1]) value *= c[1];
    for (int d = 2; d <= most(); ++d) {
      const std::vector<double>& shorter = levels_[Offset(d) - 1];
      std::vector<double>& values = levels_[Offset(d)];
      for (std::size_t from = 0; from < values.size(); from += shorter.size()) {
        for (std::size_t u = 0; u < shorter.size(); ++u) {
          values[from + u] = c[d] * values[from + u] + shorter[u];
        }
      }
    }
  }

  void Gather(const std::vector<Short>& shorts, double* out) const {
    const std::vector<double>& leaves = levels_.back();
    std::size_t begin = 0;
    const auto read = [&](std::size_t end) {
      for (std::size_t j = begin; j < end; ++j) out[j] += leaves[keys_[j]];
    };
    for (const Short& at : shorts) {
      if (at.letters >= most()) continue;
      read(at.sample);
      if (at.letters > 0) out[at.sample] += levels_[Offset(at.letters)][Node(keys_[at.sample], at.letters)];
      begin = at.sample + 1;
    }
    read(keys_.size());
  }

  // Words longer than those of the array.
  void Deep(const Shared& shared, double* out, double* squares) {
    const int deep = static_cast<int>(words_.DeepLetters(position_));
    if (deep == 0) return;
    const double* c = weights_.row(position_) + most();
    worth_.assign(Offset(deep) + 1, 0.0);
    if (out != nullptr) std::partial_sum(c + 1, c + deep + 1, worth_.begin() + 1);
    pairs_.assign(Offset(deep) + 1, 0.0);
    const bool is_needed = squares != nullptr || worth_.back() != 0 || HasWorth();
    if (is_needed) AddTrees(shared, out, squares != nullptr);
    for (const Short& at : shared.shorts) {
      const int letters = std::clamp(at.letters - most(), 0, deep);
      if (out != nullptr) out[at.sample] -= a_[at.sample] * (worth_.back() - worth_[Offset(letters)]);
      if (squares == nullptr) continue;
      pairs_.back() -= a_[at.sample] * a_[at.sample];
      pairs_[Offset(letters)] += a_[at.sample] * a_[at.sample];
    }
    if (squares == nullptr) return;
    for (int d = deep - 1; d > 0; --d) pairs_[Offset(d)] += pairs_[Offset(d) + 1];
    // Own squares are added by the caller.
    for (int d = 1; d <= deep; ++d) squares[most() + d - 1] = pairs_[Offset(d)];
  }

  bool HasWorth() const {
    return std::ranges::any_of(worth_, [](double worth) { return worth != 0; });
  }

  void AddTrees(const Shared& shared, double* out, bool has_squares) {
    const std::size_t count = shared.samples.size();
    for (std::size_t begin = 0; begin < count;) {
      std::size_t end = begin + 1;
      while (end < count && shared.common[end] > 0) ++end;
      if (end - begin < kFewInTree) {
        AddPair(shared.samples[begin], shared.samples[begin + 1], shared.common[begin + 1], out);
      } else {
        AddTree(std::span(shared.samples).subspan(begin, end - begin),
                std::span(shared.common).subspan(begin, end - begin), out, has_squares);
      }
      begin = end;
    }
  }

  void AddPair(std::uint32_t i, std::uint32_t j, int common, double* out) {
    const double a = a_[i], b = a_[j];
    if (a == 0 && b == 0) return;
    pairs_[Offset(common)] += 2 * a * b;
    if (out == nullptr) return;
    out[i] += b * worth_[Offset(common)];
    out[j] += a * worth_[Offset(common)];
  }

  // A node of the tree is a stretch of its sorted sequences that share `letters`, its children stretches of
  // it. Its sum counts for the orders that its parent does not have; what it adds to each of its sequences is
  // written where it begins and taken away where it ends.
  void AddTree(std::span<const std::uint32_t> samples, std::span<const std::uint8_t> common, double* out,
               bool has_squares) {
    const std::size_t count = samples.size();
    sums_.assign(count + 1, 0.0);
    own_.assign(count + 1, 0.0);
    steps_.assign(count + 1, 0.0);
    bool is_zero = true;
    for (std::size_t t = 0; t < count; ++t) {
      const double a = a_[samples[t]];
      is_zero = is_zero && a == 0;
      sums_[t + 1] = sums_[t] + a;
      own_[t + 1] = own_[t] + a * a;
    }
    if (is_zero) return;
    open_.clear();
    for (std::size_t t = 1; t <= count; ++t) {
      const int letters = t < count ? common[t] : 0;
      std::size_t begin = t - 1;
      while (!open_.empty() && open_.back().letters > letters) {
        const Stretch node = open_.back();
        open_.pop_back();
        const int parent = std::max(letters, open_.empty() ? 0 : open_.back().letters);
        Close(node, parent, t, has_squares);
        begin = node.begin;
      }
      if (letters > 0 && (open_.empty() || open_.back().letters < letters)) open_.push_back({letters, begin});
    }
    if (out == nullptr) return;
    double value = 0;
    for (std::size_t t = 0; t < count; ++t) {
      const int deepest = std::max<int>(common[t], t + 1 < count ? common[t + 1] : 0);
      value += steps_[t];
      out[samples[t]] += value - a_[samples[t]] * worth_[Offset(deepest)];
    }
  }

  struct Stretch {
    int letters;
    std::size_t begin;
  };
  void Close(const Stretch& node, int parent, std::size_t end, bool has_squares) {
    const double sum = sums_[end] - sums_[node.begin];
    const double value = sum * (worth_[Offset(node.letters)] - worth_[Offset(parent)]);
    steps_[node.begin] += value;
    steps_[end] -= value;
    if (!has_squares) return;
    const double square = sum * sum - (own_[end] - own_[node.begin]);
    pairs_[Offset(node.letters)] += square;
    pairs_[Offset(parent)] -= square;
  }

  const PositionWords& words_;
  std::span<const double> a_;
  std::span<const std::uint32_t> entries_;  // that are not zero; empty: look at all
  const RunWeights& weights_;
  Index position_ = 0;
  std::vector<std::uint32_t> keys_;          // words of the array
  std::vector<std::vector<double>> levels_;  // by letters and word: sums, then what words are worth
  std::vector<double> worth_;                // of letters beyond those of the array
  std::vector<double> pairs_;                // products of different sequences, by the letters they share
  std::vector<double> sums_, own_, steps_;   // of a tree
  std::vector<Stretch> open_;
};

void PositionWords::Multiply(std::span<const double> a, const RunWeights& weights, std::span<double> out,
                             std::span<double> squares, ThreadPool& pool) const {
  std::vector<std::uint32_t> entries;
  double own = 0;
  for (Index j = 0; j < size_; ++j) {
    if (a[Offset(j)] != 0) entries.push_back(static_cast<std::uint32_t>(j));
    own += a[Offset(j)] * a[Offset(j)];
  }
  std::ranges::fill(squares, 0.0);
  if (entries.empty()) return;
  if (static_cast<Index>(entries.size()) * kFewEntries > size_) entries.clear();
  std::vector<Index> positions;
  for (Index i = first_; i < last_; ++i) {
    if (!squares.empty() || weights.HasAny(i)) positions.push_back(i);
  }
  const auto count = static_cast<Index>(positions.size());
  const Index pieces = std::min(kPieces, count);
  std::vector<std::vector<double>> outs(out.empty() ? 0 : Offset(pieces));
  pool.ParallelFor(pieces, 1, [&](Index piece, Index, int) {
    Pass pass(*this, a, entries, weights);
    double* sums = nullptr;
    if (!out.empty()) {
      outs[Offset(piece)].assign(Offset(size_), 0.0);
      sums = outs[Offset(piece)].data();
    }
    for (Index k = piece * count / pieces; k < (piece + 1) * count / pieces; ++k) {
      const Index i = positions[Offset(k)];
      pass.Run(i, weights.HasAny(i) ? sums : nullptr,
               squares.empty() ? nullptr : squares.data() + (i - first_) * degree_);
    }
  });
  double diagonal = 0;  // what words of one sequence alone are worth
  for (const Index i : positions) {
    const Index deep = DeepLetters(i);
    for (Index d = 1; d <= deep; ++d) {
      diagonal += weights.at(i, array_letters_ + static_cast<int>(d));
      if (!squares.empty()) squares[Offset((i - first_) * degree_ + array_letters_ + d - 1)] += own;
    }
  }
  for (std::size_t j = 0; j < out.size(); ++j) {
    double sum = diagonal * a[j];
    for (const std::vector<double>& piece : outs) sum += piece[j];
    out[j] += sum;
  }
}

void PositionWords::Products(std::span<const double> a, std::span<const double> b, std::span<double> products,
                             ThreadPool& pool) const {
  std::vector<double> sum(a.begin(), a.end()), difference(a.begin(), a.end()), of_difference(products.size());
  for (std::size_t j = 0; j < a.size(); ++j) {
    sum[j] += b[j];
    difference[j] -= b[j];
  }
  const RunWeights none(length_, degree_);
  Multiply(sum, none, {}, products, pool);
  Multiply(difference, none, {}, of_difference, pool);
  for (std::size_t k = 0; k < products.size(); ++k) products[k] = (products[k] - of_difference[k]) / 4;
}

}  // namespace kweave
