// Training on the same samples again and again, with options that differ.
//
// Solves   what Train solves, once for every call.
// Method   samples are encoded for every call; the kernels, their normalisation and the base quantities kept
//          of them are those of the last call wherever its options ask for the same. C, the norm and other
//          numbers of the objective change none of them, so a path over these pays for them once.
// Takes    options and a model of the same samples to start from; returns a model.
// Holds    nothing is learned from other samples than those of the session.
// Costs    the memory of one training, as long as it lives.
#ifndef KWEAVE_TRAIN_TRAINING_SESSION_H_
#define KWEAVE_TRAIN_TRAINING_SESSION_H_

#include <memory>

#include "base/threads.h"
#include "kweave/train.h"

namespace kweave {

/// Whether kernels, their normalisation and the samples that count are the same under both: all options but
/// the numbers of the objective are equal.
bool HaveSameKernels(const TrainOptions& a, const TrainOptions& b);

class TrainingSession {
 public:
  /// Data and context must outlive it.
  TrainingSession(const Dataset& data, const Context& context);
  ~TrainingSession();

  /// As Train. `certifies` false: a machine for two classes, a regression or one class ends when the bounds
  /// of the solver say so, and its model has these bounds and no intervals: enough to predict with, and to
  /// start from.
  Model Train(const CheckedOptions& options, const Model* start = nullptr, bool certifies = true);

 private:
  struct Kernels;
  Model TrainOnKernels(const TrainOptions& options, const Model* start, bool certifies);
  // Those of these options, from the last call where they serve.
  const Kernels& KernelsFor(const struct PreparedSamples& samples, const TrainOptions& options,
                            class RunControl& control);

  const Dataset& data_;
  const Context& context_;
  ThreadPool pool_;
  std::unique_ptr<Kernels> kernels_;
};

}  // namespace kweave

#endif  // KWEAVE_TRAIN_TRAINING_SESSION_H_
