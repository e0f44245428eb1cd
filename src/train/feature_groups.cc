#include "train/feature_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/file_bytes.h"
#include "data/text_source.h"
#include "kernel/language.h"
#include "kernel/spec_parser.h"
#include "kweave/error.h"
#include "model/json.h"
#include "train/effective_options.h"

namespace kweave {
namespace {

struct FeatureGroup {
  std::string name;
  std::vector<std::string> features;
};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \r\"";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::vector<std::string_view> Fields(std::string_view line, char delimiter) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(delimiter, begin), line.size());
    fields.push_back(Trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return fields;
}

// Lines of two columns, feature and group; a first line with these words is a header.
std::vector<FeatureGroup> ReadColumns(const std::vector<std::vector<std::string_view>>& lines) {
  std::vector<FeatureGroup> groups;
  std::map<std::string_view, std::size_t> place;
  for (const std::vector<std::string_view>& line : lines) {
    if (&line == &lines.front() && line[0] == "feature" && line[1] == "group") continue;
    const auto [found, is_new] = place.emplace(line[1], groups.size());
    if (is_new) groups.push_back({std::string(line[1]), {}});
    groups[found->second].features.emplace_back(line[0]);
  }
  return groups;
}

// GMT: name, description and features of a group on each line, between tabs.
std::vector<FeatureGroup> ReadGmt(const std::vector<std::vector<std::string_view>>& lines) {
  std::vector<FeatureGroup> groups;
  for (const std::vector<std::string_view>& line : lines) {
    FeatureGroup group{std::string(line[0]), {}};
    for (std::size_t f = 2; f < line.size(); ++f) {
      if (!line[f].empty()) group.features.emplace_back(line[f]);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<FeatureGroup> ReadFile(const std::string& path) {
  const FileBytes file = OpenFileBytes(path);
  const TextSource source(file);
  std::vector<std::vector<std::string_view>> lines;
  bool has_two = true;
  const std::string_view text = source.text();
  const bool has_tabs = text.substr(0, text.find('\n')).find('\t') != std::string_view::npos;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!Trimmed(line).empty()) {
      lines.push_back(Fields(line, has_tabs ? '\t' : ','));
      has_two = has_two && lines.back().size() == 2;
      const bool is_short = lines.back().size() < (has_tabs && !has_two ? 3U : 2U) || lines.back()[0].empty();
      if (is_short || (!has_tabs && lines.back().size() != 2)) {
        source.FailLine(
            text.data() + begin,
            "expected a feature and its group between a comma or a tab, or a line of a GMT file: name, "
            "description and features of a group between tabs");
      }
    }
    begin = end + 1;
  }
  return has_two ? ReadColumns(lines) : ReadGmt(lines);
}

// A file, or an object in JSON: {"group": ["feature", ...]}.
std::vector<FeatureGroup> ReadGroups(const std::string& option) {
  std::vector<FeatureGroup> groups;
  if (!option.starts_with('{')) {
    groups = ReadFile(option);
  } else {
    try {
      const Json written = Json::parse(option);
      for (const auto& [name, features] : written.items())
        groups.push_back({name, features.get<std::vector<std::string>>()});
    } catch (const Json::exception&) {
      throw Error(ErrorKind::kUsage, {"feature_groups", option, "an object of lists of names"});
    }
  }
  std::erase_if(groups, [](const FeatureGroup& group) { return group.features.empty(); });
  if (groups.empty()) {
    throw Error(ErrorKind::kData, fmt::format("{}: there is no group of features",
                                              option.starts_with('{') ? "`feature_groups`" : option));
  }
  return groups;
}

// What names of kernels may not hold becomes an underscore.
std::string PlainName(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ' ||
        std::string_view("()[]@*+=,#\"'\\").find(c) != std::string_view::npos)
      c = '_';
  }
  return name;
}

// By view and group, the numbers of its features there, from 1, ascending.
using Members = std::vector<std::vector<std::vector<Index>>>;

Members FindMembers(std::span<const View> views, const std::vector<FeatureGroup>& groups,
                    std::set<std::string_view>& unknown) {
  for (const FeatureGroup& group : groups) unknown.insert(group.features.begin(), group.features.end());
  Members members(views.size(), std::vector<std::vector<Index>>(groups.size()));
  for (std::size_t v = 0; v < views.size(); ++v) {
    std::unordered_map<std::string_view, Index> number;
    for (const std::string& name : views[v].feature_names)
      number.emplace(name, static_cast<Index>(number.size()) + 1);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::set<Index> own;
      for (const std::string& feature : groups[g].features) {
        const auto found = number.find(feature);
        if (found == number.end()) continue;
        own.insert(found->second);
        unknown.erase(feature);
      }
      members[v][g].assign(own.begin(), own.end());
    }
  }
  return members;
}

std::string NoteOn(const std::vector<FeatureGroup>& groups, const Members& members,
                   const std::set<std::string_view>& unknown) {
  std::set<std::string_view> all;
  Index empty = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    all.insert(groups[g].features.begin(), groups[g].features.end());
    empty += std::ranges::all_of(members, [g](const auto& of_view) { return of_view[g].empty(); }) ? 1 : 0;
  }
  if (unknown.empty()) return "";
  constexpr std::size_t kNamed = 3;  // enough to recognise another kind of name
  const std::vector<std::string_view> named(
      unknown.begin(),
      std::next(unknown.begin(), static_cast<std::ptrdiff_t>(std::min(kNamed, unknown.size()))));
  return fmt::format(
      "`feature_groups`: {} of {} features are in no view ({}{}); {} of {} groups have none and make no "
      "kernel",
      unknown.size(), all.size(), fmt::join(named, ", "), unknown.size() > kNamed ? ", ..." : "", empty,
      groups.size());
}

// Whether a specification still needs a view.
bool IsFree(const std::string& specification, std::span<const View> views) {
  const KernelSpec spec = ParseSpec(specification, views, kMostKernels);
  const bool is_free = std::ranges::any_of(
      spec.terms, [](const SpecTerm& term) { return term.view < 0 && UsesFeatures(*term.kind); });
  if (is_free && !spec.name.empty()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("kernel \"{}\" has a name, but kernels on `feature_groups` have those of their groups",
                    specification),
        {"kernels", specification, "no name="});
  }
  return is_free;
}

}  // namespace

GroupedKernels KernelsOnGroups(const TrainOptions& options, std::span<const View> views) {
  const std::vector<std::string> specifications = EffectiveKernels(options);
  if (options.feature_groups.empty()) return {specifications, ""};
  const std::vector<FeatureGroup> groups = ReadGroups(options.feature_groups);
  std::set<std::string_view> unknown;
  const Members members = FindMembers(views, groups, unknown);
  GroupedKernels grouped{{}, NoteOn(groups, members, unknown)};
  std::vector<bool> is_free;
  for (const std::string& specification : specifications) is_free.push_back(IsFree(specification, views));
  const bool has_several = std::ranges::count(is_free, true) > 1;
  bool has_members = false;
  for (std::size_t s = 0; s < specifications.size(); ++s) {
    if (!is_free[s]) grouped.kernels.push_back(specifications[s]);
    for (std::size_t g = 0; g < groups.size() && is_free[s]; ++g) {
      const auto has = [g](const auto& of_view) { return !of_view[g].empty(); };
      const bool is_in_several = std::ranges::count_if(members, has) > 1;
      for (std::size_t v = 0; v < views.size(); ++v) {
        if (members[v][g].empty()) continue;
        has_members = true;
        std::string name = PlainName(groups[g].name);
        if (is_in_several) name += fmt::format(":{}", PlainName(views[v].name));
        if (has_several) name += fmt::format(":{}", PlainName(specifications[s]));
        grouped.kernels.push_back(fmt::format("({}, name=\"{}\")@\"{}\"[{}]", specifications[s], name,
                                              views[v].name, fmt::join(members[v][g], ",")));
      }
    }
  }
  if (!has_members && std::ranges::find(is_free, true) != is_free.end()) {
    throw Error(
        ErrorKind::kData,
        fmt::format(
            "no feature of `feature_groups` is in a view: its first is '{}'{}", groups[0].features[0],
            views.empty() || views[0].feature_names.empty()
                ? ", and the features of the views have no names"
                : fmt::format(", the first of view '{}' is '{}'", views[0].name, views[0].feature_names[0])));
  }
  return grouped;
}

std::vector<std::string> EffectiveKernels(const TrainOptions& options, std::span<const View> views) {
  return KernelsOnGroups(options, views).kernels;
}

}  // namespace kweave
