// Counting bits is one instruction there.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL 1
#endif
#include "compute/cpu/match_runs.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/match_runs.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kweave::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One sequence against the columns: the planes of its words, and which of its letters are known, by word.
struct RowView {
  const std::uint32_t* planes;
  const std::uint32_t* known;
};

// Where word w of a row equals that of some columns, from `lane` on.
template <class D>
HWY_INLINE hn::Vec<D> Matches(D d, const RowView& row, const LetterPlanes& right, Index block, Index w,
                              Index lane) {
  const std::uint32_t* from = right.Block(block, w) + lane;
  const int planes = right.planes();
  const std::uint32_t* letters = row.planes + w * planes;
  hn::Vec<D> differs = hn::Zero(d);
  for (int p = 0; p < planes; ++p) {
    differs = hn::Or(differs, hn::Xor(hn::LoadU(d, from + p * kLettersAbreast), hn::Set(d, letters[p])));
  }
  hn::Vec<D> matches = hn::AndNot(differs, hn::Set(d, row.known[w]));
  if (right.has_known()) matches = hn::And(matches, hn::LoadU(d, from + planes * kLettersAbreast));
  return matches;
}

HWY_INLINE hn::Vec<hn::CappedTag<float, 16>> AsValues(hn::CappedTag<float, 16> d,
                                                      hn::Vec<hn::CappedTag<std::uint32_t, 16>> counts) {
  return hn::ConvertTo(d, hn::BitCast(hn::CappedTag<std::int32_t, 16>(), counts));
}
template <class D>
HWY_INLINE hn::Vec<hn::CappedTag<double, 16>> AsValues(hn::CappedTag<double, 16> d, D counts) {
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<std::int32_t, hn::CappedTag<double, 16>>(), counts));
}

// Words of all orders, counted wherever they are. `bits` holds M_k of all words of some columns.
template <class T>
HWY_INLINE hn::Vec<hn::CappedTag<T, 16>> CountWords(const RowView& row, const LetterPlanes& right,
                                                    Index block, Index lane, const RunTable<T>& table,
                                                    std::uint32_t* HWY_RESTRICT bits) {
  const hn::CappedTag<T, 16> d;
  const hn::Rebind<std::uint32_t, decltype(d)> du;
  const Index lanes = static_cast<Index>(hn::Lanes(du)), words = right.words();
  auto counts = hn::Zero(du);
  for (Index w = 0; w < words; ++w) {
    const auto matches = Matches(du, row, right, block, w, lane);
    counts = hn::Add(counts, hn::PopulationCount(matches));
    hn::Store(matches, du, bits + w * lanes);
  }
  auto sum = hn::Mul(hn::Set(d, table.of_order()[1]), AsValues(d, counts));
  for (int k = 2; k <= table.degree(); ++k) {
    counts = hn::Zero(du);
    auto here = hn::Load(du, bits);
    for (Index w = 0; w + 1 < words; ++w) {
      const auto next = hn::Load(du, bits + (w + 1) * lanes);
      const auto runs = hn::And(here, hn::Or(hn::ShiftRight<1>(here), hn::ShiftLeft<31>(next)));
      counts = hn::Add(counts, hn::PopulationCount(runs));
      hn::Store(runs, du, bits + w * lanes);
      here = next;
    }
    const auto runs = hn::And(here, hn::ShiftRight<1>(here));
    counts = hn::Add(counts, hn::PopulationCount(runs));
    hn::Store(runs, du, bits + (words - 1) * lanes);
    if (hn::AllTrue(du, hn::Eq(counts, hn::Zero(du)))) break;
    sum = hn::MulAdd(hn::Set(d, table.of_order()[Offset(k)]), AsValues(d, counts), sum);
  }
  return sum;
}

// worth[runs], of tables that fit into one or two vectors or not.
template <class D, class DU>
HWY_INLINE hn::Vec<D> LookUp(D d, DU du, const hn::TFromD<D>* worth, int degree, hn::Vec<DU> runs) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::RebindToSigned<DU> di;
    const int lanes = static_cast<int>(hn::Lanes(d));
    const auto indices = hn::BitCast(di, runs);
    if (degree < lanes) return hn::TableLookupLanes(hn::LoadU(d, worth), hn::IndicesFromVec(d, indices));
    if (degree < 2 * lanes) {
      const auto within = hn::IndicesFromVec(d, hn::And(indices, hn::Set(di, lanes - 1)));
      const auto is_high = hn::RebindMask(d, hn::Gt(indices, hn::Set(di, lanes - 1)));
      return hn::IfThenElse(is_high, hn::TableLookupLanes(hn::LoadU(d, worth + lanes), within),
                            hn::TableLookupLanes(hn::LoadU(d, worth), within));
    }
    return hn::GatherIndex(d, worth, indices);
  } else {
    const hn::RebindToSigned<D> di;
    return hn::GatherIndex(d, worth, hn::PromoteTo(di, hn::BitCast(hn::RebindToSigned<DU>(), runs)));
  }
}

// The worth of the run that begins at each position, from the right.
template <class T>
HWY_INLINE hn::Vec<hn::CappedTag<T, 16>> SumRuns(const RowView& row, const LetterPlanes& right, Index block,
                                                 Index lane, const RunTable<T>& table) {
  const hn::CappedTag<T, 16> d;
  const hn::Rebind<std::uint32_t, decltype(d)> du;
  const auto most = hn::Set(du, static_cast<std::uint32_t>(table.degree())), one = hn::Set(du, 1u);
  auto sum = hn::Zero(d);
  auto runs = hn::Zero(du);
  const Index first = std::max<Index>(table.first(), 0), last = std::min(table.last(), right.length());
  if (first >= last) return sum;
  const Index letters = std::min(right.length(), last + table.degree() - 1);
  for (Index w = (letters - 1) / 32; w >= first / 32; --w) {
    const auto matches = Matches(du, row, right, block, w, lane);
    const int begin = static_cast<int>(std::max<Index>(first - 32 * w, 0));
    const int end = static_cast<int>(std::min<Index>(letters - 32 * w, 32));
    for (int bit = end - 1; bit >= begin; --bit) {
      const auto is_match = hn::TestBit(matches, hn::Set(du, std::uint32_t{1} << bit));
      runs = hn::IfThenElseZero(is_match, hn::Min(hn::Add(runs, one), most));
      if (32 * w + bit < last)
        sum = hn::Add(sum, LookUp(d, du, table.of_run(32 * w + bit), table.degree(), runs));
    }
  }
  return sum;
}

template <class T>
HWY_INLINE void AddBlock(const RowView& row, const LetterPlanes& right, Index block, const RunTable<T>& table,
                         std::uint32_t* bits, T* HWY_RESTRICT out, Index count) {
  const hn::CappedTag<T, 16> d;
  HWY_ALIGN T values[kLettersAbreast];
  for (Index lane = 0; lane < kLettersAbreast; lane += static_cast<Index>(hn::Lanes(d))) {
    hn::Store(table.is_same_everywhere() ? CountWords(row, right, block, lane, table, bits)
                                         : SumRuns(row, right, block, lane, table),
              d, values + lane);
  }
  for (Index j = 0; j < count; ++j) out[j] += values[j];
}

// `planes` and `known` are those of all rows, one after the other.
template <class T>
HWY_INLINE void AddBlocks(const std::uint32_t* planes, const std::uint32_t* known, Index rows,
                          const LetterPlanes& right, Index begin, Index end, const RunTable<T>& table,
                          std::uint32_t* bits, T* out, Index stride) {
  for (Index j = begin; j < end; j += kLettersAbreast) {
    for (Index r = 0; r < rows; ++r) {
      const RowView row{planes + r * right.words() * right.planes(), known + r * right.words()};
      AddBlock(row, right, j / kLettersAbreast, table, bits, out + r * stride + j - begin,
               std::min(kLettersAbreast, end - j));
    }
  }
}

void AddFloatBlocks(const std::uint32_t* planes, const std::uint32_t* known, Index rows,
                    const LetterPlanes& right, Index begin, Index end, const RunTable<float>& table,
                    std::uint32_t* bits, float* out, Index stride) {
  AddBlocks(planes, known, rows, right, begin, end, table, bits, out, stride);
}

void AddDoubleBlocks(const std::uint32_t* planes, const std::uint32_t* known, Index rows,
                     const LetterPlanes& right, Index begin, Index end, const RunTable<double>& table,
                     std::uint32_t* bits, double* out, Index stride) {
  AddBlocks(planes, known, rows, right, begin, end, table, bits, out, stride);
}

}  // namespace kweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {

HWY_EXPORT(AddFloatBlocks);
HWY_EXPORT(AddDoubleBlocks);

namespace {

// Tables are read a vector or two at a time.
constexpr Index kPaddedDegree = 2 * kLettersAbreast;

// The letters of some rows as words of all planes, moved up by `shift` positions, and which are known.
class ShiftedRows {
 public:
  ShiftedRows(const LetterPlanes& left, std::span<const Index> rows, const LetterPlanes& right, Index shift)
      : planes_(rows.size() * Offset(right.words()) * Offset(left.planes()), 0),
        known_(rows.size() * Offset(right.words()), 0) {
    const Index words = right.words();
    const int all = left.planes() + (left.has_known() ? 1 : 0);
    std::vector<std::uint32_t> word(Offset(all));
    std::vector<std::vector<std::uint32_t>> whole(Offset(left.planes() + 1),
                                                  std::vector<std::uint32_t>(Offset(left.words())));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (Index w = 0; w < left.words(); ++w) {
        left.CopyWord(rows[r], w, word.data());
        std::uint32_t known = LettersOf(left, w);
        if (left.has_known()) known &= word[Offset(left.planes())];
        for (int p = 0; p < left.planes(); ++p) whole[Offset(p)][Offset(w)] = word[Offset(p)];
        whole.back()[Offset(w)] = known;
      }
      for (Index w = 0; w < words; ++w) {
        const std::size_t to = r * Offset(words) + Offset(w);
        for (int p = 0; p < left.planes(); ++p) {
          planes_[to * Offset(left.planes()) + Offset(p)] = At(whole[Offset(p)], 32 * w - shift);
        }
        known_[to] = At(whole.back(), 32 * w - shift) & LettersOf(right, w);
      }
    }
  }
  const std::uint32_t* planes() const { return planes_.data(); }
  const std::uint32_t* known() const { return known_.data(); }

 private:
  // Which positions of word w there are.
  static std::uint32_t LettersOf(const LetterPlanes& planes, Index w) {
    const Index letters = std::clamp<Index>(planes.length() - 32 * w, 0, 32);
    return static_cast<std::uint32_t>((std::uint64_t{1} << letters) - 1);
  }
  // 32 bits from `position` on; outside there are none.
  static std::uint32_t At(const std::vector<std::uint32_t>& words, Index position) {
    const Index w = position >= 0 ? position / 32 : -((31 - position) / 32);
    const int bit = static_cast<int>(position - 32 * w);
    const auto word = [&](Index at) -> std::uint64_t {
      return at >= 0 && at < static_cast<Index>(words.size()) ? words[Offset(at)] : 0;
    };
    return static_cast<std::uint32_t>((word(w) | word(w + 1) << 32) >> bit);
  }

  std::vector<std::uint32_t> planes_, known_;
};

}  // namespace

void AddSelfValues(const PackedLetters& letters, const RunWeights& weights, std::span<double> out) {
  double all = 0;
  const std::vector<double> worth = weights.Cumulated<double>();
  const auto at = [&](Index position, Index run) {
    return worth[Offset(position * (weights.degree() + 1) + std::min<Index>(run, weights.degree()))];
  };
  for (Index i = 0; i < letters.length; ++i) all += at(i, letters.length - i);
  for (Index j = 0; j < letters.size(); ++j) {
    double sum = all;
    Index from = 0;
    for (const std::int32_t unknown : letters.UnknownOf(j)) {
      for (Index i = std::max<Index>(from, unknown - weights.degree() + 1); i <= unknown; ++i) {
        sum += at(i, unknown - i) - at(i, letters.length - i);
      }
      from = unknown + 1;
    }
    out[Offset(j)] += sum;
  }
}

LetterPlanes::LetterPlanes(const PackedLetters& letters)
    : size_(letters.size()),
      length_(letters.length),
      words_(std::max<Index>((letters.length + 31) / 32, 1)),
      planes_(letters.bits),
      has_known_(!letters.unknown.empty()) {
  bits_.assign(Offset((size_ + kLettersAbreast - 1) / kLettersAbreast * words_ * stride()), 0);
  for (Index i = 0; i < size_; ++i) {
    std::uint32_t* to = bits_.data() + i / kLettersAbreast * words_ * stride() + i % kLettersAbreast;
    const std::uint64_t* word = letters.words + letters.offsets[Offset(i)];
    const int per_word = letters.per_word();
    std::uint64_t rest = 0;
    for (Index j = 0; j < length_; ++j) {
      rest = j % per_word == 0 ? *word++ : rest >> letters.bits;
      std::uint32_t* at = to + j / 32 * stride();
      for (int p = 0; p < planes_; ++p) {
        at[p * kLettersAbreast] |= static_cast<std::uint32_t>((rest >> p) & 1) << (j % 32);
      }
      if (has_known_) at[planes_ * kLettersAbreast] |= std::uint32_t{1} << (j % 32);
    }
    for (const std::int32_t j : letters.UnknownOf(i)) {
      if (has_known_) to[j / 32 * stride() + planes_ * kLettersAbreast] &= ~(std::uint32_t{1} << (j % 32));
    }
  }
}

template <class T>
RunTable<T>::RunTable(const RunWeights& weights, Index shift) : shift_(shift), degree_(weights.degree()) {
  const RunWeights::Range range = weights.Positions();
  first_ = range.first + shift;
  last_ = range.last + shift;
  is_same_everywhere_ = weights.IsSameEverywhere();
  if (is_same_everywhere_) {
    of_order_.assign(weights.row(0), weights.row(0) + degree_ + 1);
    return;
  }
  stride_ = std::max<Index>(kPaddedDegree, degree_ + 1);
  of_run_.assign(Offset((last_ - first_) * stride_), T{0});
  const std::vector<T> sums = weights.Cumulated<T>();
  for (Index i = range.first; i < range.last; ++i) {
    std::copy_n(sums.begin() + i * (degree_ + 1), degree_ + 1, of_run_.begin() + (i - range.first) * stride_);
  }
}

template <class T>
void AddRunValues(const LetterPlanes& left, std::span<const Index> rows, const LetterPlanes& right,
                  Index begin, Index end, const RunTable<T>& table, T* out, Index stride) {
  if (begin >= end || table.first() >= table.last()) return;
  const ShiftedRows shifted(left, rows, right, table.shift());
  AlignedVector<std::uint32_t> bits(Offset(right.words() * kLettersAbreast));
  const auto count = static_cast<Index>(rows.size());
  if constexpr (sizeof(T) == sizeof(float)) {
    HWY_DYNAMIC_DISPATCH(AddFloatBlocks)
    (shifted.planes(), shifted.known(), count, right, begin, end, table, bits.data(), out, stride);
  } else {
    HWY_DYNAMIC_DISPATCH(AddDoubleBlocks)
    (shifted.planes(), shifted.known(), count, right, begin, end, table, bits.data(), out, stride);
  }
}

template class RunTable<float>;
template class RunTable<double>;
template void AddRunValues(const LetterPlanes&, std::span<const Index>, const LetterPlanes&, Index, Index,
                           const RunTable<float>&, float*, Index);
template void AddRunValues(const LetterPlanes&, std::span<const Index>, const LetterPlanes&, Index, Index,
                           const RunTable<double>&, double*, Index);

}  // namespace kweave
#endif  // HWY_ONCE
