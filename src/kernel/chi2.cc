#include "kernel/chi2.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/chi2.cc"
#include "hwy/foreach_target.h"
// Above: compiles this file once per instruction set.
#include "compute/cpu/additive_row-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kweave {
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Chi2Term {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V z) const {
    const V difference = hn::Sub(x, z), sum = hn::Add(x, z);
    const V ratio = hn::Div(hn::Mul(difference, difference), sum);
    return hn::IfThenElseZero(hn::Gt(sum, hn::Zero(d)), ratio);
  }
  template <class D, class V>
  HWY_INLINE V AtZero(D, V z) const {
    return z;
  }
};

KWEAVE_DEFINE_ADDITIVE_ROWS(Chi2Term)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace kweave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

KWEAVE_EXPORT_ADDITIVE_ROWS()

double Plain(std::span<const double> x, std::span<const double> z, double) {
  double sum = 0;
  for (std::size_t f = 0; f < x.size(); ++f) {
    if (x[f] + z[f] > 0) sum += (x[f] - z[f]) * (x[f] - z[f]) / (x[f] + z[f]);
  }
  return sum;
}

}  // namespace

constinit const BaseQuantity kChi2DistanceQuantity = {
    .name = "chi-squared distance",
    .source = BaseQuantity::Source::kFeatures,
    .needs_nonnegative_features = true,
    .is_zero_on_diagonal = true,
    .grows_with_difference = true,
    .row_f32 = DispatchRow,
    .row_f64 = DispatchRow,
    .plain = Plain,
};

namespace {

constexpr ParameterRule kParameters[] = {{
    .name = "gamma",
    .sentence = "width: the larger, the narrower; 1 over the distance at which the kernel has fallen to 1/e",
    .initial = "1",
    .width = ParameterRule::Width::kInverse,
    .width_of = &kChi2DistanceQuantity,
}};

}  // namespace

constinit const KernelKind kChi2 = {
    .name = "chi2",
    .class_name = "Chi2",
    .sentence = "exp(-gamma sum (x-z)^2/(x+z)), chi-squared, for features >= 0",
    .base = &kChi2DistanceQuantity,
    .shape = &kExponentialShape,
    .parameters = kParameters,
};

}  // namespace kweave
#endif  // HWY_ONCE
