#ifndef KWEAVE_TRAIN_H_
#define KWEAVE_TRAIN_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/model.h"
#include "kweave/options.h"

namespace kweave {

///     const kweave::Dataset data = kweave::ReadDataset({.views = {{"data", "train.csv"}}});
///     const kweave::Model model = kweave::Train(data, kweave::TrainOptions(), kweave::Context());
///     model.Save("model.kweave");
///
/// Learns a model; its summary holds the certificate. Throws Error on wrong options or data. `start`, a model
/// of the same samples with other options, is where learning begins: the answer is as good as from scratch,
/// and sooner there.
Model Train(const Dataset& data, const CheckedOptions& options, const Context& context,
            const Model* start = nullptr);

/// Samples of which some are equal.
struct EqualSamples {
  std::vector<Index>
      first;  ///< of each group of equal samples the first; groups in an order that the values alone decide
  std::vector<Index> group;  ///< the group of every sample
};

/// Samples with the same features in all views and the same target. Beyond a megabyte of features all of them
/// count as different. Train merges equal samples into one that weighs as much.
EqualSamples FindEqualSamples(std::span<const View> views, std::span<const double> targets);

/// The options that a model was asked to be trained with, with `auto` where training chose. Throws
/// Error(kData) where a model holds a choice that this version does not have.
TrainOptions GivenOptions(const Summary& summary);

/// The files that the options name, each behind the name of its option: matrices of kernels, of classes and
/// over the kernels, groups. Throws Error(kUsage) where a specification of a kernel is wrong.
std::vector<std::pair<std::string, std::string>> FilesOfOptions(const Dataset& data,
                                                                const TrainOptions& options);

/// What training would need, found without training.
struct Forecast {
  Index samples = 0;
  Index kernels = 0;
  std::size_t data_bytes = 0;
  std::size_t cache_bytes = 0;
  std::size_t peak_bytes = 0;
  double pair_evaluations = 0;  ///< base values (pairs of samples) one full pass computes
  std::string ToText() const;
};
Forecast ForecastTraining(const Dataset& data, const CheckedOptions& options, const Context& context);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_H_
