#ifndef KWEAVE_BASE_SYMMETRIC_EIGEN_H_
#define KWEAVE_BASE_SYMMETRIC_EIGEN_H_

#include <cstddef>
#include <span>
#include <vector>

namespace kweave {

/// All eigenvalues, largest first, and unit eigenvectors of a small symmetric matrix: rotations by Jacobi, O(n^3) for each
/// of a few sweeps.
struct SymmetricEigen {
  /// `matrix` holds n rows of n values.
  SymmetricEigen(std::span<const double> matrix, std::size_t size);

  std::vector<double> values;
  std::vector<std::vector<double>>
      vectors;  ///< vectors[k] belongs to values[k]; its largest entry is positive
};

}  // namespace kweave

#endif  // KWEAVE_BASE_SYMMETRIC_EIGEN_H_
