#include "kernel/rbf.h"

#include <algorithm>
#include <cmath>

#include "kernel/smooth_in_feature.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/rbf.cc"
#include "hwy/foreach_target.h"
// Above: compiles this file once per instruction set.
#include "compute/cpu/additive_row-inl.h"
#include "compute/cpu/finish_row-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kweave {
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rounding must not make a distance negative.
struct SquaredDistance {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V product, V left_norm, V right_norm) const {
    const V norms = hn::Add(left_norm, right_norm);
    return hn::Max(hn::Zero(d), hn::NegMulAdd(hn::Set(d, 2), product, norms));
  }
};

KWEAVE_DEFINE_FINISH_ROWS(SquaredDistance)

/// For few features: no cancellation, no matrix product.
struct SquaredDifference {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V z) const {
    const V difference = hn::Sub(x, z);
    return hn::Mul(difference, difference);
  }
  template <class D, class V>
  HWY_INLINE V AtZero(D, V z) const {
    return hn::Mul(z, z);
  }
};

KWEAVE_DEFINE_ADDITIVE_ROWS(SquaredDifference)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace kweave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

KWEAVE_EXPORT_FINISH_ROWS()
KWEAVE_EXPORT_ADDITIVE_ROWS()

double Plain(std::span<const double> x, std::span<const double> z, double) {
  double sum = 0;
  for (std::size_t f = 0; f < x.size(); ++f) sum += (x[f] - z[f]) * (x[f] - z[f]);
  return sum;
}

}  // namespace

constinit const BaseQuantity kSquaredDistanceQuantity = {
    .name = "squared distance",
    .source = BaseQuantity::Source::kInnerProduct,
    .is_translation_invariant = true,
    .is_zero_on_diagonal = true,
    .grows_with_difference = true,
    .finish_f32 = DispatchFinish,
    .finish_f64 = DispatchFinish,
    .row_f32 = DispatchRow,
    .row_f64 = DispatchRow,
    .plain = Plain,
};

namespace {

constexpr ParameterRule kParameters[] = {{
    .name = "gamma",
    .sentence =
        "width: the larger, the narrower; 1 over the squared distance at which the kernel has fallen to 1/e",
    .initial = "median",
    .width = ParameterRule::Width::kInverse,
    .width_of = &kSquaredDistanceQuantity,
}};

KernelParameters OnUnitRange(const KernelParameters& parameters, double half) {
  return {parameters[0] * half * half};
}

// Let f(s) = exp(-g (s-t)^2) - 1. |f| is at most exp(g b^2) + 1 and, because |e^w - 1| <= |w| e^|w|, at most
// w e^w with w = g (a+1)^2.
Index Terms(const KernelParameters& parameters, double error) {
  const double g = parameters[0];
  return TermsWithin(error, [g](double a, double b) {
    const double w = g * (a + 1) * (a + 1);
    return std::min(g * b * b + std::log(2.0), std::log(w) + w);  // exp(g b^2) >= 1
  });
}

constexpr SmoothInFeature kInOneFeature = {.on_unit_range = OnUnitRange, .terms = Terms};

}  // namespace

constinit const KernelKind kRbf = {
    .name = "rbf",
    .class_name = "RBF",
    .sentence = "exp(-gamma ||x-z||^2), Gaussian",
    .base = &kSquaredDistanceQuantity,
    .shape = &kExponentialShape,
    .parameters = kParameters,
    .in_one_feature = &kInOneFeature,
};

}  // namespace kweave
#endif  // HWY_ONCE
