#ifndef KWEAVE_MODEL_CONTENT_H_
#define KWEAVE_MODEL_CONTENT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gram/normalization.h"
#include "kernel/kernel_set.h"
#include "kweave/choices.h"
#include "kweave/dataset.h"
#include "kweave/summary.h"
#include "model/feature_transform.h"
#include "model/problem.h"

namespace kweave {

/// One function f(x) = sum_m theta_m sum_i beta_i k_m(x_i, x) + bias over the stored samples x_i.
struct ModelMachine {
  std::vector<double> theta;  ///< one per kernel
  SparseVector beta;          ///< over the stored samples; y_i alpha_i for classification
  double bias = 0;
  /// With more than one output: the class whose value f adds to; or, one against one, the class that gets the
  /// vote where f > 0, while `against` gets it elsewhere.
  Index output = 0;
  Index against = -1;
  /// What every kernel adds to f on average over the training samples, which is what it adds for a sample
  /// without its view; empty: not known.
  std::vector<double> mean_parts = {};
};

/// A kernel on pairs of sample and class, given as a matrix.
struct ModelPairKernel {
  std::string name;
  std::string file;   ///< of training
  double weight = 0;  ///< above 0
  double scale = 1;   ///< factor of the normalisation
};

/// What kernels on pairs add to the value of class u at sample x: sum over kernels m and stored pairs (i, v)
/// of weight_m scale_m beta_iv k_m((x_i, v), (x, u)).
struct ModelPairs {
  std::vector<ModelPairKernel> kernels;
  std::vector<double> beta;  ///< stored sample after stored sample, one for each class
};

/// Everything a model knows. One machine is the whole model of two classes, a regression or one class; more
/// of them make a value for each class.
struct ModelContent {
  std::string version;  ///< of the library that trained it
  Task task = Task::kClassify;
  std::string loss = "hinge";  ///< its name in the table of losses
  /// As written in the training data, or -1 (outlier) and 1 of a one-class machine; one output: f(x) > 0
  /// means the second. None for regression.
  std::vector<std::string> classes;
  std::optional<Multiclass> multiclass;  ///< none: one machine, one output
  std::string label_separator;           ///< between the labels of a sample that may have several; else empty
  KernelSet kernels;                     ///< those with a weight above zero in any machine
  Normalization normalization;           ///< of these kernels, for the stored samples
  /// The stored samples, one entry per kernels.views: support vectors, or all training samples when the
  /// normalisation needs them.
  std::vector<View> samples;
  std::vector<Index> sample_indices;  ///< position of each stored sample in the training data, ascending
  Index training_count = 0;           ///< samples it was trained on: those with a weight
  /// Where samples are rescaled by the views they have (MissingViews::kRescale): all views of training, by
  /// which they are counted. Else empty.
  std::vector<std::string> counted_views;
  /// Of all views of training, which the features of `samples` have gone through; or none.
  std::vector<FeatureTransform> transforms;
  /// What `transforms` regress out; no names where the file had none.
  Index confound_count = 0;
  std::vector<std::string> confound_names;
  std::vector<ModelMachine> machines;
  /// Of the map from values to probabilities (model/calibration.h); empty: none was fitted.
  std::vector<double> calibration;
  ModelPairs pairs;      ///< of joint machines; mostly empty
  ModelProblem problem;  ///< what was solved, for kweave verify
  Summary summary;
  std::map<std::string, std::string> notes;  ///< texts of other programs, by name

  Index stored_count() const { return static_cast<Index>(sample_indices.size()); }
  Index outputs() const { return !multiclass ? 1 : static_cast<Index>(classes.size()); }
};

/// The same views; when there are none (all kernels precomputed), one without features that says how many
/// samples there are.
std::vector<View> WithSampleCount(std::vector<View> views, Index count);

/// Throws Error(kData) unless every count and every index in `content` is one that Predict can follow.
void CheckConsistency(const ModelContent& content);

}  // namespace kweave

#endif  // KWEAVE_MODEL_CONTENT_H_
