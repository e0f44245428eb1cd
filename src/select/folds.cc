#include "select/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/random.h"
#include "kweave/error.h"

namespace kweave {
namespace {

void Shuffle(std::vector<Index>& items, Random& random) {
  for (std::size_t k = items.size(); k > 1; --k)
    std::swap(items[k - 1], items[static_cast<std::size_t>(random.Below(static_cast<Index>(k)))]);
}

// Samples by label; one list of all where there are none to tell apart.
std::vector<std::vector<Index>> ByLabel(const Labels& labels, Index samples, bool is_stratified) {
  std::map<std::string, std::vector<Index>> lists;
  for (Index i = 0; i < samples; ++i)
    lists[is_stratified ? labels.text[static_cast<std::size_t>(i)] : ""].push_back(i);
  std::vector<std::vector<Index>> all;
  for (auto& [label, list] : lists) all.push_back(std::move(list));
  return all;
}

// Samples by group, in the order in which the groups first occur.
std::vector<std::vector<Index>> ByGroup(std::span<const std::string> groups) {
  std::map<std::string_view, std::size_t> place;
  std::vector<std::vector<Index>> lists;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto [at, is_new] = place.emplace(groups[i], lists.size());
    if (is_new) lists.emplace_back();
    lists[at->second].push_back(static_cast<Index>(i));
  }
  return lists;
}

std::vector<Fold> FromTests(std::span<const std::vector<Index>> tests, Index samples) {
  std::vector<Fold> folds;
  for (const std::vector<Index>& test : tests) {
    std::vector<bool> is_test(static_cast<std::size_t>(samples), false);
    for (const Index i : test) is_test[static_cast<std::size_t>(i)] = true;
    Fold fold;
    for (Index i = 0; i < samples; ++i)
      (is_test[static_cast<std::size_t>(i)] ? fold.test : fold.train).push_back(i);
    folds.push_back(std::move(fold));
  }
  return folds;
}

// Every list is dealt out like cards, each from where the last one ended, so that folds differ by one sample
// at most.
std::vector<std::vector<Index>> Deal(std::vector<std::vector<Index>> lists, std::size_t folds,
                                     Random& random) {
  std::vector<std::vector<Index>> tests(folds);
  std::size_t next = 0;
  for (std::vector<Index>& list : lists) {
    Shuffle(list, random);
    for (const Index i : list) tests[next++ % folds].push_back(i);
  }
  return tests;
}

// The largest group goes to the smallest fold.
std::vector<std::vector<Index>> DealGroups(std::vector<std::vector<Index>> groups, std::size_t folds,
                                           Random& random) {
  std::vector<Index> order(groups.size());
  std::iota(order.begin(), order.end(), Index{0});
  Shuffle(order, random);
  std::ranges::stable_sort(order, std::greater{},
                           [&](Index g) { return groups[static_cast<std::size_t>(g)].size(); });
  std::vector<std::vector<Index>> tests(folds);
  for (const Index g : order) {
    const auto smallest = std::ranges::min_element(tests, {}, [](const auto& test) { return test.size(); });
    const std::vector<Index>& group = groups[static_cast<std::size_t>(g)];
    smallest->insert(smallest->end(), group.begin(), group.end());
  }
  return tests;
}

// A share of every list, at least one of each that has two.
std::vector<Index> Draw(std::vector<std::vector<Index>> lists, double share, Random& random) {
  std::vector<Index> test;
  for (std::vector<Index>& list : lists) {
    Shuffle(list, random);
    const auto size = static_cast<double>(list.size());
    auto count = static_cast<std::size_t>(share * size + 0.5);
    if (list.size() > 1) count = std::clamp<std::size_t>(count, 1, list.size() - 1);
    test.insert(test.end(), list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return test;
}

void RequireStrata(std::span<const std::vector<Index>> lists, const Labels& labels, std::size_t folds) {
  for (const std::vector<Index>& list : lists) {
    if (list.size() >= folds) continue;
    throw Error(
        ErrorKind::kUsage,
        fmt::format("class '{}' has {} sample{}, fewer than `folds` {}: give fewer folds, or `split` plain",
                    labels.text[static_cast<std::size_t>(list[0])], list.size(), list.size() == 1 ? "" : "s",
                    folds),
        {"folds", std::to_string(folds), "at most the samples of the smallest class"});
  }
}

void RequireCount(std::size_t units, std::size_t folds, const char* unit) {
  if (folds <= units) return;
  throw Error(ErrorKind::kUsage, fmt::format("`folds` is {}, but there are {} {}", folds, units, unit),
              {"folds", std::to_string(folds), fmt::format("at most {}", units)});
}

std::vector<std::vector<Index>> TestsOf(const Labels& labels, Index samples, const std::string& split,
                                        const SelectOptions& options, std::span<const std::string> groups,
                                        Random& random) {
  const auto folds = static_cast<std::size_t>(options.folds);
  if (split == "leave-one-out") {
    if (!groups.empty()) return ByGroup(groups);
    std::vector<std::vector<Index>> tests;
    for (Index i = 0; i < samples; ++i) tests.push_back({i});
    return tests;
  }
  if (split == "subsample") {
    std::vector<std::vector<Index>> tests;
    for (std::size_t k = 0; k < folds; ++k) {
      if (groups.empty()) {
        tests.push_back(Draw(ByLabel(labels, samples, !labels.empty() && !labels.is_numeric()),
                             options.test_share, random));
        continue;
      }
      const std::vector<std::vector<Index>> lists = ByGroup(groups);
      std::vector<Index> numbers(lists.size()), test;
      std::iota(numbers.begin(), numbers.end(), Index{0});
      for (const Index g : Draw({numbers}, options.test_share, random))
        test.insert(test.end(), lists[static_cast<std::size_t>(g)].begin(),
                    lists[static_cast<std::size_t>(g)].end());
      tests.push_back(std::move(test));
    }
    return tests;
  }
  if (!groups.empty()) {
    std::vector<std::vector<Index>> lists = ByGroup(groups);
    RequireCount(lists.size(), folds, "groups");
    return DealGroups(std::move(lists), folds, random);
  }
  std::vector<std::vector<Index>> lists = ByLabel(labels, samples, split == "stratified");
  RequireCount(static_cast<std::size_t>(samples), folds, "samples");
  if (split == "stratified") RequireStrata(lists, labels, folds);
  return Deal(std::move(lists), folds, random);
}

}  // namespace

std::string EffectiveSplit(const SelectOptions& options, Task task, bool has_groups) {
  if (options.split != "auto") return options.split;
  return task == Task::kClassify && !has_groups ? "stratified" : "plain";
}

std::vector<Fold> MakeFolds(const Labels& labels, Index samples, Task task, const SelectOptions& options,
                            std::span<const std::string> groups, std::uint64_t seed) {
  const std::string split = EffectiveSplit(options, task, !groups.empty());
  if (split == "stratified" && (labels.empty() || task == Task::kRegress || !groups.empty())) {
    throw Error(ErrorKind::kUsage,
                "`split` stratified is for classes and samples without groups, expected auto or plain",
                {"split", "stratified", "auto or plain"});
  }
  std::vector<Fold> folds;
  Random random(seed);
  Labels strata = labels;
  if (task == Task::kClassify) strata.number.clear();  // classes, whatever they are called
  for (int repeat = 0; repeat < (split == "leave-one-out" ? 1 : options.repeats); ++repeat) {
    for (Fold& fold : FromTests(TestsOf(strata, samples, split, options, groups, random), samples))
      folds.push_back(std::move(fold));
  }
  CheckFolds(folds, samples);
  return folds;
}

void CheckFolds(std::span<const Fold> folds, Index samples) {
  for (std::size_t f = 0; f < folds.size(); ++f) {
    std::vector<bool> is_taken(static_cast<std::size_t>(samples), false);
    for (const auto* side : {&folds[f].train, &folds[f].test}) {
      if (side->empty()) {
        throw Error(ErrorKind::kUsage, fmt::format("fold {} has no sample to {}", f + 1,
                                                   side == &folds[f].train ? "train on" : "test"));
      }
      if (!std::ranges::is_sorted(*side))
        throw Error(ErrorKind::kUsage,
                    fmt::format("the samples of fold {} are not in ascending order", f + 1));
      for (const Index i : *side) {
        if (i < 0 || i >= samples || is_taken[static_cast<std::size_t>(i)]) {
          throw Error(ErrorKind::kUsage,
                      fmt::format("fold {} names sample {} {}", f + 1, i,
                                  i < 0 || i >= samples ? "which does not exist" : "twice"));
        }
        is_taken[static_cast<std::size_t>(i)] = true;
      }
    }
  }
}

Labels PermuteLabels(const Labels& labels, std::span<const std::string> groups, std::uint64_t seed) {
  Random random(seed);
  std::vector<Index> from(labels.text.size());
  std::iota(from.begin(), from.end(), Index{0});
  const std::vector<std::vector<Index>> lists = ByGroup(groups);
  const bool are_whole = std::ranges::all_of(lists, [&](const std::vector<Index>& list) {
    return std::ranges::all_of(list, [&](Index i) {
      return labels.text[static_cast<std::size_t>(i)] == labels.text[static_cast<std::size_t>(list[0])];
    });
  });
  if (groups.empty()) {
    Shuffle(from, random);
  } else if (are_whole) {
    std::vector<Index> first;
    for (const std::vector<Index>& list : lists) first.push_back(list[0]);
    Shuffle(first, random);
    for (std::size_t g = 0; g < lists.size(); ++g) {
      for (const Index i : lists[g]) from[static_cast<std::size_t>(i)] = first[g];
    }
  } else {
    for (std::vector<Index> list : lists) {
      const std::vector<Index> places = list;
      Shuffle(list, random);
      for (std::size_t k = 0; k < places.size(); ++k) from[static_cast<std::size_t>(places[k])] = list[k];
    }
  }
  Labels permuted;
  permuted.separator = labels.separator;
  for (const Index i : from) {
    permuted.text.push_back(labels.text[static_cast<std::size_t>(i)]);
    if (!labels.number.empty()) permuted.number.push_back(labels.number[static_cast<std::size_t>(i)]);
  }
  return permuted;
}

}  // namespace kweave
