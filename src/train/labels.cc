#include "train/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "data/label_key.h"
#include "data/number.h"
#include "kweave/error.h"

namespace kweave {
namespace {

std::string NameSome(std::span<const std::string> classes) {
  constexpr std::size_t kNamed = 10;  // digits, say; a message stays within a few lines
  const auto named = classes.first(std::min(classes.size(), kNamed));
  return fmt::format("'{}'{}", fmt::join(named, "', '"), classes.size() > kNamed ? ", ..." : "");
}

[[noreturn]] void RefuseClassCount(std::span<const std::string> classes, std::string_view expected) {
  throw Error(ErrorKind::kData, fmt::format("the labels hold {} class{} ({}), expected {}", classes.size(),
                                            classes.size() == 1 ? "" : "es", NameSome(classes), expected));
}

// Where most samples have a fractional label of their own, the labels are targets, not classes.
void RefuseTargets(std::span<const std::string> classes, std::size_t samples) {
  constexpr std::size_t kFewClasses = 10;  // as many may well be levels such as 0.5, 1, 1.5
  if (classes.size() <= kFewClasses || 2 * classes.size() <= samples) return;
  const auto is_number = [](const std::string& label) { return LabelNumber(label).has_value(); };
  const auto has_fraction = [](const std::string& label) {
    const double number = LabelNumber(label).value_or(0);
    return number != std::trunc(number);
  };
  if (!std::ranges::all_of(classes, is_number) || std::ranges::none_of(classes, has_fraction)) return;
  throw Error(ErrorKind::kData,
              fmt::format("the labels are {} different numbers for {} samples; did you mean `task` regress?",
                          classes.size(), samples));
}

// The labels between separators, without the blanks around them; none for an empty text.
std::vector<std::string> Split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view part) {
    part.remove_prefix(std::min(part.find_first_not_of(" \t"), part.size()));
    part = part.substr(0, part.find_last_not_of(" \t") + 1);
    if (!part.empty()) parts.emplace_back(part);
  };
  for (std::size_t at = text.find(separator); at != text.npos; at = text.find(separator)) {
    add(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  add(text);
  return parts;
}

// Numbers the distinct labels: in the order of their numbers where they have some, else of their texts. Each
// is called as it came first.
class ClassIndex {
 public:
  explicit ClassIndex(std::span<const std::string> texts) {
    const bool are_numbers =
        std::ranges::all_of(texts, [](const std::string& text) { return LabelNumber(text).has_value(); });
    const auto key_of = [are_numbers](const std::string& text) {
      return std::pair(are_numbers ? *LabelNumber(text) : 0.0, LabelKey(text));
    };
    for (const std::string& text : texts) class_of_.try_emplace(key_of(text), Entry{text, 0});
    for (auto& [key, entry] : class_of_) {
      entry.number = static_cast<std::int32_t>(classes_.size());
      classes_.push_back(entry.name);
    }
    for (const std::string& text : texts) of_text_.push_back(class_of_.at(key_of(text)).number);
  }

  const std::vector<std::string>& classes() const { return classes_; }
  /// The class of every text.
  const std::vector<std::int32_t>& of_text() const { return of_text_; }

 private:
  struct Entry {
    std::string name;
    std::int32_t number;
  };
  std::map<std::pair<double, std::string>, Entry> class_of_;
  std::vector<std::string> classes_;
  std::vector<std::int32_t> of_text_;
};

void EncodeSeveral(const Labels& labels, std::span<const Index> samples, ClassLabels& encoded) {
  std::vector<std::string> all;
  std::vector<std::size_t> ends;
  for (Index i : samples) {
    for (std::string& label : Split(labels.text[i], labels.separator)) all.push_back(std::move(label));
    ends.push_back(all.size());
  }
  const ClassIndex index(all);
  encoded.classes = index.classes();
  if (encoded.classes.empty()) throw Error(ErrorKind::kData, "no sample has a label");
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    std::vector<std::int32_t> numbers(index.of_text().begin() + begin, index.of_text().begin() + end);
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    encoded.several.push_back(std::move(numbers));
    begin = end;
  }
}

}  // namespace

bool ClassLabels::Has(std::size_t i, std::int32_t u) const {
  return is_multilabel() ? std::ranges::binary_search(several[i], u) : of_sample[i] == u;
}

std::int32_t ClassLabels::Find(const std::string& label) const {
  const auto found = std::ranges::find_if(
      classes, [&, key = LabelKey(label)](const std::string& known) { return LabelKey(known) == key; });
  return found == classes.end() ? -1 : static_cast<std::int32_t>(found - classes.begin());
}

ClassLabels EncodeClasses(const Labels& labels, std::span<const Index> samples) {
  if (labels.empty()) throw Error(ErrorKind::kData, "the data has no labels");
  ClassLabels encoded;
  encoded.separator = labels.separator;
  if (encoded.is_multilabel()) {
    EncodeSeveral(labels, samples, encoded);
    return encoded;
  }
  std::vector<std::string> texts;
  for (Index i : samples) texts.push_back(labels.text[i]);
  const ClassIndex index(texts);
  encoded.classes = index.classes();
  if (encoded.classes.size() < 2) RefuseClassCount(encoded.classes, "two or more");
  RefuseTargets(encoded.classes, texts.size());
  encoded.of_sample = index.of_text();
  return encoded;
}

std::string NoteOnSmallClasses(const ClassLabels& labels) {
  std::vector<int> counts(labels.classes.size(), 0);
  for (const std::int32_t u : labels.of_sample) ++counts[static_cast<std::size_t>(u)];
  for (const std::vector<std::int32_t>& several : labels.several) {
    for (const std::int32_t u : several) ++counts[static_cast<std::size_t>(u)];
  }
  std::vector<std::string> single;
  for (std::size_t u = 0; u < counts.size(); ++u) {
    if (counts[u] == 1) single.push_back(labels.classes[u]);
  }
  if (single.empty()) return {};
  return fmt::format("{} with a single sample: {}", single.size() == 1 ? "a class" : "classes",
                     NameSome(single));
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

std::vector<double> PerClass(std::span<const std::pair<std::string, double>> given, const ClassLabels& labels,
                             double fallback, std::string_view name) {
  std::vector<double> values(labels.classes.size(), fallback);
  std::vector<bool> is_given(values.size(), false);
  for (const auto& [label, value] : given) {
    const std::int32_t u = labels.Find(label);
    if (u < 0) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("`{}` for '{}', but the classes are {}", name, label, NameSome(labels.classes)),
                  {std::string(name), label, "a class"});
    }
    if (is_given[u]) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("`{}` for class '{}' is given twice, expected once", name, labels.classes[u]),
                  {std::string(name), label, "once for every class"});
    }
    is_given[u] = true;
    values[u] = value;
  }
  return values;
}

std::vector<double> UpperBounds(const TrainOptions& options, const ClassLabels& labels,
                                std::span<const Index> samples) {
  const std::vector<double> factor = PerClass(options.class_weights, labels, 1, "class_weights");
  std::vector<double> upper = UpperBounds(options, samples);
  if (labels.is_multilabel()) return upper;
  for (std::size_t k = 0; k < upper.size(); ++k) upper[k] *= factor[labels.of_sample[k]];
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
