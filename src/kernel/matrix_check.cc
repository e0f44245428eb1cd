#include "kernel/matrix_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/dot.h"
#include "base/random.h"
#include "data/matrix_file.h"
#include "kweave/error.h"

namespace kweave {
namespace {

// Of spectra of 1,000 eigenvalues (even, exponential, 1/k) with one below zero, so many steps find one of
// -1e-2 of the largest in all and -1e-3 in some; 15 find it in one.
constexpr int kLanczosSteps = 30;
// Taken whatever they cost, as many matrices are no reason to know less of each: ten find an eigenvalue a
// fifth as far below zero as the others are above it, and learning passes over every matrix more often.
constexpr int kLeastSteps = 10;
constexpr double kLanczosBudget = 5e8;  // multiply-adds over all files, about a quarter of a second a core
// Of the largest product, for symmetry, and of the largest eigenvalue, for negative ones: matrices are often
// stored in float32.
constexpr double kTolerance = 1e-5;

using Vector = std::vector<double>;

// Calls visit(i, row, thread) for all rows from all threads, a block of them read at a time.
using Visit = std::function<void(Index, std::span<const double>, int)>;
void ForEachRow(const MatrixFile& matrix, ThreadPool& pool, const Visit& visit) {
  const Index n = matrix.cols();
  // Pages of files are given back after each block, which should hold many; what is in memory stays in the
  // cache.
  const Index block_values = Index{1} << (matrix.is_mapped() ? 18 : 15);
  const Index block = std::clamp<Index>(block_values / n, 1, matrix.rows());
  pool.ParallelFor(matrix.rows(), block, [&](Index begin, Index end, int thread) {
    thread_local Vector buffer;
    buffer.resize((end - begin) * n);
    matrix.Rows(begin, end - begin, buffer.data(), n);
    for (Index i = begin; i < end; ++i) visit(i, std::span(buffer).subspan((i - begin) * n, n), thread);
    matrix.Release(begin, end - begin);
  });
}

void CheckShape(const MatrixFile& matrix, Index samples, std::string_view unit) {
  if (matrix.rows() == samples && matrix.cols() == samples) return;
  throw Error(ErrorKind::kData,
              fmt::format("{}: {} x {} values, expected {} x {}, one row and column per {}", matrix.name(),
                          matrix.rows(), matrix.cols(), samples, samples, unit));
}

void CheckFiniteRow(const MatrixFile& matrix, Index i, std::span<const double> row) {
  const auto bad = std::ranges::find_if(row, [](double v) { return !std::isfinite(v); });
  if (bad == row.end()) return;
  throw Error(ErrorKind::kData,
              fmt::format("{}: row {}, column {}: {} is not a finite number", matrix.name(),
                          matrix.RowNumber(i), matrix.ColumnNumber(bad - row.begin()), *bad));
}

// Row `i` of an asymmetric matrix differs most from column `i`: says where.
[[noreturn]] void RefuseAsymmetry(const MatrixFile& matrix, Index i, ThreadPool& pool) {
  Vector row(matrix.cols()), column(matrix.cols());
  ForEachRow(matrix, pool, [&](Index r, std::span<const double> values, int) {
    column[r] = values[i];
    if (r == i) std::ranges::copy(values, row.begin());
  });
  Index j = 0;
  for (Index k = 0; k < matrix.cols(); ++k) {
    if (std::abs(row[k] - column[k]) > std::abs(row[j] - column[j])) j = k;
  }
  throw Error(ErrorKind::kData,
              fmt::format("{}: not symmetric: {} at row {}, column {}, but {} at row {}, column {}",
                          matrix.name(), row[j], matrix.RowNumber(i), matrix.ColumnNumber(j), column[j],
                          matrix.RowNumber(j), matrix.ColumnNumber(i)));
}

// Returns K u after comparing it with K' u.
Vector CheckSymmetry(const MatrixFile& matrix, std::span<const double> u, ThreadPool& pool) {
  const Index n = matrix.cols();
  Vector product(n), transposed(n);
  double largest = 0;  // of the sums of absolute values that the products are rounded from
  std::vector<Vector> share(static_cast<std::size_t>(pool.size()), Vector(n));  // of K' u, by thread
  Vector largest_share(share.size());
  ForEachRow(matrix, pool, [&](Index i, std::span<const double> row, int thread) {
    double sum = 0, size = 0;
    Vector& mine = share[static_cast<std::size_t>(thread)];
    for (Index j = 0; j < n; ++j) {
      sum += row[j] * u[j];
      size += std::abs(row[j] * u[j]);
      mine[j] += u[i] * row[j];
    }
    if (!std::isfinite(size)) CheckFiniteRow(matrix, i, row);
    product[i] = sum;
    double& most = largest_share[static_cast<std::size_t>(thread)];
    most = std::max(most, size);
  });
  for (std::size_t thread = 0; thread < share.size(); ++thread) {
    for (Index j = 0; j < n; ++j) transposed[j] += share[thread][j];
    largest = std::max(largest, largest_share[thread]);
  }
  Index worst = 0;
  for (Index i = 0; i < n; ++i) {
    if (std::abs(product[i] - transposed[i]) > std::abs(product[worst] - transposed[worst])) worst = i;
  }
  if (std::abs(product[worst] - transposed[worst]) > kTolerance * largest / std::sqrt(n)) {
    RefuseAsymmetry(matrix, worst, pool);
  }
  return product;
}

// K u from the upper triangle of a symmetric K: half of it is read, and memory is what such a product waits
// for.
void MultiplySymmetric(const MatrixFile& matrix, std::span<const double> u, ThreadPool& pool,
                       Vector& product) {
  const Index n = matrix.cols();
  std::vector<Vector> share(static_cast<std::size_t>(pool.size()), Vector(n));  // of K u, by thread
  const Index block = std::clamp<Index>((Index{1} << 18) / n, 1, n);
  pool.ParallelFor(n, block, [&](Index begin, Index end, int thread) {
    thread_local Vector row;
    row.resize(n);
    double* const mine = share[static_cast<std::size_t>(thread)].data();
    for (Index i = begin; i < end; ++i) {
      matrix.RowPart(i, i, n, row.data());
      mine[i] += Dot(std::span(row).first(n - i), u.subspan(i));
      const double own = u[i];
      for (Index j = i + 1; j < n; ++j) mine[j] += own * row[j - i];
    }
    matrix.Release(begin, end - begin);
  });
  std::ranges::fill(product, 0.0);
  for (const Vector& one : share) {
    for (Index j = 0; j < n; ++j) product[j] += one[j];
  }
}

// Eigenvalues below `x` of the symmetric tridiagonal matrix (Sturm sequence).
int CountBelow(const Vector& diagonal, const Vector& off_diagonal, double x) {
  int count = 0;
  double pivot = 1;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    const double coupling = k == 0 ? 0 : off_diagonal[k - 1] * off_diagonal[k - 1];
    pivot = diagonal[k] - x - coupling / pivot;
    if (pivot == 0) pivot = 1e-300;
    if (pivot < 0) ++count;
  }
  return count;
}

// The k-th smallest eigenvalue (from 0) by bisection.
double TridiagonalEigenvalue(const Vector& diagonal, const Vector& off_diagonal, int k) {
  double low = 0, high = 0;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double radius = (i > 0 ? std::abs(off_diagonal[i - 1]) : 0) +
                          (i < off_diagonal.size() ? std::abs(off_diagonal[i]) : 0);
    low = std::min(low, diagonal[i] - radius);
    high = std::max(high, diagonal[i] + radius);
  }
  for (int step = 0; step < 100 && low < high; ++step) {
    const double middle = low + (high - low) / 2;
    (CountBelow(diagonal, off_diagonal, middle) > k ? high : low) = middle;
  }
  return low + (high - low) / 2;
}

// Ritz values after some Lanczos steps with full reorthogonalisation: both ends lie inside the spectrum.
// `product` is K u, which spares the first step its pass.
MatrixCheck BoundSpectrum(const MatrixFile& matrix, Vector u, Vector product, int steps, ThreadPool& pool) {
  const double norm = std::sqrt(Dot(u, u));
  for (double& value : u) value /= norm;
  for (double& value : product) value /= norm;
  std::vector<Vector> basis{std::move(u)};
  Vector diagonal, off_diagonal;
  for (int step = 0; step < steps; ++step) {
    if (step > 0) MultiplySymmetric(matrix, basis.back(), pool, product);
    diagonal.push_back(Dot(product, basis.back()));
    for (int pass = 0; pass < 2; ++pass) {
      for (const Vector& q : basis) {
        const double part = Dot(product, q);
        for (std::size_t i = 0; i < q.size(); ++i) product[i] -= part * q[i];
      }
    }
    const double residual = std::sqrt(Dot(product, product));
    if (step + 1 == steps || residual <= 1e-12 * std::abs(diagonal.front())) break;
    off_diagonal.push_back(residual);
    basis.push_back(product);
    for (double& value : basis.back()) value /= residual;
  }
  MatrixCheck check;
  check.smallest_eigenvalue = TridiagonalEigenvalue(diagonal, off_diagonal, 0);
  check.largest_eigenvalue =
      TridiagonalEigenvalue(diagonal, off_diagonal, static_cast<int>(diagonal.size()) - 1);
  const double size = std::max(std::abs(check.smallest_eigenvalue), std::abs(check.largest_eigenvalue));
  check.is_indefinite = check.smallest_eigenvalue < -kTolerance * size;
  return check;
}

MatrixCheck CheckMatrix(const MatrixSource& source, Index samples, int steps, ThreadPool& pool,
                        std::string_view unit, std::uint64_t seed) {
  const MatrixFile matrix = source.Open();
  CheckShape(matrix, samples, unit);
  Random random(seed);
  Vector u(samples);
  for (double& value : u) value = 2 * random.Uniform() - 1;
  Vector product = CheckSymmetry(matrix, u, pool);
  return BoundSpectrum(matrix, std::move(u), std::move(product), steps, pool);
}

}  // namespace

std::vector<MatrixCheck> CheckKernelMatrices(std::span<const MatrixSource> sources, Index samples,
                                             ThreadPool& pool, std::string_view unit, std::uint64_t seed) {
  std::vector<MatrixCheck> checks(sources.size());
  const double per_step = static_cast<double>(samples) * static_cast<double>(samples) * sources.size();
  const int affordable = static_cast<int>(std::min<double>(kLanczosSteps, kLanczosBudget / per_step));
  const int steps = static_cast<int>(std::min<Index>(std::max(affordable, kLeastSteps), samples));
  for (std::size_t f = 0; f < sources.size(); ++f)
    checks[f] = CheckMatrix(sources[f], samples, steps, pool, unit, seed);
  return checks;
}

}  // namespace kweave
