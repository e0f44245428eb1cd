#include "kernel/cosine.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cosine.cc"
#include "hwy/foreach_target.h"
// Above: compiles this file once per instruction set.
#include "compute/cpu/finish_row-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kweave {
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Roots first: the product of two squared norms may leave the range of float32.
struct Cosine {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V product, V left_norm, V right_norm) const {
    const V norms = hn::Mul(hn::Sqrt(left_norm), hn::Sqrt(right_norm));
    return hn::IfThenElseZero(hn::Gt(norms, hn::Zero(d)), hn::Div(product, norms));
  }
};

KWEAVE_DEFINE_FINISH_ROWS(Cosine)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace kweave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

KWEAVE_EXPORT_FINISH_ROWS()

double Plain(std::span<const double> x, std::span<const double> z, double) {
  double product = 0, left = 0, right = 0;
  for (std::size_t f = 0; f < x.size(); ++f) {
    product += x[f] * z[f];
    left += x[f] * x[f];
    right += z[f] * z[f];
  }
  const double norms = std::sqrt(left) * std::sqrt(right);
  return norms > 0 ? product / norms : 0;
}

}  // namespace

constinit const BaseQuantity kCosineQuantity = {
    .name = "cosine",
    .source = BaseQuantity::Source::kInnerProduct,
    .finish_f32 = DispatchFinish,
    .finish_f64 = DispatchFinish,
    .plain = Plain,
};

constinit const KernelKind kCosine = {
    .name = "cosine",
    .class_name = "Cosine",
    .sentence = "<x,z> / (||x|| ||z||), 0 for a zero vector",
    .base = &kCosineQuantity,
};

}  // namespace kweave
#endif  // HWY_ONCE
