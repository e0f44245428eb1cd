#ifndef KWEAVE_COMPUTE_CPU_SELF_PRODUCTS_H_
#define KWEAVE_COMPUTE_CPU_SELF_PRODUCTS_H_

#include <span>

#include "kweave/index.h"

namespace kweave {

/// Adds the inner products of `count` vectors of the given length (one after another) to the lower triangle
/// of the count x count matrix `products`.
void AddSelfProducts(std::span<const double> vectors, Index count, Index length, std::span<double> products);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_SELF_PRODUCTS_H_
