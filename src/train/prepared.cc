#include "train/prepared.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "data/presence.h"
#include "kernel/language.h"
#include "kernel/matrix_check.h"
#include "kweave/error.h"
#include "model/content.h"
#include "train/effective_options.h"
#include "train/equal_samples.h"
#include "train/feature_groups.h"
#include "train/objective.h"

namespace kweave {
namespace {

std::vector<Index> SamplesWithWeight(Index size, const TrainOptions& options) {
  std::vector<Index> indices;
  for (Index i = 0; i < size; ++i) {
    if (options.sample_weights.empty() || options.sample_weights[i] > 0) indices.push_back(i);
  }
  return indices;
}

// Which of the samples at `indices` are named in `keep`.
std::vector<bool> KeptSamples(std::span<const Index> keep, Index size, std::span<const Index> indices) {
  if (keep.empty()) return {};
  std::vector<bool> is_named(size);
  for (Index i : keep) {
    if (i < 0 || i >= size) {
      throw Error(ErrorKind::kUsage, fmt::format("there is no sample {} to keep, there are {}", i, size));
    }
    is_named[i] = true;
  }
  std::vector<bool> is_kept;
  for (Index i : indices) is_kept.push_back(is_named[i]);
  return is_kept;
}

// The first few names, quoted, and how many more there are.
std::string NameSome(const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 5;  // names of kernels are long: a line or two of them
  const std::span named(names.data(), std::min(names.size(), kNamed));
  std::string text = fmt::format("'{}'", fmt::join(named, "', '"));
  if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
  return text;
}

// `unit` is what the matrices have rows for.
void CheckMatrices(const KernelSet& kernels, Index count, std::string_view unit, ThreadPool& pool,
                   const RunControl& control) {
  std::vector<std::string> indefinite;
  const std::vector<MatrixCheck> checks =
      CheckKernelMatrices(kernels.files, count, pool, unit, control.seed());
  for (std::size_t f = 0; f < checks.size(); ++f) {
    if (checks[f].is_indefinite) {
      indefinite.push_back(fmt::format("{} (smallest eigenvalue at most {:.3g}, largest at least {:.3g})",
                                       kernels.files[f].name, checks[f].smallest_eigenvalue,
                                       checks[f].largest_eigenvalue));
    }
  }
  if (!indefinite.empty()) {
    control.Log(
        LogLevel::kWarning,
        fmt::format("indefinite kernel matrices: {}; they get weight 0 where they would not add to the norm",
                    NameSome(indefinite)));
  }
}

// Moves the kernels on pairs of sample and class from `prepared.kernels` to `prepared.pairs`. Returns the
// positions of those that stay.
std::vector<Index> SplitPairs(const PreparedSamples& samples, const TrainOptions& options,
                              std::span<const Normalizer> normalizers, ThreadPool& pool,
                              const RunControl& control, PreparedKernels& prepared) {
  std::vector<Index> on_samples(prepared.names.size());
  std::iota(on_samples.begin(), on_samples.end(), Index{0});
  const std::vector<Index> on_pairs = FindPairKernels(prepared.kernels);
  if (on_pairs.empty()) return on_samples;
  if (options.multiclass != Multiclass::kJoint || samples.classes.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("kernel {} is on pairs of sample and class, which only machines for all classes "
                            "at once know: train with `multiclass` joint",
                            NameSome({prepared.names[on_pairs[0]]})));
  }
  const auto count = static_cast<Index>(samples.indices.size());
  const auto classes = static_cast<Index>(samples.classes.size());
  KernelSet pairs = prepared.kernels.Select(on_pairs);
  CheckMatrices(pairs, count * classes, "pair of sample and class", pool, control);
  prepared.pairs = PreparePairKernels(std::move(pairs), on_pairs, count, classes, normalizers);
  std::erase_if(on_samples, [&](Index m) { return std::ranges::binary_search(on_pairs, m); });
  prepared.kernels = prepared.kernels.Select(on_samples);
  return on_samples;
}

// Kernels that get weight 0 whatever is learned, by the scale that their normalisation found.
class LeftOut {
 public:
  bool Keeps(double scale, const std::string& name) {
    if (std::isnan(scale)) overflowing_.push_back(name);
    if (scale == 0) without_variance_.push_back(name);
    return !std::isnan(scale) && scale != 0;
  }
  bool empty() const { return overflowing_.empty() && without_variance_.empty(); }
  void Log(const RunControl& control) const {
    if (!without_variance_.empty()) {
      control.Log(LogLevel::kNote, fmt::format("no variance over the training samples, weight 0: {}",
                                               NameSome(without_variance_)));
    }
    if (!overflowing_.empty()) {
      control.Log(LogLevel::kWarning,
                  fmt::format("values beyond the range of numbers, weight 0 (scale the features): {}",
                              NameSome(overflowing_)));
    }
  }

 private:
  std::vector<std::string> without_variance_, overflowing_;
};

void EncodeLabels(const Labels& labels, const TrainOptions& options, PreparedSamples& samples) {
  const std::span<const Index> indices = samples.indices;
  switch (options.task) {
    case Task::kClassify: {
      samples.labels = EncodeClasses(labels, indices);
      samples.classes = samples.labels.classes;
      samples.upper = UpperBounds(options, samples.labels, indices);
      if (samples.classes.size() != 2 || samples.labels.is_multilabel()) return;
      for (const std::int32_t u : samples.labels.of_sample) samples.y.push_back(u == 0 ? -1.0 : 1.0);
      return;
    }
    case Task::kRegress:
      samples.upper = UpperBounds(options, indices);
      samples.y = EncodeTargets(labels, indices);
      return;
    case Task::kOneClass:
      samples.upper = options.bias ? OneClassBounds(options, indices) : UpperBounds(options, indices);
      samples.classes = {"-1", "1"};
      samples.y.assign(indices.size(), 1.0);
  }
}

View SelectConfounds(const View& confounds, std::span<const Index> indices) {
  return ColumnCount(confounds.features) > 0 ? SelectSamples(confounds, indices) : confounds;
}

// Learned from these samples alone, which are all that training sees.
void TransformFeatures(View confounds, const TrainOptions& options, PreparedSamples& samples) {
  samples.confounds = std::move(confounds);
  const Index count = ColumnCount(samples.confounds.features);
  if (count > 0 && RowCount(samples.confounds.features) != static_cast<Index>(samples.indices.size())) {
    throw Error(ErrorKind::kData,
                fmt::format("there are confounds of {} samples, expected {}, one row for each",
                            RowCount(samples.confounds.features), samples.indices.size()));
  }
  if (count == 0 && options.scale == FeatureScale::kNone) return;
  for (View& view : samples.views) {
    samples.transforms.push_back(FitTransform(view, samples.confounds.features, options.scale));
    view = ApplyTransform(samples.transforms.back(), view, samples.confounds.features);
  }
}

}  // namespace

PreparedSamples PrepareSamples(const Dataset& data, const TrainOptions& options) {
  if (!options.sample_weights.empty() && static_cast<Index>(options.sample_weights.size()) != data.size) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{} values of `sample_weights` for {} samples", options.sample_weights.size(), data.size),
        {"sample_weights", fmt::format("{} of them", options.sample_weights.size()),
         fmt::format("{}, one for every sample", data.size)});
  }
  if (const std::optional<TrainOptions> merged = MergeEqualSamples(data, options)) {
    return PrepareSamples(data, *merged);
  }
  PreparedSamples samples;
  samples.indices = SamplesWithWeight(data.size, options);
  samples.data_count = data.size;
  samples.numbering.first = data.numbering.first;
  for (const Index i : samples.indices)
    samples.numbering.positions.push_back(data.numbering.Sample(i) - data.numbering.first);
  if (samples.indices.empty()) throw Error(ErrorKind::kData, "no sample has a weight above 0");
  EncodeLabels(data.labels, options, samples);
  const bool is_whole = static_cast<Index>(samples.indices.size()) == data.size;
  for (const View& view : data.views) {
    samples.views.push_back(is_whole ? view : SelectSamples(view, samples.indices));
  }
  TransformFeatures(is_whole ? data.confounds : SelectConfounds(data.confounds, samples.indices), options,
                    samples);
  if (options.missing_views == MissingViews::kRescale) RescalePresence(samples.views, samples.indices.size());
  samples.matrices = data.matrices;
  samples.is_kept = KeptSamples(options.keep_samples, data.size, samples.indices);
  return samples;
}

PreparedKernels PrepareKernels(const PreparedSamples& samples, const TrainOptions& options,
                               std::uint64_t seed, ThreadPool& pool, RunControl& control) {
  const ScopedPoll poll(pool, [&control] { control.ThrowIfStopped(); });
  PreparedKernels prepared;
  const auto count = static_cast<Index>(samples.indices.size());
  const GroupedKernels grouped = KernelsOnGroups(options, samples.views);
  if (!grouped.note.empty()) control.Log(LogLevel::kNote, grouped.note);
  prepared.specifications = grouped.kernels;
  prepared.kernels = ParseKernels(prepared.specifications, samples.views, seed, samples.numbering);
  prepared.kernels.Hold(samples.matrices);
  for (Index m = 0; m < prepared.kernels.size(); ++m) prepared.names.push_back(prepared.kernels.Name(m));
  if (!prepared.kernels.files.empty() && samples.indices.back() != count - 1) {
    throw Error(ErrorKind::kUsage,
                "`sample_weights` of 0 cannot be combined with precomputed kernels; leave the "
                "samples out of data and matrices",
                {"sample_weights", "0", "above 0"});
  }
  const std::vector<Normalizer> normalizers = ParseNormalizers(EffectiveNormalize(options));
  const std::vector<Index> on_samples = SplitPairs(samples, options, normalizers, pool, control, prepared);
  prepared.views = WithSampleCount(ViewsOf(prepared.kernels, samples.views), count);
  if (!prepared.kernels.files.empty()) CheckMatrices(prepared.kernels, count, "sample", pool, control);
  prepared.normalization = FitNormalization(prepared.kernels, prepared.views, normalizers, pool, seed);

  LeftOut left_out;
  std::vector<Index> kept, kept_pairs;
  for (Index m = 0; m < prepared.kernels.size(); ++m) {
    if (!left_out.Keeps(prepared.normalization.scale[m], prepared.names[on_samples[m]])) continue;
    kept.push_back(m);
    prepared.kept.push_back(on_samples[m]);
  }
  for (Index m = 0; m < prepared.pairs.kernels.size(); ++m) {
    const std::string& name = prepared.names[prepared.pairs.kept[m]];
    if (left_out.Keeps(prepared.pairs.normalization.scale[m], name)) kept_pairs.push_back(m);
  }
  if (left_out.empty()) return prepared;
  left_out.Log(control);
  std::vector<Index> every_sample(count);
  std::iota(every_sample.begin(), every_sample.end(), Index{0});
  prepared.normalization = prepared.normalization.Select(kept, every_sample);
  prepared.kernels = prepared.kernels.Select(kept);
  prepared.views = WithSampleCount(ViewsOf(prepared.kernels, samples.views), count);
  prepared.pairs = SelectPairKernels(prepared.pairs, kept_pairs);
  return prepared;
}

std::vector<View> ViewsOf(const KernelSet& kernels, std::span<const View> views) {
  std::vector<View> named;
  for (const std::string& name : kernels.views) named.push_back(*std::ranges::find(views, name, &View::name));
  return named;
}

}  // namespace kweave
