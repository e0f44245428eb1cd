#ifndef KWEAVE_MODEL_PART_H_
#define KWEAVE_MODEL_PART_H_

#include <span>
#include <string>

#include "kweave/model.h"

namespace kweave {

/// The model with the kernels of these names alone: every other has weight 0, also in the functions that
/// predictions are made of. Biases stay. Parts that have every kernel once add up to the model.
/// Throws Error(kUsage) for a name that is not among active_kernels().
Model WithKernels(const Model& model, std::span<const std::string> names);

}  // namespace kweave

#endif  // KWEAVE_MODEL_PART_H_
