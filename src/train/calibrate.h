#ifndef KWEAVE_TRAIN_CALIBRATE_H_
#define KWEAVE_TRAIN_CALIBRATE_H_

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/model.h"
#include "kweave/options.h"

namespace kweave {

/// The model with a map from its values to probabilities (model/calibration.h), fitted by cross-fitting: the
/// samples are split into five parts with about the same share of every class each, equal samples together,
/// and the values of each part are those of a model of the others. With a class of one sample, the values are
/// the model's own. A model of the logistic loss that has probabilities by itself stays as it is.
///
/// Costs five further trainings on four fifths of the samples. Throws Error(kUsage) where samples have
/// several labels, and on kernels on pairs of sample and class.
Model Calibrate(const Dataset& data, const TrainOptions& options, const Context& context, const Model& model);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_CALIBRATE_H_
