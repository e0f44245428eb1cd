#ifndef KWEAVE_MODEL_CONTENT_H_
#define KWEAVE_MODEL_CONTENT_H_

#include <string>
#include <vector>

#include "gram/normalization.h"
#include "kernel/kernel_set.h"
#include "kweave/dataset.h"
#include "kweave/summary.h"
#include "loss/task.h"

namespace kweave {

/// Everything a model knows: f(x) = sum_m theta_m sum_i beta_i k_m(x_i, x) + bias over the stored samples
/// x_i.
struct ModelContent {
  std::string version;  ///< of the library that trained it
  Task task = Task::kClassify;
  std::string loss = "hinge";  ///< its name in the table of losses
  /// As written in the training data, or -1 (outlier) and 1 of a one-class machine; f(x) > 0 means the second. None
  /// for regression.
  std::vector<std::string> classes;
  KernelSet kernels;            ///< those with a weight above zero
  std::vector<double> theta;    ///< one per kernel
  Normalization normalization;  ///< of these kernels, for the stored samples
  /// The stored samples, one entry per kernels.views: support vectors, or all training samples when the
  /// normalisation needs them.
  std::vector<View> samples;
  std::vector<Index> sample_indices;  ///< position of each stored sample in the training data, ascending
  Index training_count = 0;           ///< samples it was trained on: those with a weight
  std::vector<double> beta;           ///< one per stored sample; y_i alpha_i for classification
  double bias = 0;
  Summary summary;
};

/// The same views; when there are none (all kernels precomputed), one without features that says how many samples
/// there are.
std::vector<View> WithSampleCount(std::vector<View> views, Index count);

/// Throws Error(kData) unless every count and every index in `content` is one that Predict can follow.
void CheckConsistency(const ModelContent& content);

}  // namespace kweave

#endif  // KWEAVE_MODEL_CONTENT_H_
