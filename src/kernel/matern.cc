#include "kernel/matern.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernel/rbf.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/matern.cc"
#include "hwy/foreach_target.h"
// Above: compiles this file once per instruction set.
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "kernel/shape_loops-inl.h"

// What the instruction sets share: both forms of k - 1 as functions of s. Small s cancel in p(s) exp(-s) - 1,
// so below 1 they take the series sum_{k >= 2} c_k s^k, whose first omitted term is below 1e-17 there (float:
// 1e-8).
#ifndef KWEAVE_KERNEL_MATERN_SERIES_
#define KWEAVE_KERNEL_MATERN_SERIES_
namespace kweave {
namespace {

constexpr int kSeriesEnd = 21, kFloatSeriesEnd = 13;  // see above

// (-1)^k (1 - k) / k! for nu = 3/2, (-1)^k (k - 1) (k - 3) / (3 k!) for nu = 5/2.
constexpr double SeriesCoefficient(bool is_smoother, int k) {
  double factorial = 1;
  for (int i = 2; i <= k; ++i) factorial *= i;
  const double numerator = is_smoother ? (k - 1) * (k - 3) / 3.0 : 1 - k;
  return (k % 2 == 0 ? numerator : -numerator) / factorial;
}

bool IsSmoother(const KernelParameters& parameters) { return parameters[0] == 2.5; }
// s = rate r.
double Rate(const KernelParameters& parameters) { return std::sqrt(2 * parameters[0]) / parameters[1]; }

}  // namespace
}  // namespace kweave
#endif  // KWEAVE_KERNEL_MATERN_SERIES_

HWY_BEFORE_NAMESPACE();
namespace kweave {
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

class Matern {
 public:
  explicit Matern(const KernelParameters& parameters)
      : is_smoother_(IsSmoother(parameters)), rate_(Rate(parameters)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V base) const {
    const V s = hn::Mul(hn::Sqrt(base), hn::Set(d, static_cast<hn::TFromD<D>>(rate_)));
    return is_smoother_ ? Value<true>(d, s) : Value<false>(d, s);
  }

 private:
  template <bool kIsSmoother, class D, class V>
  static HWY_INLINE V Value(D d, V s) {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, T{1});
    V p = hn::Add(one, s);
    if constexpr (kIsSmoother) p = hn::MulAdd(hn::Mul(s, s), hn::Set(d, static_cast<T>(1.0 / 3)), p);
    const V far = hn::MulSub(p, hn::Exp(d, hn::Neg(s)), one);
    const int end = std::is_same_v<T, float> ? kFloatSeriesEnd : kSeriesEnd;
    V near = hn::Zero(d);
    const V small = hn::Min(s, one);
    for (int k = end - 1; k >= 2; --k) {
      near = hn::MulAdd(near, small, hn::Set(d, static_cast<T>(SeriesCoefficient(kIsSmoother, k))));
    }
    return hn::IfThenElse(hn::Lt(s, one), hn::Mul(near, hn::Mul(small, small)), far);
  }

  bool is_smoother_;
  double rate_;
};

KWEAVE_DEFINE_SHAPE_LOOPS(Matern)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace kweave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

KWEAVE_EXPORT_SHAPE_LOOPS()

double Value(const KernelParameters& parameters, double base) {
  const double s = Rate(parameters) * std::sqrt(base);
  if (s < 1) {
    double near = 0;
    for (int k = kSeriesEnd - 1; k >= 2; --k) near = near * s + SeriesCoefficient(IsSmoother(parameters), k);
    return near * s * s;
  }
  return (1 + (IsSmoother(parameters) ? s + s * s / 3 : s)) * std::exp(-s) - 1;
}

// In v = r: |p(a v) exp(-a v)| <= p(a |v|) exp(-a Re v), a the rate.
double LogBound(const KernelParameters& parameters, double left, double radius) {
  const double s = Rate(parameters) * radius;
  return Rate(parameters) * left + std::log1p(IsSmoother(parameters) ? s + s * s / 3 : s);
}

constexpr Analyticity kAnalyticity = {.is_of_root = true, .rate = Rate, .log_bound = LogBound};

constexpr Shape kShape = {
    .shift = 1,
    .value = Value,
    .loops_f32 = MakeShapeLoops<float>,
    .loops_f64 = MakeShapeLoops<double>,
    .analyticity = &kAnalyticity,
};

constexpr double kSmoothness[] = {1.5, 2.5};

constexpr ParameterRule kParameters[] = {
    {.name = "nu",
     .sentence = "smoothness: 1.5, functions with one derivative, or 2.5, with two",
     .initial = "1.5",
     .choices = kSmoothness},
    {.name = "length_scale",
     .sentence = "distance over which the kernel falls; the larger, the wider",
     .initial = "median",
     .width = ParameterRule::Width::kRoot,
     .width_of = &kSquaredDistanceQuantity},
};

}  // namespace

constinit const KernelKind kMatern = {
    .name = "matern",
    .class_name = "Matern",
    .sentence =
        "nu=1.5: (1+s) exp(-s), s = sqrt(3) ||x-z|| / length_scale; nu=2.5: (1+s+s^2/3) exp(-s), "
        "s = sqrt(5) ||x-z|| / length_scale",
    .base = &kSquaredDistanceQuantity,
    .shape = &kShape,
    .parameters = kParameters,
};

}  // namespace kweave
#endif  // HWY_ONCE
