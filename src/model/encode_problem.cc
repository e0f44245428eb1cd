#include "model/encode_problem.h"

#include "model/blob.h"

namespace kweave {
namespace {

Json EncodeSparse(const SparseVector& vector) {
  return {{"positions", ToBlob(vector.positions)}, {"values", ToBlob(vector.values)}};
}

SparseVector DecodeSparse(const Json& json) {
  SparseVector vector{FromBlob<std::int32_t>(json.at("positions")), FromBlob<double>(json.at("values"))};
  std::int32_t previous = -1;
  for (const std::int32_t position : vector.positions) {
    if (position <= previous)
      throw Error(ErrorKind::kData, "the model is damaged: positions are out of order");
    previous = position;
  }
  if (vector.positions.size() != vector.values.size()) {
    throw Error(ErrorKind::kData, "the model is damaged: a value belongs to no position");
  }
  return vector;
}

std::optional<SparseVector> DecodeDual(const Json& json) {
  if (!json.contains("dual")) return std::nullopt;
  return DecodeSparse(json.at("dual"));
}

// A norm may be infinite, which JSON has no number for; a blob keeps it. Members that say nothing are left
// out.
Json EncodeRegularizer(const ModelRegularizer& regularizer) {
  const ModelRegularizer usual;
  Json json = {{"form", regularizer.form},
               {"exponents", ToBlob(std::vector{regularizer.exponent, regularizer.inner_exponent})}};
  if (!regularizer.groups.empty()) {
    json["groups"] = ToBlob(std::vector<std::int32_t>(regularizer.groups.begin(), regularizer.groups.end()));
  }
  if (regularizer.penalty > 0) json["penalty"] = regularizer.penalty;
  if (!regularizer.matrix.empty()) json["matrix"] = EncodeSparse(regularizer.matrix);
  if (!regularizer.lower.empty()) {
    json["lower"] = ToBlob(regularizer.lower);
    json["upper"] = ToBlob(regularizer.upper);
  }
  if (regularizer.elastic != usual.elastic) json["elastic"] = regularizer.elastic;
  if (regularizer.ridge > 0) json["ridge"] = regularizer.ridge;
  return json;
}

ModelRegularizer DecodeRegularizer(const Json& json) {
  ModelRegularizer regularizer;
  regularizer.form = json.at("form").get<std::string>();
  const auto exponents = FromBlob<double>(json.at("exponents"));
  if (exponents.size() != 2) throw Error(ErrorKind::kData, "the model is damaged: a norm has no exponent");
  regularizer.exponent = exponents[0];
  regularizer.inner_exponent = exponents[1];
  if (json.contains("groups")) {
    const auto groups = FromBlob<std::int32_t>(json.at("groups"));
    regularizer.groups.assign(groups.begin(), groups.end());
  }
  regularizer.penalty = json.value("penalty", 0.0);
  if (json.contains("matrix")) regularizer.matrix = DecodeSparse(json.at("matrix"));
  if (json.contains("lower")) {
    regularizer.lower = FromBlob<double>(json.at("lower"));
    regularizer.upper = FromBlob<double>(json.at("upper"));
  }
  regularizer.elastic = json.value("elastic", regularizer.elastic);
  regularizer.ridge = json.value("ridge", 0.0);
  return regularizer;
}

Json EncodeMachineProblem(const MachineProblem& machine) {
  Json json = Json::object();
  if (machine.cost_factor != 1) json["cost_factor"] = machine.cost_factor;
  if (machine.positive_factor != 1) json["positive_factor"] = machine.positive_factor;
  if (machine.exponent != 0) json["exponent"] = ToBlob(std::vector{machine.exponent});
  if (machine.dual) json["dual"] = EncodeSparse(*machine.dual);
  return json;
}

MachineProblem DecodeMachineProblem(const Json& json) {
  MachineProblem machine{json.value("cost_factor", 1.0), json.value("positive_factor", 1.0)};
  if (json.contains("exponent")) {
    const auto exponent = FromBlob<double>(json.at("exponent"));
    if (exponent.size() != 1) throw Error(ErrorKind::kData, "the model is damaged: a norm has no exponent");
    machine.exponent = exponent[0];
  }
  machine.dual = DecodeDual(json);
  return machine;
}

Json EncodeJoint(const JointProblem& joint) {
  Json json = Json::object();
  if (!joint.class_kernels.empty()) {
    json["class_kernels"] = Json::array();
    for (const SparseVector& matrix : joint.class_kernels)
      json["class_kernels"].push_back(EncodeSparse(matrix));
    json["theta"] = ToBlob(joint.theta);
    json["beta"] = EncodeSparse(joint.beta);
  }
  if (joint.dual) json["dual"] = EncodeSparse(*joint.dual);
  return json;
}

JointProblem DecodeJoint(const Json& json) {
  JointProblem joint;
  if (json.contains("class_kernels")) {
    for (const Json& matrix : json.at("class_kernels")) joint.class_kernels.push_back(DecodeSparse(matrix));
    joint.theta = FromBlob<double>(json.at("theta"));
    joint.beta = DecodeSparse(json.at("beta"));
  }
  joint.dual = DecodeDual(json);
  return joint;
}

}  // namespace

SparseVector SparseVector::From(const std::vector<double>& dense) {
  SparseVector sparse;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (dense[i] == 0) continue;
    sparse.positions.push_back(static_cast<std::int32_t>(i));
    sparse.values.push_back(dense[i]);
  }
  return sparse;
}

std::vector<double> SparseVector::ToDense(std::size_t size) const {
  if (!positions.empty() && static_cast<std::size_t>(positions.back()) >= size) {
    throw Error(ErrorKind::kData, "the model is damaged: a position is beyond the end");
  }
  std::vector<double> dense(size, 0.0);
  for (std::size_t k = 0; k < positions.size(); ++k)
    dense[static_cast<std::size_t>(positions[k])] = values[k];
  return dense;
}

Json EncodeProblem(const ModelProblem& problem) {
  Json json = {{"kernels", problem.kernels},
               {"seed", problem.seed},
               {"active", ToBlob(problem.active)},
               {"left_out", ToBlob(problem.left_out)},
               {"scale", ToBlob(problem.scale)},
               {"bias", problem.has_bias},
               {"epsilon", problem.epsilon},
               {"sharpness", problem.sharpness},
               {"costs", ToBlob(problem.costs)},
               {"data_count", problem.data_count},
               {"regularizer", EncodeRegularizer(problem.regularizer)},
               {"common_weights", problem.has_common_weights},
               {"product", problem.is_product},
               {"machines", Json::array()}};
  for (const MachineProblem& machine : problem.machines)
    json["machines"].push_back(EncodeMachineProblem(machine));
  if (problem.scale_of_features != FeatureScale::kNone)
    json["scale_of_features"] = ToString(problem.scale_of_features);
  if (problem.joint.dual || !problem.joint.class_kernels.empty()) json["joint"] = EncodeJoint(problem.joint);
  return json;
}

ModelProblem DecodeProblem(const Json& json) {
  ModelProblem problem;
  problem.is_known = true;
  problem.kernels = json.at("kernels").get<std::vector<std::string>>();
  problem.seed = WholeNumber<std::uint64_t>(json.at("seed"));
  problem.active = FromBlob<std::int32_t>(json.at("active"));
  problem.left_out = FromBlob<std::int32_t>(json.at("left_out"));
  problem.scale = FromBlob<double>(json.at("scale"));
  problem.has_bias = json.at("bias").get<bool>();
  problem.epsilon = json.at("epsilon").get<double>();
  problem.sharpness = json.at("sharpness").get<double>();
  problem.costs = FromBlob<double>(json.at("costs"));
  problem.data_count = WholeNumber<Index>(json.at("data_count"));
  problem.regularizer = DecodeRegularizer(json.at("regularizer"));
  if (const auto* scale = FindChoice<FeatureScale>(json.value("scale_of_features", "none")))
    problem.scale_of_features = scale->choice;
  problem.has_common_weights = json.at("common_weights").get<bool>();
  problem.is_product = json.at("product").get<bool>();
  for (const Json& machine : json.at("machines")) problem.machines.push_back(DecodeMachineProblem(machine));
  if (json.contains("joint")) problem.joint = DecodeJoint(json.at("joint"));
  return problem;
}

}  // namespace kweave
