// The penalty on the determinant of the learned kernel matrix, by Cholesky's factor and its inverse in plain
// loops.
#include <cmath>

#include "verify/training_problem.h"

namespace kweave::verify {

double LogDeterminant(TrainingProblem& at, std::span<const double> theta, Vector& traces, double& rounding) {
  PlainKernels<double> plain(at.kernels, at.views, at.n);
  std::vector<PlainNormalization<double>> fitted =
      plain.Fit(at.content.normalization.sequence, 0, plain.size());
  for (Index m = 0; m < plain.size(); ++m) at.CompareNormalization(m, fitted[m]);
  const auto n = static_cast<std::size_t>(at.n);
  Vector factor(n * n, 0.0), inverse(n * n, 0.0);  // of Cholesky, and the inverse of that
  plain.ForEachRow(fitted, 0, plain.size(), [&](Index m, Index i, std::span<const double> row) {
    for (Index j = 0; j <= i; ++j) factor[i * n + j] += theta[m] * row[j];
  });
  double log_determinant = 0;
  for (std::size_t i = 0; i < n; ++i) {
    factor[i * n + i] += at.problem.regularizer.ridge;
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = factor[i * n + j];
      for (std::size_t k = 0; k < j; ++k) rest -= factor[i * n + k] * factor[j * n + k];
      factor[i * n + j] = j == i ? std::sqrt(rest) : rest / factor[j * n + j];
    }
    log_determinant += 2 * std::log(factor[i * n + i]);
    for (std::size_t k = 0; k <= i; ++k) {  // row i of the inverse, by substitution
      double rest = i == k ? 1 : 0;
      for (std::size_t j = k; j < i; ++j) rest -= factor[i * n + j] * inverse[j * n + k];
      inverse[i * n + k] = rest / factor[i * n + i];
    }
  }
  traces.assign(theta.size(), 0.0);
  Vector product(n * n, 0.0);  // the inverse of the matrix
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t k = i; k < n; ++k) product[i * n + j] += inverse[k * n + i] * inverse[k * n + j];
    }
  }
  // Its derivative is the inverse: what rounding of the kernels, and of the steps above, may do.
  double magnitude = at.problem.regularizer.ridge;
  for (std::size_t m = 0; m < theta.size(); ++m) magnitude += theta[m] * at.magnitudes[m];
  rounding = at.rounding * magnitude * (2 * Magnitude(product));  // the lower triangle
  plain.ForEachRow(fitted, 0, plain.size(), [&](Index m, Index i, std::span<const double> row) {
    for (Index j = 0; j <= i; ++j) traces[m] += (j == i ? 1 : 2) * product[i * n + j] * row[j];
  });
  return log_determinant;
}

}  // namespace kweave::verify
