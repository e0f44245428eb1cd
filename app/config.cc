#include "config.h"

#include <fmt/format.h>

#include <sstream>

#include "kweave/error.h"
#include "terminal.h"

namespace kweave::app {
namespace {

// Keys are option names without dashes; positional arguments have theirs too.
CLI::Option* FindOption(CLI::App& verb, const std::string& key) {
  for (const std::string& name : {"--" + key, "-" + key, key}) {
    if (CLI::Option* option = verb.get_option_no_throw(name)) return option;
  }
  return nullptr;
}

void ApplyItem(CLI::App& verb, const CLI::ConfigItem& item, const std::string& path) {
  CLI::Option* option = item.parents.empty() ? FindOption(verb, item.name) : nullptr;
  if (option == nullptr || item.name == "config" || item.name == "help") {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: '{}' is no option of {}", path, item.fullname(), verb.get_name()));
  }
  if (option->count() > 0) return;  // the command line wins
  if (option->get_expected_min() == 0) {
    const std::string value = verb.get_config_formatter()->to_flag(item);
    if (value != "true" && value != "false") {
      throw Error(ErrorKind::kUsage, fmt::format("{}: '{}' is true or false", path, item.name));
    }
    if (value == "true") option->add_result(value);
  } else {
    for (const std::string& value : item.inputs) option->add_result(value);
  }
  if (option->count() > 0) option->run_callback();
}

}  // namespace

void ApplyConfig(CLI::App& verb, const std::string& path) {
  std::istringstream file(ReadText(path, ErrorKind::kUsage));
  try {
    for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(file)) {
      if (item.name != "++" && item.name != "--") ApplyItem(verb, item, path);  // marks of CLI11 for sections
    }
  } catch (const Error& error) {
    const bool is_of_option = !error.field().empty();
    throw Error(error.kind(), is_of_option ? fmt::format("{}: {}", path, error.what()) : error.what(),
                {error.field(), error.value(), error.rule()});
  } catch (const CLI::Error& error) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace kweave::app
