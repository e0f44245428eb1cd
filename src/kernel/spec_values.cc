#include "kernel/spec_values.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "kweave/nearest_name.h"

namespace kweave {
namespace {

constexpr int kMaxDepth = 20;  // lists of lists are two deep; a text of brackets must not exhaust the stack

class ValueReader {
 public:
  ValueReader(SpecScanner& scanner, Index max_count) : scanner_(scanner), max_count_(max_count) {}

  /// factor { ('*' | '/') factor }, multiplied out with the right one varying fastest.
  std::vector<SpecValue> Product(int depth) {
    std::vector<SpecValue> values = Factor(depth);
    while (scanner_.Peek() == '*' || scanner_.Peek() == '/') {
      const std::size_t position = scanner_.Position();
      const bool divides = scanner_.Accept('/');
      if (!divides) scanner_.Accept('*');
      const std::vector<SpecValue> right = Factor(depth);
      CheckCount(static_cast<double>(values.size()) * static_cast<double>(right.size()), position);
      std::vector<SpecValue> products;
      products.reserve(values.size() * right.size());
      for (const SpecValue& a : values) {
        for (const SpecValue& b : right)
          products.push_back(divides ? Divide(a, b, position) : Multiply(a, b, position));
      }
      values = std::move(products);
    }
    return values;
  }

 private:
  std::vector<SpecValue> Factor(int depth) {
    if (scanner_.Peek() == '[') return List(depth + 1);
    if (scanner_.AtNumber()) return NumberOrRange();
    const std::size_t position = scanner_.Position();
    const std::string_view word = scanner_.Word();
    if (word == "logspace" || word == "linspace") return Spaced(word == "logspace", position);
    if (word == "median") return {{.rule = WidthRule::kQuantile, .quantile = 0.5}};
    if (word == "mean") return {{.rule = WidthRule::kMean}};
    if (word == "auto") return {{.rule = WidthRule::kAuto}};
    if (word == "quantile") return {Quantile()};
    if (word.empty()) scanner_.FailHere("expected a number, a list or a rule such as median");
    constexpr std::string_view kWords[] = {"median", "mean", "quantile", "auto", "logspace", "linspace"};
    scanner_.Fail(position, fmt::format("\"{}\" is no value{}", word, NameHint(word, kWords)));
  }

  std::vector<SpecValue> List(int depth) {
    const std::size_t position = scanner_.Position();
    if (depth > kMaxDepth) scanner_.Fail(position, fmt::format("lists nest deeper than {}", kMaxDepth));
    scanner_.Accept('[');
    std::vector<SpecValue> values;
    do {
      const std::vector<SpecValue> more = Product(depth);
      CheckCount(static_cast<double>(values.size()) + static_cast<double>(more.size()), position);
      values.insert(values.end(), more.begin(), more.end());
    } while (scanner_.Accept(','));
    scanner_.Expect(']', "at the end of the list, or ',' and another value");
    return values;
  }

  std::vector<SpecValue> NumberOrRange() {
    const std::size_t position = scanner_.Position();
    const double first = scanner_.Number("the value");
    if (!scanner_.Accept("..")) return {{.number = first}};
    const double last = scanner_.Number("the end of the range");
    if (first != std::floor(first) || last != std::floor(last) || std::abs(first) > 1e15 ||
        std::abs(last) > 1e15) {
      scanner_.Fail(position, "a range a..b runs over whole numbers; for others write linspace(a,b,n)");
    }
    if (last < first) scanner_.Fail(position, fmt::format("the range {}..{} runs backwards", first, last));
    CheckCount(last - first + 1, position);
    std::vector<SpecValue> values;
    for (double value = first; value <= last; ++value) values.push_back({.number = value});
    return values;
  }

  /// The arguments (a,b,n) of logspace and linspace; a and b are the end values themselves.
  std::vector<SpecValue> Spaced(bool is_log, std::size_t position) {
    scanner_.Expect('(', "and three numbers: first, last, count");
    const double first = scanner_.Number("the first value");
    scanner_.Expect(',', "and the last value");
    const double last = scanner_.Number("the last value");
    scanner_.Expect(',', "and how many values");
    const double count = scanner_.Number("how many values");
    scanner_.Expect(')', "after the count");
    if (count < 1 || count != std::floor(count)) {
      scanner_.Fail(position, fmt::format("the count must be a whole number of at least 1, not {}", count));
    }
    if (is_log && !(first > 0 && last > 0)) {
      scanner_.Fail(position, fmt::format("logspace needs end values > 0, not {} and {}", first, last));
    }
    CheckCount(count, position);
    const double from = is_log ? std::log10(first) : first, to = is_log ? std::log10(last) : last;
    std::vector<SpecValue> values(static_cast<std::size_t>(count));
    for (std::size_t i = 1; i + 1 < values.size(); ++i) {
      const double part = static_cast<double>(i) / (count - 1);
      const double value = std::lerp(from, to, part);
      values[i].number = is_log ? std::pow(10, value) : value;
    }
    values.back().number = last;  // the ends are exact
    values.front().number = first;
    return values;
  }

  SpecValue Quantile() {
    scanner_.Expect('(', "and a number from 0 to 1");
    const std::size_t position = scanner_.Position();
    const double quantile = scanner_.Number("the quantile");
    if (!(quantile >= 0 && quantile <= 1)) {
      scanner_.Fail(position, fmt::format("a quantile lies between 0 and 1, not at {}", quantile));
    }
    scanner_.Expect(')', "after the quantile");
    return {.rule = WidthRule::kQuantile, .quantile = quantile};
  }

  SpecValue Multiply(SpecValue a, const SpecValue& b, std::size_t position) {
    if (a.rule != WidthRule::kNone && b.rule != WidthRule::kNone) {
      scanner_.Fail(position, "only a number can be multiplied with a rule such as median");
    }
    const double product = a.number * b.number;
    SpecValue result = b.rule != WidthRule::kNone ? b : a;
    result.number = product;
    return result;
  }

  SpecValue Divide(SpecValue a, const SpecValue& b, std::size_t position) {
    if (b.rule != WidthRule::kNone) scanner_.Fail(position, "a rule such as median cannot be divided by");
    a.number /= b.number;
    return a;
  }

  void CheckCount(double count, std::size_t position) {
    if (count <= static_cast<double>(max_count_)) return;
    scanner_.Fail(position, fmt::format("{} values are more than the {} allowed", count, max_count_));
  }

  SpecScanner& scanner_;
  Index max_count_;
};

}  // namespace

std::vector<SpecValue> ReadSpecValues(SpecScanner& scanner, Index max_count) {
  return ValueReader(scanner, max_count).Product(0);
}

}  // namespace kweave
