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
#include "model/summary_json.h"
#include "regularizer/matrix_norm.h"
#include "regularizer/mixed_norm.h"
#include "train/effective_options.h"
#include "train/feature_groups.h"
#include "train/regularizer_table.h"

namespace kweave {
namespace {

constexpr std::string_view kAlignment = "alignment", kCenteredAlignment = "centered-alignment";

// The block norm that belongs to p on the weights: P = 2 p / (p + 1).
double BlockExponent(double p) { return std::isinf(p) ? 2 : 2 * p / (p + 1); }

// Rows of all kernels that are held at once while they are compared.
constexpr std::size_t kAlignmentBytes = std::size_t{64} << 20;

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
  for (const std::string& specification : EffectiveKernels(options, views)) {
    const std::vector<std::string> one = {specification};
    names.insert(names.end(), static_cast<std::size_t>(ParseKernels(one, views, seed).size()), specification);
  }
  return names;
}

// Whether the values themselves stand in the place of a file: an array in JSON.
bool IsWritten(std::string_view option) { return option.starts_with('['); }

// The values of an option that are written down.
template <class T>
T Written(const std::string& option, std::string_view name, std::string_view expected) {
  try {
    return Json::parse(option).get<T>();
  } catch (const Json::exception&) {
    throw Error(ErrorKind::kUsage, {std::string(name), option, std::string(expected)});
  }
}

std::vector<std::string> LinesOfFile(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw Error(ErrorKind::kData, fmt::format("{}: cannot be opened", name));
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find_first_not_of(" \t") != std::string::npos) names.push_back(line);
  }
  return names;
}

std::vector<std::string> GivenGroups(const std::string& groups, std::size_t kernels) {
  const std::vector<std::string> names =
      IsWritten(groups) ? Written<std::vector<std::string>>(groups, "groups", "an array of texts")
                        : LinesOfFile(groups);
  if (names.size() != kernels) {
    throw Error(ErrorKind::kData, fmt::format("{}: {} groups for {} kernels; expected the name of a group {}",
                                              IsWritten(groups) ? "`groups`" : groups, names.size(), kernels,
                                              IsWritten(groups) ? "for each" : "on one line for each"));
  }
  return names;
}

// A file, or rows that are written down; one row may stand without brackets of its own.
MatrixFile GivenMatrix(const std::string& matrix) {
  if (!IsWritten(matrix)) return MatrixFile::Open(matrix);
  constexpr std::string_view kExpected = "an array of rows of as many numbers each";
  const bool has_rows = matrix.find('[', 1) != std::string::npos;
  const std::string rows_text = has_rows ? matrix : fmt::format("[{}]", matrix);
  const auto rows = Written<std::vector<std::vector<double>>>(rows_text, "matrix", kExpected);
  if (rows.empty()) throw Error(ErrorKind::kUsage, {"matrix", matrix, std::string(kExpected)});
  const auto values = std::make_shared<std::vector<double>>();
  for (const std::vector<double>& row : rows) {
    if (row.size() != rows.front().size())
      throw Error(ErrorKind::kUsage, {"matrix", matrix, std::string(kExpected)});
    values->insert(values->end(), row.begin(), row.end());
  }
  const Index columns = std::ssize(rows.front());
  GramMatrix wrapped;
  wrapped.name = "`matrix`";
  wrapped.values = DenseRows<double>{values->data(), std::ssize(rows), columns, columns, values};
  return MatrixFile::Wrap(wrapped);
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
                                             : GivenGroups(options.groups, prepared.names.size());
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
  const MatrixFile file = GivenMatrix(options.matrix);
  const auto all = static_cast<Index>(prepared.names.size());
  const bool is_vector = (file.rows() == 1 && file.cols() == all) || (file.rows() == all && file.cols() == 1);
  if (is_vector && options.regularizer == "matrix") return DiagonalFromFile(file, prepared);
  if (file.rows() != all || file.cols() != all) {
    throw Error(ErrorKind::kData, fmt::format("{}: {} x {} values, but there are {} kernels", file.name(),
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

std::vector<double> KernelMatrix(const TrainOptions& options, const PreparedKernels& prepared,
                                 const RegularizerSources& sources) {
  std::vector<double> matrix =
      NeedsAlignments(options) ? AlignmentMatrix(options, sources.gram()) : MatrixFromFile(options, prepared);
  const std::size_t kept = prepared.kept.size();
  if (options.regularizer == "laplacian") return LaplacianMatrix(matrix, kept, options.ridge);
  for (std::size_t m = 0; m < kept; ++m) matrix[m * kept + m] += options.ridge;
  return matrix;
}

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

// The bounds of the kept kernels.
void SetBounds(const TrainOptions& options, const PreparedKernels& prepared, RegularizerParts& parts) {
  std::vector<std::pair<double, double>> all(prepared.names.size(),
                                             {0.0, std::numeric_limits<double>::infinity()});
  for (const auto& [name, bound] : options.weight_bounds) {
    for (const std::size_t m : NamedKernels(name, prepared)) all[m] = bound;
  }
  for (const Index m : prepared.kept) {
    parts.lower.push_back(all[m].first);
    parts.upper.push_back(all[m].second);
  }
}

// The same choice as the table makes, in words.
ModelRegularizer Described(const TrainOptions& options, const RegularizerParts& parts) {
  ModelRegularizer described{
      .form = options.regularizer, .exponent = options.norm, .penalty = options.penalty};
  if (!options.weight_bounds.empty()) {
    described.lower = parts.lower;
    described.upper = parts.upper;
  } else if (options.regularizer == "mixed") {
    described.form = "block";
    described.exponent = OuterExponent(options);
    described.inner_exponent = InnerExponent(options);
    described.groups = parts.groups;
  } else if (options.regularizer == "logdet") {
    described.ridge = DeterminantRidge(options);
  } else if (options.regularizer == "elastic") {
    described.elastic = options.elastic;
  } else if (!options.matrix.empty()) {
    described.form = options.matrix_on == MatrixOn::kWeights ? "weight-matrix" : "part-matrix";
    described.matrix = SparseVector::From(parts.matrix);
  } else if (options.block_norm > 0) {
    described.form = "block";
    described.exponent = described.inner_exponent = options.block_norm;
  }
  return described;
}

}  // namespace

double OuterExponent(const TrainOptions& options) {
  return options.block_norm > 0 ? options.block_norm : BlockExponent(options.norm);
}

double InnerExponent(const TrainOptions& options) {
  return options.block_norm > 0 ? options.inner_norm : BlockExponent(options.inner_norm);
}

bool NeedsKernelMatrix(const TrainOptions& options) { return FindRegularizer(options).takes.kernel_matrix; }

bool IsPlainNorm(const TrainOptions& options) {
  return options.regularizer == "norm" && options.penalty == 0 && options.block_norm == 0 &&
         options.weight_bounds.empty();
}

std::vector<std::pair<std::string, std::string>> FilesOfRegularizer(const TrainOptions& options) {
  std::vector<std::pair<std::string, std::string>> files;
  if (!options.groups.empty() && options.groups != "view" && options.groups != "spec" &&
      !IsWritten(options.groups)) {
    files.emplace_back("groups", options.groups);
  }
  if (!options.matrix.empty() && !NeedsAlignments(options) && !IsWritten(options.matrix))
    files.emplace_back("matrix", options.matrix);
  return files;
}

bool NeedsAlignments(const TrainOptions& options) {
  return options.matrix == kAlignment || options.matrix == kCenteredAlignment;
}

RegularizerPointer MakeRegularizer(const TrainOptions& options) {
  return FindRegularizer(options).make(options, {});
}

ChosenRegularizer MakeRegularizer(const TrainOptions& options, const PreparedKernels& prepared,
                                  std::span<const View> views, std::uint64_t seed,
                                  const RegularizerSources& sources) {
  ChosenRegularizer chosen;
  RegularizerParts parts;
  parts.kernels = prepared.kept.size();
  if (!options.groups.empty()) {
    chosen.group_names = GroupNames(options, prepared, views, seed);
    parts.groups = Number(chosen.group_names);
  }
  if (!options.matrix.empty()) parts.matrix = KernelMatrix(options, prepared, sources);
  if (!options.weight_bounds.empty()) SetBounds(options, prepared, parts);
  if (NeedsKernelMatrix(options)) parts.kernel_matrix = sources.kernel_matrix();
  chosen.described = Described(options, parts);
  chosen.regularizer = FindRegularizer(options).make(options, std::move(parts));
  return chosen;
}

std::vector<GroupReport> ReportGroups(const TrainOptions& options, const PreparedKernels& prepared,
                                      const std::vector<std::string>& names, std::span<const double> theta) {
  if (names.empty()) return {};
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
