#include "model/match_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/presence.h"
#include "data/sequences.h"
#include "kernel/sequence_kernel.h"
#include "kweave/error.h"

namespace kweave {
namespace {

// The kernel on a view that compares positions of sequences, if there is one.
std::optional<std::string> NeedsEqualLengths(const KernelSet& kernels, std::int32_t view) {
  const auto needs = [&](const auto& placed) {
    return placed.view == view && placed.kind->IsOnSequences() &&
           placed.kind->base->sequences->needs_equal_lengths;
  };
  for (const Family& family : kernels.families) {
    if (needs(family)) return std::string(family.kind->name);
  }
  for (const Composite& composite : kernels.composites) {
    const auto found = std::ranges::find_if(composite.terms, needs);
    if (found != composite.terms.end()) return std::string(found->kind->name);
  }
  return std::nullopt;
}

std::string QuotedNames(std::span<const View> views) {
  std::string names;
  for (const View& view : views) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", view.name);
  return names.empty() ? "none" : names;
}

// Whether a single view may go by another name than in training.
bool MatchesByPosition(const ModelContent& content, std::size_t given) {
  return content.samples.size() == 1 && given == 1 && !content.kernels.NamesViews();
}

// Names that say otherwise than positions do, where a name of training is not unique and cannot be looked
// for.
void CheckFeatureNames(const View& trained, const View& given) {
  if (trained.feature_names.size() != given.feature_names.size()) return;
  const auto [expected, found] = std::ranges::mismatch(trained.feature_names, given.feature_names);
  if (expected == trained.feature_names.end()) return;
  throw Error(ErrorKind::kData,
              fmt::format("view '{}': feature {} is called '{}', expected '{}' as in training", trained.name,
                          found - given.feature_names.begin() + 1, *found, *expected));
}

// The column of `given` for every feature of training, found by name; empty when they are matched by
// position.
std::vector<Index> MatchColumns(const View& trained, const View& given) {
  if (trained.feature_names.empty() || given.feature_names.empty()) return {};
  if (trained.feature_names == given.feature_names) return {};
  const std::set<std::string_view> distinct(trained.feature_names.begin(), trained.feature_names.end());
  if (distinct.size() != trained.feature_names.size()) {
    CheckFeatureNames(trained, given);
    return {};
  }
  std::unordered_map<std::string_view, Index> column_of;
  for (std::size_t j = 0; j < given.feature_names.size(); ++j) {
    const auto [found, is_new] = column_of.emplace(given.feature_names[j], static_cast<Index>(j));
    if (!is_new && distinct.contains(found->first)) {
      throw Error(ErrorKind::kData,
                  fmt::format("view '{}' has two features called '{}'", given.name, found->first));
    }
  }
  std::vector<Index> columns;
  for (const std::string& name : trained.feature_names) {
    const auto found = column_of.find(name);
    if (found == column_of.end()) {
      throw Error(ErrorKind::kData, fmt::format("view '{}' has no feature called '{}', which the model needs",
                                                given.name, name));
    }
    columns.push_back(found->second);
  }
  return columns;
}

Features SelectColumns(const Features& features, std::span<const Index> columns) {
  const Index rows = RowCount(features);
  std::vector<double> row(static_cast<std::size_t>(ColumnCount(features)));
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(rows) * columns.size());
  for (Index i = 0; i < rows; ++i) {
    CopyRow(features, i, row);
    for (const Index column : columns) values.push_back(row[static_cast<std::size_t>(column)]);
  }
  return MakeDense(std::move(values), rows, static_cast<Index>(columns.size()));
}

// New sequences must be of the letters of training, and of as many where kernels compare positions.
void CheckSequences(const ModelContent& content, std::int32_t view, const View& given,
                    const Numbering& numbering) {
  const View& trained = content.samples[static_cast<std::size_t>(view)];
  const SequenceRows *old = AsSequences(trained.features), *fresh = AsSequences(given.features);
  if ((old == nullptr) != (fresh == nullptr)) {
    throw Error(ErrorKind::kData, fmt::format("view '{}' holds {}, the model was trained on {}", given.name,
                                              fresh != nullptr ? "sequences" : "numbers",
                                              old != nullptr ? "sequences" : "numbers"));
  }
  if (old == nullptr) return;
  if (old->alphabet != fresh->alphabet) {
    throw Error(ErrorKind::kData, fmt::format("view '{}' has letters {}, the model was trained on {}",
                                              given.name, fresh->alphabet, old->alphabet));
  }
  const std::optional<std::string> kernel = NeedsEqualLengths(content.kernels, view);
  if (!kernel || old->rows == 0) return;
  for (Index i = 0; i < fresh->rows; ++i) {
    if (fresh->lengths[i] == old->lengths[0]) continue;
    throw Error(ErrorKind::kData,
                fmt::format("view '{}', sample {}: {} letters, but {} needs {} as in training", given.name,
                            numbering.Sample(i), fresh->lengths[i], *kernel, old->lengths[0]));
  }
}

// The features of `given`, as wide as in training. A sparse file may end before the last features do.
Features FitColumns(const View& trained, const View& given) {
  if (const std::vector<Index> columns = MatchColumns(trained, given); !columns.empty()) {
    return SelectColumns(given.features, columns);
  }
  Features features = given.features;
  if (AsSequences(features) != nullptr) return features;
  const Index expected = ColumnCount(trained.features);
  if (auto* sparse = std::get_if<SparseRows>(&features); sparse != nullptr && sparse->cols < expected) {
    sparse->cols = expected;
  }
  if (ColumnCount(features) != expected) {
    throw Error(ErrorKind::kData, fmt::format("view '{}' has {} features, the model was trained on {}",
                                              given.name, ColumnCount(features), expected));
  }
  return features;
}

// The confounds of new samples, in the order of training.
Features MatchConfounds(const ModelContent& content, const Dataset& data) {
  if (content.confound_count == 0) return DenseRows<double>{};
  const Index given = ColumnCount(data.confounds.features);
  if (given == 0) {
    throw Error(
        ErrorKind::kData,
        fmt::format("the model removes {} confounds from the features and needs them of the new samples "
                    "too: `confounds_path` FILE",
                    content.confound_count),
        {"confounds_path", "", "a file"});
  }
  View trained{"confounds", MakeDense({}, 0, content.confound_count), content.confound_names};
  return FitColumns(trained, data.confounds);
}

// Where samples are rescaled by the views they have, among all views of training.
void CountPresence(const ModelContent& content, const Dataset& data, std::vector<View>& matched) {
  if (content.counted_views.empty()) return;
  std::vector<View> counted;
  for (const std::string& name : content.counted_views) {
    const auto found = std::ranges::find(data.views, name, &View::name);
    if (found == data.views.end() && !MatchesByPosition(content, data.views.size())) {
      throw Error(ErrorKind::kData,
                  fmt::format("the model counts the views that a sample has, and needs view '{}' too; the "
                              "data has {}",
                              name, QuotedNames(data.views)));
    }
    counted.push_back({name, {}, {}, found == data.views.end() ? data.views[0].presence : found->presence});
  }
  RescalePresence(counted, data.size);
  for (View& view : matched) view.presence = std::ranges::find(counted, view.name, &View::name)->presence;
}

}  // namespace

std::vector<View> MatchViews(const ModelContent& content, const Dataset& data) {
  const Features confounds = MatchConfounds(content, data);
  std::vector<View> matched;
  for (const View& trained : content.samples) {
    auto found = std::ranges::find(data.views, trained.name, &View::name);
    if (MatchesByPosition(content, data.views.size())) found = data.views.begin();
    if (found == data.views.end()) {
      throw Error(ErrorKind::kData, fmt::format("the model needs view '{}'; the data has {}", trained.name,
                                                QuotedNames(data.views)));
    }
    CheckSequences(content, static_cast<std::int32_t>(matched.size()), *found, data.numbering);
    matched.push_back({trained.name, FitColumns(trained, *found), {}, found->presence});
    const auto transform = std::ranges::find(content.transforms, trained.name, &FeatureTransform::view);
    if (transform != content.transforms.end())
      matched.back() = ApplyTransform(*transform, matched.back(), confounds);
  }
  CountPresence(content, data, matched);
  return matched;
}

void ExpectViews(const ModelContent& content, ReadOptions& options) {
  if (options.label_separator.empty()) options.label_separator = content.label_separator;
  options.expected_confounds = content.confound_names;
  options.expected_columns.clear();
  options.expected_names.clear();
  options.expected_alphabets.clear();
  for (const ViewSource& source : options.views) {
    auto found = std::ranges::find(content.samples, source.name, &View::name);
    if (MatchesByPosition(content, options.views.size())) found = content.samples.begin();
    const bool is_known = found != content.samples.end();
    options.expected_columns.push_back(is_known ? ColumnCount(found->features) : 0);
    options.expected_names.push_back(is_known ? found->feature_names : std::vector<std::string>{});
    const SequenceRows* sequences = is_known ? AsSequences(found->features) : nullptr;
    options.expected_alphabets.push_back(sequences != nullptr ? sequences->alphabet : std::string());
  }
}

}  // namespace kweave
