// Solves         How alike are kernels to each other, and to the labels?
//                A(K, L) = <K, L> / (||K|| ||L||) with Frobenius products; centred: the same of HKH and HLH.
// Method         Kernel-target alignment (Cristianini et al. 2001), centred (Cortes et al. 2012):
//                <HKH, HLH> = <K, L> - 2/n (K1)'(L1) + (1'K1)(1'L1)/n^2, so that one pass over the rows
//                serves both. Label alignments are quadratics: <K, yy'> = y'Ky, and of more columns their
//                sum.
// Takes, returns a Gram whose left and right samples are the same; M x M alignments.
// Holds          Symmetric; diagonal 1 except for a kernel whose (centred) matrix vanishes: 0 there.
// Costs          All rows of all kernels once; n^2 M^2 / 2 multiply-adds.
#ifndef KWEAVE_GRAM_ALIGNMENT_H_
#define KWEAVE_GRAM_ALIGNMENT_H_

#include <span>
#include <vector>

#include "gram/gram.h"

namespace kweave {

/// Frobenius products and means of all kernels of a Gram.
struct KernelMoments {
  Index samples = 0;
  Index kernels = 0;
  std::vector<double> products;           ///< <K_a, K_b>, kernels x kernels
  std::vector<double> centered_products;  ///< <H K_a H, H K_b H>
  std::vector<double> mean_diagonal;
  std::vector<double> mean;
};

/// `block_bytes` bounds the rows held at once.
KernelMoments ComputeMoments(Gram& gram, std::size_t block_bytes);

/// products[a,b] / sqrt(products[a,a] products[b,b]); 0 where a norm vanishes.
std::vector<double> Alignments(std::span<const double> products, Index kernels);

/// Alignment of every kernel with the labels y (+1, -1).
std::vector<double> LabelAlignments(Gram& gram, const KernelMoments& moments, std::span<const double> y);
/// Centred alignment of every kernel with Y Y'. `columns` are those of Y: which samples are of each class, or
/// the signs above, which say the same of two classes.
std::vector<double> CenteredLabelAlignments(Gram& gram, const KernelMoments& moments,
                                            std::vector<std::vector<double>> columns);

}  // namespace kweave

#endif  // KWEAVE_GRAM_ALIGNMENT_H_
