// Solves     rows and derivatives of the product of Gaussians with learned widths,
//            K(theta) = prod_m exp(-theta_m gamma_m D_m) = exp(-sum_f w_f (x_f - z_f)^2),
//            D_m the squared distance on the features of kernel m (one, some, or all of a view).
// Method     a weight w_f = sum of theta_m gamma_m over the kernels on feature f turns all distances into
//            one: features times sqrt(w_f) go into one matrix product, whatever the number of kernels, and
//            features without weight are left out. The derivatives by all w_f follow from V_ij = a_i a_j K_ij
//            and its row sums r, again by a matrix product: sum_ij V_ij (x_if - x_jf)^2 = 2 sum_i x_if (r_i
//            x_if - (V X)_if).
// Takes and  as Gram. Values lack 1, the constant that rows leave out.
// returns
// Holds      one copy of the features, dense; never a matrix per kernel.
// Costs      a row: n times the features with weight, and n exponentials; derivatives: the same for the
//            support of a only, times two.
#ifndef KWEAVE_GRAM_PRODUCT_GRAM_H_
#define KWEAVE_GRAM_PRODUCT_GRAM_H_

#include <memory>
#include <span>

#include "base/threads.h"
#include "gram/gram.h"
#include "kernel/kernel_set.h"

namespace kweave {

/// The product of the kernels of a set, which must be Gaussian; throws Error(kUsage), naming one, where they
/// are not. `views` are those of KernelSet::views, in that order, and may go away. `use_float`: features and
/// values in float32.
std::unique_ptr<Gram> MakeProductGram(const KernelSet& kernels, std::span<const View> views, bool use_float,
                                      ThreadPool& pool);

}  // namespace kweave

#endif  // KWEAVE_GRAM_PRODUCT_GRAM_H_
