#include "verify/plain_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kweave/error.h"

namespace kweave::verify {
namespace {

// Calls add(x_f, z_f) for the features f of two samples; where both are zero it may leave them out.
template <class T, class Add>
void ForEachFeature(const DenseRows<T>& rows, Index i, Index j, const FeatureSubset& subset, const Add& add) {
  const std::span<const T> x = rows.row(i), z = rows.row(j);
  if (subset.empty()) {
    for (std::size_t f = 0; f < x.size(); ++f) add(static_cast<double>(x[f]), static_cast<double>(z[f]));
  }
  for (const std::int32_t f : subset) add(static_cast<double>(x[f]), static_cast<double>(z[f]));
}

template <class Add>
void ForEachFeature(const SparseRows& rows, Index i, Index j, const FeatureSubset& subset, const Add& add) {
  const auto value = [&](Index row, std::int32_t f) {
    const std::int32_t *begin = rows.columns + rows.offsets[row], *end = rows.columns + rows.offsets[row + 1];
    const std::int32_t* at = std::lower_bound(begin, end, f);
    return at == end || *at != f ? 0.0 : rows.values[at - rows.columns];
  };
  for (const std::int32_t f : subset) add(value(i, f), value(j, f));
  if (!subset.empty()) return;
  Index a = rows.offsets[i], b = rows.offsets[j];
  const Index a_end = rows.offsets[i + 1], b_end = rows.offsets[j + 1];
  while (a < a_end || b < b_end) {
    const bool takes_a = b == b_end || (a < a_end && rows.columns[a] <= rows.columns[b]);
    const bool takes_b = a == a_end || (b < b_end && rows.columns[b] <= rows.columns[a]);
    add(takes_a ? rows.values[a] : 0.0, takes_b ? rows.values[b] : 0.0);
    a += takes_a, b += takes_b;
  }
}

// What a kernel is a function of. `parameter` is that of the quantity, where it has one.
struct Pair {
  const Features& features;
  Index i, j;
  const FeatureSubset& subset;
  double parameter;
};

template <class Add>
void OverFeatures(const Pair& pair, const Add& add) {
  std::visit([&](const auto& rows) { ForEachFeature(rows, pair.i, pair.j, pair.subset, add); },
             pair.features);
}

template <class Term>
double SumOf(const Pair& pair, const Term& term) {
  double sum = 0;
  OverFeatures(pair, [&](double x, double z) { sum += term(x, z); });
  return sum;
}

double Product(const Pair& pair) {
  return SumOf(pair, [](double x, double z) { return x * z; });
}

double SquaredDistance(const Pair& pair) {
  return SumOf(pair, [](double x, double z) { return (x - z) * (x - z); });
}

double Distance(const Pair& pair) {
  return SumOf(pair, [](double x, double z) { return std::abs(x - z); });
}

double Chi2Distance(const Pair& pair) {
  return SumOf(pair, [](double x, double z) { return x + z > 0 ? (x - z) * (x - z) / (x + z) : 0; });
}

double Minimum(const Pair& pair) {
  return SumOf(pair, [](double x, double z) { return std::min(x, z); });
}

double SquaredSines(const Pair& pair) {
  return SumOf(pair, [period = pair.parameter](double x, double z) {
    return std::pow(std::sin(std::numbers::pi * std::remainder(x - z, period) / period), 2);
  });
}

double Tanimoto(const Pair& pair) {
  double sum = 0, squares = 0;
  OverFeatures(pair, [&](double x, double z) { sum += x * z, squares += x * x + z * z; });
  return squares > sum ? sum / (squares - sum) : 1;
}

double Cosine(const Pair& pair) {
  double sum = 0, left = 0, right = 0;
  OverFeatures(pair, [&](double x, double z) { sum += x * z, left += x * x, right += z * z; });
  return left > 0 && right > 0 ? sum / std::sqrt(left * right) : 0;
}

using Parameters = KernelParameters;

double Same(const Parameters& /*p*/, double base) { return base; }
double Exponential(const Parameters& p, double base) { return std::exp(-p[0] * base); }
double Power(const Parameters& p, double base) { return std::pow(p[1] * base + p[2], p[0]); }
double Matern(const Parameters& p, double base) {
  const double s = std::sqrt(2 * p[0] * base) / p[1];
  return (p[0] == 1.5 ? 1 + s : 1 + s + s * s / 3) * std::exp(-s);
}
double RationalQuadratic(const Parameters& p, double base) {
  return std::pow(1 + base / (2 * p[0] * p[1] * p[1]), -p[0]);
}
double Periodic(const Parameters& p, double base) { return std::exp(-2 * base / (p[1] * p[1])); }

// k(x, z) as docs/kernels.md states it, with the parameters in the order found there.
struct Formula {
  std::string_view kernel;
  double (*base)(const Pair& pair);  // null: read from a file
  double (*value)(const Parameters& p, double base);
};

constexpr Formula kFormulas[] = {
    {"linear", Product, Same},
    {"poly", Product, Power},
    {"rbf", SquaredDistance, Exponential},
    {"matern", SquaredDistance, Matern},
    {"rational_quadratic", SquaredDistance, RationalQuadratic},
    {"periodic", SquaredSines, Periodic},
    {"cosine", Cosine, Same},
    {"laplacian", Distance, Exponential},
    {"chi2", Chi2Distance, Exponential},
    {"intersection", Minimum, Same},
    {"tanimoto", Tanimoto, Same},
    {"precomputed", nullptr, Same},
    {"joint", nullptr, Same},
};

const Formula& FormulaOf(std::string_view kernel) {
  const auto at = std::ranges::find(kFormulas, kernel, &Formula::kernel);
  if (at != std::end(kFormulas)) return *at;
  throw Error(ErrorKind::kData,
              fmt::format("kernel '{}' cannot be verified: its formula is not known here", kernel));
}

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double PlainStep::Apply(Index i, Index j, double value) const {
  switch (kind) {
    case Normalizer::kTrace:
    case Normalizer::kMultiplicative:
      return constant * value;
    case Normalizer::kSpherical:
      return per_sample[i] * per_sample[j] * value;
    case Normalizer::kCenter:
      return value - per_sample[i] - per_sample[j] + constant;
  }
  return value;
}

double PlainNormalization::Apply(Index i, Index j, double value) const {
  for (const PlainStep& step : steps) value = step.Apply(i, j, value);
  return value;
}

PlainKernels::PlainKernels(const KernelSet& kernels, std::span<const View> views, Index samples)
    : kernels_(kernels), samples_(samples) {
  for (const std::string& name : kernels.views)
    views_.push_back(&*std::ranges::find(views, name, &View::name));
  for (const MatrixSource& file : kernels.files) files_.push_back(file.Open());
}

const std::vector<double>& PlainKernels::BaseRow(const KernelTerm& term, Index i, Index begin, Index end) {
  // Kernels that share a quantity mostly follow each other.
  constexpr std::size_t kMostKept = 64;
  if (row_ != std::tuple(i, begin, end) || bases_.size() >= kMostKept) bases_.clear();
  row_ = {i, begin, end};
  const auto quantity = FormulaOf(term.kind->name).base;
  const double parameter = term.kind->BaseParameter(term.parameters);
  const BaseKey key{reinterpret_cast<std::uintptr_t>(quantity), term.view, term.subset, term.file, parameter};
  const auto [at, is_new] = bases_.try_emplace(key);
  std::vector<double>& values = at->second;
  if (!is_new) return values;
  values.resize(static_cast<std::size_t>(end - begin));
  if (quantity == nullptr) {
    files_[term.file].RowPart(i, begin, end, values.data());
    return values;
  }
  const Features& features = views_[term.view]->features;
  for (Index j = begin; j < end; ++j) {
    values[j - begin] = quantity({features, i, j, kernels_.subsets[term.subset], parameter});
  }
  return values;
}

void PlainKernels::TermRow(const KernelTerm& term, Index i, Index begin, Index end, std::span<double> out) {
  const std::vector<double>& base = BaseRow(term, i, begin, end);
  const auto value = FormulaOf(term.kind->name).value;
  for (std::size_t j = 0; j < base.size(); ++j) out[j] = value(term.parameters, base[j]);
}

void PlainKernels::Row(Index m, Index i, Index begin, Index end, std::span<double> out) {
  if (!kernels_.IsComposite(m)) return TermRow(kernels_.Term(m), i, begin, end, out);
  const Composite& composite = kernels_.composites[kernels_.order[m].member];
  const auto count = static_cast<std::size_t>(end - begin);
  std::vector<std::vector<double>> stack;
  for (const Composite::Node& node : composite.nodes) {
    if (node.operation == Composite::Operation::kTerm) {
      stack.emplace_back(count);
      TermRow(composite.terms[node.argument], i, begin, end, stack.back());
      continue;
    }
    const std::size_t first = stack.size() - static_cast<std::size_t>(node.argument);
    for (std::size_t j = 0; j < count; ++j) {
      double& value = stack[first][j];
      for (std::size_t s = first + 1; s < stack.size(); ++s) {
        value = node.operation == Composite::Operation::kProduct ? value * stack[s][j] : value + stack[s][j];
      }
      if (node.operation == Composite::Operation::kMean) value /= static_cast<double>(node.argument);
    }
    stack.resize(first + 1);
  }
  std::ranges::copy(stack.front(), out.begin());
}

void PlainKernels::ForEachRow(std::span<const PlainNormalization> fitted, Index first, Index last,
                              const Visit& visit) {
  std::vector<double> row(samples_);
  for (Index i = 0; i < samples_; ++i) {
    if (poll) poll();
    for (Index m = first; m < last; ++m) {
      Row(m, i, 0, i + 1, row);
      if (!fitted.empty()) {
        for (Index j = 0; j <= i; ++j) row[j] = fitted[m - first].Apply(i, j, row[j]);
      }
      visit(m, i, std::span(row).first(i + 1));
    }
  }
}

std::vector<PlainNormalization> PlainKernels::Fit(std::span<const Normalizer> sequence, Index first,
                                                  Index last) {
  const auto count = static_cast<std::size_t>(last - first);
  std::vector<PlainNormalization> fitted(count);
  std::vector<std::vector<double>> diagonals(count, std::vector<double>(samples_)), means = diagonals;
  for (Index i = 0; i < samples_; ++i) {
    for (Index m = first; m < last; ++m) Row(m, i, i, i + 1, std::span(&diagonals[m - first][i], 1));
  }
  for (std::size_t k = 0; k < count; ++k) {
    for (const double value : diagonals[k])
      fitted[k].magnitude = std::max(fitted[k].magnitude, std::abs(value));
    fitted[k].raw_magnitude = fitted[k].magnitude;
  }
  for (const Normalizer kind : sequence) {
    if (kind == Normalizer::kMultiplicative || kind == Normalizer::kCenter) {
      for (auto& sums : means) std::ranges::fill(sums, 0.0);
      ForEachRow(fitted, first, last, [&](Index m, Index i, std::span<const double> row) {
        std::vector<double>& sums = means[m - first];
        for (Index j = 0; j < i; ++j) sums[i] += row[j], sums[j] += row[j];
        sums[i] += row[i];
      });
      for (auto& sums : means) {
        for (double& sum : sums) sum /= static_cast<double>(samples_);
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      PlainStep step{kind, 1, {}};
      const double mean_diagonal = Mean(diagonals[k]);
      double variance = mean_diagonal;
      if (kind == Normalizer::kMultiplicative || kind == Normalizer::kCenter) variance -= Mean(means[k]);
      if (kind == Normalizer::kTrace || kind == Normalizer::kMultiplicative) {
        step.constant = 1 / variance;
        fitted[k].magnitude *= std::abs(step.constant);
      } else if (kind == Normalizer::kSpherical) {
        for (const double value : diagonals[k])
          step.per_sample.push_back(value > 0 ? 1 / std::sqrt(value) : 0);
        if (std::isfinite(fitted[k].magnitude)) fitted[k].magnitude = 1;
      } else {
        step.per_sample = means[k];
        step.constant = Mean(means[k]);
      }
      if (kind != Normalizer::kSpherical)
        fitted[k].least_variance =
            std::min(fitted[k].least_variance, mean_diagonal == 0 ? 0 : variance / std::abs(mean_diagonal));
      for (Index i = 0; i < samples_; ++i) diagonals[k][i] = step.Apply(i, i, diagonals[k][i]);
      fitted[k].steps.push_back(std::move(step));
    }
  }
  return fitted;
}

}  // namespace kweave::verify
