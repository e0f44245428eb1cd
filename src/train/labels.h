#ifndef KWEAVE_TRAIN_LABELS_H_
#define KWEAVE_TRAIN_LABELS_H_

#include <span>
#include <string>
#include <vector>

#include "kweave/dataset.h"
#include "kweave/options.h"

namespace kweave {

/// Labels of any number of classes. Numbers are ordered as numbers ("1" and "+1" are one class), text as
/// text.
struct ClassLabels {
  std::vector<std::string> classes;     ///< ascending, as first written
  std::vector<std::int32_t> of_sample;  ///< the class of every sample; empty where samples may have several
  std::vector<std::vector<std::int32_t>> several;  ///< the classes of every sample, ascending; else empty
  std::string separator;                           ///< between several labels as written; else empty

  bool is_multilabel() const { return !separator.empty(); }
  Index size() const { return static_cast<Index>(classes.size()); }
  /// Whether sample i is of class u.
  bool Has(std::size_t i, std::int32_t u) const;
  /// The class of this label; -1: there is none.
  std::int32_t Find(const std::string& label) const;
};

/// The labels of the samples in `samples`. Throws Error(kData) unless there are at least two classes, or one
/// where samples may have several labels.
ClassLabels EncodeClasses(const Labels& labels, std::span<const Index> samples);

/// Which classes have a single sample, as a sentence: no machine can be judged on them, and a part of the
/// samples may lack them. Empty: none.
std::string NoteOnSmallClasses(const ClassLabels& labels);

/// The targets of a regression. Throws Error(kData) when one of them is no number.
std::vector<double> EncodeTargets(const Labels& labels, std::span<const Index> samples);

/// C_i of every sample in `samples`: C times the weight of its class times its own weight; where samples may
/// have several labels, without the former. Throws Error(kUsage) when a class weight belongs to no class.
std::vector<double> UpperBounds(const TrainOptions& options, const ClassLabels& labels,
                                std::span<const Index> samples);

/// For every class what `given`, the values of option `name`, has for it, else `fallback`. Throws
/// Error(kUsage) when one belongs to no class.
std::vector<double> PerClass(std::span<const std::pair<std::string, double>> given, const ClassLabels& labels,
                             double fallback, std::string_view name);

/// The same without classes: C times its own weight.
std::vector<double> UpperBounds(const TrainOptions& options, std::span<const Index> samples);

/// The same for a one-class machine with a threshold: its share of the weights over nu, so that they sum to 1
/// / nu.
std::vector<double> OneClassBounds(const TrainOptions& options, std::span<const Index> samples);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_LABELS_H_
