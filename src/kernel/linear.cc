#include "kernel/linear.h"

#include <numeric>

namespace kweave {
namespace {

double Plain(std::span<const double> x, std::span<const double> z, double) {
  return std::inner_product(x.begin(), x.end(), z.begin(), 0.0);
}

}  // namespace

constinit const BaseQuantity kInnerProductQuantity = {
    .name = "inner product",
    .source = BaseQuantity::Source::kInnerProduct,
    .plain = Plain,
};

constinit const KernelKind kLinear = {
    .name = "linear",
    .class_name = "Linear",
    .sentence = "<x,z>",
    .base = &kInnerProductQuantity,
};

}  // namespace kweave
