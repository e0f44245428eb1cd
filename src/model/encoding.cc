#include "model/encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "kernel/kernel_table.h"
#include "model/blob.h"
#include "model/encode_features.h"
#include "model/encode_problem.h"
#include "model/summary_json.h"

namespace kweave {
namespace {

// Parameters that every kernel of the first format had, and what they are where a kind has none of that name:
// earlier versions ask for them.
constexpr std::pair<std::string_view, double> kFirstParameters[] = {
    {"gamma", 1}, {"coef0", 0}, {"degree", 1}};

// Members of a family or the parameters of a term, one array per parameter.
Json EncodeParameters(const KernelKind& kind, std::span<const KernelParameters> parameters) {
  Json json = Json::object();
  for (const auto& [name, value] : kFirstParameters) {
    json[std::string(name)] = ToBlob(std::vector<double>(parameters.size(), value));
  }
  for (std::size_t p = 0; p < kind.parameters.size(); ++p) {
    std::vector<double> values;
    for (const KernelParameters& member : parameters) values.push_back(member[p]);
    json[std::string(kind.parameters[p].name)] = ToBlob(values);
  }
  return json;
}

std::vector<KernelParameters> DecodeParameters(const KernelKind& kind, const Json& json) {
  std::vector<KernelParameters> parameters(FromBlob<double>(json.at("gamma")).size());
  for (std::size_t p = 0; p < kind.parameters.size(); ++p) {
    const auto values = FromBlob<double>(json.at(std::string(kind.parameters[p].name)));
    if (values.size() != parameters.size()) {
      throw Error(ErrorKind::kData, "the model is damaged: kernel parameters differ in number");
    }
    for (std::size_t k = 0; k < values.size(); ++k) parameters[k][p] = values[k];
  }
  return parameters;
}

// Where a family or a term takes its values from; both have these members.
template <class Placed>
Json EncodePlace(const Placed& placed) {
  return {
      {"kind", placed.kind->name}, {"view", placed.view}, {"subset", placed.subset}, {"file", placed.file}};
}

template <class Placed>
Placed DecodePlace(const Json& json) {
  Placed placed;
  const auto kind = json.at("kind").get<std::string>();
  placed.kind = FindKernelKind(kind);
  if (placed.kind == nullptr) {
    throw Error(ErrorKind::kData,
                fmt::format("the model uses kernel '{}', which this version does not have", kind));
  }
  placed.view = WholeNumber<std::int32_t>(json.at("view"));
  placed.subset = WholeNumber<std::int32_t>(json.at("subset"));
  placed.file = WholeNumber<std::int32_t>(json.at("file"));
  return placed;
}

// The numbers of the operations are part of the format.
static_assert(static_cast<int>(Composite::Operation::kTerm) == 0 &&
              static_cast<int>(Composite::Operation::kProduct) == 1 &&
              static_cast<int>(Composite::Operation::kSum) == 2 &&
              static_cast<int>(Composite::Operation::kMean) == 3);

Json EncodeComposite(const Composite& composite) {
  Json terms = Json::array();
  for (const KernelTerm& term : composite.terms) {
    Json encoded = EncodePlace(term);
    encoded["parameters"] = EncodeParameters(*term.kind, {&term.parameters, 1});
    terms.push_back(std::move(encoded));
  }
  std::vector<std::int32_t> program;
  for (const Composite::Node& node : composite.nodes) {
    program.push_back(static_cast<std::int32_t>(node.operation));
    program.push_back(node.argument);
  }
  return {{"terms", std::move(terms)}, {"program", ToBlob(program)}};
}

// Numbers that come in pairs, one after the other.
std::vector<std::int32_t> PairsFromBlob(const Json& json) {
  auto numbers = FromBlob<std::int32_t>(json);
  if (numbers.size() % 2 != 0) throw Error(ErrorKind::kData, "the model is damaged: half a pair is missing");
  return numbers;
}

Composite DecodeComposite(const Json& json) {
  Composite composite;
  for (const Json& encoded : json.at("terms")) {
    auto term = DecodePlace<KernelTerm>(encoded);
    const auto parameters = DecodeParameters(*term.kind, encoded.at("parameters"));
    if (parameters.size() != 1)
      throw Error(ErrorKind::kData, "the model is damaged: a kernel has no parameters");
    term.parameters = parameters.front();
    composite.terms.push_back(term);
  }
  const auto program = PairsFromBlob(json.at("program"));
  for (std::size_t k = 0; k < program.size(); k += 2) {
    if (program[k] < 0 || program[k] > static_cast<std::int32_t>(Composite::Operation::kMean)) {
      throw Error(ErrorKind::kData, "the model is damaged: unknown operation in a composite kernel");
    }
    composite.nodes.push_back({static_cast<Composite::Operation>(program[k]), program[k + 1]});
  }
  return composite;
}

Json EncodeKernels(const KernelSet& kernels) {
  Json subsets = Json::array(), families = Json::array(), composites = Json::array(), names = Json::array();
  for (const FeatureSubset& subset : kernels.subsets) subsets.push_back(ToBlob(subset));
  for (const Family& family : kernels.families) {
    Json encoded = EncodePlace(family);
    encoded["members"] = EncodeParameters(*family.kind, family.members);
    families.push_back(std::move(encoded));
  }
  for (const Composite& composite : kernels.composites) composites.push_back(EncodeComposite(composite));
  std::vector<std::int32_t> order;
  for (const KernelId& id : kernels.order) {
    order.push_back(id.family);
    order.push_back(id.member);
  }
  std::vector<std::pair<Index, std::string>> given(kernels.given_names.begin(), kernels.given_names.end());
  std::ranges::sort(given);
  for (const auto& [index, name] : given) names.push_back(Json::array({index, name}));
  std::vector<std::string> files;
  for (const MatrixSource& file : kernels.files) files.push_back(file.name);
  return {{"views", kernels.views},
          {"subsets", std::move(subsets)},
          {"files", std::move(files)},
          {"families", std::move(families)},
          {"composites", std::move(composites)},
          {"order", ToBlob(order)},
          {"names", std::move(names)},
          {"had_more_views", kernels.had_more_views}};
}

KernelSet DecodeKernels(const Json& json) {
  KernelSet kernels;
  kernels.views = json.at("views").get<std::vector<std::string>>();
  kernels.had_more_views = json.value("had_more_views", false);  // older models store all views
  kernels.subsets.clear();
  for (const Json& subset : json.at("subsets")) {
    kernels.subsets.push_back(FromBlob<std::int32_t>(subset));
  }
  for (auto& name : json.at("files").get<std::vector<std::string>>())
    kernels.files.push_back({std::move(name)});
  for (const Json& encoded : json.at("families")) {
    auto family = DecodePlace<Family>(encoded);
    family.members = DecodeParameters(*family.kind, encoded.at("members"));
    kernels.families.push_back(std::move(family));
  }
  for (const Json& encoded : json.at("composites")) kernels.composites.push_back(DecodeComposite(encoded));
  const auto order = PairsFromBlob(json.at("order"));
  for (std::size_t k = 0; k < order.size(); k += 2) kernels.order.push_back({order[k], order[k + 1]});
  for (const Json& given : json.at("names")) {
    kernels.given_names[WholeNumber<Index>(given.at(0))] = given.at(1).get<std::string>();
  }
  return kernels;
}

Json EncodeNormalization(const Normalization& normalization) {
  Json sequence = Json::array(), chains = Json::array();
  for (Normalizer step : normalization.sequence) sequence.push_back(ToString(step));
  std::vector<Index> kernels;
  for (const auto& [kernel, steps] : normalization.chains) kernels.push_back(kernel);
  std::ranges::sort(kernels);
  for (Index kernel : kernels) {
    Json steps = Json::array();
    for (const FittedStep& step : normalization.chains.at(kernel)) {
      steps.push_back({{"kind", ToString(step.kind)},
                       {"constant", step.constant},
                       {"per_sample", ToBlob(step.per_sample)}});
    }
    chains.push_back({{"kernel", kernel}, {"steps", std::move(steps)}});
  }
  return {{"sequence", std::move(sequence)},
          {"scale", ToBlob(normalization.scale)},
          {"chains", std::move(chains)}};
}

Normalizer DecodeNormalizer(const Json& json) {
  const NormalizerRecord* const found = FindNormalizer(json.get<std::string>());
  if (found == nullptr) throw Error(ErrorKind::kData, "the model is damaged: unknown normaliser");
  return found->normalizer;
}

Normalization DecodeNormalization(const Json& json) {
  Normalization normalization;
  for (const Json& name : json.at("sequence")) normalization.sequence.push_back(DecodeNormalizer(name));
  normalization.scale = FromBlob<double>(json.at("scale"));
  for (const Json& chain : json.at("chains")) {
    auto& steps = normalization.chains[WholeNumber<Index>(chain.at("kernel"))];
    for (const Json& step : chain.at("steps")) {
      steps.push_back({DecodeNormalizer(step.at("kind")), step.at("constant").get<double>(),
                       FromBlob<double>(step.at("per_sample"))});
    }
  }
  return normalization;
}

// Many machines share few samples each, so only factors that are not zero are written.
Json EncodeMachine(const ModelMachine& machine) {
  Json json = {{"output", machine.output},
               {"against", machine.against},
               {"theta", ToBlob(machine.theta)},
               {"support", ToBlob(machine.beta.positions)},
               {"factors", ToBlob(machine.beta.values)},
               {"bias", machine.bias}};
  if (!machine.mean_parts.empty()) json["mean_parts"] = ToBlob(machine.mean_parts);
  return json;
}

// Models of one view, and older ones, do not have them.
std::vector<double> DecodeMeanParts(const Json& json) {
  return json.contains("mean_parts") ? FromBlob<double>(json.at("mean_parts")) : std::vector<double>{};
}

ModelMachine DecodeMachine(const Json& json) {
  ModelMachine machine;
  machine.output = WholeNumber<Index>(json.at("output"));
  machine.against = WholeNumber<Index>(json.at("against"));
  machine.theta = FromBlob<double>(json.at("theta"));
  machine.bias = json.at("bias").get<double>();
  machine.beta = {FromBlob<std::int32_t>(json.at("support")), FromBlob<double>(json.at("factors"))};
  machine.mean_parts = DecodeMeanParts(json);
  return machine;
}

Json EncodePairs(const ModelPairs& pairs) {
  Json kernels = Json::array();
  for (const ModelPairKernel& kernel : pairs.kernels) {
    kernels.push_back(
        {{"name", kernel.name}, {"file", kernel.file}, {"weight", kernel.weight}, {"scale", kernel.scale}});
  }
  return {{"kernels", std::move(kernels)}, {"beta", ToBlob(pairs.beta)}};
}

ModelPairs DecodePairs(const Json& json) {
  ModelPairs pairs;
  for (const Json& kernel : json.at("kernels")) {
    pairs.kernels.push_back({kernel.at("name").get<std::string>(), kernel.at("file").get<std::string>(),
                             kernel.at("weight").get<double>(), kernel.at("scale").get<double>()});
  }
  pairs.beta = FromBlob<double>(json.at("beta"));
  return pairs;
}

Json EncodeTransforms(const ModelContent& content) {
  Json views = Json::array();
  for (const FeatureTransform& transform : content.transforms) {
    views.push_back({{"view", transform.view},
                     {"shift", ToBlob(transform.shift)},
                     {"factor", ToBlob(transform.factor)},
                     {"coefficients", ToBlob(transform.coefficients)}});
  }
  return {{"views", std::move(views)},
          {"confounds", content.confound_count},
          {"confound_names", content.confound_names}};
}

void DecodeTransforms(const Json& json, ModelContent& content) {
  for (const Json& view : json.at("views")) {
    content.transforms.push_back({view.at("view").get<std::string>(), FromBlob<double>(view.at("shift")),
                                  FromBlob<double>(view.at("factor")),
                                  FromBlob<double>(view.at("coefficients"))});
  }
  content.confound_count = WholeNumber<Index>(json.at("confounds"));
  content.confound_names = json.at("confound_names").get<std::vector<std::string>>();
}

ModelContent Decode(const Json& json) {
  ModelContent content;
  content.version = json.at("version").get<std::string>();
  // Models of the first format know one task and one loss.
  const ChoiceRecord<Task>* task = FindChoice<Task>(json.value("task", "classify"));
  if (task == nullptr)
    throw Error(ErrorKind::kData, "the model is of a task that this version does not have");
  content.task = task->choice;
  content.loss = json.value("loss", "hinge");
  content.classes = json.at("classes").get<std::vector<std::string>>();
  content.kernels = DecodeKernels(json.at("kernels"));
  content.normalization = DecodeNormalization(json.at("normalization"));
  for (const Json& sample : json.at("samples")) {
    content.samples.push_back({.name = sample.at("view").get<std::string>(),
                               .features = DecodeFeatures(sample.at("features")),
                               .feature_names = sample.at("feature_names").get<std::vector<std::string>>()});
  }
  content.sample_indices = FromBlob<Index>(json.at("sample_indices"));
  content.training_count = WholeNumber<Index>(json.at("training_count"));
  if (json.contains("multiclass")) {
    const ChoiceRecord<Multiclass>* found = FindChoice<Multiclass>(json.at("multiclass").get<std::string>());
    if (found == nullptr) throw Error(ErrorKind::kData, "its machines are combined in an unknown way");
    content.multiclass = found->choice;
  }
  content.label_separator = json.value("label_separator", "");
  if (!content.multiclass) {
    const auto beta = FromBlob<double>(json.at("beta"));
    if (beta.size() != content.sample_indices.size()) {
      throw Error(ErrorKind::kData, "the model is damaged: samples and coefficients differ in number");
    }
    content.machines = {
        {FromBlob<double>(json.at("theta")), SparseVector::From(beta), json.at("bias").get<double>()}};
    content.machines[0].mean_parts = DecodeMeanParts(json);
  } else {
    for (const Json& machine : json.at("machines")) {
      content.machines.push_back(DecodeMachine(machine));
    }
  }
  content.counted_views = json.value("counted_views", content.counted_views);
  if (json.contains("calibration")) content.calibration = FromBlob<double>(json.at("calibration"));
  if (json.contains("transforms")) DecodeTransforms(json.at("transforms"), content);
  if (json.contains("pairs")) content.pairs = DecodePairs(json.at("pairs"));
  if (json.contains("problem")) content.problem = DecodeProblem(json.at("problem"));
  content.summary = SummaryFromJson(json.at("summary"));
  content.notes = json.value("notes", content.notes);
  return content;
}

}  // namespace

Json EncodeModel(const ModelContent& content) {
  Json samples = Json::array();
  for (const View& view : content.samples) {
    samples.push_back({{"view", view.name},
                       {"feature_names", view.feature_names},
                       {"features", EncodeFeatures(view.features)}});
  }
  Json json = {{"version", content.version},
               {"task", ToString(content.task)},
               {"loss", content.loss},
               {"classes", content.classes},
               {"kernels", EncodeKernels(content.kernels)},
               {"normalization", EncodeNormalization(content.normalization)},
               {"samples", std::move(samples)},
               {"sample_indices", ToBlob(content.sample_indices)},
               {"training_count", content.training_count},
               {"summary", ToJson(content.summary)}};
  if (!content.multiclass) {
    const ModelMachine& machine = content.machines.front();
    json["theta"] = ToBlob(machine.theta);
    json["beta"] = ToBlob(machine.beta.ToDense(content.sample_indices.size()));
    json["bias"] = machine.bias;
    if (!machine.mean_parts.empty()) json["mean_parts"] = ToBlob(machine.mean_parts);
  } else {
    json["multiclass"] = ToString(*content.multiclass);
    if (!content.label_separator.empty()) json["label_separator"] = content.label_separator;
    json["machines"] = Json::array();
    for (const ModelMachine& machine : content.machines) json["machines"].push_back(EncodeMachine(machine));
  }
  if (!content.pairs.kernels.empty()) json["pairs"] = EncodePairs(content.pairs);
  if (!content.calibration.empty()) json["calibration"] = ToBlob(content.calibration);
  if (!content.transforms.empty()) json["transforms"] = EncodeTransforms(content);
  if (!content.counted_views.empty()) json["counted_views"] = content.counted_views;
  if (content.problem.is_known) json["problem"] = EncodeProblem(content.problem);
  if (!content.notes.empty()) json["notes"] = content.notes;
  return json;
}

ModelContent DecodeModel(const Json& json) {
  ModelContent content;
  try {
    content = Decode(json);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kData, std::string("the model is damaged: ") + error.what());
  } catch (const Error& error) {
    throw Error(ErrorKind::kData, error.what());  // whatever the cause, here it lies in the file
  }
  CheckConsistency(content);
  return content;
}

}  // namespace kweave
