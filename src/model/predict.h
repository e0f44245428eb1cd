#ifndef KWEAVE_MODEL_PREDICT_H_
#define KWEAVE_MODEL_PREDICT_H_

#include <vector>

#include "kweave/model.h"
#include "model/content.h"

namespace kweave {

/// The values of every output for every sample of `data`, row after row, one per sample; in float64, a block
/// of samples at a time within the context's memory, all machines in one pass over the kernels. Throws
/// Error(kData) when a view or a matrix the model needs is missing or has the wrong shape, and, as the
/// functions below, when a value is not a finite number.
std::vector<double> Decide(const ModelContent& content, const Dataset& data, const PredictOptions& options,
                           const Context& context);

/// The functions of all machines, with their biases: one row per new sample, one column per machine.
std::vector<double> DecideByMachine(const ModelContent& content, const Dataset& data,
                                    const PredictOptions& options, const Context& context);

/// The function of one machine without the bias, split by kernel: one row per new sample, one column per
/// kernel of the model.
std::vector<double> DecideByKernel(const ModelContent& content, const Dataset& data,
                                   const PredictOptions& options, const Context& context, Index machine);

/// sum_m theta_m k_m of one machine, normalised as in training: one row per new sample, one column per stored
/// sample.
std::vector<double> LearnedKernelValues(const ModelContent& content, const Dataset& data,
                                        const PredictOptions& options, const Context& context, Index machine);

}  // namespace kweave

#endif  // KWEAVE_MODEL_PREDICT_H_
