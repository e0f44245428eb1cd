// Kernels on a single feature as sums of products of Chebyshev polynomials in its two values.
//
// Solves: for all members m, k_m(x,z) - shift = sum_{a,b < terms_m} A_ab T_a(s) T_b(t) + e_m, where s and t
//   are the images on [-1,1] of x and z, and the shift is that of the shape.
// Method: interpolation at Chebyshev nodes in x and in z, as many nodes as terms.
// Takes and returns: the kind of kernel and its parameters, the range of the feature and the error wanted;
//   the matrices A and a bound on every |e_m|.
// Holds: the kind says how many terms keep the error (KernelKind::in_one_feature).
// Costs: terms^3 operations for every matrix, once. Where the base quantity does not depend on translation,
//   kernels that are the same on [-1,1] share theirs: half the length of the range is rounded up so that few
//   of them occur.
#ifndef KWEAVE_GRAM_FEATURE_TABLE_H_
#define KWEAVE_GRAM_FEATURE_TABLE_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
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
  double center = 0;  ///< the image of x is (x - center) / half
  double half = 1;
  double shift = 0;
  Index terms = 0;  ///< of the longest member
  std::vector<Member> members;
};

/// Matrices by kind and by parameters on [-1,1], for the tables of many features to one error.
using FeatureMatrices = std::map<std::pair<const KernelKind*, KernelParameters>, FeatureTable::Member>;

/// The table without its matrices. Nothing when a member would need more than `most_terms` terms, or all of
/// them more than `most_entries` entries. `relative_error` is relative to the range of each member.
std::optional<FeatureTable> MeasureFeatureTable(const KernelKind& kind,
                                                std::span<const KernelParameters> members, double low,
                                                double high, double relative_error, Index most_terms,
                                                Index most_entries, FeatureMatrices& matrices);

/// Adds the matrices to a table of the same members.
void FillFeatureTable(const KernelKind& kind, std::span<const KernelParameters> members, FeatureTable& table,
                      FeatureMatrices& matrices);

}  // namespace kweave

#endif  // KWEAVE_GRAM_FEATURE_TABLE_H_
