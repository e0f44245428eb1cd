#include "compute/cpu/cholesky.h"

#include <cblas.h>

#include <cstddef>

#include "compute/cpu/blas_threads.h"

// LAPACK's factorisation and inverse; OpenBLAS holds them, but its package brings no C header for them.
extern "C" void dpotrf_(const char* triangle, const int* n, double* matrix, const int* stride, int* info);
extern "C" void dtrtri_(const char* triangle, const char* diagonal, const int* n, double* matrix,
                        const int* stride, int* info);

namespace kweave {

bool FactorCholesky(std::span<double> matrix, int n) {
  // Columns for rows: our lower triangle is LAPACK's upper one.
  const ThreadedBlas threads(n);
  int info = 0;
  dpotrf_("U", &n, matrix.data(), &n, &info);
  return info == 0;
}

void SolveLower(std::span<const double> factor, int n, std::span<double> b, int k) {
  const ThreadedBlas threads(k > 1 ? n : 0);
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, k, 1.0, factor.data(), n,
              b.data(), k);
}

void SolveUpper(std::span<const double> factor, int n, std::span<double> b, int k) {
  const ThreadedBlas threads(k > 1 ? n : 0);
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, n, k, 1.0, factor.data(), n,
              b.data(), k);
}

void InvertLower(std::span<double> factor, int n) {
  const ThreadedBlas threads(n);
  int info = 0;
  dtrtri_("U", "N", &n, factor.data(), &n, &info);
}

void MultiplyTransposed(std::span<const double> b, int n, int k, std::span<double> out) {
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, k, n, 1.0, b.data(), k, 0.0, out.data(), k);
  const auto size = static_cast<std::size_t>(k);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) out[j * size + i] = out[i * size + j];
  }
}

void AddSymmetricProduct(std::span<const double> matrix, int n, std::span<const double> x,
                         std::span<double> y) {
  cblas_dsymv(CblasRowMajor, CblasLower, n, 1.0, matrix.data(), n, x.data(), 1, 1.0, y.data(), 1);
}

}  // namespace kweave
