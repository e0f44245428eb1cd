// Solves   outputs sum_m theta_m K_m a and quadratics a' K_m a of very many exponentials of one base
//          quantity, every kernel evaluated, none kept.
// Method   one pass over the pairs of a support sample and any sample. Pairs of two support samples are
//          evaluated once and serve both; all others concern the outputs alone, and only kernels with a
//          weight.
// Takes    the base, gammas and weights; one vector or two.
// Holds    the sums of a batch of rows are its own and are added in order, so threads change nothing.
// Costs    with s support samples of n and k of M weights not zero, s^2 M / 2 + s (n - s) k exponentials, as
//          compute/cpu/grouped_exponentials.h counts them; memory for some batches of n + M sums.
#ifndef KWEAVE_GRAM_DIRECT_MEASURE_H_
#define KWEAVE_GRAM_DIRECT_MEASURE_H_

#include <span>
#include <vector>

#include "base/threads.h"
#include "gram/base_rows.h"

namespace kweave {

/// One vector a over the samples and what is found about it.
struct DirectVector {
  std::span<const double> a;
  std::span<double> outputs;       ///< [j] += sum_i a_i sum_m weights[m] (exp(-gamma_m base(i,j)) - 1)
  std::vector<double> quadratics;  ///< [m] = sum_ij a_i a_j (exp(-gamma_m base(i,j)) - 1)
};

/// For one vector or two. The base of a sample with itself is zero.
void MeasureDirectly(BaseRows<double>& base, std::span<const double> gammas, std::span<const double> weights,
                     std::span<DirectVector> vectors, ThreadPool& pool);

}  // namespace kweave

#endif  // KWEAVE_GRAM_DIRECT_MEASURE_H_
