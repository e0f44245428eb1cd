#include "kernel/periodic.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

#include "kernel/smooth_in_feature.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/periodic.cc"
#include "hwy/foreach_target.h"
// Above: compiles this file once per instruction set.
#include "compute/cpu/additive_row-inl.h"
#include "hwy/highway.h"

#ifndef KWEAVE_KERNEL_PERIODIC_SERIES_
#define KWEAVE_KERNEL_PERIODIC_SERIES_
namespace kweave {
namespace {

// sin(pi y) = sum_k c_k y^(2k+1): for |y| <= 1/2 the first omitted term is below 1e-17 (float: 1e-8).
constexpr int kSineTerms = 11, kFloatSineTerms = 6;

constexpr double SineCoefficient(int k) {
  double value = std::numbers::pi;
  for (int i = 1; i <= k; ++i) value *= -std::numbers::pi * std::numbers::pi / (2 * i * (2 * i + 1));
  return value;
}

}  // namespace
}  // namespace kweave
#endif  // KWEAVE_KERNEL_PERIODIC_SERIES_

HWY_BEFORE_NAMESPACE();
namespace kweave {
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// sin^2(pi (x - z) / period), which is that of the difference to the nearest multiple of the period.
class SquaredSine {
 public:
  explicit SquaredSine(double period) : frequency_(1 / period) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V z) const {
    return AtZero(d, hn::Sub(x, z));
  }
  template <class D, class V>
  HWY_INLINE V AtZero(D d, V z) const {
    using T = hn::TFromD<D>;
    const V turns = hn::Mul(z, hn::Set(d, static_cast<T>(frequency_)));
    const V y = hn::Sub(turns, hn::Round(turns)), square = hn::Mul(y, y);
    const int terms = std::is_same_v<T, float> ? kFloatSineTerms : kSineTerms;
    V series = hn::Zero(d);
    for (int k = terms; k >= 0; --k) {
      series = hn::MulAdd(series, square, hn::Set(d, static_cast<T>(SineCoefficient(k))));
    }
    return hn::Mul(square, hn::Mul(series, series));
  }

 private:
  double frequency_;
};

KWEAVE_DEFINE_ADDITIVE_ROWS(SquaredSine)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace kweave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

KWEAVE_EXPORT_ADDITIVE_ROWS()

double Plain(std::span<const double> x, std::span<const double> z, double period) {
  double sum = 0;
  for (std::size_t f = 0; f < x.size(); ++f) {
    const double turns = (x[f] - z[f]) / period;
    const double sine = std::sin(std::numbers::pi * (turns - std::round(turns)));
    sum += sine * sine;
  }
  return sum;
}

// exp(-rate b) with the rate of the length scale; the period belongs to b.
double Rate(const KernelParameters& parameters) { return 2 / (parameters[1] * parameters[1]); }

double Value(const KernelParameters& parameters, double base) {
  return kExponentialShape.value({Rate(parameters)}, base);
}

std::vector<KernelParameters> Rates(std::span<const KernelParameters> members) {
  std::vector<KernelParameters> rates;
  for (const KernelParameters& member : members) rates.push_back({Rate(member)});
  return rates;
}

template <class T>
std::unique_ptr<MemberLoops<T>> ExponentialLoops(std::span<const KernelParameters> members) {
  return MakeLoops<T>(kExponentialShape, Rates(members));
}

double LogBound(const KernelParameters& parameters, double left, double radius) {
  return kExponentialShape.analyticity->log_bound({Rate(parameters)}, left, radius);
}

constexpr Analyticity kAnalyticity = {.has_one_parameter = true, .rate = Rate, .log_bound = LogBound};

constexpr Shape kShape = {
    .shift = 1,
    .value = Value,
    .loops_f32 = ExponentialLoops<float>,
    .loops_f64 = ExponentialLoops<double>,
    .analyticity = &kAnalyticity,
    .is_exponential = true,
};

KernelParameters OnUnitRange(const KernelParameters& parameters, double half) {
  return {parameters[0] / half, parameters[1]};
}

// k = exp(-(1 - cos w) / l^2) with w = 2 pi (s-t) / period, and |cos w| <= cosh(Im w). For wide kernels |e^u
// - 1| <= |u| e^|u|.
Index Terms(const KernelParameters& parameters, double error) {
  const double frequency = 2 * std::numbers::pi / parameters[0], factor = Rate(parameters) / 2;
  return TermsWithin(error, [&](double, double b) {
    const double cosine = std::cosh(frequency * b), u = factor * (cosine + 1);
    return std::min(factor * (cosine - 1) + std::log(2.0), std::log(u) + u);
  });
}

constexpr SmoothInFeature kInOneFeature = {.on_unit_range = OnUnitRange, .terms = Terms};

constexpr ParameterRule kParameters[] = {
    {.name = "period", .sentence = "distance after which a feature repeats itself", .initial = "1"},
    {.name = "length_scale",
     .sentence = "the larger, the wider; measured in the root of the sum of squared sines",
     .initial = "1",
     .width = ParameterRule::Width::kRoot,
     .width_of = &kSquaredSineQuantity},
};

}  // namespace

constinit const BaseQuantity kSquaredSineQuantity = {
    .name = "sum of squared sines",
    .source = BaseQuantity::Source::kFeatures,
    .is_translation_invariant = true,
    .is_zero_on_diagonal = true,
    .most_per_feature = 1,
    .row_f32 = DispatchRow,
    .row_f64 = DispatchRow,
    .plain = Plain,
};

constinit const KernelKind kPeriodic = {
    .name = "periodic",
    .class_name = "Periodic",
    .sentence =
        "exp(-2 sum sin^2(pi (x-z) / period) / length_scale^2), the same after every period of a feature",
    .base = &kSquaredSineQuantity,
    .shape = &kShape,
    .parameters = kParameters,
    .base_parameter = 0,
    .in_one_feature = &kInOneFeature,
};

}  // namespace kweave
#endif  // HWY_ONCE
