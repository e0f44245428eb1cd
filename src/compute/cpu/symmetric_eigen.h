#ifndef KWEAVE_COMPUTE_CPU_SYMMETRIC_EIGEN_H_
#define KWEAVE_COMPUTE_CPU_SYMMETRIC_EIGEN_H_

#include <cstddef>
#include <span>
#include <vector>

namespace kweave {

/// All eigenvalues, largest first, and unit eigenvectors of a symmetric matrix, by LAPACK. Values that are
/// not finite give eigenvalues that are not numbers.
struct SymmetricEigen {
  /// `matrix` holds n rows of n values, of which the lower triangle is read.
  SymmetricEigen(std::span<const double> matrix, std::size_t size);

  std::vector<double> values;
  /// vectors[k] belongs to values[k]; its largest entry is positive.
  std::vector<std::vector<double>> vectors;
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_SYMMETRIC_EIGEN_H_
