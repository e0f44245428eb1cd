#include "peaks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peaks.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format off: after foreach_target.h
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kweave::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Ten chains cover the latency of two units that take one vector each in a cycle and four cycles for it. They
// start at different values, so that no compiler merges them, and their sum is kept, so that none drops them.
template <class T>
double MultiplyAdds(Index rounds, T* result) {
  const hn::ScalableTag<T> d;
  const auto a = hn::Set(d, T(0.999)), b = hn::Set(d, T(0.001));
  auto x0 = hn::Set(d, T(0)), x1 = hn::Set(d, T(1)), x2 = hn::Set(d, T(2)), x3 = hn::Set(d, T(3));
  auto x4 = hn::Set(d, T(4)), x5 = hn::Set(d, T(5)), x6 = hn::Set(d, T(6)), x7 = hn::Set(d, T(7));
  auto x8 = hn::Set(d, T(8)), x9 = hn::Set(d, T(9));
  for (Index r = 0; r < rounds; ++r) {
    x0 = hn::MulAdd(x0, a, b);
    x1 = hn::MulAdd(x1, a, b);
    x2 = hn::MulAdd(x2, a, b);
    x3 = hn::MulAdd(x3, a, b);
    x4 = hn::MulAdd(x4, a, b);
    x5 = hn::MulAdd(x5, a, b);
    x6 = hn::MulAdd(x6, a, b);
    x7 = hn::MulAdd(x7, a, b);
    x8 = hn::MulAdd(x8, a, b);
    x9 = hn::MulAdd(x9, a, b);
  }
  const auto low = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(x4, x5));
  *result = hn::GetLane(hn::SumOfLanes(d, hn::Add(low, hn::Add(hn::Add(x6, x7), hn::Add(x8, x9)))));
  return 2.0 * 10 * static_cast<double>(hn::Lanes(d));
}
double MultiplyAddsFloat(Index rounds, float* result) { return MultiplyAdds<float>(rounds, result); }
double MultiplyAddsDouble(Index rounds, double* result) { return MultiplyAdds<double>(rounds, result); }

void Exponentials(const float* in, Index count, float* out) {
  const hn::ScalableTag<float> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  for (Index j = 0; j + lanes <= count; j += lanes) hn::StoreU(hn::Exp(d, hn::LoadU(d, in + j)), d, out + j);
}

template <class T>
void Logarithms(const T* in, Index count, T* out) {
  const hn::ScalableTag<T> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  for (Index j = 0; j + lanes <= count; j += lanes) hn::StoreU(hn::Log(d, hn::LoadU(d, in + j)), d, out + j);
}
void LogarithmsFloat(const float* in, Index count, float* out) { Logarithms<float>(in, count, out); }
void LogarithmsDouble(const double* in, Index count, double* out) { Logarithms<double>(in, count, out); }

void TriadLoop(const double* b, const double* c, double factor, Index count, double* a) {
  const hn::ScalableTag<double> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  for (Index j = 0; j + lanes <= count; j += lanes)
    hn::StoreU(hn::MulAdd(factors, hn::LoadU(d, c + j), hn::LoadU(d, b + j)), d, a + j);
}

float SumLoop(const float* values, Index count) {
  const hn::ScalableTag<float> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (Index j = 0; j + 4 * lanes <= count; j += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, values + j));
    b = hn::Add(b, hn::LoadU(d, values + j + lanes));
    c = hn::Add(c, hn::LoadU(d, values + j + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, values + j + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

}  // namespace kweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
HWY_EXPORT(MultiplyAddsFloat);
HWY_EXPORT(MultiplyAddsDouble);
HWY_EXPORT(Exponentials);
HWY_EXPORT(LogarithmsFloat);
HWY_EXPORT(LogarithmsDouble);
HWY_EXPORT(TriadLoop);
HWY_EXPORT(SumLoop);

template <>
double RunMultiplyAdds<float>(Index rounds, float* result) {
  return HWY_DYNAMIC_DISPATCH(MultiplyAddsFloat)(rounds, result);
}
template <>
double RunMultiplyAdds<double>(Index rounds, double* result) {
  return HWY_DYNAMIC_DISPATCH(MultiplyAddsDouble)(rounds, result);
}
void PlainExponentials(const float* in, Index count, float* out) {
  HWY_DYNAMIC_DISPATCH(Exponentials)(in, count, out);
}
template <>
void PlainLogarithms<float>(const float* in, Index count, float* out) {
  HWY_DYNAMIC_DISPATCH(LogarithmsFloat)(in, count, out);
}
template <>
void PlainLogarithms<double>(const double* in, Index count, double* out) {
  HWY_DYNAMIC_DISPATCH(LogarithmsDouble)(in, count, out);
}
void Triad(const double* b, const double* c, double factor, Index count, double* a) {
  HWY_DYNAMIC_DISPATCH(TriadLoop)(b, c, factor, count, a);
}
float Sum(const float* values, Index count) { return HWY_DYNAMIC_DISPATCH(SumLoop)(values, count); }

}  // namespace kweave
#endif  // HWY_ONCE
