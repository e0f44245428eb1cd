#include "train/regularizer_choice.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "data/matrix_file.h"
#include "kernel/language.h"
#include "kweave/error.h"
#include "regularizer/elastic_norm.h"
#include "regularizer/lp_penalty.h"
#include "regularizer/matrix_norm.h"
#include "regularizer/mixed_norm.h"
#include "train/effective_options.h"

namespace kweave {
namespace {

// The block norm that belongs to p on the weights: P = 2 p / (p + 1).
double BlockExponent(double p) { return std::isinf(p) ? 2 : 2 * p / (p + 1); }

double OuterExponent(const TrainOptions& options) {
  return options.block_norm > 0 ? options.block_norm : BlockExponent(options.norm);
}

// Of the same kind as the outer one.
double InnerExponent(const TrainOptions& options) {
  return options.block_norm > 0 ? options.inner_norm : BlockExponent(options.inner_norm);
}

void RequireTogether(bool holds, std::string_view rule) {
  if (!holds) throw Error(ErrorKind::kUsage, std::string(rule));
}

void CheckCombination(const TrainOptions& options) {
  const std::string& form = options.regularizer;
  if (form != "norm" && form != "mixed" && form != "matrix" && form != "laplacian" && form != "elastic") {
    throw Error(ErrorKind::kUsage,
                fmt::format("regularizer '{}' is not available; available: norm, mixed, matrix, "
                            "laplacian, elastic",
                            form));
  }
  const bool has_matrix = form == "matrix" || form == "laplacian";
  RequireTogether(options.block_norm == 0 || options.norm == TrainOptions().norm,
                  "norm and block-norm are two ways to say one thing; give one of them");
  RequireTogether(options.penalty == 0 || (form == "norm" && options.block_norm == 0),
                  "a penalty goes with regularizer norm and a norm on the weights only");
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

std::vector<int> Groups(const TrainOptions& options, const PreparedKernels& prepared,
                        std::span<const View> views, std::uint64_t seed) {
  std::vector<std::string> kept;
  if (options.groups == "view") {
    for (Index m = 0; m < prepared.kernels.size(); ++m) kept.push_back(ViewOf(prepared.kernels, m));
    return Number(kept);
  }
  const std::vector<std::string> names = options.groups == "spec"
                                             ? GroupsBySpecification(options, views, seed)
                                             : GroupsFromFile(options.groups, prepared.names.size());
  for (const Index m : prepared.kept) kept.push_back(names[m]);
  return Number(kept);
}

std::vector<double> KernelMatrix(const TrainOptions& options, const PreparedKernels& prepared) {
  const MatrixFile file = MatrixFile::Open(options.matrix);
  const auto all = static_cast<Index>(prepared.names.size());
  if (file.rows() != all || file.cols() != all) {
    throw Error(ErrorKind::kData, fmt::format("{}: {} x {} values, but there are {} kernels", options.matrix,
                                              file.rows(), file.cols(), all));
  }
  std::vector<double> row(all), matrix;
  for (const Index m : prepared.kept) {
    file.RowPart(m, 0, all, row.data());
    for (const Index k : prepared.kept) matrix.push_back(row[k]);
  }
  const std::size_t kept = prepared.kept.size();
  if (options.regularizer == "laplacian") return LaplacianMatrix(matrix, kept, options.ridge);
  for (std::size_t m = 0; m < kept; ++m) matrix[m * kept + m] += options.ridge;
  return matrix;
}

RegularizerPointer FromParts(const TrainOptions& options, std::vector<int> groups, std::vector<double> matrix,
                             std::size_t kernels) {
  if (options.regularizer == "mixed") {
    return std::make_shared<const MixedNorm>(std::move(groups), OuterExponent(options),
                                             InnerExponent(options));
  }
  if (options.regularizer == "elastic") return std::make_shared<const ElasticNorm>(options.elastic);
  if (!options.matrix.empty()) {
    if (options.matrix_on == "weights") return std::make_shared<const WeightMatrixNorm>(std::move(matrix));
    return std::make_shared<const PartMatrixNorm>(std::move(matrix));
  }
  if (options.penalty > 0) return std::make_shared<const LpPenalty>(options.penalty, options.norm);
  return options.block_norm > 0 ? BlockNorm(options.block_norm, kernels) : LpConstraint(options.norm);
}

}  // namespace

bool IsPlainNorm(const TrainOptions& options) {
  return options.regularizer == "norm" && options.penalty == 0 && options.block_norm == 0;
}

RegularizerPointer MakeRegularizer(const TrainOptions& options) {
  CheckCombination(options);
  return FromParts(options, {}, {}, 0);
}

RegularizerPointer MakeRegularizer(const TrainOptions& options, const PreparedKernels& prepared,
                                   std::span<const View> views, std::uint64_t seed) {
  CheckCombination(options);
  std::vector<int> groups;
  if (!options.groups.empty()) groups = Groups(options, prepared, views, seed);
  std::vector<double> matrix;
  if (!options.matrix.empty()) matrix = KernelMatrix(options, prepared);
  return FromParts(options, std::move(groups), std::move(matrix), prepared.kept.size());
}

}  // namespace kweave
