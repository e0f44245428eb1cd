#include "regularizer/matrix_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/dot.h"
#include "compute/cpu/cholesky.h"
#include "kweave/error.h"
#include "regularizer/nonnegative_qp.h"
#include "regularizer/norms.h"

namespace kweave {

namespace {

constexpr double kSymmetric = 1e-9;  // relative: what text with ten digits leaves
constexpr double kLeastPart =
    1e-8;  // of the largest root of a quadratic: bounds the weights of parts that vanish

std::size_t SideOf(std::span<const double> matrix) {
  const auto side = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(matrix.size()))));
  if (side * side != matrix.size())
    throw Error(ErrorKind::kUsage, "the matrix over the kernels is not square");
  return side;
}

void RequireSymmetric(std::span<const double> matrix, std::size_t side) {
  for (std::size_t i = 0; i < side; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double a = matrix[i * side + j], b = matrix[j * side + i];
      if (!(std::abs(a - b) <= kSymmetric * (std::abs(a) + std::abs(b)))) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("the matrix over the kernels is not symmetric: entry ({}, {}) is {}, but "
                                "({}, {}) is {}",
                                i + 1, j + 1, a, j + 1, i + 1, b));
      }
    }
  }
}

std::vector<double> RequireDefinite(std::vector<double> matrix) {
  if (matrix.empty()) return matrix;
  const std::size_t side = SideOf(matrix);
  RequireSymmetric(matrix, side);
  std::vector<double> factor = matrix;
  const bool is_finite = std::all_of(matrix.begin(), matrix.end(), [](double v) { return std::isfinite(v); });
  if (!is_finite || !FactorCholesky(factor, static_cast<int>(side))) {
    throw Error(ErrorKind::kUsage,
                "the `matrix` over the kernels is not positive definite; a `ridge` on its diagonal may help",
                {"matrix", "", "positive definite"});
  }
  return matrix;
}

// x' E x.
double Form(std::span<const double> E, std::span<const double> x) {
  double sum = 0;
  for (std::size_t m = 0; m < x.size(); ++m) sum += x[m] * Dot(E.subspan(m * x.size(), x.size()), x);
  return sum;
}

std::vector<double> Positive(std::span<const double> q) {
  std::vector<double> positive(q.begin(), q.end());
  DropNegative(positive);
  return positive;
}

std::vector<double> Roots(std::span<const double> q) {
  std::vector<double> roots = Positive(q);
  for (double& value : roots) value = std::sqrt(value);
  return roots;
}

}  // namespace

WeightMatrixNorm::WeightMatrixNorm(std::vector<double> E)
    : Regularizer({.name = "matrix on the weights"}), E_(RequireDefinite(std::move(E))) {}

double WeightMatrixNorm::Norm(std::span<const double> theta) const { return std::sqrt(Form(E_, theta)); }

// The largest theta' q on theta' E theta <= 1 lies on the ray of x = argmin 1/2 x' E x - q' x, where x' E x =
// q' x.
double WeightMatrixNorm::DualTerm(std::span<const double> q) const {
  const std::vector<double> positive = Positive(q);
  return 0.5 * std::sqrt(std::max(Dot(positive, SolveNonnegative(E_, positive)), 0.0));
}

void WeightMatrixNorm::BestResponse(std::span<const double> q, std::span<double> theta) const {
  const std::vector<double> x = SolveNonnegative(E_, Positive(q));
  const double norm = Norm(x);
  for (std::size_t m = 0; m < x.size(); ++m) theta[m] = norm > 0 ? x[m] / norm : 0;
}

void WeightMatrixNorm::Start(std::span<double> theta) const {
  std::fill(theta.begin(), theta.end(), 1.0);
  const double norm = Norm(theta);
  for (double& value : theta) value /= norm;
}

void WeightMatrixNorm::MakeFeasible(std::span<double> theta) const {
  DropNegative(theta);
  const double norm = Norm(theta);
  if (!(norm > 1)) return;
  for (double& value : theta) value /= norm;
}

// The dual term is not smooth where a part vanishes that others hold above zero, unless it is smoothed.
PartMatrixNorm::PartMatrixNorm(std::vector<double> E, double spread)
    : Regularizer({.name = "matrix on the parts", .is_minimized = false, .is_dual_smooth = spread > 0}),
      E_(RequireDefinite(std::move(E))),
      spread_(spread) {}

RegularizerPointer PartMatrixNorm::Smoothed(double relative_error) const {
  const double kernels = std::sqrt(static_cast<double>(E_.size()));
  return RegularizerPointer(new PartMatrixNorm(E_, relative_error * relative_error / kernels));
}

std::vector<double> PartMatrixNorm::RootsOf(std::span<const double> q) const {
  return spread_ == 0 ? Roots(q) : Roots(Spread(q, spread_));
}

// v = u + d with d >= 0: 1/2 u' E u + u' E d + 1/2 d' E d.
double PartMatrixNorm::Primal(std::span<const double> theta, std::span<const double> q) const {
  std::vector<double> v = Roots(q);
  for (std::size_t m = 0; m < v.size(); ++m) v[m] *= theta[m];
  std::vector<double> falling(v.size());
  bool is_lowest = true;
  for (std::size_t m = 0; m < v.size(); ++m) {
    falling[m] = -Dot(std::span(E_).subspan(m * v.size(), v.size()), v);
    is_lowest = is_lowest && falling[m] <= 0;
  }
  if (!is_lowest) {
    const std::vector<double> d = SolveNonnegative(E_, falling);
    for (std::size_t m = 0; m < v.size(); ++m) v[m] += d[m];
  }
  return 0.5 * Form(E_, v);
}

// The largest v' s - 1/2 v' E v is 1/2 v' s.
double PartMatrixNorm::DualTerm(std::span<const double> q) const {
  const std::vector<double> roots = RootsOf(q);
  return 0.5 * Dot(roots, SolveNonnegative(E_, roots));
}

void PartMatrixNorm::BestResponse(std::span<const double> q, std::span<double> theta) const {
  const std::vector<double> roots = RootsOf(q);
  const std::vector<double> v = SolveNonnegative(E_, roots);
  const double least = kLeastPart * *std::max_element(roots.begin(), roots.end());
  for (std::size_t m = 0; m < v.size(); ++m) theta[m] = roots[m] > 0 ? v[m] / std::max(roots[m], least) : 0;
  SpreadBack(spread_, theta);
}

void PartMatrixNorm::Start(std::span<double> theta) const {
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = 1 / E_[m * theta.size() + m];
}

void PartMatrixNorm::MakeFeasible(std::span<double> theta) const { DropNegative(theta); }

std::vector<double> LaplacianMatrix(std::span<const double> links, std::size_t kernels, double ridge) {
  RequireSymmetric(links, kernels);
  std::vector<double> matrix(links.size());
  for (std::size_t i = 0; i < kernels; ++i) {
    double degree = 0;
    for (std::size_t j = 0; j < kernels; ++j) {
      const double link = links[i * kernels + j];
      if (!(link >= 0))
        throw Error(ErrorKind::kUsage,
                    fmt::format("a link between kernels is {}, but must be 0 or more", link));
      if (i == j) continue;
      matrix[i * kernels + j] = -link;
      degree += link;
    }
    matrix[i * kernels + i] = degree + ridge;
  }
  return matrix;
}

}  // namespace kweave
