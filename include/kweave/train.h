#ifndef KWEAVE_TRAIN_H_
#define KWEAVE_TRAIN_H_

#include <string>

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/model.h"
#include "kweave/options.h"

namespace kweave {

/// Learns a model; its summary holds the certificate. Throws Error on wrong options or data. `start`, a model of the same
/// samples with other options, is where learning begins: the answer is as good as from scratch, and sooner there.
Model Train(const Dataset& data, const TrainOptions& options, const Context& context,
            const Model* start = nullptr);

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
Forecast ForecastTraining(const Dataset& data, const TrainOptions& options, const Context& context);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_H_
