#include "verify/plain_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "data/sequences.h"
#include "kweave/error.h"
#include "verify/plain_sequences.h"

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

template <class Add>
void ForEachFeature(const SequenceRows&, Index, Index, const FeatureSubset&, const Add&) {}  // has letters

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

template <class Real, class Term>
Real SumOf(const Pair& pair, const Term& term) {
  Real sum = 0;
  OverFeatures(pair, [&](Real x, Real z) { sum += term(x, z); });
  return sum;
}

template <class Real>
Real Product(const Pair& pair) {
  return SumOf<Real>(pair, [](Real x, Real z) { return x * z; });
}

template <class Real>
Real SquaredDistance(const Pair& pair) {
  return SumOf<Real>(pair, [](Real x, Real z) { return (x - z) * (x - z); });
}

template <class Real>
Real Distance(const Pair& pair) {
  return SumOf<Real>(pair, [](Real x, Real z) { return std::abs(x - z); });
}

template <class Real>
Real Chi2Distance(const Pair& pair) {
  return SumOf<Real>(pair, [](Real x, Real z) { return x + z > 0 ? (x - z) * (x - z) / (x + z) : Real{0}; });
}

template <class Real>
Real Minimum(const Pair& pair) {
  return SumOf<Real>(pair, [](Real x, Real z) { return std::min(x, z); });
}

template <class Real>
Real SquaredSines(const Pair& pair) {
  return SumOf<Real>(pair, [period = static_cast<Real>(pair.parameter)](Real x, Real z) {
    return std::pow(std::sin(std::numbers::pi_v<Real> * std::remainder(x - z, period) / period), Real{2});
  });
}

template <class Real>
Real Tanimoto(const Pair& pair) {
  Real sum = 0, squares = 0;
  OverFeatures(pair, [&](Real x, Real z) { sum += x * z, squares += x * x + z * z; });
  return squares > sum ? sum / (squares - sum) : 1;
}

template <class Real>
Real Cosine(const Pair& pair) {
  Real sum = 0, left = 0, right = 0;
  OverFeatures(pair, [&](Real x, Real z) { sum += x * z, left += x * x, right += z * z; });
  return left > 0 && right > 0 ? sum / std::sqrt(left * right) : 0;
}

using Parameters = KernelParameters;

template <class Real>
Real Same(const Parameters& /*p*/, Real base) {
  return base;
}
template <class Real>
Real Exponential(const Parameters& p, Real base) {
  return std::exp(-p[0] * base);
}
template <class Real>
Real Power(const Parameters& p, Real base) {
  return std::pow(p[1] * base + p[2], static_cast<Real>(p[0]));
}
template <class Real>
Real Matern(const Parameters& p, Real base) {
  const Real s = std::sqrt(2 * p[0] * base) / p[1];
  return (p[0] == 1.5 ? 1 + s : 1 + s + s * s / 3) * std::exp(-s);
}
template <class Real>
Real RationalQuadratic(const Parameters& p, Real base) {
  return std::pow(1 + base / (2 * static_cast<Real>(p[0]) * p[1] * p[1]), static_cast<Real>(-p[0]));
}
template <class Real>
Real Periodic(const Parameters& p, Real base) {
  return std::exp(-2 * base / (static_cast<Real>(p[1]) * p[1]));
}

// k(x, z) as docs/kernels.md states it, with the parameters in the order found there.
template <class Real>
struct Formula {
  std::string_view kernel;
  Real (*base)(const Pair& pair);  // null: read from a file
  Real (*value)(const Parameters& p, Real base);
};

template <class Real>
constexpr Formula<Real> kFormulas[] = {
    {"linear", Product<Real>, Same<Real>},
    {"poly", Product<Real>, Power<Real>},
    {"rbf", SquaredDistance<Real>, Exponential<Real>},
    {"matern", SquaredDistance<Real>, Matern<Real>},
    {"rational_quadratic", SquaredDistance<Real>, RationalQuadratic<Real>},
    {"periodic", SquaredSines<Real>, Periodic<Real>},
    {"cosine", Cosine<Real>, Same<Real>},
    {"laplacian", Distance<Real>, Exponential<Real>},
    {"chi2", Chi2Distance<Real>, Exponential<Real>},
    {"intersection", Minimum<Real>, Same<Real>},
    {"tanimoto", Tanimoto<Real>, Same<Real>},
    {"precomputed", nullptr, Same<Real>},
    {"joint", nullptr, Same<Real>},
};

template <class Real>
const Formula<Real>& FormulaOf(std::string_view kernel) {
  const auto at = std::ranges::find(kFormulas<Real>, kernel, &Formula<Real>::kernel);
  if (at != std::end(kFormulas<Real>)) return *at;
  throw Error(ErrorKind::kData,
              fmt::format("kernel '{}' cannot be verified: its formula is not known here", kernel));
}

}  // namespace

template <class Real>
Real PlainStep<Real>::Apply(Index i, Index j, Real value) const {
  switch (kind) {
    case Normalizer::kTrace:
    case Normalizer::kMultiplicative:
      return constant * value;
    case Normalizer::kSpherical:
    case Normalizer::kPresence:
      return per_sample[i] * per_sample[j] * value;
    case Normalizer::kCenter:
      return value - per_sample[i] - per_sample[j] + constant;
  }
  return value;
}

template <class Real>
Real PlainNormalization<Real>::Apply(Index i, Index j, Real value) const {
  for (const PlainStep<Real>& step : steps) value = step.Apply(i, j, value);
  return value;
}

template <class Real>
PlainKernels<Real>::PlainKernels(const KernelSet& kernels, std::span<const View> views, Index samples)
    : kernels_(kernels), samples_(samples) {
  for (const std::string& name : kernels.views)
    views_.push_back(&*std::ranges::find(views, name, &View::name));
  for (const MatrixSource& file : kernels.files) files_.push_back(file.Open());
  letters_.resize(views_.size());
  for (std::size_t v = 0; v < views_.size(); ++v) {
    const SequenceRows* sequences = AsSequences(views_[v]->features);
    if (sequences == nullptr) continue;
    std::vector<double> row(sequences->cols);
    for (Index i = 0; i < sequences->rows; ++i) {
      CopyRow(*sequences, i, row);
      letters_[v].emplace_back(row.begin(), row.begin() + sequences->lengths[i]);
    }
  }
}

template <class Real>
void PlainKernels<Real>::SequenceRow(const KernelTerm& term, Index i, Index begin, Index end,
                                     std::span<Real> out) {
  const std::vector<std::vector<int>>& letters = letters_[term.view];
  const auto alphabet = static_cast<int>(AsSequences(views_[term.view]->features)->alphabet.size());
  for (Index j = begin; j < end; ++j) {
    out[j - begin] = SequenceValue(term.kind->name, term.parameters, kernels_.subsets[term.subset],
                                   letters[i], letters[j], alphabet);
  }
}

template <class Real>
const std::vector<Real>& PlainKernels<Real>::BaseRow(const KernelTerm& term, Index i, Index begin,
                                                     Index end) {
  // Kernels that share a quantity mostly follow each other.
  constexpr std::size_t kMostKept = 64;
  if (row_ != std::tuple(i, begin, end) || bases_.size() >= kMostKept) bases_.clear();
  row_ = {i, begin, end};
  const auto quantity = FormulaOf<Real>(term.kind->name).base;
  const double parameter = term.kind->BaseParameter(term.parameters);
  const BaseKey key{reinterpret_cast<std::uintptr_t>(quantity), term.view, term.subset, term.file, parameter};
  const auto [at, is_new] = bases_.try_emplace(key);
  std::vector<Real>& values = at->second;
  if (!is_new) return values;
  values.resize(static_cast<std::size_t>(end - begin));
  if (quantity == nullptr) {
    std::vector<double> stored(values.size());
    files_[term.file].RowPart(i, begin, end, stored.data());
    std::ranges::copy(stored, values.begin());
    return values;
  }
  const Features& features = views_[term.view]->features;
  for (Index j = begin; j < end; ++j) {
    values[j - begin] = quantity({features, i, j, kernels_.subsets[term.subset], parameter});
  }
  return values;
}

template <class Real>
void PlainKernels<Real>::TermRow(const KernelTerm& term, Index i, Index begin, Index end,
                                 std::span<Real> out) {
  if (term.kind->IsOnSequences()) return SequenceRow(term, i, begin, end, out);
  const std::vector<Real>& base = BaseRow(term, i, begin, end);
  const auto value = FormulaOf<Real>(term.kind->name).value;
  for (std::size_t j = 0; j < base.size(); ++j) out[j] = value(term.parameters, base[j]);
}

template <class Real>
void PlainKernels<Real>::Row(Index m, Index i, Index begin, Index end, std::span<Real> out) {
  if (!kernels_.IsComposite(m)) return TermRow(kernels_.Term(m), i, begin, end, out);
  const Composite& composite = kernels_.composites[kernels_.order[m].member];
  const auto count = static_cast<std::size_t>(end - begin);
  std::vector<std::vector<Real>> stack;
  for (const Composite::Node& node : composite.nodes) {
    if (node.operation == Composite::Operation::kTerm) {
      stack.emplace_back(count);
      TermRow(composite.terms[node.argument], i, begin, end, stack.back());
      continue;
    }
    const std::size_t first = stack.size() - static_cast<std::size_t>(node.argument);
    for (std::size_t j = 0; j < count; ++j) {
      Real& value = stack[first][j];
      for (std::size_t s = first + 1; s < stack.size(); ++s) {
        value = node.operation == Composite::Operation::kProduct ? value * stack[s][j] : value + stack[s][j];
      }
      if (node.operation == Composite::Operation::kMean) value /= static_cast<Real>(node.argument);
    }
    stack.resize(first + 1);
  }
  std::ranges::copy(stack.front(), out.begin());
}

template <class Real>
void PlainKernels<Real>::ForEachRow(std::span<const PlainNormalization<Real>> fitted, Index first, Index last,
                                    const Visit& visit) {
  std::vector<Real> row(samples_);
  for (Index i = 0; i < samples_; ++i) {
    if (poll) poll();
    for (Index m = first; m < last; ++m) {
      Row(m, i, 0, i + 1, row);
      if (!fitted.empty()) {
        for (Index j = 0; j <= i; ++j) row[j] = fitted[m - first].Apply(i, j, row[j]);
      }
      visit(m, i, std::span<const Real>(row).first(i + 1));
    }
  }
}

// Of every sample in kernel m: the least of its values in the views of the kernel.
template <class Real>
std::vector<double> PlainKernels<Real>::Presence(Index m) const {
  std::vector<double> presence(samples_, std::numeric_limits<double>::infinity());
  for (const KernelTerm& term : kernels_.Expression(m).terms) {
    if (term.file >= 0 || views_[term.view]->presence.empty()) continue;
    for (Index i = 0; i < samples_; ++i) presence[i] = std::min(presence[i], views_[term.view]->presence[i]);
  }
  return presence;
}

template <class Real>
Real PlainKernels<Real>::MeanOfPresent(const Fitting& kernel, const std::vector<Real>& values) {
  Real sum = 0, count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (kernel.presence[i] > 0) sum += values[i], count += 1;
  }
  return sum / count;
}

// The mean of k(x,.) after the steps so far, over the samples that have the views of the kernel.
template <class Real>
void PlainKernels<Real>::FitMeans(std::span<const PlainNormalization<Real>> fitted, Index first, Index last,
                                  std::vector<Fitting>& kernels) {
  for (Fitting& kernel : kernels) kernel.means.assign(samples_, Real{0});
  ForEachRow(fitted, first, last, [&](Index m, Index i, std::span<const Real> row) {
    Fitting& kernel = kernels[m - first];
    for (Index j = 0; j < i; ++j) {
      if (kernel.presence[j] > 0) kernel.means[i] += row[j];
      if (kernel.presence[i] > 0) kernel.means[j] += row[j];
    }
    if (kernel.presence[i] > 0) kernel.means[i] += row[i];
  });
  for (Fitting& kernel : kernels) {
    const auto present =
        static_cast<Real>(std::ranges::count_if(kernel.presence, [](double value) { return value > 0; }));
    for (Real& sum : kernel.means) sum /= present;
  }
}

template <class Real>
void PlainKernels<Real>::FitStep(Normalizer kind, Fitting& kernel, PlainNormalization<Real>& fitted) {
  PlainStep<Real> step{kind, 1, {}};
  const Real mean_diagonal = MeanOfPresent(kernel, kernel.diagonal);
  Real variance = mean_diagonal;
  if (kind == Normalizer::kMultiplicative || kind == Normalizer::kCenter)
    variance -= MeanOfPresent(kernel, kernel.means);
  if (kind == Normalizer::kTrace || kind == Normalizer::kMultiplicative) {
    step.constant = 1 / variance;
    fitted.magnitude *= static_cast<double>(std::abs(step.constant));
  } else if (kind == Normalizer::kSpherical) {
    Real smallest = std::numeric_limits<Real>::infinity();
    for (const Real value : kernel.diagonal) {
      step.per_sample.push_back(value > 0 ? 1 / std::sqrt(value) : 0);
      if (value > 0) smallest = std::min(smallest, value);
    }
    // Rounding follows the size of samples, until centring takes their values from larger ones.
    const auto has_kind = [](const PlainStep<Real>& done) { return done.kind == Normalizer::kCenter; };
    const bool is_centred = std::ranges::any_of(fitted.steps, has_kind) && std::isfinite(smallest);
    const double growth = is_centred ? static_cast<double>(fitted.magnitude / smallest) : 1;
    if (std::isfinite(fitted.magnitude)) fitted.magnitude = std::max(growth, 1.0);
    fitted.least_variance = std::min(fitted.least_variance, 1 / std::max(growth, 1.0));
  } else if (kind == Normalizer::kCenter) {
    step.per_sample = kernel.means;
    step.constant = MeanOfPresent(kernel, kernel.means);
  } else {
    step.per_sample.assign(kernel.presence.begin(), kernel.presence.end());
    const double largest = std::ranges::max(kernel.presence);
    fitted.magnitude *= largest * largest;
  }
  if (kind != Normalizer::kSpherical && kind != Normalizer::kPresence)
    fitted.least_variance =
        std::min(fitted.least_variance,
                 mean_diagonal == 0 ? 0 : static_cast<double>(variance / std::abs(mean_diagonal)));
  for (std::size_t i = 0; i < kernel.diagonal.size(); ++i) {
    const auto at = static_cast<Index>(i);
    kernel.diagonal[i] = step.Apply(at, at, kernel.diagonal[i]);
  }
  fitted.steps.push_back(std::move(step));
}

template <class Real>
std::vector<PlainNormalization<Real>> PlainKernels<Real>::Fit(std::span<const Normalizer> sequence,
                                                              Index first, Index last) {
  const auto count = static_cast<std::size_t>(last - first);
  std::vector<PlainNormalization<Real>> fitted(count);
  std::vector<Fitting> kernels(count);
  bool is_incomplete = false;
  for (std::size_t k = 0; k < count; ++k) {
    Fitting& kernel = kernels[k];
    const Index m = first + static_cast<Index>(k);
    kernel.diagonal.resize(samples_);
    kernel.presence = Presence(m);
    kernel.is_incomplete = samples_ > 0 && std::isfinite(kernel.presence[0]);
    is_incomplete = is_incomplete || kernel.is_incomplete;
    for (Index i = 0; i < samples_; ++i) Row(m, i, i, i + 1, std::span(&kernel.diagonal[i], 1));
    for (const Real value : kernel.diagonal)
      fitted[k].magnitude = std::max(fitted[k].magnitude, static_cast<double>(std::abs(value)));
    fitted[k].raw_magnitude = fitted[k].magnitude;
  }
  for (const Normalizer kind : sequence) {
    if (kind == Normalizer::kMultiplicative || kind == Normalizer::kCenter)
      FitMeans(fitted, first, last, kernels);
    for (std::size_t k = 0; k < count; ++k) FitStep(kind, kernels[k], fitted[k]);
  }
  if (!is_incomplete) return fitted;
  FitMeans(fitted, first, last, kernels);
  for (std::size_t k = 0; k < count; ++k) {
    if (!kernels[k].is_incomplete) continue;
    FitStep(Normalizer::kCenter, kernels[k], fitted[k]);
    FitStep(Normalizer::kPresence, kernels[k], fitted[k]);
  }
  return fitted;
}

template struct PlainStep<double>;
template struct PlainStep<long double>;
template struct PlainNormalization<double>;
template struct PlainNormalization<long double>;
template class PlainKernels<double>;
template class PlainKernels<long double>;

}  // namespace kweave::verify
