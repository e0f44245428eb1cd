#include "kweave/option_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kweave/error.h"

namespace kweave {
namespace {

void CheckNumber(std::string_view name, const std::string& of, double number, const OptionRange& range) {
  if (range.Holds(number) || (range.zero_means_none && number == 0)) return;
  throw Error(ErrorKind::kUsage, fmt::format("`{}`{} is {}, expected {}", name, of, number, range.ToText()),
              {std::string(name), fmt::format("{}", number), range.ToText()});
}

void CheckInterval(std::string_view name, const std::string& of, std::pair<double, double> interval) {
  const auto [lower, upper] = interval;
  if (lower >= 0 && lower <= upper && std::isfinite(lower)) return;
  const std::string rule = "0 or more, the lower end first";
  throw Error(ErrorKind::kUsage,
              fmt::format("`{}` of '{}' is {}..{}, expected {}", name, of, lower, upper, rule),
              {std::string(name), fmt::format("{}..{}", lower, upper), rule});
}

template <class Values>
std::string JoinedNames(std::string_view what, const Values& values) {
  std::vector<std::string_view> names;
  for (const auto& value : values) {
    if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>) {
      names.push_back(ToString(value));
    } else {
      names.push_back(value);
    }
  }
  return names.empty() ? "" : fmt::format("{} {}", what, fmt::join(names, ", "));
}

}  // namespace

bool OptionRange::Holds(double number) const {
  const bool is_low = is_above ? !(number > least) : !(number >= least);
  if (is_low || number > most) return false;
  return has_infinity || std::isfinite(number);
}

std::string OptionRange::ToText() const {
  if (has_infinity) return fmt::format("{} to inf", least);
  const std::string low = is_above ? fmt::format("above {}", least) : fmt::format("{} or more", least);
  if (std::isinf(most)) return low;
  return is_above ? fmt::format("{}, at most {}", low, most) : fmt::format("{} to {}", least, most);
}

std::string ToText(const std::vector<OptionChoice>& choices) {
  std::string text;
  const std::string* condition = nullptr;
  for (const OptionChoice& choice : choices) {
    const bool is_same = condition != nullptr && *condition == choice.condition;
    if (condition != nullptr) text += is_same ? ", " : "; ";
    if (!is_same && !choice.condition.empty()) text += choice.condition + ": ";
    text += choice.name;
    condition = &choice.condition;
  }
  return text;
}

std::string OptionScope::ToText(bool names_tasks) const {
  std::vector<std::string> parts = {names_tasks ? JoinedNames("task", tasks) : "",
                                    JoinedNames("loss", losses), JoinedNames("regularizer", regularizers),
                                    JoinedNames("multiclass", multiclass), JoinedNames("combine", combine)};
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string OptionDescription::FlagText() const {
  std::string text(flag.empty() ? name : flag);
  std::ranges::replace(text, '_', '-');
  return (text.size() == 1 ? "-" : "--") + text;
}

std::string OptionDescription::Meaning() const {
  const std::string where = scope.ToText();
  return (where.empty() ? "" : where + ": ") + std::string(sentence);
}

std::string OptionDescription::AllowedText() const {
  if (!allowed.empty()) return std::string(allowed);
  if (choices != nullptr) return ToText(choices());
  return std::holds_alternative<bool>(fallback) ? "on, off" : range.ToText();
}

std::string OptionDescription::DefaultText() const {
  const std::string text = std::visit(
      [this]<class T>(const T& held) -> std::string {
        if constexpr (std::is_same_v<T, bool>) {
          return held ? "on" : "off";
        } else if constexpr (std::is_arithmetic_v<T>) {
          return range.zero_means_none && held == 0 ? "" : fmt::format("{}", held);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return held;
        } else {
          return {};  // lists have no elements unless they are given
        }
      },
      fallback);
  if (text.empty()) return unset.empty() ? "none" : std::string(unset);
  return unset.empty() ? text : fmt::format("{}: {}", text, unset);
}

void OptionDescription::CheckValue(const OptionValue& value) const {
  const auto check = [this]<class T>(const T& held) {
    if constexpr (std::is_same_v<T, long> || std::is_same_v<T, double>) {
      CheckNumber(name, "", static_cast<double>(held), range);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (choices == nullptr || is_list) return;
      const std::vector<OptionChoice> known = choices();
      if (std::ranges::find(known, held, &OptionChoice::name) == known.end()) {
        internal::FailChoice(name, held, known);
      }
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      for (std::size_t i = 0; i < held.size(); ++i) {
        if (!range.Holds(held[i])) CheckNumber(name, fmt::format(" of sample {}", i + 1), held[i], range);
      }
    } else if constexpr (std::is_same_v<T, NamedNumbers>) {
      for (const auto& [of, number] : held) CheckNumber(name, fmt::format(" of '{}'", of), number, range);
    } else if constexpr (std::is_same_v<T, NamedIntervals>) {
      for (const auto& [of, interval] : held) CheckInterval(name, of, interval);
    }
  };
  std::visit(check, value);
}

namespace internal {

void FailChoice(std::string_view name, const std::string& text, const std::vector<OptionChoice>& choices) {
  const std::string rule = ToText(choices);
  throw Error(ErrorKind::kUsage, fmt::format("`{}` '{}' is not available; available: {}", name, text, rule),
              {std::string(name), text, rule});
}

int ToInt(std::string_view name, long number) {
  if (std::in_range<int>(number)) return static_cast<int>(number);
  throw Error(ErrorKind::kUsage, {std::string(name), std::to_string(number), "a smaller number"});
}

}  // namespace internal
}  // namespace kweave
