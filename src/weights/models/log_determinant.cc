#include "weights/models/log_determinant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "base/constants.h"
#include "base/dot.h"
#include "kweave/error.h"

namespace kweave {

namespace {

constexpr Index kMostSamples = 2000;  // a factor takes n^3 / 3 operations at every new theta: some seconds
constexpr std::size_t kMostTangents = 16;  // those of old thetas bound nothing near the answer

// Overwrites the lower half of a matrix by Cholesky's factor and returns the logarithm of its determinant;
// infinite when the matrix is not positive definite.
double Factorize(std::span<double> matrix, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::span row = matrix.subspan(i * n, n);
    for (std::size_t j = 0; j < i; ++j) {
      const std::span other = matrix.subspan(j * n, n);
      row[j] = (row[j] - Dot(row.first(j), other.first(j))) / other[j];
    }
    const double square = row[i] - Dot(row.first(i), row.first(i));
    if (!(square > 0)) return kInfinity;
    row[i] = std::sqrt(square);
    sum += std::log(square);
  }
  return sum;
}

// Row k of the inverse of Cholesky's factor L, by x L = e_k: the inverse matrix is the sum of x x' over all
// k.
void InverseRow(std::span<const double> factor, std::size_t n, std::size_t k, std::span<double> x) {
  std::ranges::fill(x, 0.0);
  x[k] = 1;
  for (std::size_t i = k + 1; i-- > 0;) {
    x[i] /= factor[i * n + i];
    for (std::size_t j = 0; j < i; ++j) x[j] -= x[i] * factor[i * n + j];
  }
}

std::vector<Index> AllSamples(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

}  // namespace

KernelMatrixFunction MatrixOf(Gram& gram) {
  KernelMatrixFunction matrix;
  matrix.samples = gram.left_count();
  matrix.is_sum = gram.shape().is_sum;
  matrix.fill = [&gram](std::span<const double> theta, std::span<double> out) {
    const std::shared_ptr<const LearnedMatrix> learned = gram.Learn(theta);
    learned->Rows(AllSamples(gram.left_count()), out.data(), gram.left_count());
    for (double& value : out) value += learned->shift();
  };
  matrix.quadratics = [&gram](std::span<const double> theta, std::span<const double> a,
                              std::span<double> quadratics) {
    std::ranges::copy(gram.Answer({.a = a, .theta = theta, .wants_outputs = false}).quadratics,
                      quadratics.begin());
  };
  return matrix;
}

LogDeterminant::LogDeterminant(RegularizerPointer constraint, double mu, double ridge,
                               KernelMatrixFunction matrix)
    : Regularizer({.name = fmt::format("penalty {} on the determinant with {}", mu, constraint->Name()),
                   .is_dual_smooth = false,
                   .dual_degree = 0,
                   .has_projection = true}),
      constraint_(std::move(constraint)),
      mu_(mu),
      ridge_(ridge),
      matrix_(std::move(matrix)) {
  if (!(mu > 0 && std::isfinite(mu)) || !(ridge > 0 && std::isfinite(ridge))) {
    throw Error(ErrorKind::kUsage, fmt::format("penalty {} and ridge {} must be above 0", mu, ridge));
  }
  if (matrix_.samples > kMostSamples) {
    throw Error(ErrorKind::kUsage,
                fmt::format("a determinant of {} samples is too large, expected {} at most", matrix_.samples,
                            kMostSamples));
  }
}

double LogDeterminant::Evaluate(std::span<const double> theta, std::span<double> gradient) const {
  const Tangent& tangent = At(theta);
  for (std::size_t m = 0; m < gradient.size(); ++m) gradient[m] = -mu_ * tangent.traces[m];
  return tangent.value;
}

// -r(theta) <= -r(t) + mu traces' (theta - t) for every tangent at t.
double LogDeterminant::DualTerm(std::span<const double> q) const {
  double smallest = kInfinity;
  if (!matrix_.is_sum) return smallest;
  for (const Tangent& tangent : tangents_) {
    smallest = std::min(smallest, constraint_->DualTerm(Shifted(tangent, q)) - tangent.value -
                                      mu_ * Dot(tangent.traces, tangent.theta));
  }
  return smallest;
}

void LogDeterminant::BestResponse(std::span<const double> q, std::span<double> theta) const {
  if (tangents_.empty()) return constraint_->BestResponse(q, theta);
  constraint_->BestResponse(Shifted(tangents_.back(), q), theta);
}

// q as the constraint sees it along a tangent.
std::vector<double> LogDeterminant::Shifted(const Tangent& tangent, std::span<const double> q) const {
  std::vector<double> shifted(q.begin(), q.end());
  for (std::size_t m = 0; m < shifted.size(); ++m) {
    shifted[m] = std::max(shifted[m], 0.0) + 2 * mu_ * tangent.traces[m];
  }
  return shifted;
}

const LogDeterminant::Tangent& LogDeterminant::At(std::span<const double> theta) const {
  const auto known = std::ranges::find_if(
      tangents_, [&](const Tangent& tangent) { return std::ranges::equal(tangent.theta, theta); });
  if (known != tangents_.end()) return *known;
  const auto n = static_cast<std::size_t>(matrix_.samples);
  std::vector<double> matrix(n * n), row(n), quadratics(theta.size());
  matrix_.fill(theta, matrix);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] += ridge_;
  Tangent tangent{{theta.begin(), theta.end()}, std::vector<double>(theta.size(), 0.0), 0};
  tangent.value = -mu_ * Factorize(matrix, n);
  for (std::size_t k = 0; k < n; ++k) {
    InverseRow(matrix, n, k, row);
    matrix_.quadratics(theta, row, quadratics);
    for (std::size_t m = 0; m < theta.size(); ++m) tangent.traces[m] += quadratics[m];
  }
  if (tangents_.size() == kMostTangents) tangents_.pop_front();
  tangents_.push_back(std::move(tangent));
  return tangents_.back();
}

}  // namespace kweave
