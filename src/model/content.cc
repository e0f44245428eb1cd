#include "model/content.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "data/sequences.h"
#include "kernel/region.h"
#include "kweave/error.h"
#include "model/calibration.h"

namespace kweave {
namespace {

void Require(bool holds, std::string_view rule) {
  if (!holds) throw Error(ErrorKind::kData, fmt::format("the model is damaged: {}", rule));
}

template <class Container>
bool IsIndexOf(const Container& container, std::int64_t index) {
  return index >= 0 && index < static_cast<std::int64_t>(container.size());
}

bool AllFinite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

void CheckParameters(const KernelKind& kind, const KernelParameters& parameters) {
  for (std::size_t p = 0; p < kind.parameters.size(); ++p) {
    Require(kind.parameters[p].Allows(parameters[p]), "a kernel parameter is outside its range");
  }
}

// The largest feature of every subset, -1 where it takes all; once, as many kernels may share a subset.
std::vector<std::int32_t> LargestFeatures(const KernelSet& kernels) {
  std::vector<std::int32_t> largest;
  for (const FeatureSubset& subset : kernels.subsets) {
    largest.push_back(subset.empty() ? -1 : std::ranges::max(subset));
  }
  return largest;
}

// Where a family or a term takes its values from; both have these members.
template <class Placed>
void CheckPlace(const ModelContent& content, std::span<const std::int32_t> largest_features,
                const Placed& placed) {
  const KernelSet& kernels = content.kernels;
  Require(placed.kind != nullptr, "a kernel has no kind");
  Require(IsIndexOf(kernels.subsets, placed.subset), "a kernel works on an unknown subset of features");
  if (placed.kind->base->source == BaseQuantity::Source::kFile) {
    Require(IsIndexOf(kernels.files, placed.file), "a precomputed kernel names no file");
    // A set of precomputed kernels only may be without views; its kernels then say 0.
    Require(placed.view == 0 || IsIndexOf(kernels.views, placed.view), "a kernel works on an unknown view");
    Require(kernels.subsets[placed.subset].empty(), "a precomputed kernel works on a subset of features");
    return;
  }
  Require(placed.file < 0, "a kernel on features names a file");
  Require(IsIndexOf(kernels.views, placed.view), "a kernel works on an unknown view");
  const bool has_sequences = AsSequences(content.samples[placed.view].features) != nullptr;
  Require(placed.kind->IsOnSequences() == has_sequences,
          "a kernel works on another kind of data than its view");
  if (has_sequences) {
    Require(IsRegion(kernels.subsets[placed.subset]), "a kernel works on an impossible part of sequences");
    return;
  }
  Require(std::ranges::all_of(kernels.subsets[placed.subset], [](std::int32_t f) { return f >= 0; }),
          "a subset of features is outside its view");
  Require(largest_features[placed.subset] < ColumnCount(content.samples[placed.view].features),
          "a subset of features is outside its view");
}

// The postfix program of a composite must use its terms once each and in order, so that they bound its stack,
// take no more values than there are and leave exactly one.
void CheckProgram(const Composite& composite) {
  Index depth = 0, used = 0;
  for (const Composite::Node& node : composite.nodes) {
    if (node.operation == Composite::Operation::kTerm) {
      Require(node.argument == used++ && IsIndexOf(composite.terms, node.argument),
              "a composite kernel refers to an unknown part");
      ++depth;
    } else {
      Require(node.argument >= 1 && node.argument <= depth, "a composite kernel is incomplete");
      depth -= node.argument - 1;
    }
  }
  Require(depth == 1, "a composite kernel is incomplete");
}

void CheckKernels(const ModelContent& content) {
  const KernelSet& kernels = content.kernels;
  const std::vector<std::int32_t> largest_features = LargestFeatures(kernels);
  for (const Family& family : kernels.families) {
    CheckPlace(content, largest_features, family);
    for (const KernelParameters& member : family.members) CheckParameters(*family.kind, member);
  }
  for (const Composite& composite : kernels.composites) {
    for (const KernelTerm& term : composite.terms) {
      CheckPlace(content, largest_features, term);
      CheckParameters(*term.kind, term.parameters);
    }
    CheckProgram(composite);
  }
  for (const KernelId& id : kernels.order) {
    if (id.family < 0) {
      Require(IsIndexOf(kernels.composites, id.member), "a kernel is missing");
    } else {
      Require(
          IsIndexOf(kernels.families, id.family) && IsIndexOf(kernels.families[id.family].members, id.member),
          "a kernel is missing");
    }
  }
  for (const auto& [index, name] : kernels.given_names)
    Require(IsIndexOf(kernels.order, index), "a name is lost");
}

// At most so many bytes name all kernels and classes that nothing in the file spells out: some seconds of
// formatting. Those that the summary lists come on top, so a model that was trained with up to 10,000 kernels
// always has room.
constexpr double kMostNameBytes = 1e8;

// At least the length of what names the view or file, and the features, of a family or term, in bytes.
class PlaceNames {
 public:
  explicit PlaceNames(const KernelSet& kernels) : kernels_(kernels) {
    constexpr double kBytesPerRun = 2;  // a digit and a comma
    for (const FeatureSubset& subset : kernels.subsets) {
      double runs = subset.empty() ? 0 : 1;
      for (std::size_t j = 1; j < subset.size(); ++j) runs += subset[j] != subset[j - 1] + 1 ? 1 : 0;
      subset_bytes_.push_back(kBytesPerRun * runs);
    }
  }

  template <class Placed>
  double Bytes(const Placed& placed) const {
    const bool is_file = placed.kind->base->source == BaseQuantity::Source::kFile;
    const std::string& source = is_file ? kernels_.files[placed.file].name : kernels_.views[placed.view];
    return static_cast<double>(source.size()) + subset_bytes_[placed.subset];
  }

 private:
  const KernelSet& kernels_;
  std::vector<double> subset_bytes_;
};

// A few bytes can ask for a long name many times: kernels that share a subset, machines that share a class.
void CheckNames(const ModelContent& content) {
  const KernelSet& kernels = content.kernels;
  const PlaceNames names(kernels);
  double room = kMostNameBytes;
  for (const KernelReport& report : content.summary.kernels) room += static_cast<double>(report.name.size());
  std::vector<bool> is_used(kernels.composites.size());
  for (const KernelId& id : kernels.order) {
    if (id.family >= 0) {
      room -= names.Bytes(kernels.families[id.family]);
      continue;
    }
    Require(!is_used[id.member], "two kernels are one");
    is_used[id.member] = true;
    for (const KernelTerm& term : kernels.composites[id.member].terms) room -= names.Bytes(term);
  }
  for (const ModelMachine& machine : content.machines) {
    for (const std::int64_t u : {std::int64_t{machine.output}, std::int64_t{machine.against}}) {
      if (IsIndexOf(content.classes, u)) room -= static_cast<double>(content.classes[u].size());
    }
  }
  Require(room >= 0, "the names of its kernels and classes are longer than any that training gives");
}

void CheckNormalization(const ModelContent& content) {
  const Normalization& normalization = content.normalization;
  Require(static_cast<Index>(normalization.scale.size()) == content.kernels.size(),
          "kernels and their normalisation differ in number");
  Require(AllFinite(normalization.scale), "a normalisation factor is not finite");
  for (const auto& [kernel, steps] : normalization.chains) {
    Require(IsIndexOf(content.kernels.order, kernel), "a normalisation belongs to no kernel");
    for (const FittedStep& step : steps) {
      Require(std::isfinite(step.constant) && AllFinite(step.per_sample),
              "a normalisation value is not finite");
      const bool needs_samples = step.kind == Normalizer::kSpherical || step.kind == Normalizer::kCenter ||
                                 step.kind == Normalizer::kPresence;
      Require(step.per_sample.size() == (needs_samples ? content.sample_indices.size() : 0),
              "a normalisation and the stored samples differ in number");
    }
  }
}

void CheckSamples(const ModelContent& content) {
  const Index stored = content.stored_count();
  Require(content.samples.size() == content.kernels.views.size(), "a view is missing");
  for (const View& view : content.samples) {
    Require(RowCount(view.features) == stored, "views differ in their number of samples");
    Require(view.feature_names.empty() ||
                static_cast<Index>(view.feature_names.size()) == ColumnCount(view.features),
            "features and their names differ in number");
  }
  Require(stored <= content.training_count, "it stores more samples than it was trained on");
  // Samples of weight 0 are in the data and not counted; with matrices, whose columns these are, there are
  // none.
  const bool are_columns = !content.kernels.files.empty() || !content.pairs.kernels.empty();
  Index previous = -1;
  for (Index index : content.sample_indices) {
    Require(index > previous && (!are_columns || index < content.training_count),
            "a sample position is out of order");
    previous = index;
  }
}

void CheckTransforms(const ModelContent& content) {
  Require(content.confound_count >= 0 &&
              (content.confound_names.empty() ||
               static_cast<Index>(content.confound_names.size()) == content.confound_count),
          "confounds and their names differ in number");
  for (const View& view : content.samples) {
    if (content.transforms.empty()) break;
    const auto own = std::ranges::find(content.transforms, view.name, &FeatureTransform::view);
    Require(own != content.transforms.end(), "the transform of a view is missing");
    const auto features = static_cast<std::size_t>(ColumnCount(view.features));
    const auto has = [&](const std::vector<double>& values, std::size_t count) {
      return (values.empty() || values.size() == count) && AllFinite(values);
    };
    Require(has(own->shift, features) && has(own->factor, features) &&
                has(own->coefficients, features * static_cast<std::size_t>(content.confound_count)),
            "features and their transform differ in number");
  }
}

void CheckMachine(const ModelContent& content, const ModelMachine& machine) {
  Require(machine.theta.size() == content.kernels.order.size(), "kernels and weights differ in number");
  Require(AllFinite(machine.theta), "a weight is not finite");
  Require(std::ranges::all_of(machine.theta, [](double weight) { return weight >= 0; }),
          "a weight is negative");
  const std::vector<std::int32_t>& support = machine.beta.positions;
  Require(
      support.size() == machine.beta.values.size() &&
          std::ranges::adjacent_find(support, std::greater_equal{}) == support.end() &&
          (support.empty() || (support.front() >= 0 && IsIndexOf(content.sample_indices, support.back()))),
      "a coefficient belongs to no sample");
  Require(AllFinite(machine.beta.values) && std::isfinite(machine.bias), "a coefficient is not finite");
  Require(machine.mean_parts.empty() || machine.mean_parts.size() == machine.theta.size(),
          "kernels and their means differ in number");
  Require(AllFinite(machine.mean_parts), "a mean is not finite");
  Require(machine.output >= 0 && machine.output < content.outputs(), "a machine belongs to no class");
  const bool is_of_a_pair = content.multiclass == Multiclass::kOneAgainstOne;
  Require(is_of_a_pair ? IsIndexOf(content.classes, machine.against) && machine.against != machine.output
                       : machine.against == -1,
          "a machine tells no two classes apart");
}

// Every class has its value from a machine of its own, one against one from one for each of the others; the
// terms of a joint machine have one each.
void CheckMachines(const ModelContent& content) {
  for (const ModelMachine& machine : content.machines) CheckMachine(content, machine);
  if (!content.multiclass) return;
  std::vector<std::pair<Index, Index>> told;
  for (const ModelMachine& machine : content.machines)
    told.push_back(std::minmax(machine.output, machine.against));
  std::ranges::sort(told);
  const auto repeated = std::unique(told.begin(), told.end());
  Require(repeated == told.end() || content.multiclass == Multiclass::kJoint, "two machines tell the same");
  told.erase(repeated, told.end());
  const std::size_t classes = content.classes.size();
  const bool is_of_pairs = content.multiclass == Multiclass::kOneAgainstOne;
  Require(told.size() == (is_of_pairs ? classes * (classes - 1) / 2 : classes), "a machine is missing");
}

void CheckPairs(const ModelContent& content) {
  const ModelPairs& pairs = content.pairs;
  Require(pairs.kernels.empty() || content.multiclass == Multiclass::kJoint,
          "kernels on pairs belong to no joint machine");
  for (const ModelPairKernel& kernel : pairs.kernels) {
    Require(std::isfinite(kernel.weight) && kernel.weight >= 0 && std::isfinite(kernel.scale),
            "the weight of a kernel on pairs is no weight");
  }
  const std::size_t count = content.sample_indices.size() * content.classes.size();
  Require(pairs.beta.size() == (pairs.kernels.empty() ? 0 : count),
          "pairs and coefficients differ in number");
  Require(AllFinite(pairs.beta), "a coefficient is not finite");
}

void CheckProblem(const ModelContent& content) {
  const ModelProblem& problem = content.problem;
  if (!problem.is_known) return;
  Require(problem.active.size() == content.kernels.order.size(),
          "kernels and their numbers differ in number");
  for (const auto* numbers : {&problem.active, &problem.left_out}) {
    Require(std::ranges::all_of(*numbers, [](std::int32_t m) { return m >= 0; }), "a kernel has no number");
  }
  Require(AllFinite(problem.scale), "a normalisation factor is not finite");
  Require(problem.data_count >= content.training_count, "it was trained on more samples than there were");
  Require(problem.costs.size() == 1 || static_cast<Index>(problem.costs.size()) == problem.data_count,
          "samples and costs differ in number");
  Require(std::ranges::all_of(problem.costs, [](double C) { return std::isfinite(C) && C >= 0; }),
          "the cost of a sample is no cost");
  const bool is_joint = content.multiclass == Multiclass::kJoint && problem.machines.empty();
  Require(is_joint || problem.machines.size() == content.machines.size(),
          "machines and their problems differ in number");
  Require(problem.regularizer.lower.size() == problem.regularizer.upper.size(), "bounds differ in number");
}

}  // namespace

std::vector<View> WithSampleCount(std::vector<View> views, Index count) {
  if (views.empty()) views.push_back({"", MakeDense({}, count, 0), {}});
  return views;
}

void CheckConsistency(const ModelContent& content) {
  if (!content.multiclass) {
    Require(content.classes.size() == (content.task == Task::kRegress ? 0 : 2),
            "its classes do not fit its task");
    Require(content.machines.size() == 1, "its function is missing");
  } else {
    Require(content.multiclass != Multiclass::kAuto, "its machines are combined in an unknown way");
    Require(content.task == Task::kClassify && !content.classes.empty(), "its classes do not fit its task");
  }
  CheckSamples(content);
  CheckTransforms(content);
  CheckMachines(content);
  Require(content.calibration.empty() ||
              (content.calibration.size() == CalibrationSize(content) && AllFinite(content.calibration)),
          "its probabilities are not calibrated as its classes are");
  CheckPairs(content);
  CheckKernels(content);
  CheckNames(content);
  CheckNormalization(content);
  CheckProblem(content);
  if (content.normalization.NeedsAllTrainingSamples()) {
    Require(content.stored_count() == content.training_count, "training samples are missing");
  }
}

}  // namespace kweave
