#ifndef KWEAVE_APP_CONFIG_H_
#define KWEAVE_APP_CONFIG_H_

#include <CLI/CLI.hpp>
#include <string>

namespace kweave::app {

/// Gives every option of `verb` that was not on the command line its value from a TOML file. Throws
/// Error(kUsage) on keys that are no options and on values that do not fit.
void ApplyConfig(CLI::App& verb, const std::string& path);

}  // namespace kweave::app

#endif  // KWEAVE_APP_CONFIG_H_
