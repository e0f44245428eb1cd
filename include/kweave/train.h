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

/// Learns a model; its summary holds the certificate.
///
///     const kweave::Dataset data = kweave::ReadDataset({.views = {{"data", "train.csv"}}});
///     const kweave::Model model = kweave::Train(data, kweave::TrainOptions(), kweave::Context());
///     model.Save("model.kweave");
///
/// Throws Error on wrong options or data. `start` is a warm start: a model of the same samples trained with
/// other options. It saves time and changes nothing in what the certificate promises.
Model Train(const Dataset& data, const CheckedOptions& options, const Context& context,
            const Model* start = nullptr);

/// A partition of the samples into groups of equal ones.
struct EqualSamples {
  /// The first sample of each group. The order of the groups depends on the values alone, not on the order of
  /// the samples.
  std::vector<Index> first;
  std::vector<Index> group;  ///< the group of every sample
};

/// Finds samples with the same features in all views and the same target. With more than a megabyte of
/// features no comparison is made, and all samples count as different. Train merges equal samples into one
/// whose weight is their sum.
EqualSamples FindEqualSamples(std::span<const View> views, std::span<const double> targets);

/// The options that a model was trained with, as they were given: `auto` where training made the choice.
/// Throws Error(kData) where the model holds a choice that this version does not know.
TrainOptions GivenOptions(const Summary& summary);

/// The files that the options name, as pairs of option and path: precomputed kernels, kernels on classes, the
/// matrix of the regulariser, groups. Throws Error(kUsage) on a wrong kernel specification.
std::vector<std::pair<std::string, std::string>> FilesOfOptions(const Dataset& data,
                                                                const TrainOptions& options);

/// What training would need, found without training.
struct Forecast {
  Index samples = 0;            ///< that training would use
  Index kernels = 0;            ///< after lists and ranges are multiplied out
  std::size_t data_bytes = 0;   ///< the data as read
  std::size_t cache_bytes = 0;  ///< kept base quantities and kernel rows
  std::size_t peak_bytes = 0;   ///< the most that the process would take
  double pair_evaluations = 0;  ///< base values (pairs of samples) that one full pass computes
  std::string ToText() const;   ///< for people
};
/// What `kweave train --dry-run` prints:
///
///     std::cout << kweave::ForecastTraining(data, options, context).ToText();
Forecast ForecastTraining(const Dataset& data, const CheckedOptions& options, const Context& context);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_H_
