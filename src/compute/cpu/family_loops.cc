#include "compute/cpu/family_loops.h"

#include <algorithm>
#include <numbers>

#include "compute/cpu/chebyshev_cubics.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/family_loops.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compute/cpu/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kweave::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls body(offset, lanes) for whole vectors of `count` values, then once for the rest.
template <class D, class Body>
HWY_INLINE void ForVectors(D d, Index count, Body body) {
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  Index j = 0;
  for (; j + lanes <= count; j += lanes) body(j, lanes);
  if (j < count) body(j, count - j);
}

// Zeros stand where there are no values. Older x86 has no loads that leave some out: Highway would read a
// whole vector there, aligned.
template <class D, class T>
HWY_INLINE hn::Vec<D> LoadSome(D d, const T* from, Index count) {
  if (count == static_cast<Index>(hn::Lanes(d))) return hn::LoadU(d, from);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN T some[HWY_MAX_BYTES / sizeof(T)] = {};
  std::copy_n(from, count, some);
  return hn::Load(d, some);
#endif
}

template <class D, class T>
HWY_INLINE void StoreSome(hn::Vec<D> value, D d, T* to, Index count) {
  if (count == static_cast<Index>(hn::Lanes(d))) {
    hn::StoreU(value, d, to);
  } else {
    hn::BlendedStore(value, hn::FirstN(d, count), d, to);
  }
}

template <class T>
void ExponentialSum(const T* base, Index count, std::span<const T> gammas, std::span<const T> weights,
                    T* out) {
  const hn::ScalableTag<T> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  Index j = 0;
  for (; j + 4 * lanes <= count; j += 4 * lanes) {  // four chains hide the latency of the polynomial
    auto s0 = hn::LoadU(d, out + j), s1 = hn::LoadU(d, out + j + lanes);
    auto s2 = hn::LoadU(d, out + j + 2 * lanes), s3 = hn::LoadU(d, out + j + 3 * lanes);
    const auto b0 = hn::LoadU(d, base + j), b1 = hn::LoadU(d, base + j + lanes);
    const auto b2 = hn::LoadU(d, base + j + 2 * lanes), b3 = hn::LoadU(d, base + j + 3 * lanes);
    for (std::size_t m = 0; m < gammas.size(); ++m) {
      const auto rate = hn::Set(d, -gammas[m]);
      const auto weight = hn::Set(d, weights[m]);
      s0 = hn::MulAdd(weight, ExpMinusOne(d, hn::Mul(rate, b0)), s0);
      s1 = hn::MulAdd(weight, ExpMinusOne(d, hn::Mul(rate, b1)), s1);
      s2 = hn::MulAdd(weight, ExpMinusOne(d, hn::Mul(rate, b2)), s2);
      s3 = hn::MulAdd(weight, ExpMinusOne(d, hn::Mul(rate, b3)), s3);
    }
    hn::StoreU(s0, d, out + j);
    hn::StoreU(s1, d, out + j + lanes);
    hn::StoreU(s2, d, out + j + 2 * lanes);
    hn::StoreU(s3, d, out + j + 3 * lanes);
  }
  ForVectors(d, count - j, [&](Index offset, Index some) HWY_ATTR {
    auto sum = LoadSome(d, out + j + offset, some);
    const auto b = LoadSome(d, base + j + offset, some);
    for (std::size_t m = 0; m < gammas.size(); ++m) {
      const auto value = ExpMinusOne(d, hn::Mul(hn::Set(d, -gammas[m]), b));
      sum = hn::MulAdd(hn::Set(d, weights[m]), value, sum);
    }
    StoreSome(sum, d, out + j + offset, some);
  });
}

// Four rows of base values and their factors; missing rows repeat the first one with factor 0.
template <class T>
struct FourRows {
  FourRows(const WeightedRows<T>& base, std::size_t first) {
    for (std::size_t k = 0; k < 4; ++k) {
      const bool is_there = first + k < base.rows.size();
      rows[k] = base.rows[is_there ? first + k : first];
      factors[k] = is_there ? base.factors[first + k] : T{0};
    }
  }
  std::array<const T*, 4> rows;
  std::array<T, 4> factors;
};

// moments[m][j] += sum over rows of factor * function(m, base value). Columns outside, rows inside: the
// moments of one vector of columns stay in the nearest cache while all rows pass.
template <class T, class Function>
HWY_INLINE void MemberMoments(const WeightedRows<T>& base, Index count, Index members, T* moments,
                              Index stride, Function function) {
  const hn::ScalableTag<T> d;
  ForVectors(d, count, [&](Index j, Index some) HWY_ATTR {
    for (std::size_t r = 0; r < base.rows.size(); r += 4) {
      const FourRows<T> four(base, r);
      const auto f0 = hn::Set(d, four.factors[0]), f1 = hn::Set(d, four.factors[1]);
      const auto f2 = hn::Set(d, four.factors[2]), f3 = hn::Set(d, four.factors[3]);
      const auto b0 = LoadSome(d, four.rows[0] + j, some), b1 = LoadSome(d, four.rows[1] + j, some);
      const auto b2 = LoadSome(d, four.rows[2] + j, some), b3 = LoadSome(d, four.rows[3] + j, some);
      for (Index m = 0; m < members; ++m) {
        T* to = moments + m * stride + j;
        auto sum = LoadSome(d, to, some);
        sum = hn::MulAdd(f0, function(m, b0), sum);
        sum = hn::MulAdd(f1, function(m, b1), sum);
        sum = hn::MulAdd(f2, function(m, b2), sum);
        sum = hn::MulAdd(f3, function(m, b3), sum);
        StoreSome(sum, d, to, some);
      }
    }
  });
}

template <class T>
void ExponentialMoments(const WeightedRows<T>& base, Index count, std::span<const T> gammas, T* moments,
                        Index stride) {
  const hn::ScalableTag<T> d;
  MemberMoments(base, count, static_cast<Index>(gammas.size()), moments, stride,
                [&](Index m, auto b) HWY_ATTR { return ExpMinusOne(d, hn::Mul(hn::Set(d, -gammas[m]), b)); });
}

// value^degree by squaring; degree >= 1.
template <class V>
HWY_INLINE V IntegerPower(V value, int degree) {
  V result = value;
  bool is_first = true;
  for (; degree > 0; degree >>= 1) {
    if (degree & 1) {
      result = is_first ? value : hn::Mul(result, value);
      is_first = false;
    }
    if (degree > 1) value = hn::Mul(value, value);
  }
  return result;
}

template <class D, class T>
HWY_INLINE hn::Vec<D> PowerValue(D d, const PowerTerm<T>& term, hn::Vec<D> b) {
  return IntegerPower(hn::MulAdd(hn::Set(d, term.gamma), b, hn::Set(d, term.coef0)), term.degree);
}

template <class T>
void PowerSum(const T* base, Index count, std::span<const PowerTerm<T>> terms, std::span<const T> weights,
              T* out) {
  const hn::ScalableTag<T> d;
  ForVectors(d, count, [&](Index j, Index some) HWY_ATTR {
    auto sum = LoadSome(d, out + j, some);
    const auto b = LoadSome(d, base + j, some);
    for (std::size_t m = 0; m < terms.size(); ++m) {
      sum = hn::MulAdd(hn::Set(d, weights[m]), PowerValue(d, terms[m], b), sum);
    }
    StoreSome(sum, d, out + j, some);
  });
}

template <class T>
void PowerMoments(const WeightedRows<T>& base, Index count, std::span<const PowerTerm<T>> terms, T* moments,
                  Index stride) {
  const hn::ScalableTag<T> d;
  MemberMoments(base, count, static_cast<Index>(terms.size()), moments, stride,
                [&](Index m, auto b) HWY_ATTR { return PowerValue(d, terms[m], b); });
}

// Twice the table variable t of base values b, clamped to [-2, 2].
template <class D, class T>
HWY_INLINE hn::Vec<D> TwiceVariable(D d, const TableVariable<T>& variable, hn::Vec<D> b) {
  if (variable.stretch != 0) {
    if (variable.is_of_root) b = hn::Sqrt(b);
    b = PositiveLog2(d, hn::MulAdd(hn::Set(d, variable.stretch), b, hn::Set(d, T{1})));
  }
  const T unit = variable.stretch != 0 ? static_cast<T>(std::numbers::ln2) : T{1};
  const auto t = hn::MulAdd(hn::Set(d, 2 * variable.slope * unit), b, hn::Set(d, 2 * variable.offset));
  return hn::Min(hn::Max(t, hn::Set(d, T{-2})), hn::Set(d, T{2}));
}

template <class T>
void VariableLoop(const TableVariable<T>& variable, Index count, T* values) {
  const hn::ScalableTag<T> d;
  ForVectors(d, count, [&](Index j, Index some) HWY_ATTR {
    StoreSome(TwiceVariable(d, variable, LoadSome(d, values + j, some)), d, values + j, some);
  });
}

// The j-th cubic of a sum at x, twice the variable.
template <class D, class V>
HWY_INLINE V CubicAt(D d, const ChebyshevCubics<hn::TFromD<D>>& cubics, Index j, V x) {
  const auto* q = cubics.Of(j);
  auto value = hn::MulAdd(hn::Set(d, q[3]), x, hn::Set(d, q[2]));
  value = hn::MulAdd(value, x, hn::Set(d, q[1]));
  return hn::MulAdd(value, x, hn::Set(d, q[0]));
}

// 2 T_4 of half of x.
template <class D, class V>
HWY_INLINE V TwiceFourth(D d, V x) {
  const auto two = hn::Set(d, hn::TFromD<D>{2});
  const auto second = hn::MulSub(x, x, two);
  return hn::MulSub(second, second, two);
}

template <class T>
void ChebyshevSum(const T* base, Index count, const TableVariable<T>& variable,
                  std::span<const T> coefficients, T* out) {
  const hn::ScalableTag<T> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const ChebyshevCubics<T> cubics(coefficients);
  const auto half = hn::Set(d, T{0.5});
  Index i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {  // four chains
    const auto x0 = TwiceVariable(d, variable, hn::LoadU(d, base + i));
    const auto x1 = TwiceVariable(d, variable, hn::LoadU(d, base + i + lanes));
    const auto x2 = TwiceVariable(d, variable, hn::LoadU(d, base + i + 2 * lanes));
    const auto x3 = TwiceVariable(d, variable, hn::LoadU(d, base + i + 3 * lanes));
    const auto t0 = TwiceFourth(d, x0), t1 = TwiceFourth(d, x1), t2 = TwiceFourth(d, x2),
               t3 = TwiceFourth(d, x3);
    auto u0 = hn::Zero(d), u1 = u0, u2 = u0, u3 = u0;  // b_{j+1}
    auto v0 = u0, v1 = u0, v2 = u0, v3 = u0;           // b_{j+2}
    for (Index j = cubics.count - 1; j > 0; --j) {
      const auto w0 = hn::MulAdd(t0, u0, hn::Sub(CubicAt(d, cubics, j, x0), v0));
      const auto w1 = hn::MulAdd(t1, u1, hn::Sub(CubicAt(d, cubics, j, x1), v1));
      const auto w2 = hn::MulAdd(t2, u2, hn::Sub(CubicAt(d, cubics, j, x2), v2));
      const auto w3 = hn::MulAdd(t3, u3, hn::Sub(CubicAt(d, cubics, j, x3), v3));
      v0 = u0, v1 = u1, v2 = u2, v3 = u3;
      u0 = w0, u1 = w1, u2 = w2, u3 = w3;
    }
    const auto finish = [&](auto x, auto t, auto u, auto v, Index at) HWY_ATTR {
      const auto sum = hn::MulAdd(hn::Mul(half, t), u, hn::Sub(CubicAt(d, cubics, 0, x), v));
      hn::StoreU(hn::Add(sum, hn::LoadU(d, out + at)), d, out + at);
    };
    finish(x0, t0, u0, v0, i);
    finish(x1, t1, u1, v1, i + lanes);
    finish(x2, t2, u2, v2, i + 2 * lanes);
    finish(x3, t3, u3, v3, i + 3 * lanes);
  }
  ForVectors(d, count - i, [&](Index offset, Index some) HWY_ATTR {
    const auto x = TwiceVariable(d, variable, LoadSome(d, base + i + offset, some));
    const auto t = TwiceFourth(d, x);
    auto u = hn::Zero(d), v = u;
    for (Index j = cubics.count - 1; j > 0; --j) {
      const auto w = hn::MulAdd(t, u, hn::Sub(CubicAt(d, cubics, j, x), v));
      v = u;
      u = w;
    }
    const auto sum = hn::MulAdd(hn::Mul(half, t), u, hn::Sub(CubicAt(d, cubics, 0, x), v));
    StoreSome(hn::Add(sum, LoadSome(d, out + i + offset, some)), d, out + i + offset, some);
  });
}

template <class T>
void ChebyshevMoments(const WeightedRows<T>& base, Index count, const TableVariable<T>& variable, Index terms,
                      T* moments, Index stride) {
  const hn::ScalableTag<T> d;
  const auto half = hn::Set(d, T{0.5});
  ForVectors(d, count, [&](Index j, Index some) HWY_ATTR {
    for (std::size_t r = 0; r < base.rows.size(); r += 4) {
      const FourRows<T> four(base, r);
      const auto t0 = TwiceVariable(d, variable, LoadSome(d, four.rows[0] + j, some));
      const auto t1 = TwiceVariable(d, variable, LoadSome(d, four.rows[1] + j, some));
      const auto t2 = TwiceVariable(d, variable, LoadSome(d, four.rows[2] + j, some));
      const auto t3 = TwiceVariable(d, variable, LoadSome(d, four.rows[3] + j, some));
      // The recurrence T_{k+1} = 2t T_k - T_{k-1} is linear, so it runs on factor * T_k.
      auto p0 = hn::Set(d, four.factors[0]), p1 = hn::Set(d, four.factors[1]);
      auto p2 = hn::Set(d, four.factors[2]), p3 = hn::Set(d, four.factors[3]);
      auto l0 = hn::Mul(half, hn::Mul(t0, p0)), l1 = hn::Mul(half, hn::Mul(t1, p1));  // T_{-1} = T_1 = t
      auto l2 = hn::Mul(half, hn::Mul(t2, p2)), l3 = hn::Mul(half, hn::Mul(t3, p3));
      for (Index k = 0; k < terms; ++k) {
        T* to = moments + k * stride + j;
        const auto sum = hn::Add(hn::Add(p0, p1), hn::Add(p2, p3));
        StoreSome(hn::Add(LoadSome(d, to, some), sum), d, to, some);
        const auto n0 = hn::MulSub(t0, p0, l0), n1 = hn::MulSub(t1, p1, l1);
        const auto n2 = hn::MulSub(t2, p2, l2), n3 = hn::MulSub(t3, p3, l3);
        l0 = p0, l1 = p1, l2 = p2, l3 = p3;
        p0 = n0, p1 = n1, p2 = n2, p3 = n3;
      }
    }
  });
}

template <class T>
void ScaledSum(const T* values, Index count, T factor, T* out) {
  const hn::ScalableTag<T> d;
  const auto f = hn::Set(d, factor);
  ForVectors(d, count, [&](Index j, Index some) HWY_ATTR {
    StoreSome(hn::MulAdd(f, LoadSome(d, values + j, some), LoadSome(d, out + j, some)), d, out + j, some);
  });
}

template <class T>
void FlushLoop(T* values, Index count, double* sums) {
  for (Index j = 0; j < count; ++j) sums[j] += static_cast<double>(values[j]);
  std::fill_n(values, count, T{0});
}

void ShortenLoop(const double* values, Index count, float* out) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> to;
  ForVectors(d, count, [&](Index j, Index some) HWY_ATTR {
    StoreSome(hn::DemoteTo(to, LoadSome(d, values + j, some)), to, out + j, some);
  });
}

template <class T>
void SparseDotsLoop(const Index* offsets, const std::int32_t* columns, const T* values, Index begin,
                    Index end, const T* left, T* out, Index out_stride, Index rows) {
  const hn::CappedTag<T, 16> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  alignas(64) T sums[16];
  for (Index j = begin; j < end; ++j) {
    for (Index part = 0; part < 16; part += lanes) {
      auto sum = hn::Zero(d);
      for (Index e = offsets[j]; e < offsets[j + 1]; ++e) {
        sum = hn::MulAdd(hn::Set(d, values[e]), hn::LoadU(d, left + columns[e] * 16 + part), sum);
      }
      hn::StoreU(sum, d, sums + part);
    }
    for (Index r = 0; r < rows; ++r) out[r * out_stride + (j - begin)] = sums[r];
  }
}

// The exported entry points of this instruction set, one per type.
#define KWEAVE_PER_TYPE(T, S)                                                                               \
  void ExponentialSum##S(const T* b, Index n, std::span<const T> g, std::span<const T> w, T* o) {           \
    ExponentialSum<T>(b, n, g, w, o);                                                                       \
  }                                                                                                         \
  void ExponentialMoments##S(const WeightedRows<T>& b, Index n, std::span<const T> g, T* m, Index s) {      \
    ExponentialMoments<T>(b, n, g, m, s);                                                                   \
  }                                                                                                         \
  void PowerSum##S(const T* b, Index n, std::span<const PowerTerm<T>> p, std::span<const T> w, T* o) {      \
    PowerSum<T>(b, n, p, w, o);                                                                             \
  }                                                                                                         \
  void PowerMoments##S(const WeightedRows<T>& b, Index n, std::span<const PowerTerm<T>> p, T* m, Index s) { \
    PowerMoments<T>(b, n, p, m, s);                                                                         \
  }                                                                                                         \
  void ChebyshevSum##S(const T* b, Index n, const TableVariable<T>& v, std::span<const T> c, T* o) {        \
    ChebyshevSum<T>(b, n, v, c, o);                                                                         \
  }                                                                                                         \
  void ChebyshevMoments##S(const WeightedRows<T>& b, Index n, const TableVariable<T>& v, Index k, T* m,     \
                           Index s) {                                                                       \
    ChebyshevMoments<T>(b, n, v, k, m, s);                                                                  \
  }                                                                                                         \
  void MapVariable##S(const TableVariable<T>& v, Index n, T* b) { VariableLoop<T>(v, n, b); }               \
  void ScaledSum##S(const T* v, Index n, T f, T* o) { ScaledSum<T>(v, n, f, o); }                           \
  void Flush##S(T* v, Index n, double* s) { FlushLoop<T>(v, n, s); }                                        \
  void SparseDots##S(const Index* f, const std::int32_t* c, const T* v, Index b, Index e, const T* l, T* o, \
                     Index s, Index r) {                                                                    \
    SparseDotsLoop<T>(f, c, v, b, e, l, o, s, r);                                                           \
  }
KWEAVE_PER_TYPE(float, F32)
KWEAVE_PER_TYPE(double, F64)
#undef KWEAVE_PER_TYPE

}  // namespace kweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {

#define KWEAVE_DISPATCH(T, S)                                                                               \
  HWY_EXPORT(ExponentialSum##S);                                                                            \
  HWY_EXPORT(ExponentialMoments##S);                                                                        \
  HWY_EXPORT(PowerSum##S);                                                                                  \
  HWY_EXPORT(PowerMoments##S);                                                                              \
  HWY_EXPORT(ChebyshevSum##S);                                                                              \
  HWY_EXPORT(ChebyshevMoments##S);                                                                          \
  HWY_EXPORT(MapVariable##S);                                                                               \
  HWY_EXPORT(ScaledSum##S);                                                                                 \
  HWY_EXPORT(Flush##S);                                                                                     \
  HWY_EXPORT(SparseDots##S);                                                                                \
  template <>                                                                                               \
  void AddExponentials<T>(const T* b, Index n, std::span<const T> g, std::span<const T> w, T* o) {          \
    HWY_DYNAMIC_DISPATCH(ExponentialSum##S)(b, n, g, w, o);                                                 \
  }                                                                                                         \
  template <>                                                                                               \
  void AddExponentialMoments<T>(const WeightedRows<T>& b, Index n, std::span<const T> g, T* m, Index s) {   \
    HWY_DYNAMIC_DISPATCH(ExponentialMoments##S)(b, n, g, m, s);                                             \
  }                                                                                                         \
  template <>                                                                                               \
  void AddPowers<T>(const T* b, Index n, std::span<const PowerTerm<T>> p, std::span<const T> w, T* o) {     \
    HWY_DYNAMIC_DISPATCH(PowerSum##S)(b, n, p, w, o);                                                       \
  }                                                                                                         \
  template <>                                                                                               \
  void AddPowerMoments<T>(const WeightedRows<T>& b, Index n, std::span<const PowerTerm<T>> p, T* m,         \
                          Index s) {                                                                        \
    HWY_DYNAMIC_DISPATCH(PowerMoments##S)(b, n, p, m, s);                                                   \
  }                                                                                                         \
  template <>                                                                                               \
  void AddChebyshev<T>(const T* b, Index n, const TableVariable<T>& v, std::span<const T> c, T* o) {        \
    HWY_DYNAMIC_DISPATCH(ChebyshevSum##S)(b, n, v, c, o);                                                   \
  }                                                                                                         \
  template <>                                                                                               \
  void AddChebyshevMoments<T>(const WeightedRows<T>& b, Index n, const TableVariable<T>& v, Index k, T* m,  \
                              Index s) {                                                                    \
    HWY_DYNAMIC_DISPATCH(ChebyshevMoments##S)(b, n, v, k, m, s);                                            \
  }                                                                                                         \
  template <>                                                                                               \
  void MapToVariable<T>(const TableVariable<T>& v, Index n, T* b) {                                         \
    HWY_DYNAMIC_DISPATCH(MapVariable##S)(v, n, b);                                                          \
  }                                                                                                         \
  template <>                                                                                               \
  void AddScaled<T>(const T* v, Index n, T f, T* o) {                                                       \
    HWY_DYNAMIC_DISPATCH(ScaledSum##S)(v, n, f, o);                                                         \
  }                                                                                                         \
  template <>                                                                                               \
  void Flush<T>(T * v, Index n, double* s) {                                                                \
    HWY_DYNAMIC_DISPATCH(Flush##S)(v, n, s);                                                                \
  }                                                                                                         \
  template <>                                                                                               \
  void SparseDots<T>(const Index* f, const std::int32_t* c, const T* v, Index b, Index e, const T* l, T* o, \
                     Index s, Index r) {                                                                    \
    HWY_DYNAMIC_DISPATCH(SparseDots##S)(f, c, v, b, e, l, o, s, r);                                         \
  }
KWEAVE_DISPATCH(float, F32)
KWEAVE_DISPATCH(double, F64)
HWY_EXPORT(ShortenLoop);
void Shorten(const double* values, Index count, float* out) {
  HWY_DYNAMIC_DISPATCH(ShortenLoop)(values, count, out);
}
#undef KWEAVE_DISPATCH

}  // namespace kweave
#endif  // HWY_ONCE
