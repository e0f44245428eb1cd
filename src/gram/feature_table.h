// Kernels on a single feature as sums of products of Chebyshev polynomials in its two values.
//
// Solves: for all members m, k_m(x,z) - shift = sum_{a,b < terms_m} A_ab T_a(s) T_b(t) + e_m, where s and t are the images on
//   [-1,1] of x and z, and the shift is 1 for Gaussians (which keep their digits so), else 0.
// Method: interpolation at Chebyshev nodes in x and in z, as many nodes as terms.
// Takes and returns: the shape and its parameters, the range of the feature and the error wanted;
//   the matrices A and a bound on every |e_m|.
// Holds: let g = gamma h^2 with h half the length of the range, so that the kernel is f(s) = exp(-g (s-t)^2) - 1. On the
//   Bernstein ellipse with parameter rho, whose half axes are a = (rho + 1/rho)/2 and b = (rho - 1/rho)/2, |f| is at most
//   F = exp(g b^2) + 1 and, because |e^w - 1| <= |w| e^|w|, at most w e^w with w = g (a+1)^2. Interpolation by N nodes in s errs
//   by at most 4 F rho^(1-N) / (rho - 1) (any rho > 1). The second interpolation, in t, errs by as much, and multiplies
//   what the first one errs by no more than the Lebesgue constant 1 + 2/pi log(N).
//   A polynomial is its own interpolation at one node more than its degree.
// Costs: terms^3 operations for every matrix, once. Gaussians of equal g share theirs: h is rounded up so that few g occur.
#ifndef KWEAVE_GRAM_FEATURE_TABLE_H_
#define KWEAVE_GRAM_FEATURE_TABLE_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernel/kernel_kind.h"
#include "kweave/dataset.h"

namespace kweave {

struct FeatureTable {
  using Matrix = std::vector<double>;  // A, row after row
  struct Member {
    Index terms = 0;
    std::shared_ptr<const Matrix> matrix;
    double error = 0;
  };
  double center = 0;  ///< the image of x is slope (x - center)
  double slope = 1;
  double shift = 0;
  Index terms = 0;  ///< of the longest member
  std::vector<Member> members;
};

/// Matrices of Gaussians by g, for the tables of many features to one error.
using GaussianMatrices = std::map<double, FeatureTable::Member>;

/// The table without its matrices. Nothing when a member would need more than `most_terms` terms, or all of them more than `most_entries` entries.
/// `relative_error` is relative to the range of each member.
std::optional<FeatureTable> MeasureFeatureTable(Shape shape, std::span<const KernelParameters> members,
                                                double low, double high, double relative_error,
                                                Index most_terms, Index most_entries,
                                                GaussianMatrices& matrices);

/// All of it.
std::optional<FeatureTable> FitFeatureTable(Shape shape, std::span<const KernelParameters> members,
                                            double low, double high, double relative_error, Index most_terms,
                                            Index most_entries, GaussianMatrices& matrices);

}  // namespace kweave

#endif  // KWEAVE_GRAM_FEATURE_TABLE_H_
