#include "model/feature_transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kweave/error.h"

namespace kweave {
namespace {

// Relative: what is left of a column, or of a feature's spread, is rounding below this.
constexpr double kNothingLeft = 1e-10;

std::vector<Index> PresentRows(const View& view) {
  std::vector<Index> rows;
  for (Index i = 0; i < RowCount(view.features); ++i) {
    if (view.Has(i)) rows.push_back(i);
  }
  return rows;
}

std::vector<double> Row(const Features& features, Index i) {
  std::vector<double> row(static_cast<std::size_t>(ColumnCount(features)));
  CopyRow(features, i, row);
  return row;
}

// Orthonormal columns that span the centred confounds of some samples, and how they are made of these:
// q_k = sum_j map[k][j] (c_j - mean_j). Columns that others explain are left out.
struct ConfoundBasis {
  std::vector<std::vector<double>> columns;
  std::vector<std::vector<double>> map;
  std::vector<double> mean;
};

double Norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

// Gram and Schmidt, each column twice, which leaves it orthogonal to rounding.
ConfoundBasis MakeBasis(const Features& confounds, std::span<const Index> rows) {
  const auto count = static_cast<std::size_t>(ColumnCount(confounds));
  ConfoundBasis basis{{}, {}, std::vector<double>(count, 0.0)};
  std::vector<std::vector<double>> centred(count, std::vector<double>(rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::vector<double> row = Row(confounds, rows[r]);
    for (std::size_t k = 0; k < count; ++k) {
      centred[k][r] = row[k];
      basis.mean[k] += row[k] / static_cast<double>(rows.size());
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<double>& column = centred[k];
    const double size = Norm(column);
    for (double& value : column) value -= basis.mean[k];
    std::vector<double> own(count, 0.0);
    own[k] = 1;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < basis.columns.size(); ++j) {
        double product = 0;
        for (std::size_t r = 0; r < rows.size(); ++r) product += column[r] * basis.columns[j][r];
        for (std::size_t r = 0; r < rows.size(); ++r) column[r] -= product * basis.columns[j][r];
        for (std::size_t c = 0; c < count; ++c) own[c] -= product * basis.map[j][c];
      }
    }
    const double left = Norm(column);
    if (!(left > kNothingLeft * size)) continue;
    for (double& value : column) value /= left;
    for (double& value : own) value /= left;
    basis.columns.push_back(std::move(column));
    basis.map.push_back(std::move(own));
  }
  return basis;
}

std::vector<double> MeanRow(const Features& features, std::span<const Index> rows) {
  std::vector<double> mean(static_cast<std::size_t>(ColumnCount(features)), 0.0);
  for (const Index i : rows) {
    const std::vector<double> row = Row(features, i);
    for (std::size_t f = 0; f < mean.size(); ++f) mean[f] += row[f] / static_cast<double>(rows.size());
  }
  return mean;
}

// Coefficients and shift of the residuals of all features.
void FitConfounds(const View& view, const Features& confounds, std::span<const Index> rows,
                  FeatureTransform& transform) {
  const ConfoundBasis basis = MakeBasis(confounds, rows);
  const std::vector<double> mean = MeanRow(view.features, rows);
  const std::size_t features = mean.size(), count = basis.mean.size();
  std::vector<double> products(basis.columns.size() * features, 0.0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::vector<double> row = Row(view.features, rows[r]);
    for (std::size_t j = 0; j < basis.columns.size(); ++j) {
      const double factor = basis.columns[j][r];
      for (std::size_t f = 0; f < features; ++f) products[j * features + f] += factor * (row[f] - mean[f]);
    }
  }
  transform.coefficients.assign(count * features, 0.0);
  transform.shift = mean;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t j = 0; j < basis.columns.size(); ++j) {
      for (std::size_t f = 0; f < features; ++f)
        transform.coefficients[k * features + f] += basis.map[j][k] * products[j * features + f];
    }
    for (std::size_t f = 0; f < features; ++f)
      transform.shift[f] -= transform.coefficients[k * features + f] * basis.mean[k];
  }
}

void TransformRow(const FeatureTransform& transform, std::span<const double> confounds,
                  std::span<double> row) {
  for (std::size_t k = 0; k < confounds.size() && !transform.coefficients.empty(); ++k) {
    const double* const own = transform.coefficients.data() + k * row.size();
    for (std::size_t f = 0; f < row.size(); ++f) row[f] -= own[f] * confounds[k];
  }
  for (std::size_t f = 0; f < row.size() && !transform.shift.empty(); ++f) row[f] -= transform.shift[f];
  for (std::size_t f = 0; f < row.size() && !transform.factor.empty(); ++f) row[f] *= transform.factor[f];
}

// Of the features after what `transform` does so far.
struct Spread {
  std::vector<double> mean, least, most, size, deviation;
};

Spread FindSpread(const View& view, const Features& confounds, std::span<const Index> rows,
                  const FeatureTransform& transform) {
  const auto features = static_cast<std::size_t>(ColumnCount(view.features));
  const std::vector<double> zeros(features, 0.0);
  Spread spread{zeros, {}, {}, zeros, zeros};
  const auto for_rows = [&](const auto& use) {
    for (const Index i : rows) {
      std::vector<double> row = Row(view.features, i);
      for (std::size_t f = 0; f < features; ++f) spread.size[f] = std::max(spread.size[f], std::abs(row[f]));
      const bool has_confounds = !transform.coefficients.empty();
      TransformRow(transform, has_confounds ? Row(confounds, i) : std::vector<double>{}, row);
      use(row);
    }
  };
  for_rows([&](const std::vector<double>& row) {
    if (spread.least.empty()) spread.least = spread.most = row;
    for (std::size_t f = 0; f < features; ++f) {
      spread.least[f] = std::min(spread.least[f], row[f]);
      spread.most[f] = std::max(spread.most[f], row[f]);
      spread.mean[f] += row[f] / static_cast<double>(rows.size());
    }
  });
  for_rows([&](const std::vector<double>& row) {
    for (std::size_t f = 0; f < features; ++f)
      spread.deviation[f] += (row[f] - spread.mean[f]) * (row[f] - spread.mean[f]);
  });
  for (double& sum : spread.deviation) sum = std::sqrt(sum / static_cast<double>(rows.size()));
  return spread;
}

void FitScale(const View& view, const Features& confounds, std::span<const Index> rows, FeatureScale scale,
              FeatureTransform& transform) {
  const Spread spread = FindSpread(view, confounds, rows, transform);
  const std::size_t features = spread.mean.size();
  const bool is_sparse = std::holds_alternative<SparseRows>(view.features);
  const bool is_standard = scale == FeatureScale::kStandard;
  if (!is_sparse && transform.shift.empty()) transform.shift.assign(features, 0.0);
  transform.factor.assign(features, 1.0);
  for (std::size_t f = 0; f < features; ++f) {
    if (!is_sparse) transform.shift[f] += is_standard ? spread.mean[f] : spread.least[f];
    const double width = is_standard ? spread.deviation[f]
                         : is_sparse ? spread.size[f]
                                     : spread.most[f] - spread.least[f];
    if (width > kNothingLeft * spread.size[f]) transform.factor[f] = 1 / width;
  }
}

Features ScaleSparse(const SparseRows& rows, std::span<const double> factor) {
  struct Storage {
    std::vector<double> values;
    std::shared_ptr<const void> pattern;
  };
  auto storage = std::make_shared<Storage>();
  storage->pattern = rows.owner;
  for (Index e = 0; e < rows.offsets[rows.rows]; ++e)
    storage->values.push_back(rows.values[e] * factor[static_cast<std::size_t>(rows.columns[e])]);
  SparseRows scaled = rows;
  scaled.values = storage->values.data();
  scaled.owner = storage;
  return scaled;
}

}  // namespace

FeatureTransform FitTransform(const View& view, const Features& confounds, FeatureScale scale) {
  FeatureTransform transform{view.name, {}, {}, {}};
  const std::vector<Index> rows = PresentRows(view);
  if (rows.empty() || std::holds_alternative<SequenceRows>(view.features)) return transform;
  if (ColumnCount(confounds) > 0) {
    if (std::holds_alternative<SparseRows>(view.features)) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("view '{}' is sparse, and confounds would make it dense: give it as a dense file",
                      view.name));
    }
    FitConfounds(view, confounds, rows, transform);
  }
  if (scale != FeatureScale::kNone) FitScale(view, confounds, rows, scale, transform);
  return transform;
}

View ApplyTransform(const FeatureTransform& transform, const View& view, const Features& confounds) {
  if (transform.empty()) return view;
  View changed{view.name, {}, view.feature_names, view.presence};
  if (const auto* sparse = std::get_if<SparseRows>(&view.features);
      sparse != nullptr && transform.shift.empty() && transform.coefficients.empty()) {
    changed.features = ScaleSparse(*sparse, transform.factor);
    return changed;
  }
  const Index count = RowCount(view.features), features = ColumnCount(view.features);
  std::vector<double> values(static_cast<std::size_t>(count * features), 0.0);
  for (Index i = 0; i < count; ++i) {
    if (!view.Has(i)) continue;
    const std::span<double> row(values.data() + i * features, static_cast<std::size_t>(features));
    CopyRow(view.features, i, row);
    const bool has_confounds = !transform.coefficients.empty();
    TransformRow(transform, has_confounds ? Row(confounds, i) : std::vector<double>{}, row);
  }
  changed.features = MakeDense(std::move(values), count, features);
  return changed;
}

}  // namespace kweave
