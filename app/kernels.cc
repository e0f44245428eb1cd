// kweave kernels: what kernels look like on some data, before anything is learned.
#include "kweave/kernels.h"

#include <memory>

#include "config.h"
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

void Run(CLI::App& verb, KernelsArguments& arguments) {
  if (!arguments.run.config.empty()) ApplyConfig(verb, arguments.run.config);
  Validate(arguments.options);
  const Context context = MakeContext(arguments.run);
  ReadOptions read = MakeReadOptions(arguments.data, context);
  read.labels_required = false;
  const Dataset data = ReadDataset(read);
  const bool is_exported = !arguments.directory.empty();
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
  AddKernelOptions(verb, arguments->options);
  AddRunOptions(verb, arguments->run);
  verb.add_option("--seed", arguments->run.context.seed, "seed of everything random (default: 0)");
  verb.add_option(
      "--export", arguments->directory,
      "write the normalised kernel matrices into a folder as .npy; with --json compare them, too");
  verb.add_flag("--json", arguments->as_json, "for programs");
  verb.callback([&verb, arguments] { Run(verb, *arguments); });
}

}  // namespace kweave::app
