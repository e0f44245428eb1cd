#include "kernel/tanimoto.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/tanimoto.cc"
#include "hwy/foreach_target.h"
// Above: compiles this file once per instruction set.
#include "compute/cpu/finish_row-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kweave {
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Tanimoto {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V product, V left_norm, V right_norm) const {
    const V denominator = hn::Sub(hn::Add(left_norm, right_norm), product);
    const V ratio = hn::Div(product, denominator);
    return hn::IfThenElse(hn::Gt(denominator, hn::Zero(d)), ratio, hn::Set(d, 1));
  }
};

KWEAVE_DEFINE_FINISH_ROWS(Tanimoto)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace kweave
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {
namespace {

KWEAVE_EXPORT_FINISH_ROWS()

double Plain(std::span<const double> x, std::span<const double> z, double) {
  double product = 0, norms = 0;
  for (std::size_t f = 0; f < x.size(); ++f) {
    product += x[f] * z[f];
    norms += x[f] * x[f] + z[f] * z[f];
  }
  return norms > product ? product / (norms - product) : 1;
}

}  // namespace

constinit const BaseQuantity kTanimotoQuantity = {
    .name = "Tanimoto similarity",
    .source = BaseQuantity::Source::kInnerProduct,
    .finish_f32 = DispatchFinish,
    .finish_f64 = DispatchFinish,
    .plain = Plain,
};

constinit const KernelKind kTanimoto = {
    .name = "tanimoto",
    .class_name = "Tanimoto",
    .sentence = "<x,z> / (||x||^2 + ||z||^2 - <x,z>), 1 for two zero vectors",
    .base = &kTanimotoQuantity,
};

}  // namespace kweave
#endif  // HWY_ONCE
