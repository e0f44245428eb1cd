// A row of inner products turned into a row of another quantity, compiled once per instruction set: include
// it after hwy/foreach_target.h and call it as cpu::HWY_NAMESPACE::FinishRow.
#if defined(KWEAVE_COMPUTE_CPU_FINISH_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KWEAVE_COMPUTE_CPU_FINISH_ROW_INL_H_
#undef KWEAVE_COMPUTE_CPU_FINISH_ROW_INL_H_
#else
#define KWEAVE_COMPUTE_CPU_FINISH_ROW_INL_H_
#endif

#include "hwy/highway.h"
#include "kweave/index.h"

HWY_BEFORE_NAMESPACE();
namespace kweave::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// values[j] = formula(d, values[j], squared_norm, squared_norms[j]) for j < count, on vectors of tag d.
/// Pointers need no alignment; nothing past `count` is read or written.
template <class Formula, class T>
HWY_INLINE void FinishRow(const Formula& formula, T* HWY_RESTRICT values, Index count, T squared_norm,
                          const T* HWY_RESTRICT squared_norms) {
  const hn::ScalableTag<T> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const auto step = [&](auto tag, Index j) HWY_ATTR {
    const auto left = hn::Set(tag, squared_norm), right = hn::LoadU(tag, squared_norms + j);
    hn::StoreU(formula(tag, hn::LoadU(tag, values + j), left, right), tag, values + j);
  };
  Index j = 0;
  for (; j + lanes <= count; j += lanes) step(d, j);
  for (; j < count; ++j) step(hn::CappedTag<T, 1>(), j);
}

}  // namespace kweave::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

#ifndef KWEAVE_DEFINE_FINISH_ROWS
/// Inside HWY_NAMESPACE: FinishRow with the function object FORMULA for this instruction set.
#define KWEAVE_DEFINE_FINISH_ROWS(FORMULA)                                                        \
  void FinishF32(float* values, Index count, float squared_norm, const float* squared_norms) {    \
    cpu::HWY_NAMESPACE::FinishRow(FORMULA(), values, count, squared_norm, squared_norms);         \
  }                                                                                               \
  void FinishF64(double* values, Index count, double squared_norm, const double* squared_norms) { \
    cpu::HWY_NAMESPACE::FinishRow(FORMULA(), values, count, squared_norm, squared_norms);         \
  }
/// Under HWY_ONCE: DispatchFinish calls that of the best instruction set there is.
#define KWEAVE_EXPORT_FINISH_ROWS()                                                                    \
  HWY_EXPORT(FinishF32);                                                                               \
  HWY_EXPORT(FinishF64);                                                                               \
  void DispatchFinish(float* values, Index count, float squared_norm, const float* squared_norms) {    \
    HWY_DYNAMIC_DISPATCH(FinishF32)(values, count, squared_norm, squared_norms);                       \
  }                                                                                                    \
  void DispatchFinish(double* values, Index count, double squared_norm, const double* squared_norms) { \
    HWY_DYNAMIC_DISPATCH(FinishF64)(values, count, squared_norm, squared_norms);                       \
  }
#endif  // KWEAVE_DEFINE_FINISH_ROWS
