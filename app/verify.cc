// kweave verify: recomputes primal, dual and gap of a model from the data it was trained on.
#include "kweave/verify.h"

#include <memory>

#include "kweave/error.h"
#include "progress.h"
#include "shared.h"
#include "terminal.h"
#include "verbs.h"

namespace kweave::app {
namespace {

struct VerifyArguments {
  std::string model;
  DataArguments data;
  RunArguments run;
  std::string summary;
};

void Run(const VerifyArguments& arguments) {
  if (arguments.model.empty())
    throw Error(ErrorKind::kUsage, "verify needs MODEL and the DATA it was trained on");
  Context context = MakeContext(arguments.run);
  ReadOptions read = MakeReadOptions(arguments.data, context);
  std::vector<NamedFile> inputs = InputFiles(arguments.data);
  inputs.push_back({"MODEL", arguments.model});
  CheckOutputs({{"--summary", arguments.summary}}, inputs);
  const Model model = Model::Load(arguments.model);
  read.labels_required = model.task() != Task::kOneClass;
  const Dataset data = ReadDataset(read);
  CatchInterrupts();
  ProgressLine line(!arguments.run.is_quiet);
  context.stop_requested = IsInterrupted;
  context.progress = [&](const Progress& progress) { line.Show(progress); };
  const Verification found = Verify(model, data, context);
  line.Clear();
  if (!arguments.summary.empty()) WriteText(arguments.summary, found.ToJson() + "\n");
  if (!arguments.run.is_quiet && arguments.summary != "-") Print(found.ToText());
  constexpr int kClaimFails = 6;  // as the documentation of exit statuses has it
  if (!found.holds) throw ExitStatus{kClaimFails};
}

}  // namespace

void AddVerify(CLI::App& app) {
  CLI::App& verb = *app.add_subcommand(
      "verify", "check a model's duality gap by plain loops that training shares nothing with");
  const auto arguments = std::make_shared<VerifyArguments>();
  verb.add_option("MODEL", arguments->model, "a model that train wrote");
  AddDataOptions(verb, arguments->data);
  verb.add_option("--summary", arguments->summary,
                  "file for the machine-readable result; - for standard output");
  verb.add_flag("-q,--quiet", arguments->run.is_quiet, "print errors only");
  verb.add_flag("-v,--verbose", arguments->run.is_verbose, "say more");
  verb.footer(
      "DATA and its options are those that train got; sample weights are in the model. Every kernel, with a "
      "weight or\n"
      "without, is evaluated for every pair of samples, one after the other on one thread: a minute for some "
      "1e9 values.\n"
      "Exit status 0: primal, dual and relative gap are as the model says, up to rounding; 6: they are not.");
  verb.callback([arguments] { Run(*arguments); });
}

}  // namespace kweave::app
