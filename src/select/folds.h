#ifndef KWEAVE_SELECT_FOLDS_H_
#define KWEAVE_SELECT_FOLDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kweave/dataset.h"
#include "kweave/select.h"

namespace kweave {

/// How the samples of `data` are split, by the options and the groups; the same seed gives the same folds.
/// `auto` is stratified for classes and plain otherwise. Throws Error(kUsage) where there are too few
/// samples, groups or members of a class.
std::vector<Fold> MakeFolds(const Labels& labels, Index samples, Task task, const SelectOptions& options,
                            std::span<const std::string> groups, std::uint64_t seed);

/// The split that `auto` stands for.
std::string EffectiveSplit(const SelectOptions& options, Task task, bool has_groups);

/// Throws Error(kUsage) unless every fold has samples on both sides, none of them twice, and all exist.
void CheckFolds(std::span<const Fold> folds, Index samples);

/// A permutation of the labels. Samples of one group keep the same label where they had: whole groups change
/// theirs; where labels differ within groups they are permuted within them.
Labels PermuteLabels(const Labels& labels, std::span<const std::string> groups, std::uint64_t seed);

}  // namespace kweave

#endif  // KWEAVE_SELECT_FOLDS_H_
