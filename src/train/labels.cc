#include "train/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "data/number.h"
#include "kweave/error.h"

namespace kweave {
namespace {

bool IsSameLabel(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = ToNumber(a), y = ToNumber(b);
  return x && y && *x == *y;
}

[[noreturn]] void RefuseClassCount(std::span<const std::string> classes) {
  constexpr std::size_t kNamed = 10;
  const auto named = classes.first(std::min(classes.size(), kNamed));
  const char* more = classes.size() > kNamed ? ", ..." : "";
  throw Error(ErrorKind::kData,
              fmt::format("the labels hold {} class{} ('{}'{}), expected two", classes.size(),
                          classes.size() == 1 ? "" : "es", fmt::join(named, "', '"), more));
}

// `key(i)` orders the labels; classes get the text of their first sample.
template <class Key>
BinaryLabels Encode(const Labels& labels, std::span<const Index> samples, Key key) {
  std::map<decltype(key(Index{})), Index> first_sample;
  for (Index i : samples) first_sample.try_emplace(key(i), i);
  BinaryLabels encoded;
  for (const auto& [value, i] : first_sample) encoded.classes.push_back(labels.text[i]);
  if (encoded.classes.size() != 2) RefuseClassCount(encoded.classes);
  encoded.y.reserve(samples.size());
  const auto negative = first_sample.begin()->first;
  for (Index i : samples) encoded.y.push_back(key(i) == negative ? -1.0 : 1.0);
  return encoded;
}

}  // namespace

BinaryLabels EncodeBinaryLabels(const Labels& labels, std::span<const Index> samples) {
  if (labels.empty()) throw Error(ErrorKind::kData, "the data has no labels");
  if (labels.is_numeric()) return Encode(labels, samples, [&](Index i) { return labels.number[i]; });
  return Encode(labels, samples, [&](Index i) { return std::string_view(labels.text[i]); });
}

std::vector<double> EncodeTargets(const Labels& labels, std::span<const Index> samples) {
  if (labels.empty()) throw Error(ErrorKind::kData, "the data has no labels");
  std::vector<double> targets;
  targets.reserve(samples.size());
  for (Index i : samples) {
    const std::optional<double> number = labels.is_numeric() ? labels.number[i] : ToNumber(labels.text[i]);
    if (!number) {
      throw Error(ErrorKind::kData, fmt::format("label {} is '{}', expected a finite number: task regress",
                                                i + 1, labels.text[i]));
    }
    targets.push_back(*number);
  }
  return targets;
}

std::vector<double> UpperBounds(const TrainOptions& options, const BinaryLabels& labels,
                                std::span<const Index> samples) {
  double factor[2] = {1, 1};
  for (const auto& [label, weight] : options.class_weights) {
    const int k = IsSameLabel(label, labels.classes[0]) ? 0 : IsSameLabel(label, labels.classes[1]) ? 1 : -1;
    if (k < 0) {
      throw Error(ErrorKind::kUsage, fmt::format("class weight for '{}', but the classes are '{}' and '{}'",
                                                 label, labels.classes[0], labels.classes[1]));
    }
    factor[k] = weight;
  }
  std::vector<double> upper = UpperBounds(options, samples);
  for (std::size_t k = 0; k < upper.size(); ++k) upper[k] *= factor[labels.y[k] > 0];
  return upper;
}

std::vector<double> UpperBounds(const TrainOptions& options, std::span<const Index> samples) {
  std::vector<double> upper(samples.size(), options.C);
  if (options.sample_weights.empty()) return upper;
  for (std::size_t k = 0; k < samples.size(); ++k) upper[k] *= options.sample_weights[samples[k]];
  return upper;
}

std::vector<double> OneClassBounds(const TrainOptions& options, std::span<const Index> samples) {
  std::vector<double> upper = UpperBounds(options, samples);
  const double sum = std::accumulate(upper.begin(), upper.end(), 0.0);
  for (double& value : upper) value /= options.nu * sum;
  return upper;
}

}  // namespace kweave
