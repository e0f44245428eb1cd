#include "compute/cpu/feature_matrix.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

namespace kweave {

namespace {

constexpr double kDenseShare = 0.3;     // of all entries, from which on a dense matrix takes less time
constexpr Index kRowsPerPiece = 1024;   // of a loop whose pieces do not meet
constexpr Index kLeastPerThread = 256;  // rows that are worth a thread and a sum of its own
constexpr Index kRowsPerProduct = 256;  // gathered for one matrix product

std::size_t Size(Index n) { return static_cast<std::size_t>(n); }

}  // namespace

void FeatureMatrix::Append(std::span<const std::int32_t> columns, std::span<const double> values) {
  columns_of_.insert(columns_of_.end(), columns.begin(), columns.end());
  values_.insert(values_.end(), values.begin(), values.end());
  offsets_.push_back(static_cast<Index>(values_.size()));
}

void FeatureMatrix::Finish() {
  const double all = static_cast<double>(rows()) * static_cast<double>(columns_);
  if (static_cast<double>(entries()) < kDenseShare * all) return;
  std::vector<double> dense(Size(rows() * columns_), 0.0);
  for (Index i = 0; i < rows(); ++i) {
    for (Index e = offsets_[Size(i)]; e < offsets_[Size(i) + 1]; ++e)
      dense[Size(i * columns_ + columns_of_[Size(e)])] = values_[Size(e)];
  }
  for (Index i = 0; i <= rows(); ++i) offsets_[Size(i)] = i * columns_;
  values_ = std::move(dense);
  columns_of_ = {};
  is_dense_ = true;
}

double FeatureMatrix::Dot(Index row, const double* w) const {
  const Index begin = offsets_[Size(row)], end = offsets_[Size(row) + 1];
  const double* values = values_.data();
  if (is_dense_) return cblas_ddot(static_cast<int>(end - begin), values + begin, 1, w, 1);
  const std::int32_t* columns = columns_of_.data();
  double even = 0, odd = 0;
  Index e = begin;
  for (; e + 1 < end; e += 2) {
    even += values[e] * w[columns[e]];
    odd += values[e + 1] * w[columns[e + 1]];
  }
  if (e < end) even += values[e] * w[columns[e]];
  return even + odd;
}

void FeatureMatrix::AddScaled(Index row, double factor, double* out) const {
  const Index begin = offsets_[Size(row)], end = offsets_[Size(row) + 1];
  if (is_dense_) {
    cblas_daxpy(static_cast<int>(end - begin), factor, values_.data() + begin, 1, out, 1);
    return;
  }
  for (Index e = begin; e < end; ++e) out[columns_of_[Size(e)]] += factor * values_[Size(e)];
}

// Adds up, in this order, what add(begin, end, sum) puts into a zero vector for each of as many pieces as
// there are threads.
template <class Add>
void FeatureMatrix::SumOverPieces(Index count, ThreadPool* pool, std::span<double> out,
                                  const Add& add) const {
  const Index threads = pool == nullptr ? 1 : pool->size();
  const Index pieces = std::clamp<Index>(count / kLeastPerThread, 1, threads);
  if (pieces == 1) {
    add(Index{0}, count, out.data());
    return;
  }
  std::vector<double> sums(Size(pieces - 1) * out.size(), 0.0);
  pool->ParallelFor(pieces, 1, [&](Index piece, Index, int) {
    double* sum = piece == 0 ? out.data() : sums.data() + Size(piece - 1) * out.size();
    add(piece * count / pieces, (piece + 1) * count / pieces, sum);
  });
  for (std::size_t k = 0; k < sums.size(); ++k) out[k % out.size()] += sums[k];
}

void FeatureMatrix::Multiply(std::span<const double> w, std::span<double> out, ThreadPool* pool) const {
  const auto multiply = [&](Index begin, Index end, int) {
    for (Index i = begin; i < end; ++i) out[Size(i)] = Dot(i, w.data());
  };
  if (pool == nullptr) {
    multiply(0, rows(), 0);
  } else {
    pool->ParallelFor(rows(), kRowsPerPiece, multiply);
  }
}

void FeatureMatrix::MultiplyTransposed(std::span<const double> t, std::span<double> out,
                                       ThreadPool* pool) const {
  std::ranges::fill(out, 0.0);
  SumOverPieces(rows(), pool, out, [&](Index begin, Index end, double* sum) {
    for (Index i = begin; i < end; ++i) {
      if (t[Size(i)] != 0) AddScaled(i, t[Size(i)], sum);
    }
  });
}

void FeatureMatrix::MultiplyTwice(std::span<const Index> rows, std::span<const double> v,
                                  std::span<const double> w, std::span<double> out, ThreadPool* pool) const {
  std::ranges::fill(out, 0.0);
  SumOverPieces(static_cast<Index>(rows.size()), pool, out, [&](Index begin, Index end, double* sum) {
    for (Index k = begin; k < end; ++k)
      AddScaled(rows[Size(k)], v[Size(k)] * Dot(rows[Size(k)], w.data()), sum);
  });
}

void FeatureMatrix::AddSparseSelf(Index row, double factor, double* out) const {
  const Index begin = offsets_[Size(row)], end = offsets_[Size(row) + 1];
  for (Index a = begin; a < end; ++a) {
    const double value = factor * values_[Size(a)];
    double* to = out + columns_of_[Size(a)] * columns_;
    for (Index b = begin; b <= a; ++b) to[columns_of_[Size(b)]] += value * values_[Size(b)];
  }
}

void FeatureMatrix::AddDenseSelf(std::span<const Index> rows, std::span<const double> v,
                                 std::span<double> out) const {
  const int width = static_cast<int>(columns_);
  std::vector<double> gathered(Size(std::min(kRowsPerProduct, static_cast<Index>(rows.size())) * columns_));
  for (std::size_t first = 0; first < rows.size(); first += Size(kRowsPerProduct)) {
    const std::size_t count = std::min(rows.size() - first, Size(kRowsPerProduct));
    for (std::size_t k = 0; k < count; ++k) {
      const double root = std::sqrt(v[first + k]);
      const double* from = values_.data() + rows[first + k] * columns_;
      std::transform(from, from + columns_, gathered.data() + k * Size(columns_),
                     [root](double value) { return root * value; });
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, width, static_cast<int>(count), 1, gathered.data(),
                width, 1, out.data(), width);
  }
}

void FeatureMatrix::AddSelfProduct(std::span<const Index> rows, std::span<const double> v,
                                   std::span<double> out, ThreadPool* pool) const {
  if (is_dense_) {
    AddDenseSelf(rows, v, out);
    return;
  }
  SumOverPieces(static_cast<Index>(rows.size()), pool, out, [&](Index begin, Index end, double* sum) {
    for (Index k = begin; k < end; ++k) AddSparseSelf(rows[Size(k)], v[Size(k)], sum);
  });
}

void FeatureMatrix::SelfDiagonal(std::span<const Index> rows, std::span<const double> v,
                                 std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Index begin = offsets_[Size(rows[k])], end = offsets_[Size(rows[k]) + 1];
    for (Index e = begin; e < end; ++e) {
      const Index column = is_dense_ ? e - begin : columns_of_[Size(e)];
      out[Size(column)] += v[k] * values_[Size(e)] * values_[Size(e)];
    }
  }
}

}  // namespace kweave
