#include "kernel/spec_expander.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

#include "data/sequences.h"
#include "kernel/region.h"
#include "kernel/sequence_kernel.h"
#include "kweave/error.h"

namespace kweave {
namespace {

/// Moves `at` to the next combination, the last axis fastest. False after the last one.
bool Advance(std::span<Index> at, std::span<const Index> sizes) {
  for (std::size_t axis = at.size(); axis-- > 0;) {
    if (++at[axis] < sizes[axis]) return true;
    at[axis] = 0;
  }
  return false;
}

std::string Shortened(std::string_view text) {
  return text.size() <= 120 ? std::string(text) : fmt::format("{}...", text.substr(0, 120));
}

std::vector<Index> FirstNegative(const Features& features) {
  std::vector<Index> first(ColumnCount(features), -1);
  const auto note = [&](Index row, Index column, double value) {
    if (value < 0 && first[column] < 0) first[column] = row;
  };
  std::visit(
      [&](const auto& source) {
        for (Index i = 0; i < source.rows; ++i) {
          if constexpr (std::is_same_v<std::decay_t<decltype(source)>, SequenceRows>) {
            return;
          } else if constexpr (std::is_same_v<std::decay_t<decltype(source)>, SparseRows>) {
            for (Index e = source.offsets[i]; e < source.offsets[i + 1]; ++e)
              note(i, source.columns[e], source.values[e]);
          } else {
            const auto row = source.row(i);
            for (Index f = 0; f < source.cols; ++f) note(i, f, row[f]);
          }
        }
      },
      features);
  return first;
}

}  // namespace

struct SpecExpander::Place {
  std::int32_t view = 0;
  std::vector<std::int32_t> subsets;  ///< one, or one per feature of the `each` around the term
};

SpecExpander::SpecExpander(std::span<const View> views, std::uint64_t seed, const Numbering& numbering,
                           Index max_kernels)
    : views_(views),
      numbering_(numbering),
      max_kernels_(max_kernels),
      widths_(views, seed),
      first_negative_(views.size()) {
  for (const View& view : views) set_.views.push_back(view.name);
}

void SpecExpander::Add(const KernelSpec& spec, std::string_view text) {
  const Index first = set_.size();
  const bool is_free = std::ranges::any_of(
      spec.terms, [](const SpecTerm& term) { return term.view < 0 && UsesFeatures(*term.kind); });
  if (is_free && views_.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("kernel \"{}\" needs features, but there are none", Shortened(text)));
  }
  if (!is_free) {
    AddOnView(spec, text, 0);
  } else {
    AddOnFittingViews(spec, text);
  }
  if (spec.name.empty()) return;
  const Index count = set_.size() - first;
  for (Index k = 0; k < count; ++k) {
    set_.given_names[first + k] = count == 1 ? spec.name : fmt::format("{}.{}", spec.name, k + 1);
  }
}

// Kernels without `@` are for the views that hold what they work on.
void SpecExpander::AddOnFittingViews(const KernelSpec& spec, std::string_view text) {
  const auto fits = [&](const View& view) {
    return std::ranges::all_of(spec.terms, [&](const SpecTerm& term) {
      return term.view >= 0 || !UsesFeatures(*term.kind) || Fits(*term.kind, view);
    });
  };
  const bool has_any = std::ranges::any_of(views_, fits);
  for (std::size_t v = 0; v < views_.size(); ++v) {
    // Without any the first one says what is wrong.
    if (fits(views_[v]) || (!has_any && v == 0)) AddOnView(spec, text, static_cast<std::int32_t>(v));
  }
}

void SpecExpander::AddOnView(const KernelSpec& spec, std::string_view text, std::int32_t free_view) {
  const std::vector<Place> places = FindPlaces(spec, text, free_view);
  std::vector<Index> sizes(spec.axes.size());
  for (std::size_t a = 0; a < sizes.size(); ++a) {
    const SpecAxis& axis = spec.axes[a];
    sizes[a] =
        static_cast<Index>(axis.kind == SpecAxis::Kind::kFiles ? axis.files.size() : axis.values.size());
  }
  for (std::size_t t = 0; t < spec.terms.size(); ++t) {
    if (spec.terms[t].each >= 0) sizes[spec.terms[t].each] = static_cast<Index>(places[t].subsets.size());
  }
  double kernels = 1;
  for (Index size : sizes) kernels *= static_cast<double>(size);
  CheckCount(kernels, spec.terms.size(), text);
  if (kernels == 0) return;  // each(...) on a view without features
  const Index total = static_cast<Index>(kernels);
  terms_total_ += total * static_cast<Index>(spec.terms.size());

  std::vector<Index> at(sizes.size(), 0);
  do {
    if (spec.terms.size() == 1) {
      AddSingle(MakeTerm(spec, spec.terms[0], places[0], at));
      continue;
    }
    Composite composite{.terms = {}, .nodes = spec.nodes};
    composite.terms.reserve(spec.terms.size());
    for (std::size_t t = 0; t < spec.terms.size(); ++t) {
      composite.terms.push_back(MakeTerm(spec, spec.terms[t], places[t], at));
    }
    set_.order.push_back({-1, static_cast<std::int32_t>(set_.composites.size())});
    set_.composites.push_back(std::move(composite));
  } while (Advance(at, sizes));
}

std::vector<SpecExpander::Place> SpecExpander::FindPlaces(const KernelSpec& spec, std::string_view text,
                                                          std::int32_t free_view) {
  std::vector<Place> places(spec.terms.size());
  for (std::size_t t = 0; t < spec.terms.size(); ++t) {
    const SpecTerm& term = spec.terms[t];
    Place& place = places[t];
    if (!UsesFeatures(*term.kind)) {
      place.subsets = {0};
      continue;
    }
    place.view = term.view >= 0 ? term.view : free_view;
    CheckView(*term.kind, views_[static_cast<std::size_t>(place.view)], text, term.position);
    if (term.kind->base->needs_nonnegative_features) CheckNonnegative(*term.kind, place.view, term.subset);
    if (term.each < 0) {
      place.subsets = {SubsetIndex(term.subset)};
      continue;
    }
    const auto same_each = [&](const SpecTerm& other) { return other.each == term.each; };
    const std::size_t first = std::ranges::find_if(spec.terms, same_each) - spec.terms.begin();
    if (first < t) {
      if (places[first].view != place.view || spec.terms[first].subset != term.subset) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("kernel \"{}\", character {}: inside each(...) all kernels must "
                                "work on the same features of the same view",
                                Shortened(text), term.position + 1));
      }
      place.subsets = places[first].subsets;
      continue;
    }
    if (term.kind->IsOnSequences()) {
      place.subsets = Windows(term, spec.axes[static_cast<std::size_t>(term.each)], place.view, text);
      continue;
    }
    if (spec.axes[static_cast<std::size_t>(term.each)].window > 0) {
      throw Error(ErrorKind::kUsage, fmt::format("kernel \"{}\", character {}: window= is for sequences",
                                                 Shortened(text), term.position + 1));
    }
    FeatureSubset features = term.subset;
    if (features.empty()) {
      features.resize(ColumnCount(views_[place.view].features));
      std::iota(features.begin(), features.end(), 0);
    }
    CheckCount(static_cast<double>(features.size()), 1, text);
    for (std::int32_t feature : features) place.subsets.push_back(SubsetIndex({feature}));
  }
  return places;
}

// Words that begin at each position of a region, or the words of each window.
std::vector<std::int32_t> SpecExpander::Windows(const SpecTerm& term, const SpecAxis& axis, std::int32_t view,
                                                std::string_view text) {
  const Index length = ColumnCount(views_[static_cast<std::size_t>(view)].features);
  const LetterRange range = Resolve(RegionOf(term.subset), length);
  const Index step = axis.window > 0 ? axis.step : 1;
  CheckCount(static_cast<double>((range.end - range.begin + step - 1) / step), 1, text);
  std::vector<std::int32_t> subsets;
  for (Index begin = range.begin; begin < range.end; begin += step) {
    const Index end = axis.window > 0 ? std::min(begin + axis.window, range.end) : begin + 1;
    const bool holds_starts = axis.window == 0 || RegionOf(term.subset).holds_starts;
    subsets.push_back(SubsetIndex(
        ToSubset({static_cast<std::int32_t>(begin + 1), static_cast<std::int32_t>(end), holds_starts})));
    if (end == range.end && axis.window > 0) break;
  }
  return subsets;
}

// Whether a view holds what a kernel works on.
bool SpecExpander::Fits(const KernelKind& kind, const View& view) {
  return kind.IsOnSequences() == (AsSequences(view.features) != nullptr);
}

void SpecExpander::CheckView(const KernelKind& kind, const View& view, std::string_view text,
                             std::size_t position) const {
  const SequenceRows* sequences = AsSequences(view.features);
  if (!Fits(kind, view)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("kernel \"{}\", character {}: {} works on {}, but view \"{}\" holds {}", Shortened(text),
                    position + 1, kind.name, kind.IsOnSequences() ? "sequences" : "numbers", view.name,
                    sequences != nullptr ? "sequences" : "numbers"));
  }
  if (sequences == nullptr || !kind.base->sequences->needs_equal_lengths) return;
  for (Index i = 0; i < sequences->rows; ++i) {
    if (sequences->lengths[i] == sequences->lengths[0]) continue;
    throw Error(ErrorKind::kData,
                fmt::format("view \"{}\", sample {}: {} letters, but {} needs as many in all sequences, "
                            "and sample {} has {}",
                            view.name, numbering_.Sample(i), sequences->lengths[i], kind.name,
                            numbering_.Sample(0), sequences->lengths[0]));
  }
}

KernelTerm SpecExpander::MakeTerm(const KernelSpec& spec, const SpecTerm& term, const Place& place,
                                  std::span<const Index> at) {
  KernelTerm result{.kind = term.kind, .parameters = {}, .view = place.view};
  result.subset = place.subsets[term.each >= 0 ? at[term.each] : 0];
  if (term.file >= 0) result.file = FileIndex(spec.axes[term.file].files[at[term.file]]);
  const auto value = [&](std::size_t p) -> const SpecValue& {
    return spec.axes[term.parameters[p]].values[at[term.parameters[p]]];
  };
  bool has_widths = false;
  for (std::size_t p = 0; p < term.kind->parameters.size(); ++p) {
    result.parameters[p] = value(p).number;
    has_widths |= value(p).rule != WidthRule::kNone;
  }
  if (!has_widths) return result;
  for (std::size_t p = 0; p < term.kind->parameters.size(); ++p) {
    if (value(p).rule != WidthRule::kNone) result.parameters[p] = Width(value(p), result, p);
  }
  return result;
}

double SpecExpander::Width(const SpecValue& value, const KernelTerm& term, std::size_t parameter) {
  const double width = widths_.Value(value, *term.kind, parameter, term.parameters, term.view, term.subset,
                                     set_.subsets[term.subset]);
  const auto [entry, is_new] = short_widths_.try_emplace(width);
  if (is_new) entry->second = ShortenNumber(width);
  return width;
}

void SpecExpander::AddSingle(const KernelTerm& term) {
  const std::int32_t family = FamilyIndex(term);
  std::vector<KernelParameters>& members = set_.families[family].members;
  set_.order.push_back({family, static_cast<std::int32_t>(members.size())});
  members.push_back(term.parameters);
}

std::int32_t SpecExpander::FamilyIndex(const KernelTerm& term) {
  const auto matches = [&](std::int32_t index) {
    const Family& family = set_.families[index];
    return family.kind == term.kind && family.view == term.view && family.subset == term.subset &&
           family.file == term.file;
  };
  if (last_family_ >= 0 && matches(last_family_)) return last_family_;
  std::uint64_t hash = std::bit_cast<std::uintptr_t>(term.kind);
  for (std::int32_t part : {term.view, term.subset, term.file})
    hash = MixHash(hash, static_cast<std::uint64_t>(part));
  last_family_ = family_index_.Find(hash, matches);
  if (last_family_ >= 0) return last_family_;
  last_family_ = static_cast<std::int32_t>(set_.families.size());
  family_index_.Insert(hash, last_family_);
  set_.families.push_back(
      {.kind = term.kind, .view = term.view, .subset = term.subset, .file = term.file, .members = {}});
  return last_family_;
}

KernelSet SpecExpander::Finish() {
  MakeNamesUnique(set_, short_widths_);
  return std::move(set_);
}

void SpecExpander::CheckCount(double kernels, std::size_t terms, std::string_view text) const {
  const double total = static_cast<double>(terms_total_) + kernels * static_cast<double>(terms);
  if (total <= static_cast<double>(max_kernels_)) return;
  throw Error(ErrorKind::kUsage, fmt::format("kernel \"{}\" makes the kernels more than {} in all",
                                             Shortened(text), max_kernels_));
}

std::int32_t SpecExpander::SubsetIndex(FeatureSubset subset) {
  if (subset.empty()) return 0;
  std::uint64_t hash = 1;
  for (std::int32_t feature : subset) hash = MixHash(hash, static_cast<std::uint64_t>(feature));
  const std::int32_t found =
      subset_index_.Find(hash, [&](std::int32_t i) { return set_.subsets[i] == subset; });
  if (found >= 0) return found;
  subset_index_.Insert(hash, static_cast<std::int32_t>(set_.subsets.size()));
  set_.subsets.push_back(std::move(subset));
  return static_cast<std::int32_t>(set_.subsets.size()) - 1;
}

std::int32_t SpecExpander::FileIndex(const std::string& file) {
  const std::uint64_t hash = std::hash<std::string>()(file);
  const std::int32_t found =
      file_index_.Find(hash, [&](std::int32_t i) { return set_.files[i].name == file; });
  if (found >= 0) return found;
  file_index_.Insert(hash, static_cast<std::int32_t>(set_.files.size()));
  set_.files.push_back({file});
  return static_cast<std::int32_t>(set_.files.size()) - 1;
}

void SpecExpander::CheckNonnegative(const KernelKind& kind, std::int32_t view, const FeatureSubset& subset) {
  const Features& features = views_[view].features;
  std::vector<Index>& first = first_negative_[view];
  if (first.empty()) first = FirstNegative(features);
  const auto check = [&](std::int32_t column) {
    if (first[column] < 0) return;
    std::vector<double> row(ColumnCount(features));
    CopyRow(features, first[column], row);
    throw Error(ErrorKind::kData,
                fmt::format("view \"{}\", sample {}, feature {}: {} is negative, but {} needs features >= 0",
                            views_[view].name, numbering_.Sample(first[column]), numbering_.Feature(column),
                            row[column], kind.name));
  };
  if (subset.empty()) {
    for (std::int32_t column = 0; column < static_cast<std::int32_t>(first.size()); ++column) check(column);
  } else {
    std::ranges::for_each(subset, check);
  }
}

}  // namespace kweave
