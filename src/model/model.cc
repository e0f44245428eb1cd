#include "kweave/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/file_bytes.h"
#include "kweave/error.h"
#include "kweave/output_file.h"
#include "model/calibration.h"
#include "model/content.h"
#include "model/describe.h"
#include "model/file.h"
#include "model/match_views.h"
#include "model/predict.h"

namespace kweave {
namespace {

std::string LabelOf(const ModelContent& content, std::span<const double> values) {
  if (content.task == Task::kOneClass) return content.classes[values[0] >= 0 ? 1 : 0];
  if (!content.multiclass) return content.classes[values[0] > 0 ? 1 : 0];
  if (content.label_separator.empty()) {
    return content.classes[std::ranges::max_element(values) - values.begin()];
  }
  std::string labels;
  for (std::size_t u = 0; u < values.size(); ++u) {
    if (!(values[u] > 0)) continue;
    if (!labels.empty()) labels += content.label_separator;
    labels += content.classes[u];
  }
  return labels;
}

// Logistic functions of the values; those of classes that exclude each other are brought to a sum of 1.
void AddProbabilities(std::span<const double> values, bool is_multilabel, std::vector<double>& out) {
  double sum = 0;
  for (const double value : values) {
    out.push_back(1 / (1 + std::exp(-value)));
    sum += out.back();
  }
  if (values.size() == 1 || is_multilabel || !(sum > 0)) return;
  for (std::size_t k = out.size() - values.size(); k < out.size(); ++k) out[k] /= sum;
}

// By the map that training fitted.
void AddCalibrated(const ModelContent& content, const Dataset& data, const PredictOptions& options,
                   const Context& context, Prediction& prediction) {
  const bool is_of_machines = CalibratesMachines(content);
  const std::vector<double> machines =
      is_of_machines ? DecideByMachine(content, data, options, context) : std::vector<double>{};
  const std::span<const double> decision = prediction.decision, values = is_of_machines ? machines : decision;
  const auto outputs = static_cast<std::size_t>(content.outputs());
  const std::size_t width = is_of_machines ? content.machines.size() : outputs;
  prediction.probability.clear();
  for (std::size_t i = 0; i * outputs < decision.size(); ++i) {
    const std::vector<double> own = CalibratedProbabilities(content, decision.subspan(i * outputs, outputs),
                                                            values.subspan(i * width, width));
    prediction.probability.insert(prediction.probability.end(), own.begin(), own.end());
  }
}

}  // namespace

Model::Model(std::shared_ptr<const ModelContent> content) : content_(std::move(content)) {}

Model Model::Load(const std::string& path) {
  const FileBytes file = OpenFileBytes(path);
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(file.bytes.data()), file.bytes.size());
  try {
    return Model(std::make_shared<const ModelContent>(DeserializeModel(bytes)));
  } catch (const Error& error) {
    throw Error(ErrorKind::kData, fmt::format("{}: {}", path, error.what()));
  }
}

void Model::Save(const std::string& path) const {
  const std::vector<std::uint8_t> bytes = SerializeModel(*content_);
  OutputFile file(path);
  file.Write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  file.Commit();
}

std::vector<std::uint8_t> Model::ToBytes() const { return SerializeModel(*content_); }

Model Model::FromBytes(std::span<const std::uint8_t> bytes) {
  return Model(std::make_shared<const ModelContent>(DeserializeModel(bytes)));
}

Model Model::WithNote(const std::string& name, std::string text) const {
  auto content = std::make_shared<ModelContent>(*content_);
  content->notes[name] = std::move(text);
  return Model(std::move(content));
}

std::string Model::note(const std::string& name) const {
  const auto found = content_->notes.find(name);
  return found == content_->notes.end() ? "" : found->second;
}

Prediction Model::Predict(const Dataset& data, const Context& context, const PredictOptions& options) const {
  Prediction prediction;
  prediction.decision = Decide(*content_, data, options, context);
  if (content_->task == Task::kRegress) return prediction;
  const Index width = outputs();
  const auto count = static_cast<Index>(prediction.decision.size()) / width;
  prediction.labels.reserve(count);
  const bool has_probability =
      content_->loss == "logistic" && (width == 1 || content_->multiclass == Multiclass::kOneAgainstRest);
  for (Index i = 0; i < count; ++i) {
    const auto values = std::span<const double>(prediction.decision).subspan(i * width, width);
    prediction.labels.push_back(LabelOf(*content_, values));
    if (has_probability) AddProbabilities(values, is_multilabel(), prediction.probability);
  }
  if (!content_->calibration.empty()) AddCalibrated(*content_, data, options, context, prediction);
  return prediction;
}

std::vector<double> Model::PredictByMachine(const Dataset& data, const Context& context,
                                            const PredictOptions& options) const {
  return DecideByMachine(*content_, data, options, context);
}

std::vector<double> Model::PredictByKernel(const Dataset& data, const Context& context,
                                           const PredictOptions& options, Index machine) const {
  return DecideByKernel(*content_, data, options, context, machine);
}

std::vector<double> Model::LearnedKernel(const Dataset& data, const Context& context,
                                         const PredictOptions& options, Index machine) const {
  return LearnedKernelValues(*content_, data, options, context, machine);
}

std::vector<std::string> Model::active_kernels() const {
  std::vector<std::string> names;
  for (Index m = 0; m < content_->kernels.size(); ++m) names.push_back(content_->kernels.Name(m));
  return names;
}

const Summary& Model::summary() const { return content_->summary; }

std::vector<std::string> Model::classes() const { return content_->classes; }

Index Model::outputs() const { return content_->outputs(); }

Index Model::machines() const { return static_cast<Index>(content_->machines.size()); }

bool Model::is_multilabel() const { return !content_->label_separator.empty(); }

const std::string& Model::label_separator() const { return content_->label_separator; }

std::vector<std::pair<Index, double>> Model::support(Index machine) const {
  const SparseVector& beta = content_->machines[machine].beta;
  std::vector<std::pair<Index, double>> support;
  for (std::size_t k = 0; k < beta.values.size(); ++k) {
    if (beta.values[k] != 0)
      support.emplace_back(content_->sample_indices[beta.positions[k]], beta.values[k]);
  }
  return support;
}

Index Model::data_count() const { return content_->problem.is_known ? content_->problem.data_count : 0; }

std::vector<Index> Model::stored_samples() const { return content_->sample_indices; }

std::vector<std::pair<std::string, Index>> Model::views() const {
  std::vector<std::pair<std::string, Index>> views;
  for (const View& view : content_->samples) views.emplace_back(view.name, ColumnCount(view.features));
  return views;
}

void Model::ExpectViews(ReadOptions& options) const { kweave::ExpectViews(*content_, options); }

std::string Model::Describe() const { return DescribeForPeople(*content_); }

std::string Model::ToJson() const {
  return DescribeAsJson(*content_).dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kweave
