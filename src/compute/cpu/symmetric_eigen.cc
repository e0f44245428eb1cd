#include "compute/cpu/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/cpu/blas_threads.h"

// OpenBLAS holds LAPACK, but its package brings no C header for it.
extern "C" void dsyev_(const char* job, const char* triangle, const int* n, double* matrix, const int* stride,
                       double* values, double* work, const int* work_size, int* info);

namespace kweave {

SymmetricEigen::SymmetricEigen(std::span<const double> matrix, std::size_t size)
    : values(size), vectors(size, std::vector<double>(size, 0.0)) {
  if (size == 0) return;
  const auto n = static_cast<int>(size);
  const ThreadedBlas threads(n);
  std::vector<double> columns(matrix.begin(), matrix.end()), ascending(size);
  const auto is_finite = [](double value) { return std::isfinite(value); };
  int info = std::ranges::all_of(columns, is_finite) ? 0 : 1;
  if (info == 0) {
    // Columns for rows: our lower triangle is LAPACK's upper one. The first call asks how much room the
    // second needs.
    double wanted = 0;
    int room = -1;
    dsyev_("V", "U", &n, columns.data(), &n, ascending.data(), &wanted, &room, &info);
    room = static_cast<int>(wanted);
    std::vector<double> work(static_cast<std::size_t>(room));
    dsyev_("V", "U", &n, columns.data(), &n, ascending.data(), work.data(), &room, &info);
  }
  if (info != 0) {
    std::ranges::fill(values, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  for (std::size_t k = 0; k < size; ++k) {
    const std::span<const double> column(columns.data() + (size - 1 - k) * size, size);
    const auto largest = std::ranges::max_element(column, {}, [](double x) { return std::abs(x); });
    const double sign = *largest < 0 ? -1 : 1;
    values[k] = ascending[size - 1 - k];
    std::ranges::transform(column, vectors[k].begin(), [sign](double x) { return sign * x; });
  }
}

}  // namespace kweave
