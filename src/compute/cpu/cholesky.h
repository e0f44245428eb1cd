#ifndef KWEAVE_COMPUTE_CPU_CHOLESKY_H_
#define KWEAVE_COMPUTE_CPU_CHOLESKY_H_

#include <span>

namespace kweave {

/// Overwrites the lower triangle of a symmetric n x n matrix (row after row) by its Cholesky factor R, A = R
/// R'. False, with the matrix overwritten, when it is not positive definite.
bool FactorCholesky(std::span<double> matrix, int n);

/// Overwrites the n x k matrix B (row after row) by R^-1 B.
void SolveLower(std::span<const double> factor, int n, std::span<double> b, int k);

/// Overwrites the n x k matrix B (row after row) by R'^-1 B.
void SolveUpper(std::span<const double> factor, int n, std::span<double> b, int k);

/// Overwrites the lower triangle R by its inverse.
void InvertLower(std::span<double> factor, int n);

/// Writes B' B, both triangles, of the n x k matrix B (row after row) to the k x k matrix out.
void MultiplyTransposed(std::span<const double> b, int n, int k, std::span<double> out);

/// Adds A x to y for a symmetric n x n matrix A, of which only the lower triangle is read.
void AddSymmetricProduct(std::span<const double> matrix, int n, std::span<const double> x,
                         std::span<double> y);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_CHOLESKY_H_
