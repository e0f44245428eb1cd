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

void FinishF32(float* values, Index count, float squared_norm, const float* squared_norms) {
  cpu::HWY_NAMESPACE::FinishRow(SquaredDistance(), values, count, squared_norm, squared_norms);
}

void FinishF64(double* values, Index count, double squared_norm, const double* squared_norms) {
  cpu::HWY_NAMESPACE::FinishRow(SquaredDistance(), values, count, squared_norm, squared_norms);
}

/// For few features: no cancellation, no matrix product.
struct SquaredDifference {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V z) const {
    const V difference = hn::Sub(x, z);
    return hn::Mul(difference, difference);
  }
};

void RowF32(const float* x, const float* right, Index features, Index stride, Index count, float* out) {
  cpu::HWY_NAMESPACE::AdditiveRow(SquaredDifference(), x, right, features, stride, count, out);
}

void RowF64(const double* x, const double* right, Index features, Index stride, Index count, double* out) {
  cpu::HWY_NAMESPACE::AdditiveRow(SquaredDifference(), x, right, features, stride, count, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace kweave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

HWY_EXPORT(FinishF32);
HWY_EXPORT(FinishF64);
HWY_EXPORT(RowF32);
HWY_EXPORT(RowF64);

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
    .finish_f32 =
        [](float* values, Index count, float squared_norm, const float* squared_norms) {
          return HWY_DYNAMIC_DISPATCH(FinishF32)(values, count, squared_norm, squared_norms);
        },
    .finish_f64 =
        [](double* values, Index count, double squared_norm, const double* squared_norms) {
          return HWY_DYNAMIC_DISPATCH(FinishF64)(values, count, squared_norm, squared_norms);
        },
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

constinit const KernelKind kRbf = {
    .name = "rbf",
    .sentence = "exp(-gamma ||x-z||^2), Gaussian",
    .base = &kSquaredDistanceQuantity,
    .shape = Shape::kExponential,
    .default_gamma = "median",
};

}  // namespace kweave
#endif  // HWY_ONCE
