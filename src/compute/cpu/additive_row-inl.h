// One row of a quantity that is a sum over features of a function of two numbers, compiled once per
// instruction set: include it after hwy/foreach_target.h and call it as cpu::HWY_NAMESPACE::AdditiveRow.
//
// Solves: out[j] = sum_f term(x[f], right[f * stride + j]) for j < count; or, where the features of x that
//   are not zero are listed, out[j] = what x = 0 would give + sum over these of term(x, z) - term(0, z),
//   which is cheaper where most of x is zero.
// Method: vectors run over the samples j, so a feature of the left sample is one broadcast for all of them;
//   four accumulators hide the latency of the addition. Sums are taken in runs of kRun features and the runs
//   added up, which keeps the rounding error of long sums near (kRun + features / kRun) units instead of
//   `features`.
// Takes and returns: `term` is called as term(d, x, z) on vectors of tag d, term.AtZero(d, z) is term(d, 0,
//   z). Pointers need no alignment; nothing past `count` is read or written. `out` must not overlap the
//   inputs.
// Holds: the result of a sample depends neither on its position nor on `count` nor on the vector length.
// Costs: one pass over `right`, no memory.
#if defined(KWEAVE_COMPUTE_CPU_ADDITIVE_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KWEAVE_COMPUTE_CPU_ADDITIVE_ROW_INL_H_
#undef KWEAVE_COMPUTE_CPU_ADDITIVE_ROW_INL_H_
#else
#define KWEAVE_COMPUTE_CPU_ADDITIVE_ROW_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "compute/cpu/listed_features.h"
#include "hwy/highway.h"
#include "kweave/index.h"

HWY_BEFORE_NAMESPACE();
namespace kweave::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The terms of every feature, in order.
template <class Term>
struct AllTerms {
  Term term;
  Index Column(Index f) const { return f; }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V z) const {
    return term(d, x, z);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> Start(D d, Index) const {
    return hn::Zero(d);
  }
};

/// By how much the terms of listed features differ from those of zero.
template <class Term, class T>
struct ListedTerms {
  Term term;
  ListedFeatures<T> listed;
  Index Column(Index f) const { return listed.columns[f]; }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V z) const {
    return hn::Sub(term(d, x, z), term.AtZero(d, z));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> Start(D d, Index j) const {
    return hn::LoadU(d, listed.at_zero + j);
  }
};

/// Samples j .. j + kVectors * Lanes(d) - 1.
template <int kVectors, class D, class Terms, class T = hn::TFromD<D>>
HWY_INLINE void AdditiveBlock(D d, const Terms& terms, const T* HWY_RESTRICT x, const T* HWY_RESTRICT right,
                              Index features, Index stride, Index j, T* HWY_RESTRICT out) {
  static_assert(kVectors == 1 || kVectors == 4);
  constexpr Index kRun = 128;  // about the root of many features, see above
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  auto total0 = terms.Start(d, j), total1 = hn::Zero(d), total2 = hn::Zero(d), total3 = hn::Zero(d);
  if constexpr (kVectors == 4) {
    total1 = terms.Start(d, j + lanes);
    total2 = terms.Start(d, j + 2 * lanes);
    total3 = terms.Start(d, j + 3 * lanes);
  }
  for (Index begin = 0; begin < features; begin += kRun) {
    const Index end = std::min(features, begin + kRun);
    auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
    for (Index f = begin; f < end; ++f) {
      const auto left = hn::Set(d, x[f]);
      const T* z = right + terms.Column(f) * stride + j;
      sum0 = hn::Add(sum0, terms(d, left, hn::LoadU(d, z)));
      if constexpr (kVectors == 4) {
        sum1 = hn::Add(sum1, terms(d, left, hn::LoadU(d, z + lanes)));
        sum2 = hn::Add(sum2, terms(d, left, hn::LoadU(d, z + 2 * lanes)));
        sum3 = hn::Add(sum3, terms(d, left, hn::LoadU(d, z + 3 * lanes)));
      }
    }
    total0 = hn::Add(total0, sum0);
    total1 = hn::Add(total1, sum1);
    total2 = hn::Add(total2, sum2);
    total3 = hn::Add(total3, sum3);
  }
  hn::StoreU(total0, d, out + j);
  if constexpr (kVectors == 4) {
    hn::StoreU(total1, d, out + j + lanes);
    hn::StoreU(total2, d, out + j + 2 * lanes);
    hn::StoreU(total3, d, out + j + 3 * lanes);
  }
}

template <class Terms, class T>
HWY_INLINE void AdditiveRow(const Terms& terms, const T* HWY_RESTRICT x, const T* HWY_RESTRICT right,
                            Index features, Index stride, Index count, T* HWY_RESTRICT out) {
  const hn::ScalableTag<T> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  Index j = 0;
  for (; j + 4 * lanes <= count; j += 4 * lanes) {
    AdditiveBlock<4>(d, terms, x, right, features, stride, j, out);
  }
  for (; j + lanes <= count; j += lanes) AdditiveBlock<1>(d, terms, x, right, features, stride, j, out);
  if (j == count) return;
  if (count >= lanes) {  // the last full vector again, overlapping: the same values are written twice
    AdditiveBlock<1>(d, terms, x, right, features, stride, count - lanes, out);
    return;
  }
  const hn::CappedTag<T, 1> one;
  for (; j < count; ++j) AdditiveBlock<1>(one, terms, x, right, features, stride, j, out);
}

template <class Term>
HWY_INLINE Term MakeTerm(double parameter) {
  if constexpr (std::is_constructible_v<Term, double>) {
    return Term(parameter);
  } else {
    return Term();
  }
}

/// `listed` may be null: all features.
template <class Term, class T>
HWY_INLINE void AdditiveRow(const Term& term, const T* x, const T* right, Index features, Index stride,
                            Index count, const ListedFeatures<T>* listed, T* out) {
  if (listed == nullptr) {
    AdditiveRow(AllTerms<Term>{term}, x, right, features, stride, count, out);
  } else {
    AdditiveRow(ListedTerms<Term, T>{term, *listed}, x, right, features, stride, count, out);
  }
}

}  // namespace kweave::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

#ifndef KWEAVE_DEFINE_ADDITIVE_ROWS
/// Inside HWY_NAMESPACE: the rows of the function object TERM for this instruction set. A TERM that depends
/// on a parameter is made from it.
#define KWEAVE_DEFINE_ADDITIVE_ROWS(TERM)                                                              \
  void RowF32(const float* x, const float* right, Index features, Index stride, Index count,           \
              const ListedFeatures<float>* listed, double parameter, float* out) {                     \
    cpu::HWY_NAMESPACE::AdditiveRow(cpu::HWY_NAMESPACE::MakeTerm<TERM>(parameter), x, right, features, \
                                    stride, count, listed, out);                                       \
  }                                                                                                    \
  void RowF64(const double* x, const double* right, Index features, Index stride, Index count,         \
              const ListedFeatures<double>* listed, double parameter, double* out) {                   \
    cpu::HWY_NAMESPACE::AdditiveRow(cpu::HWY_NAMESPACE::MakeTerm<TERM>(parameter), x, right, features, \
                                    stride, count, listed, out);                                       \
  }
/// Under HWY_ONCE: DispatchRow calls the rows of the best instruction set there is.
#define KWEAVE_EXPORT_ADDITIVE_ROWS()                                                               \
  HWY_EXPORT(RowF32);                                                                               \
  HWY_EXPORT(RowF64);                                                                               \
  void DispatchRow(const float* x, const float* right, Index features, Index stride, Index count,   \
                   const ListedFeatures<float>* listed, double parameter, float* out) {             \
    HWY_DYNAMIC_DISPATCH(RowF32)(x, right, features, stride, count, listed, parameter, out);        \
  }                                                                                                 \
  void DispatchRow(const double* x, const double* right, Index features, Index stride, Index count, \
                   const ListedFeatures<double>* listed, double parameter, double* out) {           \
    HWY_DYNAMIC_DISPATCH(RowF64)(x, right, features, stride, count, listed, parameter, out);        \
  }
#endif  // KWEAVE_DEFINE_ADDITIVE_ROWS
