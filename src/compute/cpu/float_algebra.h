// Products and factors of dense matrices in single precision, for solvers that only need them roughly right.
#ifndef KWEAVE_COMPUTE_CPU_FLOAT_ALGEBRA_H_
#define KWEAVE_COMPUTE_CPU_FLOAT_ALGEBRA_H_

#include <functional>
#include <span>

namespace kweave {

/// Overwrites the lower triangle of a symmetric n x n matrix (row after row) by its Cholesky factor R, A = R
/// R'. False, with the matrix overwritten, when it is not positive definite. Goes by blocks of columns;
/// `proceed` is asked between them, and when it says no the result is false, too.
bool FactorCholesky(std::span<float> matrix, int n, const std::function<bool()>& proceed);

/// Overwrites b by R^-1 b.
void SolveLower(std::span<const float> factor, int n, std::span<float> b);

/// Overwrites b by R'^-1 b.
void SolveUpper(std::span<const float> factor, int n, std::span<float> b);

/// Overwrites the n x k matrix B (row after row) by R^-1 B.
void SolveLower(std::span<const float> factor, int n, std::span<float> b, int k);

/// y = A x for a symmetric n x n matrix A, of which only the lower triangle is read.
void MultiplySymmetric(std::span<const float> matrix, int n, std::span<const float> x, std::span<float> y);

/// y = B x for the n x k matrix B (row after row).
void Multiply(std::span<const float> b, int n, int k, std::span<const float> x, std::span<float> y);

/// y = B' x for the n x k matrix B (row after row).
void MultiplyTransposed(std::span<const float> b, int n, int k, std::span<const float> x, std::span<float> y);

/// Adds the lower triangle of B B' for the n x k matrix B (row after row) to the n x n matrix out.
void AddSelfProduct(std::span<const float> b, int n, int k, std::span<float> out);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_FLOAT_ALGEBRA_H_
