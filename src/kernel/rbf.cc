#include "kernel/rbf.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/rbf.cc"
#include "hwy/foreach_target.h"
// Above: compiles this file once per instruction set.
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

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace kweave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

HWY_EXPORT(FinishF32);
HWY_EXPORT(FinishF64);

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
          HWY_DYNAMIC_DISPATCH(FinishF32)(values, count, squared_norm, squared_norms);
        },
    .finish_f64 =
        [](double* values, Index count, double squared_norm, const double* squared_norms) {
          HWY_DYNAMIC_DISPATCH(FinishF64)(values, count, squared_norm, squared_norms);
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
