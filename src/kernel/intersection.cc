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
};

void RowF32(const float* x, const float* right, Index features, Index stride, Index count, float* out) {
  cpu::HWY_NAMESPACE::AdditiveRow(Minimum(), x, right, features, stride, count, out);
}

void RowF64(const double* x, const double* right, Index features, Index stride, Index count, double* out) {
  cpu::HWY_NAMESPACE::AdditiveRow(Minimum(), x, right, features, stride, count, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace kweave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

HWY_EXPORT(RowF32);
HWY_EXPORT(RowF64);

double Plain(std::span<const double> x, std::span<const double> z) {
  double sum = 0;
  for (std::size_t f = 0; f < x.size(); ++f) sum += std::min(x[f], z[f]);
  return sum;
}

}  // namespace

constinit const BaseQuantity kMinimumSumQuantity = {
    .name = "sum of minima",
    .source = BaseQuantity::Source::kFeatures,
    .needs_nonnegative_features = true,
    .row_f32 =
        [](const float* x, const float* right, Index features, Index stride, Index count, float* out) {
          return HWY_DYNAMIC_DISPATCH(RowF32)(x, right, features, stride, count, out);
        },
    .row_f64 =
        [](const double* x, const double* right, Index features, Index stride, Index count, double* out) {
          return HWY_DYNAMIC_DISPATCH(RowF64)(x, right, features, stride, count, out);
        },
    .plain = Plain,
};

constinit const KernelKind kIntersection = {
    .name = "intersection",
    .sentence = "sum min(x,z), histogram intersection, for features >= 0",
    .base = &kMinimumSumQuantity,
    .shape = Shape::kIdentity,
};

}  // namespace kweave
#endif  // HWY_ONCE
