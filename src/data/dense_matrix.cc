#include "data/dense_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/number.h"
#include "kweave/error.h"

namespace kweave {
namespace {

/// 0 * x is 0 for every finite x and NaN otherwise, so one sum checks a row without a branch per value.
template <class T>
bool IsFinite(std::span<const T> values) {
  constexpr std::size_t kLanes = 16;  // floats of the widest vectors: sums that need not wait for each other
  T sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += T{0} * values[i + lane];
  }
  for (; i < values.size(); ++i) sums[0] += T{0} * values[i];
  return std::ranges::all_of(sums, [](T sum) { return sum == 0; });
}

}  // namespace

DenseMatrix CompactDense(AlignedVector<double> values, Index rows, Index cols, bool fits_float32) {
  if (!fits_float32) return OwnDense(std::move(values), rows, cols);
  return OwnDense(AlignedVector<float>(values.begin(), values.end()), rows, cols);
}

bool AllFitFloat32(std::span<const double> values) { return std::ranges::all_of(values, FitsFloat32); }

void CheckFinite(const DenseMatrix& matrix, const std::string& name) {
  std::visit(
      [&](const auto& dense) {
        for (Index i = 0; i < dense.rows; ++i) {
          const auto row = dense.row(i);
          if (IsFinite(row)) continue;
          const auto bad = std::ranges::find_if(row, [](auto value) { return !std::isfinite(value); });
          throw Error(ErrorKind::kData,
                      fmt::format("{}, row {}, column {}: found {}, expected a finite number", name, i + 1,
                                  bad - row.begin() + 1, *bad));
        }
      },
      matrix);
}

Features ToFeatures(const DenseMatrix& matrix) {
  return std::visit([](const auto& dense) -> Features { return dense; }, matrix);
}

}  // namespace kweave
