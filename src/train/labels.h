#ifndef KWEAVE_TRAIN_LABELS_H_
#define KWEAVE_TRAIN_LABELS_H_

#include <span>
#include <string>
#include <vector>

#include "kweave/dataset.h"
#include "kweave/options.h"

namespace kweave {

/// Two-class labels as signs. Numbers are ordered as numbers ("1" and "+1" are one class), text as text.
struct BinaryLabels {
  std::vector<std::string> classes;  ///< two, ascending, as first written
  std::vector<double> y;             ///< -1: the first class, +1: the second
};

/// The labels of the samples in `samples`. Throws Error(kData) unless there are exactly two classes.
BinaryLabels EncodeBinaryLabels(const Labels& labels, std::span<const Index> samples);

/// The targets of a regression. Throws Error(kData) when one of them is no number.
std::vector<double> EncodeTargets(const Labels& labels, std::span<const Index> samples);

/// C_i of every sample in `samples`: C times its class weight times its own weight.
/// Throws Error(kUsage) when a class weight belongs to no class.
std::vector<double> UpperBounds(const TrainOptions& options, const BinaryLabels& labels,
                                std::span<const Index> samples);

/// The same without classes: C times its own weight.
std::vector<double> UpperBounds(const TrainOptions& options, std::span<const Index> samples);

/// The same for a one-class machine with a threshold: its share of the weights over nu, so that they sum to 1 / nu.
std::vector<double> OneClassBounds(const TrainOptions& options, std::span<const Index> samples);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_LABELS_H_
