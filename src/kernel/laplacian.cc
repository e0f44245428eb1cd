#include "kernel/laplacian.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/laplacian.cc"
#include "hwy/foreach_target.h"
// Above: compiles this file once per instruction set.
#include "compute/cpu/additive_row-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kweave {
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct AbsoluteDifference {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V z) const {
    return hn::Abs(hn::Sub(x, z));
  }
  template <class D, class V>
  HWY_INLINE V AtZero(D, V z) const {
    return hn::Abs(z);
  }
};

KWEAVE_DEFINE_ADDITIVE_ROWS(AbsoluteDifference)

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
  for (std::size_t f = 0; f < x.size(); ++f) sum += std::abs(x[f] - z[f]);
  return sum;
}

}  // namespace

constinit const BaseQuantity kL1DistanceQuantity = {
    .name = "l1 distance",
    .source = BaseQuantity::Source::kFeatures,
    .is_translation_invariant = true,
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
    .initial = "auto",
    .width = ParameterRule::Width::kInverse,
    .width_of = &kL1DistanceQuantity,
}};

}  // namespace

constinit const KernelKind kLaplacian = {
    .name = "laplacian",
    .class_name = "Laplacian",
    .sentence = "exp(-gamma ||x-z||_1)",
    .base = &kL1DistanceQuantity,
    .shape = &kExponentialShape,
    .parameters = kParameters,
};

}  // namespace kweave
#endif  // HWY_ONCE
