// kweave evaluate: scores of a test set with confidence intervals.
#include "kweave/evaluate.h"

#include <memory>

#include "config.h"
#include "kweave/error.h"
#include "option_flags.h"
#include "shared.h"
#include "terminal.h"
#include "verbs.h"

namespace kweave::app {
namespace {

struct EvaluateArguments {
  std::string model;
  DataArguments data;
  RunArguments run;
  std::vector<std::string> grams;  ///< NAME=FILE
  std::string summary;
  EvaluateOptions options;
};

void Run(CLI::App& verb, EvaluateArguments& arguments) {
  if (!arguments.run.config.empty()) ApplyConfig(verb, arguments.run.config);
  if (arguments.model.empty())
    throw Error(ErrorKind::kUsage, "evaluate needs a MODEL file and DATA with labels");
  const Context context = MakeContext(arguments.run);
  std::vector<NamedFile> inputs = InputFiles(arguments.data);
  inputs.push_back({"MODEL", arguments.model});
  inputs.push_back({"--config", arguments.run.config});
  for (const std::string& text : arguments.grams) {
    arguments.options.predict.gram_files.push_back(SplitAssignment("gram_files", text));
    inputs.push_back({"--gram", arguments.options.predict.gram_files.back().second});
  }
  CheckOutputs({{"--summary", arguments.summary}}, inputs);
  const Model model = Model::Load(arguments.model);
  ReadOptions read = MakeReadOptions(arguments.data, context);
  model.ExpectViews(read);
  if (read.views.empty() && read.labels_path.empty())
    throw Error(ErrorKind::kUsage,
                "evaluate needs DATA or --view NAME=FILE, or --labels FILE with --gram NAME=FILE");
  const ScoreReport found = Evaluate(model, ReadDataset(read), arguments.options, context);
  if (!arguments.summary.empty()) WriteText(arguments.summary, found.ToJson() + "\n");
  if (!arguments.run.is_quiet && arguments.summary != "-") Print(found.ToText());
}

}  // namespace

void AddEvaluate(CLI::App& app) {
  CLI::App& verb = *app.add_subcommand("evaluate", "score a model on a test set, with confidence intervals");
  const auto arguments = std::make_shared<EvaluateArguments>();
  verb.add_option("MODEL", arguments->model, "a model that train wrote");
  AddDataOptions(verb, arguments->data);
  verb.add_option("--gram", arguments->grams,
                  "NAME=FILE, values of precomputed kernel NAME, as predict takes them")
      ->allow_extra_args(false);
  AddNumber(
      verb, "confidence", 0.95, {},
      [arguments](const OptionValue& value) { arguments->options.confidence = std::get<double>(value); },
      "of each interval, above 0 and below 1 (default: 0.95)");
  AddNumber(
      verb, "replicates", 2000L, {},
      [arguments](const OptionValue& value) {
        arguments->options.replicates = static_cast<int>(std::get<long>(value));
      },
      "draws of the bootstrap; 0: no intervals of scores that need it (default: 2000)");
  AddRunOptions(verb, arguments->run);
  AddSeed(verb, arguments->run.context);
  verb.add_option("--summary", arguments->summary, "file for the scores as JSON; - for standard output");
  verb.footer(
      "Intervals: wilson (accuracy, recall, precision, top-k), delong (area under the ROC curve, on the "
      "scale "
      "of the logit),\nfisher (correlation), bootstrap (all others: percentiles over samples drawn with "
      "replacement).");
  verb.callback([&verb, arguments] { Run(verb, *arguments); });
}

}  // namespace kweave::app
