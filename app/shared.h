// What several verbs share: where the data comes from, how the run is bounded, how numbers are written.
#ifndef KWEAVE_APP_SHARED_H_
#define KWEAVE_APP_SHARED_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/options.h"

namespace kweave::app {

struct DataArguments {
  std::string data;
  std::vector<std::string> views;  ///< NAME=FILE
  ReadOptions read;
};
void AddDataOptions(CLI::App& verb, DataArguments& arguments);
/// Throws Error(kUsage) on a wrong NAME=FILE and on repeated names.
ReadOptions MakeReadOptions(const DataArguments& arguments);

struct RunArguments {
  Context context;
  std::string memory;
  bool is_quiet = false;
  bool is_verbose = false;
  std::string config;
};
void AddRunOptions(CLI::App& verb, RunArguments& arguments);
/// Notes go to standard error as -q and -v say.
Context MakeContext(const RunArguments& arguments);

/// The kernel and normalisation options of `train` and `kernels`.
void AddKernelOptions(CLI::App& verb, TrainOptions& options);

/// "sentence (range; default: ...)" of an option's record.
std::string OptionHelp(std::string_view name);

/// Splits NAME=VALUE at the first '='. Throws Error(kUsage) naming the option when there is none.
std::pair<std::string, std::string> SplitAssignment(std::string_view option, const std::string& text);

/// "2G", "512M", "1.5GB", "100000": bytes, in powers of 1024. Throws Error(kUsage).
std::size_t ParseSize(const std::string& text);

}  // namespace kweave::app

#endif  // KWEAVE_APP_SHARED_H_
