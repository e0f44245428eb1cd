#include "train/equal_samples.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "kernel/language.h"
#include "kweave/train.h"
#include "train/effective_options.h"

namespace kweave {
namespace {

// Up to here a copy of all samples costs next to nothing. Above it, samples are not merged.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

EqualSamples AllDifferent(Index count) {
  EqualSamples none;
  none.first.resize(static_cast<std::size_t>(count));
  std::iota(none.first.begin(), none.first.end(), Index{0});
  none.group = none.first;
  return none;
}

// A number for the label of every sample, equal where the labels are; none where the task has no use for
// them.
std::vector<double> LabelNumbers(const Dataset& data, Task task) {
  const Labels& labels = data.labels;
  if (task == Task::kOneClass || labels.empty())
    return std::vector<double>(static_cast<std::size_t>(data.size), 0.0);
  if (labels.is_numeric() && labels.separator.empty()) return labels.number;
  std::map<std::string, double> numbers;
  std::vector<double> of_sample;
  for (const std::string& text : labels.text) {
    of_sample.push_back(numbers.emplace(text, static_cast<double>(numbers.size())).first->second);
  }
  return of_sample;
}

double WeightOf(const TrainOptions& options, Index i) {
  return options.sample_weights.empty() ? 1 : options.sample_weights[static_cast<std::size_t>(i)];
}

bool UsesMatrices(const Dataset& data, const TrainOptions& options) {
  constexpr std::uint64_t kAnySeed = 0;  // widths do not matter here
  return !data.matrices.empty() ||
         !ParseKernels(EffectiveKernels(options), data.views, kAnySeed, data.numbering).files.empty();
}

}  // namespace

EqualSamples FindEqualSamples(std::span<const View> views, std::span<const double> targets) {
  const auto count = static_cast<Index>(targets.size());
  std::size_t width = 1;
  for (const View& view : views) width += static_cast<std::size_t>(ColumnCount(view.features)) + 1;
  if (views.empty() || (width - 1) * targets.size() * sizeof(double) > kMostBytes) return AllDifferent(count);
  std::vector<double> rows(width * targets.size());
  for (Index i = 0; i < count; ++i) {
    std::span<double> row(&rows[static_cast<std::size_t>(i) * width], width);
    row.back() = targets[static_cast<std::size_t>(i)];
    for (const View& view : views) {
      const auto columns = static_cast<std::size_t>(ColumnCount(view.features));
      CopyRow(view.features, i, row.first(columns));
      row[columns] = view.Has(i) ? 1 : 0;
      row = row.subspan(columns + 1);
    }
  }
  for (double& value : rows) value += 0.0;  // no negative zeros

  // By their bytes: any order will do that the values alone decide.
  const auto compare = [&](Index a, Index b) {
    return std::memcmp(&rows[static_cast<std::size_t>(a) * width], &rows[static_cast<std::size_t>(b) * width],
                       width * sizeof(double));
  };
  std::vector<Index> order = AllDifferent(count).first;
  std::ranges::stable_sort(order, [&](Index a, Index b) { return compare(a, b) < 0; });
  EqualSamples equal;
  equal.group.resize(targets.size());
  for (const Index i : order) {
    if (equal.first.empty() || compare(equal.first.back(), i) != 0) equal.first.push_back(i);
    equal.group[static_cast<std::size_t>(i)] = static_cast<Index>(equal.first.size()) - 1;
  }
  return equal;
}

std::optional<TrainOptions> MergeEqualSamples(const Dataset& data, const TrainOptions& options) {
  // What they leave of the features differs.
  if (ColumnCount(data.confounds.features) > 0) return std::nullopt;
  const std::vector<double> labels = LabelNumbers(data, options.task);
  if (static_cast<Index>(labels.size()) != data.size) return std::nullopt;  // refused where labels are read
  const EqualSamples equal = FindEqualSamples(data.views, labels);
  std::vector<Index> first(equal.first.size(), -1);  // of each group the first that counts
  TrainOptions merged = options;
  merged.sample_weights.assign(labels.size(), 0.0);
  bool has_equal = false;
  for (Index i = 0; i < data.size; ++i) {
    const double weight = WeightOf(options, i);
    if (weight == 0) continue;
    Index& own = first[static_cast<std::size_t>(equal.group[static_cast<std::size_t>(i)])];
    if (own >= 0) has_equal = true;
    if (own < 0) own = i;
    merged.sample_weights[static_cast<std::size_t>(own)] += weight;
  }
  if (!has_equal || UsesMatrices(data, options)) return std::nullopt;
  for (Index& i : merged.keep_samples) {
    if (i >= 0 && i < data.size && WeightOf(options, i) > 0) {
      i = first[static_cast<std::size_t>(equal.group[static_cast<std::size_t>(i)])];
    }
  }
  return merged;
}

}  // namespace kweave
