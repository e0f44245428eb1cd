// The loops of a shape (kernel/shape.h) from one vector function, compiled once per instruction set: include
// it after hwy/foreach_target.h.
//
// Solves: what MemberLoops asks for, where a member is a function object made from its parameters and called
//   as function(d, b) on vectors of tag d: k(b) - shift.
// Method: vectors run over the base values; four at a time hide the latency of what the function computes.
// Takes and returns: pointers need no alignment; nothing past `count` is read or written.
// Holds: the value at a base value depends neither on its position nor on `count`.
#if defined(KWEAVE_KERNEL_SHAPE_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KWEAVE_KERNEL_SHAPE_LOOPS_INL_H_
#undef KWEAVE_KERNEL_SHAPE_LOOPS_INL_H_
#else
#define KWEAVE_KERNEL_SHAPE_LOOPS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernel/shape.h"

HWY_BEFORE_NAMESPACE();
namespace kweave::shapes::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls body(tag, j) so that every j < count is in one vector.
template <class T, class Body>
HWY_INLINE void ForEveryVector(Index count, Body body) {
  const hn::ScalableTag<T> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  Index j = 0;
  for (; j + lanes <= count; j += lanes) body(d, j);
  for (; j < count; ++j) body(hn::CappedTag<T, 1>(), j);
}

/// out[j] += weight function(base[j]).
template <class T, class Function>
HWY_INLINE void FunctionSum(const Function& function, const T* HWY_RESTRICT base, Index count, T weight,
                            T* HWY_RESTRICT out) {
  const hn::ScalableTag<T> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const auto factor = hn::Set(d, weight);
  Index j = 0;
  for (; j + 4 * lanes <= count; j += 4 * lanes) {
    const auto v0 = function(d, hn::LoadU(d, base + j));
    const auto v1 = function(d, hn::LoadU(d, base + j + lanes));
    const auto v2 = function(d, hn::LoadU(d, base + j + 2 * lanes));
    const auto v3 = function(d, hn::LoadU(d, base + j + 3 * lanes));
    hn::StoreU(hn::MulAdd(factor, v0, hn::LoadU(d, out + j)), d, out + j);
    hn::StoreU(hn::MulAdd(factor, v1, hn::LoadU(d, out + j + lanes)), d, out + j + lanes);
    hn::StoreU(hn::MulAdd(factor, v2, hn::LoadU(d, out + j + 2 * lanes)), d, out + j + 2 * lanes);
    hn::StoreU(hn::MulAdd(factor, v3, hn::LoadU(d, out + j + 3 * lanes)), d, out + j + 3 * lanes);
  }
  ForEveryVector<T>(count - j, [&](auto tag, Index offset) HWY_ATTR {
    const auto value = function(tag, hn::LoadU(tag, base + j + offset));
    T* to = out + j + offset;
    hn::StoreU(hn::MulAdd(hn::Set(tag, weight), value, hn::LoadU(tag, to)), tag, to);
  });
}

/// moments[j] += sum_r factors[r] function(rows[r][j]).
template <class T, class Function>
HWY_INLINE void FunctionMoments(const Function& function, const WeightedRows<T>& base, Index count,
                                T* HWY_RESTRICT moments) {
  ForEveryVector<T>(count, [&](auto d, Index j) HWY_ATTR {
    auto sum = hn::LoadU(d, moments + j);
    for (std::size_t r = 0; r < base.rows.size(); ++r) {
      sum = hn::MulAdd(hn::Set(d, base.factors[r]), function(d, hn::LoadU(d, base.rows[r] + j)), sum);
    }
    hn::StoreU(sum, d, moments + j);
  });
}

}  // namespace kweave::shapes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

#ifndef KWEAVE_DEFINE_SHAPE_LOOPS
/// Inside HWY_NAMESPACE: the loops of the function object FUNCTION, made from KernelParameters, for this
/// instruction set.
#define KWEAVE_DEFINE_SHAPE_LOOPS(FUNCTION)                                                          \
  void SumF32(const KernelParameters& parameters, const float* base, Index count, float weight,      \
              float* out) {                                                                          \
    shapes::HWY_NAMESPACE::FunctionSum<float>(FUNCTION(parameters), base, count, weight, out);       \
  }                                                                                                  \
  void SumF64(const KernelParameters& parameters, const double* base, Index count, double weight,    \
              double* out) {                                                                         \
    shapes::HWY_NAMESPACE::FunctionSum<double>(FUNCTION(parameters), base, count, weight, out);      \
  }                                                                                                  \
  void MomentsF32(const KernelParameters& parameters, const WeightedRows<float>& base, Index count,  \
                  float* moments) {                                                                  \
    shapes::HWY_NAMESPACE::FunctionMoments<float>(FUNCTION(parameters), base, count, moments);       \
  }                                                                                                  \
  void MomentsF64(const KernelParameters& parameters, const WeightedRows<double>& base, Index count, \
                  double* moments) {                                                                 \
    shapes::HWY_NAMESPACE::FunctionMoments<double>(FUNCTION(parameters), base, count, moments);      \
  }
/// Under HWY_ONCE: MakeShapeLoops<T> makes the loops of the best instruction set there is.
#define KWEAVE_EXPORT_SHAPE_LOOPS()                                                                      \
  HWY_EXPORT(SumF32);                                                                                    \
  HWY_EXPORT(SumF64);                                                                                    \
  HWY_EXPORT(MomentsF32);                                                                                \
  HWY_EXPORT(MomentsF64);                                                                                \
  template <class T>                                                                                     \
  class DispatchedLoops : public MemberLoops<T> {                                                        \
   public:                                                                                               \
    explicit DispatchedLoops(std::span<const KernelParameters> members)                                  \
        : members_(members.begin(), members.end()) {}                                                    \
    void Add(const T* base, Index count, std::span<const T> weights, T* out) const override {            \
      for (std::size_t m = 0; m < members_.size(); ++m) Sum(members_[m], base, count, weights[m], out);  \
    }                                                                                                    \
    void AddMoments(const WeightedRows<T>& base, Index count, T* moments, Index stride) const override { \
      for (std::size_t m = 0; m < members_.size(); ++m) {                                                \
        T* own = moments + static_cast<Index>(m) * stride;                                               \
        if constexpr (std::is_same_v<T, float>) {                                                        \
          HWY_DYNAMIC_DISPATCH(MomentsF32)(members_[m], base, count, own);                               \
        } else {                                                                                         \
          HWY_DYNAMIC_DISPATCH(MomentsF64)(members_[m], base, count, own);                               \
        }                                                                                                \
      }                                                                                                  \
    }                                                                                                    \
    void Values(std::size_t m, const T* base, Index count, T* out) const override {                      \
      std::fill_n(out, count, T{0});                                                                     \
      Sum(members_[m], base, count, T{1}, out);                                                          \
    }                                                                                                    \
                                                                                                         \
   private:                                                                                              \
    static void Sum(const KernelParameters& member, const T* base, Index count, T weight, T* out) {      \
      if constexpr (std::is_same_v<T, float>) {                                                          \
        HWY_DYNAMIC_DISPATCH(SumF32)(member, base, count, weight, out);                                  \
      } else {                                                                                           \
        HWY_DYNAMIC_DISPATCH(SumF64)(member, base, count, weight, out);                                  \
      }                                                                                                  \
    }                                                                                                    \
    std::vector<KernelParameters> members_;                                                              \
  };                                                                                                     \
  template <class T>                                                                                     \
  std::unique_ptr<MemberLoops<T>> MakeShapeLoops(std::span<const KernelParameters> members) {            \
    return std::make_unique<DispatchedLoops<T>>(members);                                                \
  }
#endif  // KWEAVE_DEFINE_SHAPE_LOOPS
