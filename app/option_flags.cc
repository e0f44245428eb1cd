#include "option_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <sstream>

#include "kweave/error.h"
#include "kweave/options.h"
#include "kweave/readers.h"
#include "kweave/select.h"
#include "terminal.h"

namespace kweave::app {
namespace {

[[noreturn]] void Refuse(std::string_view option, std::string_view text, std::string_view rule) {
  throw Error(ErrorKind::kUsage, fmt::format("`{}` '{}', expected {}", option, text, rule),
              {std::string(option), std::string(text), std::string(rule)});
}

std::optional<double> ToNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "1.5", "inf" or a fraction such as "4/3".
double ParseNumber(std::string_view option, std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    if (const std::optional<double> number = ToNumber(text)) return *number;
    Refuse(option, text, "a number");
  }
  const std::optional<double> above = ToNumber(text.substr(0, slash)),
                              below = ToNumber(text.substr(slash + 1));
  if (!above || !below || !(*above > 0) || !(*below > 0))
    Refuse(option, text, "a number, or a fraction such as 4/3");
  return *above / *below;
}

long ParseInteger(std::string_view option, std::string_view text) {
  long value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) Refuse(option, text, "a whole number");
  return value;
}

bool ParseSwitch(std::string_view option, std::string_view text) {
  if (text == "on" || text == "true" || text == "yes" || text == "1") return true;
  if (text == "off" || text == "false" || text == "no" || text == "0") return false;
  Refuse(option, text, "on or off");
}

// KERNEL=LOWER..UPPER, either end may be empty. Names of kernels hold equals signs, too.
NamedIntervals::value_type ParseInterval(std::string_view option, const std::string& text) {
  const std::size_t equals = text.rfind('='),
                    dots = text.find("..", equals == std::string::npos ? 0 : equals);
  if (equals == std::string::npos || equals == 0 || dots == std::string::npos) {
    Refuse(option, text, "KERNEL=LOWER..UPPER, such as 2=0.1..0.5");
  }
  const std::string_view whole = text;
  const std::string_view lower = whole.substr(equals + 1, dots - equals - 1), upper = whole.substr(dots + 2);
  return {text.substr(0, equals),
          {lower.empty() ? 0 : ParseNumber(option, lower),
           upper.empty() ? std::numeric_limits<double>::infinity() : ParseNumber(option, upper)}};
}

NamedNumbers ParseNamedNumbers(std::string_view option, const std::vector<std::string>& pieces) {
  NamedNumbers numbers;
  for (const auto& [name, number] : SplitAssignments(option, pieces)) {
    numbers.emplace_back(name, ParseNumber(option, number));
  }
  return numbers;
}

std::vector<double> ReadNumbers(const std::string& path) {
  std::istringstream file(ReadText(path, ErrorKind::kData));
  std::vector<double> numbers;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    const std::optional<double> number = ToNumber(line);
    if (!number) {
      throw Error(ErrorKind::kData,
                  fmt::format("{}: line {}: '{}' is not a number", path, numbers.size() + 1, line));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

// What options of no table are called.
constexpr std::pair<std::string_view, std::string_view> kOtherFlags[] = {
    {"gram_files", "--gram"}, {"view", "--view"}, {"memory", "--memory"},
    {"threads", "--threads"}, {"seed", "--seed"}, {"time_limit", "--time-limit"}};

template <class Options>
const OptionRecord<Options>* FindRecord(std::span<const OptionRecord<Options>> records,
                                        std::string_view name) {
  for (const OptionRecord<Options>& record : records) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

std::string FlagOf(std::string_view name) {
  if (const auto* record = FindRecord(TrainOptionRecords(), name)) return record->FlagText();
  if (const auto* record = FindRecord(ReadOptionRecords(), name)) return record->FlagText();
  if (const auto* record = FindRecord(SelectOptionRecords(), name)) return record->FlagText();
  for (const auto& [other, flag] : kOtherFlags) {
    if (other == name) return std::string(flag);
  }
  return fmt::format("`{}`", name);
}

// As it stands in a table of the page.
std::string InPage(std::string_view text) {
  const std::string named = NameOptions(text, [](std::string_view name) {
    const std::string flag = FlagOf(name);
    return flag.starts_with('`') ? flag : fmt::format("`{}`", flag);
  });
  std::string escaped;
  for (const char letter : named) escaped.append(letter == '|' ? "\\|" : std::string(1, letter));
  return escaped;
}

}  // namespace

OptionValue ParseOption(std::string_view option, const std::vector<std::string>& texts,
                        const OptionValue& like, const OptionRange& range) {
  const auto parse = [&]<class T>(const T&) -> OptionValue {
    if constexpr (std::is_same_v<T, bool>) {
      return ParseSwitch(option, texts.at(0));
    } else if constexpr (std::is_same_v<T, long>) {
      return ParseInteger(option, texts.at(0));
    } else if constexpr (std::is_same_v<T, double>) {
      const double number = ParseNumber(option, texts.at(0));
      if (range.zero_means_none && number == 0) Refuse(option, texts[0], range.ToText());
      return number;
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (texts.at(0).empty()) Refuse(option, "", "a value");
      return texts[0];
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      return ReadNumbers(texts.at(0));
    } else if constexpr (std::is_same_v<T, NamedNumbers>) {
      return ParseNamedNumbers(option, texts);
    } else if constexpr (std::is_same_v<T, NamedIntervals>) {
      NamedIntervals intervals;
      for (const std::string& text : texts) intervals.push_back(ParseInterval(option, text));
      return intervals;
    } else {
      return texts;
    }
  };
  return std::visit(parse, like);
}

CLI::Option* AddNumber(CLI::App& verb, std::string_view name, const OptionValue& like,
                       const OptionRange& range, std::function<void(const OptionValue&)> set,
                       const std::string& help) {
  std::string flag = "--" + std::string(name);
  std::ranges::replace(flag, '_', '-');
  const OptionDescription description{.name = name, .sentence = {}, .fallback = like, .range = range};
  const auto parse = [description, set = std::move(set)](const std::string& text) {
    const OptionValue value = ParseOption(description.name, {text}, description.fallback, description.range);
    description.CheckValue(value);
    set(value);
  };
  return verb.add_option_function<std::string>(flag, parse, help);
}

std::string FormText(const OptionValue& like) {
  if (std::holds_alternative<std::vector<std::string>>(like)) return "may be given several times";
  if (std::holds_alternative<NamedNumbers>(like)) return "LABEL=NUMBER,..., may be given several times";
  if (std::holds_alternative<NamedIntervals>(like)) {
    return "KERNEL=LOWER..UPPER, either end may be left out, may be given several times";
  }
  if (std::holds_alternative<std::vector<double>>(like)) return "a file with a number on each line";
  return {};
}

std::string WithFlags(std::string_view text) { return NameOptions(text, FlagOf); }

std::string OptionsPage() {
  std::string page =
      "# Options of training\n\nPrinted by `kweave train --options-page`; a test compares. In Python they "
      "are parameters "
      "of the estimators, with `_` in the\nplace of `-`; [the summary](summary.md) has them under the same "
      "names.\n\n"
      "| option | meaning | allowed | default |\n| --- | --- | --- | --- |\n";
  std::string choices = "\n## What can be chosen\n\n| option | choice | meaning |\n| --- | --- | --- |\n";
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) {
    const std::string flag = record.FlagText(), form = FormText(record.fallback);
    page += fmt::format("| `{}` | {} | {}{} | {} |\n", flag, InPage(record.Meaning()),
                        form.empty() ? "" : form + "; ", InPage(record.AllowedText()),
                        InPage(record.DefaultText()));
    if (record.choices == nullptr) continue;
    for (const OptionChoice& choice : record.choices()) {
      choices += fmt::format("| `{}` | `{}` | {}{} |\n", flag, choice.name, InPage(choice.sentence),
                             choice.condition.empty() ? "" : fmt::format(" ({})", choice.condition));
    }
  }
  return page + choices;
}

}  // namespace kweave::app
