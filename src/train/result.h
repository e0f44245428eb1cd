#ifndef KWEAVE_TRAIN_RESULT_H_
#define KWEAVE_TRAIN_RESULT_H_

#include <optional>

#include "gram/gram.h"
#include "kweave/context.h"
#include "kweave/model.h"
#include "kweave/options.h"
#include "train/memory_plan.h"
#include "train/objective.h"
#include "train/prepared.h"
#include "weights/learn.h"

namespace kweave {

/// The model of what was learned: active kernels and stored samples only, and a summary without its times.
ModelContent MakeContent(const PreparedSamples& samples, const PreparedKernels& prepared,
                         const TrainOptions& options, const Objective& objective, const Learned& learned);

/// What training chose, as JSON literals.
std::vector<std::pair<std::string, std::string>> EffectiveOptions(const TrainOptions& options,
                                                                  const Context& context,
                                                                  const MemoryPlan& plan,
                                                                  const Learned& learned);

/// Summary::leave_one_out of a machine with the squared loss, on few enough samples that it is cheap; else nothing.
std::optional<double> LeaveOneOutScore(Gram& exact, const TrainOptions& options, const Risk& risk,
                                       const Learned& learned);

/// What is learned when no kernel varies over the samples: the best constant, with a gap of zero.
Learned LearnBiasOnly(const Risk& risk);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_RESULT_H_
