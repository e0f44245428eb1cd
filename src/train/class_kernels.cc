#include "train/class_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>

#include "compute/cpu/symmetric_eigen.h"
#include "data/csv_scanner.h"
#include "data/file_bytes.h"
#include "data/number.h"
#include "data/text_source.h"
#include "kernel/spec_scanner.h"
#include "kweave/error.h"
#include "model/summary_json.h"

namespace kweave {
namespace {

constexpr double kLeastEigenvalue = -1e-9;  // of the largest

[[noreturn]] void Fail(const std::string& path, const std::string& sentence) {
  throw Error(ErrorKind::kData, fmt::format("{}: {}", path, sentence));
}

using Words = std::vector<std::string>;

constexpr std::string_view kBetweenWords = ", \t\r";

Words SplitWords(std::string_view line) {
  Words words;
  for (std::size_t at = 0; (at = line.find_first_not_of(kBetweenWords, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBetweenWords, at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

// The words of every line that has some: the fields of a table if the first line separates some, else between
// blanks.
std::vector<Words> ReadLines(const std::string& path) {
  const FileBytes file = OpenFileBytes(path);
  const TextSource source(file);
  std::string_view text = source.text();
  std::vector<Words> lines;
  if (text.substr(0, text.find('\n')).find_first_of(",;\t") != std::string_view::npos) {
    const char delimiter = DetectDelimiter(text);
    CsvScanner scanner(file, delimiter);
    while (scanner.NextRecord()) {
      lines.push_back(scanner.ReadFields());
      if (delimiter == '\t') std::erase(lines.back(), "");  // some line words up by several
      if (std::ranges::all_of(lines.back(), &std::string::empty)) lines.pop_back();
    }
    return lines;
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (Words words = SplitWords(text.substr(0, end)); !words.empty()) lines.push_back(std::move(words));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view HintOnBlanks(std::string_view label) {
  const bool has_some = label.find_first_of(kBetweenWords) != std::string_view::npos;
  return has_some ? "; a label with blanks or commas needs a file in CSV format" : "";
}

// For every class the line that starts with its label.
std::vector<std::span<const std::string>> LinesOfClasses(const std::string& path,
                                                         std::span<const Words> lines,
                                                         std::span<const std::string> classes) {
  std::vector<std::span<const std::string>> found;
  for (const std::string& name : classes) {
    const auto is_meant = [&](const auto& words) { return words[0] == name; };
    const auto line = std::ranges::find_if(lines, is_meant);
    if (line == lines.end()) {
      Fail(path, fmt::format("there is no line for class '{}'{}", name, HintOnBlanks(name)));
    }
    if (std::ranges::find_if(line + 1, lines.end(), is_meant) != lines.end()) {
      Fail(path, fmt::format("two lines are for class '{}', expected one", name));
    }
    found.emplace_back(line->begin() + 1, line->end());
  }
  return found;
}

void CheckMatrix(const std::string& path, const ClassMatrix& matrix, std::span<const std::string> classes) {
  const std::size_t count = classes.size();
  for (std::size_t u = 0; u < count; ++u) {
    for (std::size_t v = 0; v < u; ++v) {
      const double above = matrix[v * count + u], below = matrix[u * count + v];
      if (above == below) continue;
      Fail(path, fmt::format("class '{}' has {} for class '{}', which has {} for it; a kernel is symmetric",
                             classes[v], above, classes[u], below));
    }
  }
  const SymmetricEigen eigen(matrix, count);
  if (eigen.values.back() < kLeastEigenvalue * std::max(eigen.values.front(), 1e-300)) {
    Fail(path,
         fmt::format("a kernel has no negative eigenvalue, but this one has {:.3g}", eigen.values.back()));
  }
}

// Where each class stands in the first line, counted in values of the lines below.
std::vector<std::size_t> ColumnsOfClasses(const std::string& path, std::span<const Words> lines,
                                          std::span<const std::string> classes) {
  // Where the first line names the column of labels, too, values are one to the left of their name.
  const bool has_corner = lines.size() > 1 && lines[0].size() == lines[1].size();
  const auto names = std::span(lines[0]).subspan(has_corner ? 1 : 0);
  std::vector<std::size_t> columns;
  for (const std::string& name : classes) {
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) {
      Fail(path, fmt::format("the first line does not name class '{}'{}", name, HintOnBlanks(name)));
    }
    if (std::find(at + 1, names.end(), name) != names.end()) {
      Fail(path, fmt::format("the first line names class '{}' twice, expected once", name));
    }
    columns.push_back(static_cast<std::size_t>(at - names.begin()));
  }
  return columns;
}

// What is written in the place of a file, as the lines that a file has: [["a","b"],[1,0.5],[0.5,1]], or a
// place for every class: {"a":"A/B"}.
std::vector<Words> WrittenLines(const std::string& text) {
  std::vector<Words> lines;
  try {
    const Json written = Json::parse(text);
    if (written.is_object()) {
      for (const auto& [name, place] : written.items()) lines.push_back({name, place.get<std::string>()});
      return lines;
    }
    lines.push_back(written.at(0).get<Words>());
    for (std::size_t u = 0; u < lines[0].size(); ++u) {
      lines.push_back({lines[0][u]});
      for (const Json& value : written.at(u + 1)) lines.back().push_back(value.dump());
    }
    return lines;
  } catch (const Json::exception&) {
    throw Error(
        ErrorKind::kUsage,
        {"class_kernels", text, "names of the classes and a row of numbers for each, or a place for each"});
  }
}

ClassMatrix ReadMatrix(const std::string& path, std::span<const Words> lines,
                       std::span<const std::string> classes) {
  if (lines.empty()) Fail(path, "this file is empty, expected the names of the classes in its first line");
  const std::vector<std::size_t> columns = ColumnsOfClasses(path, lines, classes);
  const auto rows = LinesOfClasses(path, std::span(lines).subspan(1), classes);
  ClassMatrix matrix;
  for (std::size_t u = 0; u < classes.size(); ++u) {
    for (std::size_t v = 0; v < classes.size(); ++v) {
      const std::string text = columns[v] < rows[u].size() ? rows[u][columns[v]] : "";
      const std::optional<double> value = ToNumber(text);
      if (!value || !std::isfinite(*value)) {
        Fail(path, fmt::format("class '{}' has {} for class '{}', expected a finite number", classes[u],
                               text.empty() ? "no value" : Quoted(text), classes[v]));
      }
      matrix.push_back(*value);
    }
  }
  CheckMatrix(path, matrix, classes);
  return matrix;
}

std::vector<std::string_view> SplitPlace(std::string_view place) {
  std::vector<std::string_view> levels;
  for (std::size_t begin = 0; begin <= place.size();) {
    const std::size_t end = std::min(place.find('/', begin), place.size());
    if (end > begin) levels.push_back(place.substr(begin, end - begin));
    begin = end + 1;
  }
  return levels;
}

void AddTaxonomy(const std::string& path, std::span<const Words> lines, std::span<const std::string> classes,
                 ClassKernels& kernels) {
  std::vector<std::vector<std::string_view>> places;
  std::size_t deepest = 0;
  for (const auto& words : LinesOfClasses(path, lines, classes)) {
    places.push_back(words.empty() ? std::vector<std::string_view>{} : SplitPlace(words[0]));
    deepest = std::max(deepest, places.back().size());
  }
  for (std::size_t level = 1; level <= deepest; ++level) {
    ClassMatrix matrix;
    for (const auto& a : places) {
      for (const auto& b : places) {
        const bool is_shared =
            a.size() >= level && b.size() >= level &&
            std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(level), b.begin());
        matrix.push_back(is_shared || &a == &b ? 1 : 0);
      }
    }
    kernels.names.push_back(fmt::format("level {}", level));
    kernels.matrices.push_back(std::move(matrix));
  }
  kernels.names.emplace_back("identity");
  kernels.matrices.push_back(IdentityClasses(static_cast<Index>(classes.size())));
}

void AddBlocks(std::span<const std::string> classes, ClassKernels& kernels) {
  const std::size_t count = classes.size();
  for (std::size_t u = 0; u < count; ++u) {
    for (std::size_t v = u + 1; v < count; ++v) {
      for (const int sign : {1, -1}) {
        ClassMatrix matrix(count * count, 0.0);
        matrix[u * count + u] = matrix[v * count + v] = 1;
        matrix[u * count + v] = matrix[v * count + u] = sign;
        kernels.names.push_back(fmt::format("{}{}{}", classes[u], sign > 0 ? '+' : '-', classes[v]));
        kernels.matrices.push_back(std::move(matrix));
      }
    }
  }
}

constexpr const char* kWrittenName = "`class_kernels`";  // what messages call values that are no file's

// VALUES of "NAME(values=VALUES)"; nothing when the spec is of another kind.
std::optional<std::string> ValuesOf(std::string_view spec, std::string_view name) {
  const std::string begin = fmt::format("{}(values=", name);
  if (!spec.starts_with(begin) || !spec.ends_with(')')) return std::nullopt;
  return std::string(spec.substr(begin.size(), spec.size() - begin.size() - 1));
}

// FILE of "NAME(file=FILE)", in quotes or not; nothing when the spec is of another kind.
std::optional<std::string> FileOf(std::string_view spec, std::string_view name) {
  const std::string begin = fmt::format("{}(file=", name);
  if (!spec.starts_with(begin) || !spec.ends_with(')')) return std::nullopt;
  const std::string_view file = spec.substr(begin.size(), spec.size() - begin.size() - 1);
  SpecScanner scanner(file);
  if (!scanner.AtQuote()) return std::string(file);
  std::string quoted = scanner.Text("a file name");
  return scanner.AtEnd() ? std::optional(std::move(quoted)) : std::nullopt;
}

void AddSpec(const std::string& spec, std::span<const std::string> classes, ClassKernels& kernels) {
  if (spec == "identity") {
    kernels.names.emplace_back("identity");
    kernels.matrices.push_back(IdentityClasses(static_cast<Index>(classes.size())));
  } else if (spec == "blocks") {
    AddBlocks(classes, kernels);
  } else if (const auto matrix = FileOf(spec, "matrix")) {
    kernels.names.push_back(spec);
    kernels.matrices.push_back(ReadMatrix(*matrix, ReadLines(*matrix), classes));
  } else if (const auto values = ValuesOf(spec, "matrix")) {
    kernels.names.push_back(fmt::format("matrix {}", kernels.names.size() + 1));
    kernels.matrices.push_back(ReadMatrix(kWrittenName, WrittenLines(*values), classes));
  } else if (const auto taxonomy = FileOf(spec, "taxonomy")) {
    AddTaxonomy(*taxonomy, ReadLines(*taxonomy), classes, kernels);
  } else if (const auto places = ValuesOf(spec, "taxonomy")) {
    AddTaxonomy(kWrittenName, WrittenLines(*places), classes, kernels);
  } else {
    throw Error(
        ErrorKind::kUsage,
        fmt::format(
            "class-kernel '{}' is not known; known: identity, blocks, matrix(file=FILE), taxonomy(file=FILE)",
            spec));
  }
}

// Points whose inner products are closest to the centred matrix (classical scaling).
std::vector<double> Embed(ClassMatrix matrix, std::size_t classes) {
  std::vector<double> means(classes, 0.0);
  double mean = 0;
  for (std::size_t u = 0; u < classes; ++u) {
    for (std::size_t v = 0; v < classes; ++v)
      means[u] += matrix[u * classes + v] / static_cast<double>(classes);
    mean += means[u] / static_cast<double>(classes);
  }
  for (std::size_t u = 0; u < classes; ++u) {
    for (std::size_t v = 0; v < classes; ++v) matrix[u * classes + v] += mean - means[u] - means[v];
  }
  const SymmetricEigen eigen(matrix, classes);
  std::vector<double> points(2 * classes, 0.0);
  for (std::size_t d = 0; d < std::min<std::size_t>(2, classes); ++d) {
    const double scale = std::sqrt(std::max(eigen.values[d], 0.0));
    for (std::size_t u = 0; u < classes; ++u) points[2 * u + d] = scale * eigen.vectors[d][u];
  }
  return points;
}

}  // namespace

ClassKernels MakeClassKernels(std::span<const std::string> specs, std::span<const std::string> classes) {
  ClassKernels kernels;
  for (const std::string& spec : specs) AddSpec(spec, classes, kernels);
  if (specs.empty()) AddSpec("identity", classes, kernels);
  return kernels;
}

std::vector<std::string> FilesOfClassKernels(std::span<const std::string> specs) {
  std::vector<std::string> files;
  for (const std::string& spec : specs) {
    for (const char* kind : {"matrix", "taxonomy"}) {
      if (const auto file = FileOf(spec, kind)) files.push_back(*file);
    }
  }
  return files;
}

ClassKernelReport ReportClassKernels(const ClassKernels& kernels, std::span<const std::string> classes,
                                     std::span<const double> theta, std::span<const double> quadratics) {
  ClassKernelReport report;
  report.classes.assign(classes.begin(), classes.end());
  report.matrix.assign(classes.size() * classes.size(), 0.0);
  const std::size_t count = kernels.matrices.size();
  for (std::size_t y = 0; y < count; ++y) {
    KernelReport kernel{kernels.names[y], 0, 0};
    for (std::size_t m = y; m < theta.size(); m += count) {
      kernel.weight += theta[m];
      kernel.quadratic += quadratics[m];
    }
    for (std::size_t k = 0; k < report.matrix.size(); ++k) {
      report.matrix[k] += kernel.weight * kernels.matrices[y][k];
    }
    report.kernels.push_back(std::move(kernel));
  }
  report.embedding = Embed(report.matrix, classes.size());
  return report;
}

}  // namespace kweave
