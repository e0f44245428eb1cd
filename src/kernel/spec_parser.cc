#include "kernel/spec_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "data/sequences.h"
#include "data/text_source.h"
#include "kernel/kernel_table.h"
#include "kernel/region.h"
#include "kernel/spec_scanner.h"
#include "kernel/spec_values.h"
#include "kweave/nearest_name.h"

namespace kweave {
namespace {

/// Enough for every sensible specification, and far from the end of the stack.
constexpr int kMaxDepth = 100;

class SpecParser {
 public:
  SpecParser(std::string_view text, std::span<const View> views, Index max_count)
      : scanner_(text), views_(views), max_count_(max_count) {}

  KernelSpec Run() {
    if (scanner_.AtEnd()) scanner_.Fail(0, "the specification is empty; expected a kernel such as rbf");
    Sum(0);
    if (!scanner_.AtEnd()) scanner_.FailHere("expected '*', '+', '@' or the end");
    PlaceName();
    return std::move(spec_);
  }

 private:
  /// A `name=` and the terms it stands around.
  struct GivenName {
    std::string text;
    std::size_t position = 0, first_term = 0, end_term = 0;
  };

  void Sum(int depth) {
    Chain('+', Composite::Operation::kSum, [&] { Product(depth); });
  }

  void Product(int depth) {
    Chain('*', Composite::Operation::kProduct, [&] { Factor(depth); });
  }

  /// Operands with `sign` between them, as one operation on all of them.
  template <class Operand>
  void Chain(char sign, Composite::Operation operation, const Operand& operand) {
    std::int32_t count = 0;
    do {
      operand();
      ++count;
    } while (scanner_.Accept(sign));
    if (count > 1) spec_.nodes.push_back({operation, count});
  }

  void Factor(int depth) {
    if (depth > kMaxDepth) {
      scanner_.Fail(scanner_.Position(), fmt::format("parentheses nest deeper than {}", kMaxDepth));
    }
    const std::size_t first_term = spec_.terms.size();
    Primary(depth);
    while (scanner_.Peek() == '@') ApplyView(first_term);
  }

  void Primary(int depth) {
    const std::size_t first_term = spec_.terms.size();
    if (scanner_.Accept('(')) {
      Sum(depth + 1);
      CloseGroup(first_term, "after the kernel");
      return;
    }
    const std::size_t position = scanner_.Position();
    const std::string_view word = scanner_.Word();
    if (word.empty()) scanner_.FailHere("expected a kernel such as rbf");
    if (word == "each") return Each(position, depth);
    if (word == "mean") return Mean(position, depth);
    Kernel(word, position);
  }

  void CloseGroup(std::size_t first_term, std::string_view where) {
    if (scanner_.Accept(',')) {
      if (!scanner_.AcceptAssignment("name")) scanner_.FailHere("expected name= after the ','");
      ReadName(first_term, spec_.terms.size());
    }
    scanner_.Expect(')', where);
  }

  void Each(std::size_t position, int depth) {
    const std::size_t first_term = spec_.terms.size();
    scanner_.Expect('(', "and a kernel after \"each\"");
    const int axis = AddAxis({.kind = SpecAxis::Kind::kFeatures, .values = {}, .files = {}});
    Sum(depth + 1);
    ReadWindow(spec_.axes[static_cast<std::size_t>(axis)]);
    CloseGroup(first_term, "after the kernel in each(...)");
    for (std::size_t t = first_term; t < spec_.terms.size(); ++t) {
      SpecTerm& term = spec_.terms[t];
      if (!UsesFeatures(*term.kind)) {
        scanner_.Fail(term.position,
                      fmt::format("{} has no features, so each(...) cannot divide it", term.kind->name));
      }
      if (term.each >= 0) scanner_.Fail(position, "each(...) cannot hold another each(...)");
      term.each = axis;
    }
  }

  /// `, window=20, step=10` of kernels on sequences.
  void ReadWindow(SpecAxis& axis) {
    for (const bool is_window : {true, false}) {
      const std::string_view word = is_window ? "window" : "step";
      if (!scanner_.AcceptNext(word)) continue;
      const std::size_t position = scanner_.Position();
      constexpr double kMost = 1e9;  // more letters than a chromosome has
      const double value = scanner_.Number(word);
      if (!(value >= 1 && value <= kMost && value == std::floor(value))) {
        scanner_.Fail(position, fmt::format("{} must be a whole number of at least 1, not {}", word, value));
      }
      (is_window ? axis.window : axis.step) = static_cast<Index>(value);
    }
    if (axis.step == 0) axis.step = axis.window;
    if (axis.window == 0 && axis.step > 0) axis.window = 1;
  }

  void Mean(std::size_t position, int depth) {
    const std::size_t first_term = spec_.terms.size();
    scanner_.Expect('(', "and kernels after \"mean\"");
    std::int32_t count = 0;
    bool is_named = false;
    do {
      if (count > 0 && scanner_.AcceptAssignment("name")) {
        ReadName(first_term, spec_.terms.size());
        is_named = true;
        break;
      }
      Sum(depth + 1);
      ++count;
    } while (scanner_.Accept(','));
    scanner_.Expect(')', is_named ? "after the name" : "or ',' and another kernel in mean(...)");
    if (count < 2) scanner_.Fail(position, "mean(...) takes at least two kernels, as in mean(rbf,linear)");
    spec_.nodes.push_back({Composite::Operation::kMean, count});
  }

  void Kernel(std::string_view word, std::size_t position) {
    const KernelKind* kind = FindKernelKind(word);
    if (kind == nullptr) {
      std::vector<std::string_view> names = {"each", "mean"};
      for (const KernelKind* known : KernelTable()) names.push_back(known->name);
      scanner_.Fail(position, fmt::format("there is no kernel {}{}", Quoted(word), NameHint(word, names)));
    }
    SpecTerm term{.kind = kind, .position = position};
    const std::size_t term_index = spec_.terms.size();
    if (scanner_.Accept('(') && !scanner_.Accept(')')) {
      do {
        Argument(term, term_index);
      } while (scanner_.Accept(','));
      scanner_.Expect(')', fmt::format("or ',' after the value in {}(...)", kind->name));
    }
    FillDefaults(term);
    spec_.terms.push_back(std::move(term));
    spec_.nodes.push_back({Composite::Operation::kTerm, static_cast<std::int32_t>(term_index)});
  }

  void Argument(SpecTerm& term, std::size_t term_index) {
    const std::size_t position = scanner_.Position();
    const std::string_view word = scanner_.Word();
    if (word.empty()) scanner_.FailHere("expected the name of a parameter");
    const std::vector<std::string_view> known = ParameterNames(*term.kind);
    if (std::ranges::find(known, word) == known.end()) {
      scanner_.Fail(position, fmt::format("{} has no parameter \"{}\"{}", term.kind->name, word,
                                          NameHint(word, known)));
    }
    scanner_.Expect('=', fmt::format("and a value after \"{}\"", word));
    if (word == "name") {
      ReadName(term_index, term_index + 1);
      return;
    }
    if (word == "file") {
      RequireFirst(term.file, word, position);
      term.file = ReadFiles();
      return;
    }
    const std::size_t place = ParameterPlace(*term.kind, word);
    RequireFirst(term.parameters[place], word, position);
    term.parameters[place] = ReadValues(scanner_, *term.kind, place);
  }

  void RequireFirst(int axis, std::string_view parameter, std::size_t position) const {
    if (axis >= 0) scanner_.Fail(position, fmt::format("\"{}\" is given twice", parameter));
  }

  static std::vector<std::string_view> ParameterNames(const KernelKind& kind) {
    if (!UsesFeatures(kind)) return {"file", "name"};
    std::vector<std::string_view> names;
    for (const ParameterRule& rule : kind.parameters) names.push_back(rule.name);
    names.push_back("name");
    return names;
  }

  static std::size_t ParameterPlace(const KernelKind& kind, std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(kind.parameters, name, &ParameterRule::name) -
                                    kind.parameters.begin());
  }

  int AddAxis(SpecAxis axis) {
    spec_.axes.push_back(std::move(axis));
    return static_cast<int>(spec_.axes.size()) - 1;
  }

  int ReadValues(SpecScanner& scanner, const KernelKind& kind, std::size_t place) {
    const std::size_t position = scanner.Position();
    std::vector<SpecValue> values = ReadSpecValues(scanner, max_count_);
    for (const SpecValue& value : values) CheckValue(value, kind, kind.parameters[place], position);
    return AddAxis({.kind = SpecAxis::Kind::kValues, .values = std::move(values), .files = {}});
  }

  void CheckValue(const SpecValue& value, const KernelKind& kind, const ParameterRule& rule,
                  std::size_t position) const {
    if (value.rule != WidthRule::kNone && rule.width == ParameterRule::Width::kNone) {
      const auto is_width = [](const ParameterRule& other) {
        return other.width != ParameterRule::Width::kNone;
      };
      const auto width = std::ranges::find_if(kind.parameters, is_width);
      scanner_.Fail(position, width == kind.parameters.end()
                                  ? fmt::format("{} needs a number", rule.name)
                                  : fmt::format("only {} can follow from the data, {} needs a number",
                                                width->name, rule.name));
    }
    // What a rule is multiplied with must be above 0, as widths are.
    const bool is_missing = rule.alternative >= 0 && value.number == 0;
    if (rule.Allows(value.number) && !is_missing) return;
    scanner_.Fail(position, fmt::format("{} must be {}, not {}", rule.name, rule.Allowed(), value.number));
  }

  int ReadFiles() {
    std::vector<std::string> files;
    const bool is_list = scanner_.Accept('[');
    do {
      const std::size_t position = scanner_.Position();
      files.push_back(scanner_.Text("a file"));
      if (files.back().empty()) scanner_.Fail(position, "the name of the file is empty");
    } while (is_list && scanner_.Accept(','));
    if (is_list) scanner_.Expect(']', "at the end of the list of files");
    return AddAxis({.kind = SpecAxis::Kind::kFiles, .values = {}, .files = std::move(files)});
  }

  void FillDefaults(SpecTerm& term) {
    const KernelKind& kind = *term.kind;
    if (!UsesFeatures(kind)) {
      if (term.file < 0)
        scanner_.Fail(term.position,
                      fmt::format("{} needs file=, as in {}(file=K.npy)", kind.name, kind.name));
      return;
    }
    std::array<bool, kMostParameters> given{};
    for (std::size_t p = 0; p < given.size(); ++p) given[p] = term.parameters[p] >= 0;
    for (std::size_t p = 0; p < kind.parameters.size(); ++p) {
      const ParameterRule& rule = kind.parameters[p];
      const bool has_alternative =
          rule.alternative >= 0 && (rule.initial == "0" || given[static_cast<std::size_t>(rule.alternative)]);
      if (given[p] && has_alternative && given[static_cast<std::size_t>(rule.alternative)]) {
        scanner_.Fail(term.position,
                      fmt::format("{} takes {} or {}, not both", kind.name, rule.name,
                                  kind.parameters[static_cast<std::size_t>(rule.alternative)].name));
      }
      if (given[p]) continue;
      if (has_alternative) {
        term.parameters[p] =
            AddAxis({.kind = SpecAxis::Kind::kValues, .values = {{.number = 0}}, .files = {}});
        continue;
      }
      SpecScanner initial(kind.parameters[p].initial);
      term.parameters[p] = ReadValues(initial, kind, p);
    }
  }

  /// `@view` or `@view[features]` on the terms from `first_term` on that have none yet.
  void ApplyView(std::size_t first_term) {
    scanner_.Accept('@');
    const std::size_t position = scanner_.Position();
    const std::string name = scanner_.Text("the name of a view after '@'", "@*+=");
    const auto found = std::ranges::find(views_, name, &View::name);
    if (found == views_.end()) {
      std::vector<std::string_view> names;
      for (const View& view : views_) names.push_back(view.name);
      scanner_.Fail(position, fmt::format("there is no view \"{}\"{}", name, NameHint(name, names)));
    }
    const FeatureSubset subset = scanner_.Accept('[') ? ReadSubset(*found) : FeatureSubset{};
    bool is_used = false;
    for (std::size_t t = first_term; t < spec_.terms.size(); ++t) {
      SpecTerm& term = spec_.terms[t];
      if (term.view >= 0 || !UsesFeatures(*term.kind)) continue;
      term.view = static_cast<std::int32_t>(found - views_.begin());
      term.subset = subset;
      is_used = true;
    }
    if (!is_used)
      scanner_.Fail(position, "'@' has nothing to work on: no kernel before it still needs a view");
  }

  FeatureSubset ReadSubset(const View& view) {
    if (AsSequences(view.features) != nullptr) return ToSubset(ReadRegion(view));
    FeatureSubset subset;
    const std::size_t position = scanner_.Position();
    do {
      ReadFeatures(view, subset);
    } while (scanner_.Accept(','));
    scanner_.Expect(']', "after the features, or ',' and another one");
    std::ranges::sort(subset);
    const auto twice = std::ranges::adjacent_find(subset);
    if (twice != subset.end()) scanner_.Fail(position, fmt::format("feature {} is given twice", *twice + 1));
    return subset;
  }

  /// 1..60, -15.., 7 or `at 7`.
  Region ReadRegion(const View& view) {
    const std::size_t position = scanner_.Position();
    std::string text = scanner_.Text("letters such as 1..60");
    Region region;
    region.holds_starts = text == "at";
    if (region.holds_starts) text = scanner_.Text("a position after \"at\"");
    scanner_.Expect(']', "after the letters");
    const std::size_t dots = text.find("..");
    const std::string_view low = std::string_view(text).substr(0, dots);
    const std::string_view high = dots == std::string::npos ? low : std::string_view(text).substr(dots + 2);
    const auto number = [&](std::string_view part, std::int32_t open) {
      if (part.empty() && dots != std::string::npos) return open;
      const std::optional<Index> value = FeatureIndex(part);
      constexpr Index kMost = std::numeric_limits<std::int32_t>::max();  // of entries of subsets
      return !value || *value > kMost || *value < -kMost ? 0 : static_cast<std::int32_t>(*value);
    };
    region.first = number(low, 1);
    region.last = number(high, -1);
    const LetterRange range = Resolve(region, ColumnCount(view.features));
    if (region.first == 0 || region.last == 0 || range.begin == range.end) {
      scanner_.Fail(position, fmt::format("\"{}\" is no part of sequences of {} letters, expected one such "
                                          "as 1..60 or -15.. (the last 15)",
                                          text, ColumnCount(view.features)));
    }
    return region;
  }

  /// One entry of a subset: 3, 1..10, or a name.
  void ReadFeatures(const View& view, FeatureSubset& subset) {
    const std::size_t position = scanner_.Position();
    const bool is_quoted = scanner_.AtQuote();
    const std::string text = scanner_.Text("a feature");
    const Index columns = ColumnCount(view.features);
    const std::size_t dots = text.find("..");
    const std::optional<Index> first = is_quoted ? std::nullopt : FeatureIndex(text.substr(0, dots));
    const std::optional<Index> last = dots == std::string::npos ? first : FeatureIndex(text.substr(dots + 2));
    if (first && last) {
      if (*first < 1 || *last > columns || *last < *first) {
        scanner_.Fail(position, fmt::format("features of view \"{}\" run from 1 to {}, \"{}\" is outside",
                                            view.name, columns, text));
      }
      for (Index f = *first; f <= *last; ++f) subset.push_back(static_cast<std::int32_t>(f - 1));
      if (static_cast<Index>(subset.size()) > columns) scanner_.Fail(position, "a feature is given twice");
      return;
    }
    const auto found = std::ranges::find(view.feature_names, text);
    if (found == view.feature_names.end()) {
      const std::vector<std::string_view> names(view.feature_names.begin(), view.feature_names.end());
      const std::string hint =
          names.empty() ? "; its features have no names, only numbers" : NameHint(text, names);
      scanner_.Fail(position, fmt::format("view \"{}\" has no feature \"{}\"{}", view.name, text, hint));
    }
    subset.push_back(static_cast<std::int32_t>(found - view.feature_names.begin()));
  }

  static std::optional<Index> FeatureIndex(std::string_view text) {
    Index value = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (stop != text.data() + text.size() || text.empty()) return std::nullopt;
    return status == std::errc() ? value : -1;
  }

  void ReadName(std::size_t first_term, std::size_t end_term) {
    const std::size_t position = scanner_.Position();
    std::string text = scanner_.Text("a name after name=");
    if (name_) scanner_.Fail(position, "a specification takes one name= only");
    // Such names cannot be mistaken for the ones that kernels have by themselves.
    const bool is_odd = text.empty() ||
                        std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 127; }) ||
                        text.find_first_of("()[]@*+=,#\"'\\") != std::string::npos;
    if (is_odd)
      scanner_.Fail(position,
                    "a name must not be empty or hold control characters or any of ()[]@*+=,#\"'\\");
    if (FindKernelKind(text) != nullptr) {
      scanner_.Fail(position, fmt::format("\"{}\" is a kind of kernel; choose another name", text));
    }
    name_ = GivenName{std::move(text), position, first_term, end_term};
  }

  /// A name is for whole kernels: it must stand around everything.
  void PlaceName() {
    if (!name_) return;
    if (name_->first_term != 0 || name_->end_term != spec_.terms.size()) {
      scanner_.Fail(name_->position,
                    "name= names a part of a kernel; to name all of it write (k1*k2, name=...)");
    }
    spec_.name = std::move(name_->text);
  }

  SpecScanner scanner_;
  std::span<const View> views_;
  Index max_count_;
  KernelSpec spec_;
  std::optional<GivenName> name_;
};

}  // namespace

KernelSpec ParseSpec(std::string_view text, std::span<const View> views, Index max_count) {
  return SpecParser(text, views, max_count).Run();
}

}  // namespace kweave
