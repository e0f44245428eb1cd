// kweave kernels: what kernels look like on some data, before anything is learned.
#include "kweave/kernels.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <system_error>

#include "config.h"
#include "option_flags.h"
#include "shared.h"
#include "terminal.h"
#include "verbs.h"

namespace kweave::app {
namespace {

struct KernelsArguments {
  DataArguments data;
  RunArguments run;
  TrainOptions options;
  std::string directory;
  bool as_json = false;
};

// Whether ExportKernels may write a file of this name.
bool IsExportName(const std::string& name) {
  constexpr std::string_view kEnding = ".npy";
  return name == "kernels.json" ||
         (name.ends_with(kEnding) && std::all_of(name.begin(), name.end() - kEnding.size(),
                                                 [](unsigned char c) { return std::isdigit(c) != 0; }));
}

// Throws unless the matrices can go into the folder without loss of an input.
void CheckExport(const KernelsArguments& arguments, const Dataset& data) {
  std::vector<NamedFile> outputs;
  std::error_code code;
  for (std::filesystem::directory_iterator entry(arguments.directory, code), end; !code && entry != end;
       entry.increment(code)) {
    if (IsExportName(entry->path().filename().string()))
      outputs.push_back({"--export", entry->path().string()});
  }
  CheckOutputs(outputs, InputFiles(arguments.data));
  CheckOutputs(outputs, data, arguments.options);
}

void Run(CLI::App& verb, KernelsArguments& arguments) {
  if (!arguments.run.config.empty()) ApplyConfig(verb, arguments.run.config);
  Validate(arguments.options);
  const Context context = MakeContext(arguments.run);
  ReadOptions read = MakeReadOptions(arguments.data, context);
  read.labels_required = false;
  const Dataset data = ReadDataset(read);
  const bool is_exported = !arguments.directory.empty();
  if (is_exported) CheckExport(arguments, data);
  if (is_exported) ExportKernels(data, arguments.options, context, arguments.directory);
  if (is_exported && !arguments.as_json) return;
  const KernelAnalysis analysis = AnalyzeKernels(data, arguments.options, context);
  Print(arguments.as_json ? analysis.ToJson() + "\n" : analysis.ToText());
}

}  // namespace

void AddKernels(CLI::App& app) {
  CLI::App& verb = *app.add_subcommand("kernels", "compare kernels with each other and with the labels");
  const auto arguments = std::make_shared<KernelsArguments>();
  AddDataOptions(verb, arguments->data);
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) {
    if (record.name == "kernels" || record.name == "normalize") AddFlag(verb, record, arguments->options);
  }
  AddKernelHelp(verb);
  AddRunOptions(verb, arguments->run);
  AddSeed(verb, arguments->run.context);
  verb.add_option(
      "--export", arguments->directory,
      "write the normalised kernel matrices into a folder as .npy; with --json compare them, too");
  verb.add_flag("--json", arguments->as_json, "for programs");
  verb.callback([&verb, arguments] { Run(verb, *arguments); });
}

}  // namespace kweave::app
