// Any files as new samples of models that are whole: they are refused with Error, or every sample gets finite
// values and those that have labels are scored.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzz_input.h"
#include "kweave/model.h"
#include "kweave/scores.h"
#include "model/file.h"
#include "tests/support/example_model.h"

namespace {

using namespace kweave;

// Stored samples in one sparse view, so that LIBSVM files serve, and values to be predicted.
ModelContent RegressionModel() {
  ModelContent content = ExampleModel();
  content.classes.clear();
  content.task = content.summary.task = Task::kRegress;
  content.kernels.views = {"counts"};
  content.kernels.subsets = {{}};
  content.kernels.families = {{FindKernelKind("rbf"), 0, 0, -1, {{0.5, 0, 1}, {2, 0, 1}}},
                              {FindKernelKind("poly"), 0, 0, -1, {{2, 1, 1}, {3, 1, 0}}}};
  content.kernels.composites.clear();
  content.kernels.order = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  content.kernels.given_names.clear();
  content.normalization.chains.clear();
  content.samples = {{"counts", ExampleSparseFeatures(), {}}};
  return content;
}

std::vector<Model> MakeModels() {
  std::vector<Model> models;
  for (const ModelContent& content : std::vector<ModelContent>{
           ExampleModel(), RegressionModel(), ExampleModelOfClasses(Multiclass::kOneAgainstOne),
           ExampleModelOfClasses(Multiclass::kOneAgainstRest), ExampleModelOfClasses(Multiclass::kJoint)}) {
    // Through a file, which refuses contents that contradict themselves.
    models.emplace_back(std::make_shared<const ModelContent>(DeserializeModel(SerializeModel(content))));
  }
  return models;
}

void Score(const Model& model, const Labels& labels, const Prediction& prediction) {
  if (labels.empty()) return;
  if (model.task() == Task::kRegress) {
    if (labels.is_numeric()) ScoreRegression(labels.number, prediction.decision);
    return;
  }
  std::vector<std::string> unknown;
  if (model.outputs() > 1) {
    const auto truth = TrueClasses(labels, model.classes(), &unknown);
    ScoreClasses(truth, prediction.decision, model.classes(), model.is_multilabel(), unknown,
                 prediction.probability);
    return;
  }
  std::string unknown_label;
  const std::vector<bool> is_positive = PositiveLabels(labels, model.classes(), &unknown_label);
  if (!is_positive.empty()) ScoreClassification(is_positive, prediction.decision, prediction.probability);
}

void PredictFiles(const Model& model, const std::vector<std::string>& contents) {
  static FuzzPath files[2];
  ReadOptions options;
  options.labels_required = false;
  for (std::size_t v = 0; v < model.views().size(); ++v) {
    options.views.push_back({model.views()[v].first, files[v].Hold(v < contents.size() ? contents[v] : "")});
  }
  model.ExpectViews(options);
  const Dataset data = ReadDataset(options);
  Context context;
  context.threads = 1;
  context.memory_bytes = std::size_t{1} << 24;
  const Prediction prediction = model.Predict(data, context);
  Require(prediction.decision.size() == static_cast<std::size_t>(data.size * model.outputs()));
  for (const double value : prediction.decision) Require(std::isfinite(value));
  for (const double value : prediction.probability) Require(value >= 0 && value <= 1);
  Score(model, data.labels, prediction);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Model> kModels = MakeModels();
  if (size == 0) return 0;
  const Model& model = kModels[data[0] % kModels.size()];
  AllowErrors([&] { PredictFiles(model, FuzzPieces(data + 1, size - 1, kFileSeparator, 2)); });
  return 0;
}
