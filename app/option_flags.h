// The table of options as flags: how their values are written on a command line, in help and on the page of
// options.
#ifndef KWEAVE_APP_OPTION_FLAGS_H_
#define KWEAVE_APP_OPTION_FLAGS_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kweave/option_record.h"
#include "shared.h"

namespace kweave::app {

/// The value that the texts after a flag stand for, of the same alternative as `like`: numbers may be
/// fractions, lists are given by repeating the flag, NAME=NUMBER,... and KERNEL=LOWER..UPPER name what they
/// are for, and values for every sample stand in a file, one on a line. Throws Error(kUsage) naming `option`,
/// Error(kData) on a file that cannot be read.
OptionValue ParseOption(std::string_view option, const std::vector<std::string>& texts,
                        const OptionValue& like, const OptionRange& range);

/// Adds the flag of a number that is in no table, `--time-limit` for `time_limit`, which `set` gets as the
/// alternative of `like` once it is known to be in the range.
CLI::Option* AddNumber(CLI::App& verb, std::string_view name, const OptionValue& like,
                       const OptionRange& range, std::function<void(const OptionValue&)> set,
                       const std::string& help);

/// "LABEL=NUMBER,...; may be given several times" where a value is not one word, else nothing.
std::string FormText(const OptionValue& like);

/// A text with the options it names in backquotes as flags.
std::string WithFlags(std::string_view text);

/// Adds the flag, which sets the option when it is given. `options` must outlive the verb.
template <class Options>
CLI::Option* AddFlag(CLI::App& verb, const OptionRecord<Options>& record, Options& options) {
  const OptionValue like = record.fallback;
  const auto set = [&record, &options, like](const std::vector<std::string>& texts) {
    record.set(options, ParseOption(record.name, texts, like, record.range));
  };
  const std::string form = FormText(like);
  const std::string help = WithFlags(record.Meaning() + " (" + (form.empty() ? "" : form + "; ") +
                                     record.AllowedText() + "; default: " + record.DefaultText() + ")");
  const bool is_list = std::holds_alternative<std::vector<std::string>>(like) ||
                       std::holds_alternative<NamedNumbers>(like) ||
                       std::holds_alternative<NamedIntervals>(like);
  if (!is_list) {
    return verb.add_option_function<std::string>(
        record.FlagText(), [set](const std::string& text) { set({text}); }, help);
  }
  CLI::Option* option = verb.add_option_function<std::vector<std::string>>(record.FlagText(), set, help);
  if (std::holds_alternative<NamedNumbers>(like)) option->delimiter(',');
  return option->allow_extra_args(false);
}

/// A flag for every record.
template <class Options>
void AddFlags(CLI::App& verb, std::span<const OptionRecord<Options>> records, Options& options) {
  for (const OptionRecord<Options>& record : records) AddFlag(verb, record, options);
}

/// The files that hold the values of these flags, for every sample one.
template <class Options>
std::vector<NamedFile> FilesOfFlags(const CLI::App& verb, std::span<const OptionRecord<Options>> records) {
  std::vector<NamedFile> files;
  for (const OptionRecord<Options>& record : records) {
    if (!std::holds_alternative<std::vector<double>>(record.fallback)) continue;
    const std::string flag = record.FlagText();
    for (const std::string& path : verb.get_option(flag)->results()) files.push_back({flag, path});
  }
  return files;
}

/// docs/options.md.
std::string OptionsPage();

}  // namespace kweave::app

#endif  // KWEAVE_APP_OPTION_FLAGS_H_
