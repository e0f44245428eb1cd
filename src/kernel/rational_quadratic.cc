#include "kernel/rational_quadratic.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/constants.h"
#include "kernel/rbf.h"
#include "kernel/smooth_in_feature.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/rational_quadratic.cc"
#include "hwy/foreach_target.h"
// Above: compiles this file once per instruction set.
#include "compute/cpu/exponential-inl.h"
#include "hwy/highway.h"
#include "kernel/shape_loops-inl.h"

#ifndef KWEAVE_KERNEL_RATIONAL_QUADRATIC_SCALE_
#define KWEAVE_KERNEL_RATIONAL_QUADRATIC_SCALE_
namespace kweave {
namespace {

// k = (1 + b / scale)^-alpha.
double Scale(const KernelParameters& parameters) { return 2 * parameters[0] * parameters[1] * parameters[1]; }

}  // namespace
}  // namespace kweave
#endif  // KWEAVE_KERNEL_RATIONAL_QUADRATIC_SCALE_

HWY_BEFORE_NAMESPACE();
namespace kweave {
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// k - 1 = exp(-alpha log(1 + b/scale)) - 1.
class RationalQuadratic {
 public:
  explicit RationalQuadratic(const KernelParameters& parameters)
      : minus_alpha_(-parameters[0]), factor_(1 / Scale(parameters)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V base) const {
    using T = hn::TFromD<D>;
    const V x = hn::Mul(base, hn::Set(d, static_cast<T>(factor_)));
    return kweave::HWY_NAMESPACE::ExpMinusOne(
        d, hn::Mul(hn::Set(d, static_cast<T>(minus_alpha_)), LogOnePlus(d, x)));
  }

 private:
  // log(1 + x) for x >= 0, accurate where x is small: the rounding of u = 1 + x is undone by the factor x /
  // (u - 1).
  template <class D, class V>
  static HWY_INLINE V LogOnePlus(D d, V x) {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, T{1});
    const V u = hn::Add(one, x), rounded = hn::Sub(u, one);
    const V logarithm = hn::Mul(kweave::HWY_NAMESPACE::PositiveLog2(d, u),
                                hn::Set(d, static_cast<T>(0.69314718055994530942)));
    const auto is_tiny = hn::Eq(rounded, hn::Zero(d));
    const V factor = hn::Div(x, hn::IfThenElse(is_tiny, one, rounded));
    return hn::IfThenElse(is_tiny, x, hn::Mul(logarithm, factor));
  }

  double minus_alpha_;
  double factor_;
};

KWEAVE_DEFINE_SHAPE_LOOPS(RationalQuadratic)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace kweave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

KWEAVE_EXPORT_SHAPE_LOOPS()

double Value(const KernelParameters& parameters, double base) {
  return std::expm1(-parameters[0] * std::log1p(base / Scale(parameters)));
}

// The derivative at 0 is -alpha / scale, and k has a singularity at -scale, which a table must keep away
// from.
double Rate(const KernelParameters& parameters) { return 2 * (parameters[0] + 1) / Scale(parameters); }

// |1 + b/scale| >= 1 + Re b / scale.
double LogBound(const KernelParameters& parameters, double left, double) {
  const double scale = Scale(parameters);
  return left < scale ? -parameters[0] * std::log1p(-left / scale) : std::numeric_limits<double>::infinity();
}

constexpr Analyticity kAnalyticity = {.rate = Rate, .log_bound = LogBound};

constexpr Shape kShape = {
    .shift = 1,
    .value = Value,
    .loops_f32 = MakeShapeLoops<float>,
    .loops_f64 = MakeShapeLoops<double>,
    .analyticity = &kAnalyticity,
};

KernelParameters OnUnitRange(const KernelParameters& parameters, double half) {
  return {parameters[0], parameters[1] / half};
}

// On the ellipse Re (1 + (s-t)^2 / scale) >= 1 - b^2 / scale, and |(1+w)^-alpha - 1| <= (1-|w|)^-alpha - 1
// with |w| <= (a+1)^2 / scale.
Index Terms(const KernelParameters& parameters, double error) {
  const double alpha = parameters[0], scale = Scale(parameters);
  return TermsWithin(error, [&](double a, double b) {
    const double square = b * b / scale, w = (a + 1) * (a + 1) / scale;
    const double far = square < 1 ? -alpha * std::log1p(-square) + std::log(2.0) : kInfinity;
    const double near = w < 1 ? std::log(std::expm1(-alpha * std::log1p(-w))) : kInfinity;
    return std::min(far, near);
  });
}

constexpr SmoothInFeature kInOneFeature = {.on_unit_range = OnUnitRange, .terms = Terms};

constexpr ParameterRule kParameters[] = {
    {.name = "alpha",
     .sentence = "the larger, the closer to a Gaussian; the smaller, the heavier the tails",
     .initial = "1"},
    {.name = "length_scale",
     .sentence = "distance over which the kernel falls; the larger, the wider",
     .initial = "median",
     .width = ParameterRule::Width::kRoot,
     .width_of = &kSquaredDistanceQuantity},
};

}  // namespace

constinit const KernelKind kRationalQuadratic = {
    .name = "rational_quadratic",
    .class_name = "RationalQuadratic",
    .sentence = "(1 + ||x-z||^2 / (2 alpha length_scale^2))^-alpha, a mixture of Gaussians of many widths",
    .base = &kSquaredDistanceQuantity,
    .shape = &kShape,
    .parameters = kParameters,
    .in_one_feature = &kInOneFeature,
};

}  // namespace kweave
#endif  // HWY_ONCE
