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
/// Notes of the reader go to the context's log. Throws Error(kUsage) on a wrong NAME=FILE and on repeated
/// names.
ReadOptions MakeReadOptions(const DataArguments& arguments, const Context& context);

/// A file and what names it on the command line.
struct NamedFile {
  std::string option;
  std::string path;
};
/// The files that DATA, --view and --labels name.
std::vector<NamedFile> InputFiles(const DataArguments& arguments);
/// Throws Error(kUsage) unless every output can be written without loss of an input or of another output.
/// Those without a path are skipped.
void CheckOutputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);
/// The same for the files that the options of training name, which are known once there are samples.
void CheckOutputs(const std::vector<NamedFile>& outputs, const Dataset& data, const TrainOptions& options);

struct RunArguments {
  Context context;
  bool is_quiet = false;
  bool is_verbose = false;
  std::string config;
};
void AddRunOptions(CLI::App& verb, RunArguments& arguments);
void AddSeed(CLI::App& verb, Context& context);
/// Notes go to standard error as -q and -v say.
Context MakeContext(const RunArguments& arguments);

/// What kernels there are, at the end of a verb's help.
void AddKernelHelp(CLI::App& verb);

/// Splits NAME=VALUE at the last '='. Throws Error(kUsage) naming the option when there is none.
std::pair<std::string, std::string> SplitAssignment(std::string_view option, const std::string& text);
/// Those of an option that takes several, separated by commas: a piece without '=' is the front of a name
/// with a comma.
std::vector<std::pair<std::string, std::string>> SplitAssignments(std::string_view option,
                                                                  const std::vector<std::string>& pieces);

/// "2G", "512M", "1.5GB", "100000": bytes, in powers of 1024. Throws Error(kUsage).
std::size_t ParseSize(const std::string& text);

}  // namespace kweave::app

#endif  // KWEAVE_APP_SHARED_H_
