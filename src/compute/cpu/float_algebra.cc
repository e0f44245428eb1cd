#include "compute/cpu/float_algebra.h"

#include <cblas.h>

#include <algorithm>
#include <cstddef>

#include "compute/cpu/blas_threads.h"

// LAPACK's factorisation; OpenBLAS holds it, but its package brings no C header for it.
extern "C" void spotrf_(const char* triangle, const int* n, float* matrix, const int* stride, int* info);

namespace kweave {

namespace {
constexpr int kFactorBlock = 1024;  // columns: a few tenths of a second with 20,000 rows
}

bool FactorCholesky(std::span<float> matrix, int n, const std::function<bool()>& proceed) {
  const ThreadedBlas threads(n);
  const auto at = [&](int i, int j) { return matrix.data() + static_cast<std::ptrdiff_t>(i) * n + j; };
  for (int begin = 0; begin < n; begin += kFactorBlock) {
    if (!proceed()) return false;
    const int size = std::min(kFactorBlock, n - begin), end = begin + size, rest = n - end;
    int info = 0;
    spotrf_("U", &size, at(begin, begin), &n, &info);  // our lower triangle is LAPACK's upper one
    if (info != 0) return false;
    if (rest == 0) break;
    cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rest, size, 1.0F,
                at(begin, begin), n, at(end, begin), n);
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, rest, size, -1.0F, at(end, begin), n, 1.0F,
                at(end, end), n);
  }
  return true;
}

void SolveLower(std::span<const float> factor, int n, std::span<float> b) {
  cblas_strsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, factor.data(), n, b.data(), 1);
}

void SolveUpper(std::span<const float> factor, int n, std::span<float> b) {
  cblas_strsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, factor.data(), n, b.data(), 1);
}

void SolveLower(std::span<const float> factor, int n, std::span<float> b, int k) {
  const ThreadedBlas threads(n);
  cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, k, 1.0F, factor.data(), n,
              b.data(), k);
}

void MultiplySymmetric(std::span<const float> matrix, int n, std::span<const float> x, std::span<float> y) {
  const ThreadedBlas threads(n);
  cblas_ssymv(CblasRowMajor, CblasLower, n, 1.0F, matrix.data(), n, x.data(), 1, 0.0F, y.data(), 1);
}

void Multiply(std::span<const float> b, int n, int k, std::span<const float> x, std::span<float> y) {
  cblas_sgemv(CblasRowMajor, CblasNoTrans, n, k, 1.0F, b.data(), k, x.data(), 1, 0.0F, y.data(), 1);
}

void MultiplyTransposed(std::span<const float> b, int n, int k, std::span<const float> x,
                        std::span<float> y) {
  cblas_sgemv(CblasRowMajor, CblasTrans, n, k, 1.0F, b.data(), k, x.data(), 1, 0.0F, y.data(), 1);
}

void AddSelfProduct(std::span<const float> b, int n, int k, std::span<float> out) {
  const ThreadedBlas threads(n);
  cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, k, 1.0F, b.data(), k, 1.0F, out.data(), n);
}

}  // namespace kweave
