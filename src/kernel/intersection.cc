#include "kernel/intersection.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/intersection.cc"
#include "hwy/foreach_target.h"
// Above: compiles this file once per instruction set.
#include "compute/cpu/additive_row-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kweave {
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Minimum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V z) const {
    return hn::Min(x, z);
  }
  template <class D, class V>
  HWY_INLINE V AtZero(D d, V) const {
    return hn::Zero(d);
  }
};

KWEAVE_DEFINE_ADDITIVE_ROWS(Minimum)

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
  for (std::size_t f = 0; f < x.size(); ++f) sum += std::min(x[f], z[f]);
  return sum;
}

}  // namespace

constinit const BaseQuantity kMinimumSumQuantity = {
    .name = "sum of minima",
    .source = BaseQuantity::Source::kFeatures,
    .needs_nonnegative_features = true,
    .row_f32 = DispatchRow,
    .row_f64 = DispatchRow,
    .plain = Plain,
};

constinit const KernelKind kIntersection = {
    .name = "intersection",
    .class_name = "Intersection",
    .sentence = "sum min(x,z), histogram intersection, for features >= 0",
    .base = &kMinimumSumQuantity,
};

}  // namespace kweave
#endif  // HWY_ONCE
