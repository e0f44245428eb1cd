#include "verify/training_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/label_key.h"
#include "data/number.h"
#include "data/sequences.h"
#include "kernel/language.h"
#include "kweave/error.h"

namespace kweave::verify {
namespace {

// Training fits normalisations of more than 4,000 samples from float32 values, above 20,000 from a sample of
// the samples.
constexpr Index kExactSamples = 4000, kAllSamples = 20000;
// Relative, of the bounds: rounding is reported where it is more than this and more than the gap.
constexpr double kLittle = 1e-6;
constexpr double kFloatFactor = 1e-4, kSampledFactor = 0.05, kFloatValues = 1e-6;

}  // namespace

TrainingProblem::TrainingProblem(const ModelContent& model, const Dataset& data, const Context& context,
                                 bool with_long_doubles)
    : content(model),
      problem(model.problem),
      control(context),
      loss{model.loss, model.problem.epsilon, model.problem.sharpness},
      is_extended(with_long_doubles) {
  if (!problem.is_known) {
    throw Error(ErrorKind::kData,
                "the model is of an earlier format, which keeps neither the dual point behind its bound nor "
                "all kernels, the regulariser and C: primal, dual and gap cannot be checked; train it again");
  }
  TakeSamples(data);
  CompareSamples();
  TakeLabels(data.labels);
  TakeKernels(data);
}

void TrainingProblem::TakeSamples(const Dataset& data) {
  if (data.size != problem.data_count) {
    throw Error(ErrorKind::kData, fmt::format("the model was trained on {} samples, but the data has {}",
                                              problem.data_count, data.size));
  }
  for (Index i = 0; i < data.size; ++i) {
    const double C = problem.costs.size() == 1 ? problem.costs[0] : problem.costs[i];
    if (!(C > 0)) continue;
    indices.push_back(i);
    costs.push_back(C);
  }
  if (std::ssize(indices) != content.training_count) {
    throw Error(ErrorKind::kData, "the model is damaged: costs and training samples differ in number");
  }
  n = std::ssize(indices);
  numbering = data.numbering;
  for (const View& view : data.views) views.push_back(SelectSamples(view, indices));
  TransformFeatures(data);
  if (!content.counted_views.empty()) CountViews();
}

// Applies what the model did to the features, and checks that it follows from the data: residuals have mean 0
// and no product with a confound; scaled features have mean 0 and deviation 1, or reach from 0 to 1.
void TrainingProblem::TransformFeatures(const Dataset& data) {
  if (content.transforms.empty()) return;
  if (ColumnCount(data.confounds.features) != content.confound_count) {
    throw Error(ErrorKind::kData, fmt::format("the model was trained with {} confounds, but the data has {}",
                                              content.confound_count, ColumnCount(data.confounds.features)));
  }
  const auto own_confounds = static_cast<std::size_t>(content.confound_count);
  for (View& view : views) {
    const auto transform = std::ranges::find(content.transforms, view.name, &FeatureTransform::view);
    if (transform == content.transforms.end() || transform->empty()) continue;  // nothing was done
    const auto features = static_cast<std::size_t>(ColumnCount(view.features));
    const auto fits = [](const Vector& values, std::size_t count) {
      return values.empty() || values.size() == count;
    };
    if (!fits(transform->shift, features) || !fits(transform->factor, features) ||
        !fits(transform->coefficients, features * own_confounds)) {
      throw Error(
          ErrorKind::kData,
          fmt::format("view '{}' has {} features, but had another number in training", view.name, features));
    }
    if (std::holds_alternative<SparseRows>(view.features)) {
      view = ApplyTransform(*transform, view, data.confounds.features);
      found.unchecked.push_back(fmt::format("the scale of view '{}', which is sparse", view.name));
    } else {
      TransformView(*transform, data.confounds.features, view);
    }
  }
}

void TrainingProblem::TransformView(const FeatureTransform& transform, const Features& confounds,
                                    View& view) {
  const Index features = ColumnCount(view.features);
  Vector values(n * features, 0.0), own(content.confound_count);
  std::vector<Index> present;
  for (Index i = 0; i < n; ++i) {
    if (!view.Has(i)) continue;
    present.push_back(i);
    const std::span<double> row = std::span(values).subspan(i * features, features);
    CopyRow(view.features, i, row);
    if (content.confound_count > 0) CopyRow(confounds, indices[i], own);
    for (Index f = 0; f < features; ++f) {
      for (Index k = 0; k < content.confound_count && !transform.coefficients.empty(); ++k)
        row[f] -= transform.coefficients[k * features + f] * own[k];
      if (!transform.shift.empty()) row[f] -= transform.shift[f];
      if (!transform.factor.empty()) row[f] *= transform.factor[f];
    }
  }
  const Features changed = MakeDense(values, n, features);
  for (Index f = 0; f < features; ++f) {
    if (IsTransformed(values, features, f, present, confounds)) continue;
    found.failures.push_back(fmt::format(
        "feature {} of view '{}' is not scaled, or cleared of confounds, as these samples ask for", f + 1,
        view.name));
    break;
  }
  view.features = changed;
}

bool TrainingProblem::IsTransformed(std::span<const double> values, Index features, Index f,
                                    std::span<const Index> present, const Features& confounds) const {
  constexpr double kStatistic = 1e-6;  // what rounding may leave of a mean, a product or a deviation
  const auto count = static_cast<double>(present.size());
  if (present.empty()) return true;
  double mean = 0, squares = 0, least = values[present[0] * features + f], most = least;
  Vector products(content.confound_count, 0.0), sizes(content.confound_count, 0.0),
      own(content.confound_count);
  for (const Index i : present) {
    const double value = values[i * features + f];
    mean += value / count, squares += value * value / count;
    least = std::min(least, value), most = std::max(most, value);
    if (content.confound_count == 0) continue;
    CopyRow(confounds, indices[i], own);
    for (Index k = 0; k < content.confound_count; ++k)
      products[k] += value * own[k] / count, sizes[k] += own[k] * own[k] / count;
  }
  const double size = std::sqrt(squares);
  const bool is_minmax = problem.scale_of_features == FeatureScale::kMinMax;
  for (Index k = 0; k < content.confound_count && !is_minmax; ++k) {
    if (!(std::abs(products[k]) <= kStatistic * (1 + size) * (1 + std::sqrt(sizes[k])))) return false;
  }
  const double deviation = std::sqrt(std::max(squares - mean * mean, 0.0));
  const auto is_near = [](double a, double b) { return std::abs(a - b) <= kStatistic; };
  const bool is_constant = most - least <= kStatistic;
  switch (problem.scale_of_features) {
    case FeatureScale::kNone:
      return std::abs(mean) <= kStatistic * (1 + size);
    case FeatureScale::kStandard:
      return is_near(mean, 0) && (is_constant || is_near(deviation, 1));
    case FeatureScale::kMinMax:
      return is_near(least, 0) && (is_constant || is_near(most, 1));
  }
  return false;
}

// Where samples are rescaled by the views they have: presence is sqrt(V / a), a of the V views.
void TrainingProblem::CountViews() {
  for (Index i = 0; i < n; ++i) {
    const auto has = [i](const View& view) { return view.Has(i); };
    const auto own = static_cast<double>(std::ranges::count_if(views, has));
    for (View& view : views) {
      if (view.presence.empty()) view.presence.assign(n, 1.0);
      if (view.Has(i)) view.presence[i] = std::sqrt(static_cast<double>(views.size()) / own);
    }
  }
}

// The samples that the model stores must be those of the data.
void TrainingProblem::CompareSamples() {
  for (const View& stored : content.samples) {
    const auto view = std::ranges::find(views, stored.name, &View::name);
    if (view == views.end()) {
      throw Error(ErrorKind::kData,
                  fmt::format("the model was trained on view '{}', which the data lacks", stored.name));
    }
    const Index columns = std::max(ColumnCount(stored.features), ColumnCount(view->features));
    const bool has_sequences = AsSequences(stored.features) != nullptr;
    if (has_sequences != (AsSequences(view->features) != nullptr)) {
      throw Error(ErrorKind::kData, fmt::format("view '{}' held {} in training", stored.name,
                                                has_sequences ? "sequences" : "numbers"));
    }
    if (!has_sequences && ColumnCount(stored.features) != ColumnCount(view->features)) {
      throw Error(ErrorKind::kData,
                  fmt::format("view '{}' had {} features in training, but has {}", stored.name,
                              ColumnCount(stored.features), ColumnCount(view->features)));
    }
    Vector of_model(columns), of_data(columns);
    for (Index k = 0; k < content.stored_count(); ++k) {
      CopyRow(stored.features, k, of_model);
      CopyRow(view->features, Position(k), of_data);
      if (of_model == of_data) continue;
      found.failures.push_back(fmt::format("sample {} of view '{}' is not the one that the model stores",
                                           numbering.Sample(content.sample_indices[k]), stored.name));
      return;
    }
  }
}

// Of a stored sample among those of training.
Index TrainingProblem::Position(Index stored) const {
  const auto at = std::ranges::lower_bound(indices, content.sample_indices[stored]);
  if (at == indices.end() || *at != content.sample_indices[stored]) {
    throw Error(ErrorKind::kData, "the model is damaged: it stores a sample that it was not trained on");
  }
  return at - indices.begin();
}

Vector TrainingProblem::OverSamples(const SparseVector& of_stored) const {
  Vector values(n, 0.0);
  for (std::size_t k = 0; k < of_stored.values.size(); ++k)
    values[Position(of_stored.positions[k])] = of_stored.values[k];
  return values;
}

// The classes that a label names, by the model's numbers.
std::vector<Index> TrainingProblem::ClassesOf(const std::string& label) const {
  std::vector<std::string> parts;
  const std::string& separator = content.label_separator;
  for (std::size_t begin = 0; !separator.empty() && begin <= label.size();) {
    const std::size_t end = std::min(label.find(separator, begin), label.size());
    std::string_view part = std::string_view(label).substr(begin, end - begin);
    part.remove_prefix(std::min(part.find_first_not_of(" \t"), part.size()));
    parts.emplace_back(part.substr(0, part.find_last_not_of(" \t") + 1));
    begin = end + separator.size();
  }
  if (separator.empty()) parts.push_back(label);
  std::vector<Index> named;
  for (const std::string& part : parts) {
    const auto is_same = [&](const std::string& known) { return LabelKey(part) == LabelKey(known); };
    const auto at = std::ranges::find_if(content.classes, is_same);
    if (at != content.classes.end()) named.push_back(at - content.classes.begin());
  }
  return named;
}

void TrainingProblem::TakeLabels(const Labels& labels) {
  if (content.task == Task::kOneClass) {
    targets.assign(n, 1.0);
    return;
  }
  if (labels.empty()) throw Error(ErrorKind::kData, "the data has no labels");
  for (const Index i : indices) {
    if (content.task == Task::kRegress) {
      const auto number = labels.is_numeric() ? labels.number[i] : ToNumber(labels.text[i]);
      if (!number)
        throw Error(ErrorKind::kData,
                    fmt::format("label {} is '{}', expected a number", i + 1, labels.text[i]));
      targets.push_back(*number);
      continue;
    }
    classes.push_back(ClassesOf(labels.text[i]));
    const bool needs_one = content.label_separator.empty();
    if (needs_one && classes.back().size() != 1) {
      throw Error(ErrorKind::kData,
                  fmt::format("label {} is '{}', which is no class of the model", i + 1, labels.text[i]));
    }
    if (!content.multiclass) targets.push_back(classes.back()[0] == 1 ? 1 : -1);
  }
}

void TrainingProblem::TakeKernels(const Dataset& data) {
  all = problem.is_product ? content.kernels : ParseKernels(problem.kernels, views, problem.seed);
  all.Hold(data.matrices);
  std::vector<bool> is_out(all.size(), false);
  for (const std::int32_t m : problem.left_out) is_out.at(CheckNumber(m)) = true;
  std::vector<Index> kept;
  std::vector<Index> place(all.size(), -1);
  for (Index m = 0; m < all.size(); ++m) {
    if (is_out[m]) continue;
    if (!all.IsComposite(m) && all.Term(m).kind->name == "joint") {
      pair_kernels.push_back(m);
      continue;
    }
    place[m] = std::ssize(kept);
    kept.push_back(m);
  }
  for (std::size_t k = 0; k < problem.active.size(); ++k) {
    const Index m = CheckNumber(problem.active[k]);
    if (place[m] < 0)
      throw Error(ErrorKind::kData, "the model is damaged: a kernel with a weight was left out");
    active.push_back(place[m]);
    CompareKernels(m, static_cast<Index>(k));
  }
  kernels = all.Select(kept);
  kernels.Hold(data.matrices);
  const std::size_t count = kept.size() + pair_kernels.size();
  scale = problem.scale.empty() ? Vector(count, 1.0) : problem.scale;
  if (scale.size() != count)
    throw Error(ErrorKind::kData, "the model is damaged: kernels and factors differ in number");
  CheckLeftOut();
}

Index TrainingProblem::CheckNumber(std::int32_t m) const {
  if (m < all.size()) return m;
  throw Error(ErrorKind::kData,
              fmt::format("the specifications give {} kernels, but the model names number {}; is this the "
                          "data it was trained on?",
                          all.size(), m + 1));
}

// Kernel m of the specifications must be kernel k of the model: the same name and the same parameters.
void TrainingProblem::CompareKernels(Index m, Index k) {
  const auto parameters = [](const KernelSet& set, Index number) {
    std::vector<KernelParameters> list;
    for (const KernelTerm& term : set.Expression(number).terms) list.push_back(term.parameters);
    return list;
  };
  if (all.Name(m) == content.kernels.Name(k) && parameters(all, m) == parameters(content.kernels, k)) return;
  found.failures.push_back(fmt::format("kernel '{}' of the model is '{}' by its specification on these data",
                                       content.kernels.Name(k), all.Name(m)));
}

double TrainingProblem::FactorTolerance(double least_variance) const {
  // A variance that is a small part of the diagonal is known less well.
  const double digits_lost = 1 / std::max(least_variance, kEpsilon);
  if (n > kAllSamples && kernels.files.empty()) return kSampledFactor;
  return n > kExactSamples ? kFloatFactor * digits_lost : kFeasible + kValueRounding * digits_lost;
}

void TrainingProblem::CheckLeftOut() {
  std::vector<Index> left_out(problem.left_out.begin(), problem.left_out.end());
  std::erase_if(left_out, [&](Index m) { return !all.IsComposite(m) && all.Term(m).kind->name == "joint"; });
  if (left_out.empty()) return;
  const KernelSet without = all.Select(left_out);
  PlainKernels<double> plain(without, views, n);
  const auto fitted = plain.Fit(content.normalization.sequence, 0, plain.size());
  for (Index m = 0; m < plain.size(); ++m) {
    if (fitted[m].least_variance > kFeasible && std::isfinite(fitted[m].magnitude)) {
      found.failures.push_back(
          fmt::format("kernel '{}' was left out, but varies over the samples", without.Name(m)));
    }
  }
}

// Compares what was fitted with what the model stores. The problem is the one with the stored factors: one
// that comes from a small variance has few digits, and all of them count in the objective.
template <class Real>
void TrainingProblem::CompareNormalization(Index m, PlainNormalization<Real>& fitted) {
  const auto& sequence = content.normalization.sequence;
  const bool has_factor_only = std::ranges::none_of(sequence, [](Normalizer step) {
    return step == Normalizer::kSpherical || step == Normalizer::kCenter;
  });
  const double tolerance = FactorTolerance(fitted.least_variance);
  const auto differ = [&](double a, double b, double size) { return !(std::abs(a - b) <= tolerance * size); };
  const bool knows_missing =
      std::ranges::find(fitted.steps, Normalizer::kPresence, &PlainStep<Real>::kind) != fitted.steps.end();
  if (has_factor_only && !sequence.empty() && !knows_missing) {
    double factor = 1;
    for (const PlainStep<Real>& step : fitted.steps) factor *= static_cast<double>(step.constant);
    // Variances are compared: one that is a small part of the values it comes from has few digits.
    const double digits = n > kExactSamples ? kFloatValues : kValueRounding;
    const double error = FactorTolerance(1) / std::abs(scale[m]) + digits * fitted.raw_magnitude;
    if (!(std::abs(1 / factor - 1 / scale[m]) <= error))
      NameWrongNormalization(kernels.Name(m), factor, scale[m]);
    fitted.magnitude = std::abs(scale[m]) * fitted.raw_magnitude;
    fitted.steps = {{Normalizer::kTrace, scale[m], {}}};
    return;
  }
  const auto own = std::ranges::find(active, m);
  if (own == active.end()) {  // of kernels without weight nothing is stored
    fitted.magnitude /= std::clamp(fitted.least_variance, kEpsilon, 1.0);
    return;
  }
  const auto chain = content.normalization.chains.find(own - active.begin());
  if (chain == content.normalization.chains.end()) return;
  for (std::size_t s = 0; s < fitted.steps.size() && s < chain->second.size(); ++s) {
    const FittedStep& stored = chain->second[s];
    const auto constant = static_cast<double>(fitted.steps[s].constant);
    const Vector per_sample(fitted.steps[s].per_sample.begin(), fitted.steps[s].per_sample.end());
    const double size = std::max({std::abs(constant), Largest(per_sample), fitted.magnitude});
    bool is_wrong = differ(constant, stored.constant, size);
    for (std::size_t k = 0; k < stored.per_sample.size(); ++k) {
      is_wrong = is_wrong || differ(per_sample[Position(static_cast<Index>(k))], stored.per_sample[k], size);
    }
    if (is_wrong) return NameWrongNormalization(kernels.Name(m), constant, stored.constant);
    const Normalizer kind = fitted.steps[s].kind;
    if (kind != Normalizer::kSpherical && kind != Normalizer::kCenter)
      fitted.steps[s].constant = static_cast<Real>(stored.constant);
  }
}

template void TrainingProblem::CompareNormalization(Index, PlainNormalization<double>&);
template void TrainingProblem::CompareNormalization(Index, PlainNormalization<long double>&);

void TrainingProblem::NameWrongNormalization(const std::string& kernel, double fitted, double stored) {
  if (wrong_normalizations++ > 0) return;
  found.failures.push_back(
      fmt::format("the normalisation of kernel '{}' is {}, but the model says {}", kernel, fitted, stored));
}

void TrainingProblem::Multiply(std::span<const Vector> vectors, const Use& use) {
  if (is_extended) {
    MultiplyBy<long double>(vectors, use);
  } else {
    MultiplyBy<double>(vectors, use);
  }
  if (rounding == 0)
    rounding = (is_extended ? kExtendedShare : 1) * (kValueRounding + kEpsilon * WidestView());
}

template <class Real>
void TrainingProblem::MultiplyBy(std::span<const Vector> vectors, const Use& use) {
  constexpr std::size_t kValuesHeld = std::size_t{1} << 23;  // 64 MB
  PlainKernels<Real> plain(kernels, views, n);
  plain.poll = [this] { control.ThrowIfStopped(); };
  diagonals.assign(static_cast<std::size_t>(plain.size()), 0.0);
  const auto block = static_cast<Index>(
      std::max<std::size_t>(1, kValuesHeld / (static_cast<std::size_t>(n) * (vectors.size() + 4))));
  for (Index first = 0; first < plain.size(); first += block) {
    const Index last = std::min(first + block, plain.size());
    std::vector<PlainNormalization<Real>> fitted = plain.Fit(content.normalization.sequence, first, last);
    for (Index m = first; m < last; ++m) CompareNormalization(m, fitted[m - first]);
    using Sums = std::vector<Real>;
    std::vector<std::vector<Sums>> products(last - first, std::vector<Sums>(vectors.size(), Sums(n)));
    plain.ForEachRow(fitted, first, last, [&](Index m, Index i, std::span<const Real> row) {
      for (const Real value : row)
        fitted[m - first].magnitude =
            std::max(fitted[m - first].magnitude, static_cast<double>(std::abs(value)));
      diagonals[m] += static_cast<double>(row[i]) / static_cast<double>(n);
      for (std::size_t v = 0; v < vectors.size(); ++v) {
        const double* const a = vectors[v].data();
        Real* const out = products[m - first][v].data();
        Real sum = 0;
        for (Index j = 0; j < i; ++j) sum += row[j] * a[j];
        out[i] += sum + row[i] * a[i];
        if (a[i] == 0) continue;
        for (Index j = 0; j < i; ++j) out[j] += row[j] * a[i];
      }
    });
    for (Index m = first; m < last; ++m) {
      std::vector<Vector> rounded;
      for (const Sums& sums : products[m - first]) rounded.emplace_back(sums.begin(), sums.end());
      use(m, rounded, fitted[m - first].magnitude);
    }
    found.kernel_values += 0.5 * static_cast<double>((last - first) * n * (n + 1));
    control.Report({.phase = "certificate"});
  }
}

double TrainingProblem::WidestView() const {
  Index most = 0;
  for (const View& view : views) most = std::max(most, ColumnCount(view.features));
  return static_cast<double>(most);
}

PlainRegularizer TrainingProblem::RegularizerFor(double exponent, std::size_t count) const {
  ModelRegularizer about = problem.regularizer;
  if (exponent != 0) about.exponent = exponent;
  if (about.form == "logdet") about = {.form = "norm", .exponent = about.exponent};
  return PlainRegularizer(about, count);
}

Vector TrainingProblem::OverKernels(std::span<const double> of_active) const {
  Vector theta(kernels.size(), 0.0);
  for (std::size_t k = 0; k < of_active.size(); ++k) theta[active[k]] = of_active[k];
  return theta;
}

// Compares what was found with what is claimed.
void TrainingProblem::Conclude(VerifiedClaim claim, double least_size) {
  const double size = std::max({std::abs(claim.primal), std::abs(claim.dual), least_size});
  claim.primal_rounding += std::isfinite(size) ? kValueRounding * size : 0;
  claim.dual_rounding = std::isfinite(claim.dual) ? claim.dual_rounding + kValueRounding * size : 0;
  const double rounding_of_both = claim.primal_rounding + claim.dual_rounding;
  if (!(rounding_of_both <= kLittle * size + std::abs(claim.claimed_primal - claim.claimed_dual))) {
    lacks_digits = true;
    found.unchecked.push_back(
        fmt::format("{}rounding may move its bounds by {:.3g}, more than the gap: kernel values "
                    "of these data differ in their last digits only",
                    Of(claim.name), rounding_of_both));
    claim.primal_rounding = std::isfinite(claim.primal_rounding) ? claim.primal_rounding : kInfinity;
    claim.dual_rounding = std::isfinite(claim.dual_rounding) ? claim.dual_rounding : kInfinity;
  }
  claim.relative_gap =
      std::isfinite(claim.primal - claim.dual) ? std::max(claim.primal - claim.dual, 0.0) / size : kInfinity;
  const auto fail = [&](const std::string& sentence) {
    claim.holds = false;
    found.failures.push_back(Of(claim.name) + sentence);
  };
  if (!(claim.primal <= claim.claimed_primal + claim.primal_rounding)) {
    fail(fmt::format("its objective is {:.10g}, above the {:.10g} that the model claims", claim.primal,
                     claim.claimed_primal));
  }
  if (!(claim.dual >= claim.claimed_dual - claim.dual_rounding)) {
    fail(fmt::format("its dual point gives the bound {:.10g}, below the {:.10g} that the model claims",
                     claim.dual, claim.claimed_dual));
  }
  const double claimed_size =
      std::max({std::abs(claim.claimed_primal), std::abs(claim.claimed_dual), least_size});
  const double follows = (claim.claimed_primal - claim.claimed_dual) / claimed_size;
  if (std::isfinite(follows) && claim.claimed_gap < follows - kFeasible) {
    fail(fmt::format("it claims the relative gap {:.3g}, but its own bounds are {:.3g} apart",
                     claim.claimed_gap, follows));
  }
  if (claim.dual > claim.primal + claim.primal_rounding + claim.dual_rounding) {
    found.unchecked.push_back(
        Of(claim.name) +
        "the lower bound is above the objective: a kernel has negative eigenvalues, and there is no bound");
  }
  found.primal += claim.primal, found.dual += claim.dual;
  found.relative_gap = std::max(found.relative_gap, claim.relative_gap);
  found.claims.push_back(std::move(claim));
}

VerifiedClaim TrainingProblem::WholeClaim() const {
  const Summary& summary = content.summary;
  VerifiedClaim claim;
  claim.claimed_primal = summary.primal;
  claim.claimed_dual = summary.dual;
  claim.claimed_gap = summary.relative_gap;
  return claim;
}

}  // namespace kweave::verify
