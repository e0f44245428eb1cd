#ifndef KWEAVE_TRAIN_PRODUCT_H_
#define KWEAVE_TRAIN_PRODUCT_H_

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/model.h"
#include "kweave/options.h"

namespace kweave {

/// Learns the widths of a product of Gaussians, and wires the parts as Train does. The model holds the
/// product as one kernel that is composed of those with a width above 0.
Model TrainProduct(const Dataset& data, const TrainOptions& options, const Context& context);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_PRODUCT_H_
