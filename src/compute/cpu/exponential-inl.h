// Vector exp(x) - 1 and log2(x), included once per instruction set.
#if defined(KWEAVE_COMPUTE_CPU_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KWEAVE_COMPUTE_CPU_EXPONENTIAL_INL_H_
#undef KWEAVE_COMPUTE_CPU_EXPONENTIAL_INL_H_
#else
#define KWEAVE_COMPUTE_CPU_EXPONENTIAL_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace kweave::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 2^k for integral k in the exponent range of T, built from its bits.
template <class D>
HWY_INLINE hn::Vec<D> PowerOfTwo(D d, hn::Vec<D> k) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  const auto biased = hn::Add(hn::ConvertTo(di, k), hn::Set(di, std::numeric_limits<T>::max_exponent - 1));
  return hn::BitCast(d, hn::ShiftLeft<hwy::MantissaBits<T>()>(biased));
}

// exp(x) - 1 for x <= 0, with an absolute error of about one unit in the last place of 1 and, near 0, of x.
//
// x log2(e) = k + f with |f| <= 1/2, and exp(x) - 1 = (2^k - 1) + 2^k f P(f), where P interpolates (2^f - 1)
// / f at Chebyshev nodes: degree 5 leaves 4e-9, degree 10 leaves 7e-18. For k = 0 the first bracket vanishes,
// so small arguments keep their digits.
template <class D>
HWY_INLINE hn::Vec<D> ExpMinusOne(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  const auto scaled = hn::Max(hn::Mul(x, hn::Set(d, static_cast<T>(1.44269504088896340736))),
                              hn::Set(d, std::is_same_v<T, float> ? T{-126} : T{-1022}));
  const auto k = hn::Round(scaled);
  const auto f = hn::Sub(scaled, k);
  hn::Vec<D> p;
  if constexpr (std::is_same_v<T, float>) {
    p = hn::Set(d, 0.00015453162945120690f);
    p = hn::MulAdd(p, f, hn::Set(d, 0.0013390863364671234f));
    p = hn::MulAdd(p, f, hn::Set(d, 0.0096180825572778515f));
    p = hn::MulAdd(p, f, hn::Set(d, 0.055503571142190778f));
    p = hn::MulAdd(p, f, hn::Set(d, 0.24022650760568127f));
    p = hn::MulAdd(p, f, hn::Set(d, 0.69314718802622878f));
  } else {
    p = hn::Set(d, 4.4549605981865183938e-10);
    p = hn::MulAdd(p, f, hn::Set(d, 7.0725859492692236999e-9));
    p = hn::MulAdd(p, f, hn::Set(d, 1.0178062445845773521e-7));
    p = hn::MulAdd(p, f, hn::Set(d, 1.3215442587921689653e-6));
    p = hn::MulAdd(p, f, hn::Set(d, 0.000015252733829836118394));
    p = hn::MulAdd(p, f, hn::Set(d, 0.00015403530441736050155));
    p = hn::MulAdd(p, f, hn::Set(d, 0.001333355814641693531));
    p = hn::MulAdd(p, f, hn::Set(d, 0.0096181291076068885273));
    p = hn::MulAdd(p, f, hn::Set(d, 0.055504108664821594339));
    p = hn::MulAdd(p, f, hn::Set(d, 0.2402265069591009822));
    p = hn::MulAdd(p, f, hn::Set(d, 0.69314718055994530942));
  }
  const auto power = PowerOfTwo(d, k);
  return hn::MulAdd(power, hn::Mul(f, p), hn::Sub(power, hn::Set(d, T{1})));
}

// log2(x) for normal x > 0.
//
// x = 2^k m with m in [1/sqrt 2, sqrt 2), and log2 m = 2/ln 2 artanh(s), s = (m - 1) / (m + 1), |s| < 0.1716,
// by the odd series of artanh; its first omitted term is below 1e-9 (float) and 1e-17 (double).
template <class D>
HWY_INLINE hn::Vec<D> PositiveLog2(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, x);
  // Subtracting the bits of 1/sqrt 2 makes the exponent field count from there.
  const auto offset = hn::BitCast(di, hn::Set(d, static_cast<T>(0.70710678118654752440)));
  const auto exponent = hn::ShiftRight<hwy::MantissaBits<T>()>(hn::Sub(bits, offset));
  const auto m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<hwy::MantissaBits<T>()>(exponent)));
  const auto k = hn::ConvertTo(d, exponent);
  const auto one = hn::Set(d, T{1});
  const auto s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const auto z = hn::Mul(s, s);
  constexpr int kTerms = std::is_same_v<T, float> ? 5 : 11;  // see above: what is left out is below rounding
  auto series = hn::Set(d, static_cast<T>(1.0 / (2 * kTerms + 1)));
  for (int i = kTerms - 1; i >= 0; --i)
    series = hn::MulAdd(series, z, hn::Set(d, static_cast<T>(1.0 / (2 * i + 1))));
  return hn::MulAdd(hn::Mul(s, hn::Set(d, static_cast<T>(2.88539008177792681472))), series, k);
}

}  // namespace kweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // KWEAVE_COMPUTE_CPU_EXPONENTIAL_INL_H_
