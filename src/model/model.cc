#include "kweave/model.h"

#include <fmt/format.h>

#include <cmath>

#include "data/file_bytes.h"
#include "kweave/error.h"
#include "model/content.h"
#include "model/describe.h"
#include "model/file.h"
#include "model/match_views.h"
#include "model/predict.h"

namespace kweave {

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

void Model::Save(const std::string& path) const { WriteFileAtomically(path, SerializeModel(*content_)); }

std::vector<std::uint8_t> Model::ToBytes() const { return SerializeModel(*content_); }

Model Model::FromBytes(std::span<const std::uint8_t> bytes) {
  return Model(std::make_shared<const ModelContent>(DeserializeModel(bytes)));
}

Prediction Model::Predict(const Dataset& data, const Context& context, const PredictOptions& options) const {
  Prediction prediction;
  prediction.decision = Decide(*content_, data, options, context);
  if (content_->task == Task::kRegress) return prediction;
  prediction.labels.reserve(prediction.decision.size());
  for (double value : prediction.decision) prediction.labels.push_back(content_->classes[value > 0 ? 1 : 0]);
  if (content_->loss == "logistic") {
    for (double value : prediction.decision) prediction.probability.push_back(1 / (1 + std::exp(-value)));
  }
  return prediction;
}

std::vector<double> Model::PredictByKernel(const Dataset& data, const Context& context,
                                           const PredictOptions& options) const {
  return DecideByKernel(*content_, data, options, context);
}

std::vector<double> Model::LearnedKernel(const Dataset& data, const Context& context,
                                         const PredictOptions& options) const {
  return LearnedKernelValues(*content_, data, options, context);
}

std::vector<std::string> Model::active_kernels() const {
  std::vector<std::string> names;
  for (Index m = 0; m < content_->kernels.size(); ++m) names.push_back(content_->kernels.Name(m));
  return names;
}

const Summary& Model::summary() const { return content_->summary; }

std::vector<std::string> Model::classes() const { return content_->classes; }

std::vector<std::pair<Index, double>> Model::support() const {
  std::vector<std::pair<Index, double>> support;
  for (std::size_t i = 0; i < content_->beta.size(); ++i) {
    if (content_->beta[i] != 0) support.emplace_back(content_->sample_indices[i], content_->beta[i]);
  }
  return support;
}

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
