#ifndef KWEAVE_MODEL_H_
#define KWEAVE_MODEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/summary.h"

namespace kweave {

struct ModelContent;  // model/content.h

/// What a model says of new samples.
struct Prediction {
  /// One per sample: a class, or "1" for samples like those of training and "-1" for outliers; none for
  /// regression. Where samples have several labels, all with a positive value, joined by the separator of
  /// training.
  std::vector<std::string> labels;
  /// Row after row, one per sample, with Model::outputs() values. One: f(x) with bias; positive means the
  /// second class, or a sample like those of training; for regression the value. More: one per class, the
  /// largest is the class.
  std::vector<double> decision;
  /// Of models trained with `probabilities`, and where the loss is logistic and machines tell one class from
  /// the rest: of the second class, or row after row of every class.
  std::vector<double> probability;
};

/// What predicting takes besides the data.
struct PredictOptions {
  /// For every precomputed kernel its name, or the file it was trained from, and a matrix with one row per
  /// new sample and one column per training sample (or per stored sample, in their order).
  std::vector<std::pair<std::string, std::string>> gram_files;
};

/// A trained model: self-contained, immutable, cheap to copy.
///
///     const kweave::Model model = kweave::Model::Load("model.kweave");
///     kweave::ReadOptions reading{.views = {{"data", "new.csv"}}, .labels_required = false};
///     model.ExpectViews(reading);
///     const kweave::Prediction found = model.Predict(kweave::ReadDataset(reading), kweave::Context());
///     std::cout << found.labels[0] << ' ' << found.decision[0] << '\n';
class Model {
 public:
  explicit Model(std::shared_ptr<const ModelContent> content);

  /// Throws Error(kData) when the file is missing, truncated, altered or not a model.
  static Model Load(const std::string& path);
  /// Writes to a temporary name beside `path` and renames.
  void Save(const std::string& path) const;
  /// What Save writes, in memory; and back. Throws Error(kData) on any other bytes.
  std::vector<std::uint8_t> ToBytes() const;
  static Model FromBytes(std::span<const std::uint8_t> bytes);

  /// The same model with a text of the caller's, which Save keeps under a name; Python's estimators
  /// keep there what is theirs.
  Model WithNote(const std::string& name, std::string text) const;
  /// Empty where there is none of that name.
  std::string note(const std::string& name) const;

  /// The dataset must hold every view the model uses, by name; others are ignored. When training had one view
  /// only, a single view matches whatever its name. Features are matched by name where both sides have names,
  /// else by position.
  Prediction Predict(const Dataset& data, const Context& context, const PredictOptions& options = {}) const;

  /// The functions that the values of Predict are made of, with their biases: row after row, one per sample,
  /// with machines() values. One against one, Predict counts their votes.
  std::vector<double> PredictByMachine(const Dataset& data, const Context& context,
                                       const PredictOptions& options = {}) const;
  /// The function of one machine without the bias, split by kernel: row after row, one per sample, with one
  /// value for each of active_kernels().
  std::vector<double> PredictByKernel(const Dataset& data, const Context& context,
                                      const PredictOptions& options = {}, Index machine = 0) const;
  /// Values of the learned kernel sum_m theta_m k_m of one machine, normalised as in training: row after row,
  /// one per sample, with one value for each of stored_samples().
  std::vector<double> LearnedKernel(const Dataset& data, const Context& context,
                                    const PredictOptions& options = {}, Index machine = 0) const;

  const Summary& summary() const;
  /// Names of the kernels with a weight above 0 in any machine, in the order given.
  std::vector<std::string> active_kernels() const;
  Task task() const { return summary().task; }
  /// Two, the second where f(x) > 0, or more; none for regression.
  std::vector<std::string> classes() const;
  /// Values that Predict gives for each sample: 1, or as many as there are classes.
  Index outputs() const;
  /// How many functions the values are made of: 1, or one for each class, pair of classes, or class and class
  /// kernel.
  Index machines() const;
  /// Whether samples may have several labels or none, and what stands between them.
  bool is_multilabel() const;
  const std::string& label_separator() const;
  /// The support vectors of one machine: their positions in the training data, ascending, and their factors
  /// in f(x).
  std::vector<std::pair<Index, double>> support(Index machine = 0) const;
  /// Samples in the training data, those without a weight included; 0: a model of an older version, which
  /// does not know.
  Index data_count() const;
  /// Positions in the training data of the samples whose kernel values predicting needs, ascending.
  std::vector<Index> stored_samples() const;
  /// Names of the views the model needs and their number of features.
  std::vector<std::pair<std::string, Index>> views() const;
  /// Fills in what the files of new samples have to hold: expected_columns and expected_names.
  void ExpectViews(ReadOptions& options) const;
  /// What `kweave inspect` prints for people (text) and for programs (JSON).
  std::string Describe() const;
  std::string ToJson() const;

  const ModelContent& content() const { return *content_; }

 private:
  std::shared_ptr<const ModelContent> content_;
};

}  // namespace kweave

#endif  // KWEAVE_MODEL_H_
