#include "qp/leave_one_out.h"

#include <algorithm>
#include <numeric>

#include "base/constants.h"
#include "compute/cpu/cholesky.h"

namespace kweave {

std::vector<double> LeaveOneOut(const Risk& risk, RowSource<double>& rows, std::span<const double> beta) {
  const std::size_t n = beta.size();
  std::vector<double> matrix(n * n);
  std::vector<Index> batch;
  for (Index begin = 0; begin < rows.size(); begin += kRowsPerCall) {
    batch.resize(static_cast<std::size_t>(std::min(kRowsPerCall, rows.size() - begin)));
    std::iota(batch.begin(), batch.end(), begin);
    rows.Rows(batch, matrix.data() + begin * rows.size(), rows.size());
  }
  const double shift = rows.Shift();
  for (double& value : matrix) value += shift;
  for (std::size_t i = 0; i < n; ++i) matrix[i * (n + 1)] += 1 / risk.C[i];
  if (!FactorCholesky(matrix, static_cast<int>(n))) return {};
  InvertLower(matrix, static_cast<int>(n));

  // With S the inverse of the factor, the inverse of K + C^-1 is S' S.
  std::vector<double> diagonal(n, 0.0), of_ones(n, 0.0);
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const std::span<const double> row(matrix.data() + k * n, k + 1);
    const double product = std::accumulate(row.begin(), row.end(), 0.0);
    sum += product * product;
    for (std::size_t i = 0; i <= k; ++i) {
      diagonal[i] += row[i] * row[i];
      of_ones[i] += row[i] * product;
    }
  }
  std::vector<double> outputs(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double border = risk.has_bias ? of_ones[i] * of_ones[i] / sum : 0;
    outputs[i] = risk.y[i] - beta[i] / (diagonal[i] - border);
  }
  return outputs;
}

}  // namespace kweave
