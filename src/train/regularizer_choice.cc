#include "train/regularizer_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "data/matrix_file.h"
#include "gram/alignment.h"
#include "kernel/language.h"
#include "kweave/error.h"
#include "regularizer/bounded_norm.h"
#include "regularizer/elastic_norm.h"
#include "regularizer/entropy.h"
#include "regularizer/lp_penalty.h"
#include "regularizer/matrix_norm.h"
#include "regularizer/mixed_norm.h"
#include "regularizer/norm_penalty.h"
#include "train/effective_options.h"

namespace kweave {
namespace {

constexpr std::string_view kAlignment = "alignment", kCenteredAlignment = "centered-alignment";

// The block norm that belongs to p on the weights: P = 2 p / (p + 1).
double BlockExponent(double p) { return std::isinf(p) ? 2 : 2 * p / (p + 1); }

double OuterExponent(const TrainOptions& options) {
  return options.block_norm > 0 ? options.block_norm : BlockExponent(options.norm);
}

// Of the same kind as the outer one.
double InnerExponent(const TrainOptions& options) {
  return options.block_norm > 0 ? options.inner_norm : BlockExponent(options.inner_norm);
}

// Rows of all kernels that are held at once while they are compared.
constexpr std::size_t kAlignmentBytes = std::size_t{64} << 20;

void RequireTogether(bool holds, std::string_view rule) {
  if (!holds) throw Error(ErrorKind::kUsage, std::string(rule));
}

constexpr std::array kForms = {"norm", "mixed", "matrix", "laplacian", "elastic", "entropy", "logdet"};
constexpr double kDeterminantRidge = 1e-3;

bool IsPenaltyOnly(const std::string& form) { return form == "entropy" || form == "logdet"; }

void CheckCombination(const TrainOptions& options) {
  const std::string& form = options.regularizer;
  if (std::ranges::find(kForms, form) == kForms.end()) {
    throw Error(ErrorKind::kUsage, fmt::format("regularizer '{}' is not available; available: {}", form,
                                               fmt::join(kForms, ", ")));
  }
  const bool has_matrix = form == "matrix" || form == "laplacian";
  RequireTogether(options.block_norm == 0 || options.norm == TrainOptions().norm,
                  "norm and block-norm are two ways to say one thing; give one of them");
  RequireTogether(options.penalty == 0 || form == "mixed" || options.block_norm == 0,
                  "a penalty goes with a norm on the weights, not with a block norm");
  RequireTogether(options.penalty == 0 || (!has_matrix && form != "elastic"),
                  "a penalty goes with regularizer norm, mixed, entropy and logdet only");
  RequireTogether(options.penalty > 0 || !IsPenaltyOnly(form),
                  "regularizer entropy and logdet need a penalty");
  RequireTogether(options.norm == TrainOptions().norm || form != "entropy",
                  "regularizer entropy keeps the sum of the weights at 1; give no norm");
  RequireTogether(options.block_norm == 0 || !IsPenaltyOnly(form),
                  "regularizer entropy and logdet take no block-norm");
  RequireTogether(
      options.weight_bounds.empty() || (form == "norm" && options.block_norm == 0 && options.penalty == 0),
      "bounds on weights go with regularizer norm and a norm on the weights only, without a penalty");
  RequireTogether(has_matrix == !options.matrix.empty(),
                  "regularizer matrix and laplacian need a matrix, and no other takes one");
  RequireTogether((form == "mixed") == !options.groups.empty(),
                  "regularizer mixed needs groups, and no other takes them");
  RequireTogether(!has_matrix || options.block_norm == 0,
                  "a matrix takes the place of the norm; give no block-norm");
  if (options.matrix_on != "weights" && options.matrix_on != "parts") {
    throw Error(ErrorKind::kUsage,
                fmt::format("matrix-on is '{}', expected weights or parts", options.matrix_on));
  }
}

// A number for every different name, in the order of their first use.
std::vector<int> Number(const std::vector<std::string>& names) {
  std::map<std::string, int> numbers;
  std::vector<int> groups;
  for (const std::string& name : names) {
    groups.push_back(numbers.emplace(name, static_cast<int>(numbers.size())).first->second);
  }
  return groups;
}

std::string ViewOf(const KernelSet& kernels, Index m) {
  const std::int32_t view = kernels.IsComposite(m)
                                ? kernels.composites[kernels.order[m].member].terms.front().view
                                : kernels.Term(m).view;
  return kernels.views[view];
}

// For every kernel given, which may be more than were kept.
std::vector<std::string> GroupsBySpecification(const TrainOptions& options, std::span<const View> views,
                                               std::uint64_t seed) {
  std::vector<std::string> names;
  for (const std::string& specification : EffectiveKernels(options)) {
    const std::vector<std::string> one = {specification};
    names.insert(names.end(), static_cast<std::size_t>(ParseKernels(one, views, seed).size()), specification);
  }
  return names;
}

std::vector<std::string> GroupsFromFile(const std::string& name, std::size_t kernels) {
  std::ifstream file(name);
  if (!file) throw Error(ErrorKind::kData, fmt::format("{}: cannot be opened", name));
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  if (names.size() != kernels) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: {} groups for {} kernels; expected the name of a group on one line for "
                            "each",
                            name, names.size(), kernels));
  }
  return names;
}

// The name of the group of every kept kernel.
std::vector<std::string> GroupNames(const TrainOptions& options, const PreparedKernels& prepared,
                                    std::span<const View> views, std::uint64_t seed) {
  std::vector<std::string> kept;
  if (options.groups == "view") {
    for (Index m = 0; m < prepared.kernels.size(); ++m) kept.push_back(ViewOf(prepared.kernels, m));
    return kept;
  }
  const std::vector<std::string> names = options.groups == "spec"
                                             ? GroupsBySpecification(options, views, seed)
                                             : GroupsFromFile(options.groups, prepared.names.size());
  for (const Index m : prepared.kept) kept.push_back(names[m]);
  return kept;
}

// One value for every kernel makes a diagonal matrix.
std::vector<double> DiagonalFromFile(const MatrixFile& file, const PreparedKernels& prepared) {
  const std::size_t kept = prepared.kept.size();
  std::vector<double> matrix(kept * kept, 0.0);
  for (std::size_t k = 0; k < kept; ++k) {
    const Index m = prepared.kept[k];
    const bool is_row = file.rows() == 1;
    file.RowPart(is_row ? 0 : m, is_row ? m : 0, is_row ? m + 1 : 1, &matrix[k * kept + k]);
  }
  return matrix;
}

std::vector<double> MatrixFromFile(const TrainOptions& options, const PreparedKernels& prepared) {
  const MatrixFile file = MatrixFile::Open(options.matrix);
  const auto all = static_cast<Index>(prepared.names.size());
  const bool is_vector = (file.rows() == 1 && file.cols() == all) || (file.rows() == all && file.cols() == 1);
  if (is_vector && options.regularizer == "matrix") return DiagonalFromFile(file, prepared);
  if (file.rows() != all || file.cols() != all) {
    throw Error(ErrorKind::kData, fmt::format("{}: {} x {} values, but there are {} kernels", options.matrix,
                                              file.rows(), file.cols(), all));
  }
  std::vector<double> row(all), matrix;
  for (const Index m : prepared.kept) {
    file.RowPart(m, 0, all, row.data());
    for (const Index k : prepared.kept) matrix.push_back(row[k]);
  }
  return matrix;
}

std::vector<double> AlignmentMatrix(const TrainOptions& options, Gram& gram) {
  const KernelMoments moments = ComputeMoments(gram, kAlignmentBytes);
  const bool is_centered = options.matrix == kCenteredAlignment;
  return Alignments(is_centered ? moments.centered_products : moments.products, moments.kernels);
}

std::vector<double> KernelMatrix(const TrainOptions& options, const PreparedKernels& prepared, Gram* gram) {
  std::vector<double> matrix =
      NeedsAlignments(options) ? AlignmentMatrix(options, *gram) : MatrixFromFile(options, prepared);
  const std::size_t kept = prepared.kept.size();
  if (options.regularizer == "laplacian") return LaplacianMatrix(matrix, kept, options.ridge);
  for (std::size_t m = 0; m < kept; ++m) matrix[m * kept + m] += options.ridge;
  return matrix;
}

struct WeightBounds {
  std::vector<double> lower, upper;  ///< of every kept kernel
};

// The kernels that a bound names, by their place among all.
std::vector<std::size_t> NamedKernels(const std::string& name, const PreparedKernels& prepared) {
  std::vector<std::size_t> found;
  for (std::size_t m = 0; m < prepared.names.size(); ++m) {
    if (name == "*" || name == prepared.names[m]) found.push_back(m);
  }
  if (!found.empty()) return found;
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = code == std::errc() && end == name.data() + name.size();
  if (is_number && number >= 1 && number <= prepared.names.size()) return {number - 1};
  throw Error(
      ErrorKind::kUsage,
      fmt::format("a bound is given for kernel '{}', but there is none of this name, nor is it a number "
                  "from 1 to {}",
                  name, prepared.names.size()));
}

WeightBounds BoundsOfKept(const TrainOptions& options, const PreparedKernels& prepared) {
  std::vector<std::pair<double, double>> all(prepared.names.size(),
                                             {0.0, std::numeric_limits<double>::infinity()});
  for (const auto& [name, bound] : options.weight_bounds) {
    for (const std::size_t m : NamedKernels(name, prepared)) all[m] = bound;
  }
  WeightBounds bounds;
  for (const Index m : prepared.kept) {
    bounds.lower.push_back(all[m].first);
    bounds.upper.push_back(all[m].second);
  }
  return bounds;
}

RegularizerPointer FromParts(const TrainOptions& options, std::vector<int> groups, std::vector<double> matrix,
                             WeightBounds bounds, std::size_t kernels) {
  if (!options.weight_bounds.empty()) {
    return std::make_shared<const BoundedNorm>(options.norm, std::move(bounds.lower),
                                               std::move(bounds.upper));
  }
  if (options.regularizer == "mixed") {
    MixedNorm norm(std::move(groups), OuterExponent(options), InnerExponent(options));
    if (options.penalty > 0) return std::make_shared<const NormPenalty>(options.penalty, std::move(norm));
    return std::make_shared<const MixedNorm>(std::move(norm));
  }
  if (options.regularizer == "entropy") return std::make_shared<const EntropyPenalty>(options.penalty);
  if (options.regularizer == "logdet") return OnKernelMatrix(options, {});
  if (options.regularizer == "elastic") return std::make_shared<const ElasticNorm>(options.elastic);
  if (!options.matrix.empty()) {
    if (options.matrix_on == "weights") return std::make_shared<const WeightMatrixNorm>(std::move(matrix));
    return std::make_shared<const PartMatrixNorm>(std::move(matrix));
  }
  if (options.penalty > 0) return std::make_shared<const LpPenalty>(options.penalty, options.norm);
  return options.block_norm > 0 ? BlockNorm(options.block_norm, kernels) : LpConstraint(options.norm);
}

}  // namespace

bool NeedsKernelMatrix(const TrainOptions& options) { return options.regularizer == "logdet"; }

RegularizerPointer OnKernelMatrix(const TrainOptions& options, KernelMatrixFunction matrix) {
  const double ridge = options.ridge > 0 ? options.ridge : kDeterminantRidge;
  return std::make_shared<const LogDeterminant>(LpConstraint(options.norm), options.penalty, ridge,
                                                std::move(matrix));
}

bool IsPlainNorm(const TrainOptions& options) {
  return options.regularizer == "norm" && options.penalty == 0 && options.block_norm == 0 &&
         options.weight_bounds.empty();
}

bool NeedsAlignments(const TrainOptions& options) {
  return options.matrix == kAlignment || options.matrix == kCenteredAlignment;
}

RegularizerPointer MakeRegularizer(const TrainOptions& options) {
  CheckCombination(options);
  return FromParts(options, {}, {}, {}, 0);
}

RegularizerPointer MakeRegularizer(const TrainOptions& options, const PreparedKernels& prepared,
                                   std::span<const View> views, std::uint64_t seed, Gram* gram) {
  CheckCombination(options);
  std::vector<int> groups;
  if (!options.groups.empty()) groups = Number(GroupNames(options, prepared, views, seed));
  std::vector<double> matrix;
  if (!options.matrix.empty()) matrix = KernelMatrix(options, prepared, gram);
  return FromParts(options, std::move(groups), std::move(matrix), BoundsOfKept(options, prepared),
                   prepared.kept.size());
}

std::vector<GroupReport> ReportGroups(const TrainOptions& options, const PreparedKernels& prepared,
                                      std::span<const View> views, std::uint64_t seed,
                                      std::span<const double> theta) {
  if (options.groups.empty()) return {};
  const std::vector<std::string> names = GroupNames(options, prepared, views, seed);
  const std::vector<int> groups = Number(names);
  const MixedNorm norm(groups, OuterExponent(options), InnerExponent(options));
  const std::vector<double> weights = norm.GroupWeights(theta);
  std::vector<GroupReport> reports(weights.size());
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const auto g = static_cast<std::size_t>(groups[k]);
    reports[g].name = names[k];
    reports[g].weight = weights[g];
    reports[g].kernels.push_back(prepared.names[prepared.kept[k]]);
    reports[g].within.push_back(weights[g] > 0 ? theta[k] / weights[g] : 0);
  }
  return reports;
}

}  // namespace kweave
