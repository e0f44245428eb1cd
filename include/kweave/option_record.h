#ifndef KWEAVE_OPTION_RECORD_H_
#define KWEAVE_OPTION_RECORD_H_

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kweave/choices.h"

namespace kweave {

/// Numbers for single classes or kernels: (label as written, number).
using NamedNumbers = std::vector<std::pair<std::string, double>>;
/// Ranges for single kernels: (kernel, (lower, upper)).
using NamedIntervals = std::vector<std::pair<std::string, std::pair<double, double>>>;

/// The value of an option as the edges of the library (command line, JSON, Python) see it; which alternative
/// it is says how they read and write it. Enumerations are texts here.
using OptionValue = std::variant<bool, long, double, std::string, std::vector<std::string>,
                                 std::vector<double>, NamedNumbers, NamedIntervals>;

/// What numbers an option takes; in lists each of them.
struct OptionRange {
  double least = -std::numeric_limits<double>::infinity();  ///< the smallest value
  double most = std::numeric_limits<double>::infinity();    ///< the largest value
  bool is_above = false;                                    ///< the range is open at `least`
  bool has_infinity = false;                                ///< infinity is a value
  bool zero_means_none = false;  ///< 0, outside the range, is how "not given" is stored

  /// "above 0", "0 or more", "1 to inf", "above 0, at most 1".
  std::string ToText() const;
  /// Whether the number is in the range.
  bool Holds(double number) const;
};

/// One of the texts that an option takes.
struct OptionChoice {
  std::string name;            ///< as it is written
  std::string sentence;        ///< what it does
  std::string condition = {};  ///< what it needs, such as "with a penalty"; empty: nothing
};
/// "auto; classify: hinge, logistic; regress: squared": conditions in front of what needs them.
std::string ToText(const std::vector<OptionChoice>& choices);

/// Where an option has an effect; elsewhere it may be given and changes nothing. An empty list means
/// everywhere. The tasks decide which Python estimators have the option as a parameter; the other lists serve
/// the documentation.
struct OptionScope {
  std::vector<Task> tasks = {};                ///< with these tasks
  std::vector<std::string> losses = {};        ///< with these losses
  std::vector<std::string> regularizers = {};  ///< with these regularisers
  std::vector<Multiclass> multiclass = {};     ///< with these reductions to machines
  std::vector<Combine> combine = {};           ///< with these combinations of kernels

  /// "regularizer mixed" or "multiclass ovr, joint"; empty where it is everywhere.
  std::string ToText(bool names_tasks = true) const;
};

/// Everything known about an option except which struct it is a member of.
struct OptionDescription {
  std::string_view name;      ///< of the member; the JSON key and the parameter in Python
  std::string_view sentence;  ///< what it means
  OptionValue fallback;       ///< the default, as the struct of options has it
  OptionRange range = {};     ///< of a number, or of each in a list
  std::vector<OptionChoice> (*choices)() = nullptr;  ///< null: any text
  bool is_list = false;                              ///< a text holds several choices, separated by commas
  OptionScope scope = {};                            ///< where it has an effect
  std::string_view flag = {};                        ///< without dashes; empty: the name with '-' for '_'
  std::string_view allowed = {};  ///< what is allowed, where neither range nor choices say it all
  std::string_view unset = {};    ///< what the default means, where the value alone does not say it

  /// "--block-norm", "-C".
  std::string FlagText() const;
  /// The scope and the sentence: "regularizer mixed: norm within groups".
  std::string Meaning() const;
  /// What is allowed, for people: "above 0, at most 1", "auto, wrapper, interleaved".
  std::string AllowedText() const;
  /// The default, for people: "0.5", "none", "auto: the first of the task".
  std::string DefaultText() const;
  /// Throws Error(kUsage) on a number out of range and on a text that is not among the choices.
  void CheckValue(const OptionValue& value) const;
};

namespace internal {

/// Throws Error(kUsage) that names the choices.
[[noreturn]] void FailChoice(std::string_view name, const std::string& text,
                             const std::vector<OptionChoice>& choices);
/// The number as the member's type. Throws Error(kUsage) where that cannot hold it.
int ToInt(std::string_view name, long number);

/// A member as an OptionValue: enumerations become texts, int becomes long.
template <class T>
OptionValue ToOptionValue(const T& member) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(ToString(member));
  } else if constexpr (std::is_same_v<T, int>) {
    return static_cast<long>(member);
  } else {
    return member;
  }
}

/// The table of an enumeration as choices.
template <class T>
std::vector<OptionChoice> EnumChoices() {
  std::vector<OptionChoice> choices;
  for (const auto& record : ChoiceTable<T>())
    choices.push_back({std::string(record.name), std::string(record.sentence)});
  return choices;
}

/// The inverse of ToOptionValue. Throws Error(kUsage) on a text that names no value of the enumeration.
template <class T>
T FromOptionValue(std::string_view name, const OptionValue& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto& text = std::get<std::string>(value);
    if (const ChoiceRecord<T>* record = FindChoice<T>(text)) return record->choice;
    FailChoice(name, text, EnumChoices<T>());
  } else if constexpr (std::is_same_v<T, int>) {
    return ToInt(name, std::get<long>(value));
  } else {
    return std::get<T>(value);
  }
}

}  // namespace internal

/// One option of a struct of options: everything that the command line, JSON, Python, the documentation and
/// the check of ranges know of it. docs/dev/adding-an-option.md shows how one is added.
///
///     for (const auto& record : kweave::TrainOptionRecords()) {
///       std::cout << record.FlagText() << ": " << record.Meaning() << "; " << record.AllowedText() << "\n";
///     }
template <class Options>
struct OptionRecord : OptionDescription {
  /// `member` is where the value lives, and where its default is written.
  template <class T>
  OptionRecord(std::string_view own_name, T Options::*member, std::string_view own_sentence)
      : OptionDescription{own_name, own_sentence, internal::ToOptionValue(Options().*member)},
        get([member](const Options& options) { return internal::ToOptionValue(options.*member); }),
        set([member, own_name](Options& options, const OptionValue& value) {
          options.*member = internal::FromOptionValue<T>(own_name, value);
        }) {
    if constexpr (std::is_enum_v<T>) choices = internal::EnumChoices<T>;
  }

  // The calls below complete a record and return it, so that a record is one expression:
  //     OptionRecord<TrainOptions>("gap", &TrainOptions::gap, "Relative gap to reach.").Within({.least = 0});

  /// Numbers must lie in the range.
  OptionRecord& Within(OptionRange own_range) { return range = own_range, *this; }
  /// Texts must be one of these.
  OptionRecord& OneOf(std::vector<OptionChoice> (*own_choices)()) { return choices = own_choices, *this; }
  /// As OneOf, but several of them may be given, separated by commas; the code that reads the list checks it.
  OptionRecord& ListOf(std::vector<OptionChoice> (*own_choices)()) {
    return is_list = true, OneOf(own_choices);
  }
  /// Where it has an effect.
  OptionRecord& In(const OptionScope& own_scope) { return scope = own_scope, *this; }
  /// The name on the command line, where it is not that of the member.
  OptionRecord& Flag(std::string_view own_flag) { return flag = own_flag, *this; }
  /// What is allowed, in words.
  OptionRecord& Takes(std::string_view text) { return allowed = text, *this; }
  /// What the default means, in words.
  OptionRecord& Unset(std::string_view text) { return unset = text, *this; }

  /// Reads the member.
  std::function<OptionValue(const Options&)> get;
  /// Writes the member. Throws Error(kUsage) on a text that names no value of its enumeration.
  std::function<void(Options&, const OptionValue&)> set;

  /// Throws Error(kUsage) unless the member is in its range or among its choices.
  void Check(const Options& options) const { CheckValue(get(options)); }
};

}  // namespace kweave

#endif  // KWEAVE_OPTION_RECORD_H_
