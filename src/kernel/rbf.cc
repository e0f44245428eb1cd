#include "kernel/rbf.h"

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
  HWY_INLINE V operator()(D d, V product, V norms) const {
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

double Plain(std::span<const double> x, std::span<const double> z) {
  double sum = 0;
  for (std::size_t f = 0; f < x.size(); ++f) sum += (x[f] - z[f]) * (x[f] - z[f]);
  return sum;
}

}  // namespace

constinit const BaseQuantity kSquaredDistanceQuantity = {
    .name = "squared distance",
    .source = BaseQuantity::Source::kInnerProduct,
    .is_translation_invariant = true,
    .finish_f32 = DispatchFinish,
    .finish_f64 = DispatchFinish,
    .row_f32 = DispatchRow,
    .row_f64 = DispatchRow,
    .plain = Plain,
};

constinit const KernelKind kRbf = {
    .name = "rbf",
    .sentence = "exp(-gamma ||x-z||^2), Gaussian",
    .base = &kSquaredDistanceQuantity,
    .shape = Shape::kExponential,
    .default_gamma = "median",
};

}  // namespace kweave
#endif  // HWY_ONCE
