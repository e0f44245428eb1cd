// kweave predict: one line per sample, and scores where there are labels.
#include <fmt/format.h>

#include <memory>
#include <span>

#include "config.h"
#include "kweave/error.h"
#include "kweave/evaluate.h"
#include "kweave/model.h"
#include "kweave/scores.h"
#include "shared.h"
#include "terminal.h"
#include "verbs.h"

namespace kweave::app {
namespace {

struct PredictArguments {
  std::string model;
  DataArguments data;
  RunArguments run;
  std::vector<std::string> grams;  ///< NAME=FILE
  std::string output = "-";
  bool has_ids = false;
  bool has_header = false;
  bool needs_probabilities = false;
  std::string summary;
};

Dataset ReadNewSamples(const PredictArguments& arguments, const Model& model, const Context& context) {
  ReadOptions read = MakeReadOptions(arguments.data, context);
  read.labels_required = false;
  model.ExpectViews(read);
  if (read.views.empty() && read.labels_path.empty()) return {};
  return ReadDataset(read);
}

// Names of the columns.
std::string Header(const PredictArguments& arguments, const Model& model, const Prediction& prediction) {
  std::vector<std::string> names;
  if (arguments.has_ids) names.emplace_back("id");
  if (prediction.labels.empty()) names.emplace_back("value");
  if (!prediction.labels.empty()) names.emplace_back("label");
  const bool has_classes = model.outputs() > 1;
  const auto add = [&](const std::string& what) {
    if (!has_classes) names.push_back(what);
    for (const std::string& name : has_classes ? model.classes() : std::vector<std::string>())
      names.push_back(what + ":" + name);
  };
  if (!prediction.labels.empty()) add("f");
  if (!prediction.probability.empty()) add("probability");
  return fmt::format("{}\n", fmt::join(names, "\t"));
}

// Id where it is asked for, label, f or the values of all classes and, where there are any, probabilities; a
// regression's value alone.
std::string Lines(const Prediction& prediction, Index outputs, const std::vector<std::string>& ids) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  const auto width = static_cast<std::size_t>(outputs);
  for (std::size_t i = 0; i < prediction.decision.size(); i += width) {
    if (!ids.empty()) fmt::format_to(out, "{}\t", ids[i / width]);
    if (!prediction.labels.empty()) fmt::format_to(out, "{}\t", prediction.labels[i / width]);
    fmt::format_to(out, "{}", fmt::join(std::span(prediction.decision).subspan(i, width), "\t"));
    if (!prediction.probability.empty()) {
      fmt::format_to(out, "\t{}", fmt::join(std::span(prediction.probability).subspan(i, width), "\t"));
    }
    fmt::format_to(out, "\n");
  }
  return fmt::to_string(text);
}

// One line for people.
std::string ScoresText(const MulticlassScores& scores) {
  const bool is_one = scores.classes_occurring == 1;
  if (scores.hamming_loss && scores.classes_occurring == 0) {
    return fmt::format("hamming loss {:.4g}; no sample has a label of the model\n", *scores.hamming_loss);
  }
  if (scores.hamming_loss) {
    return fmt::format("hamming loss {:.4g}, mean average precision {:.4g}, F1 {:.4g} over {} label{}\n",
                       *scores.hamming_loss, scores.average_precision.value_or(0), scores.f1,
                       scores.classes_occurring, is_one ? "" : "s");
  }
  return fmt::format("accuracy {:.4g}, balanced {:.4g}, F1 {:.4g}, MCC {:.4g} over {} class{}\n",
                     scores.accuracy, scores.balanced_accuracy, scores.f1, scores.mcc,
                     scores.classes_occurring, is_one ? "" : "es");
}

std::string ScoresText(const ClassificationScores& scores) {
  return fmt::format("accuracy {:.4g}, balanced {:.4g}, F1 {:.4g}, MCC {:.4g}{}\n", scores.accuracy,
                     scores.balanced_accuracy, scores.f1, scores.mcc,
                     scores.auc ? fmt::format(", AUC {:.4g}", *scores.auc) : "");
}

void Run(CLI::App& verb, PredictArguments& arguments) {
  if (!arguments.run.config.empty()) ApplyConfig(verb, arguments.run.config);
  if (arguments.model.empty()) throw Error(ErrorKind::kUsage, "predict needs a MODEL file");
  if (arguments.output == "-" && arguments.summary == "-") {
    throw Error(ErrorKind::kUsage, "predictions and summary cannot both go to standard output; give -o FILE");
  }
  const Context context = MakeContext(arguments.run);
  PredictOptions options;
  for (const std::string& text : arguments.grams)
    options.gram_files.push_back(SplitAssignment("gram_files", text));
  std::vector<NamedFile> inputs = InputFiles(arguments.data);
  inputs.push_back({"MODEL", arguments.model});
  inputs.push_back({"--config", arguments.run.config});
  for (const auto& [name, path] : options.gram_files) inputs.push_back({"--gram", path});
  CheckOutputs({{"-o", arguments.output}, {"--summary", arguments.summary}}, inputs);

  const Model model = Model::Load(arguments.model);
  const Dataset data = ReadNewSamples(arguments, model, context);
  if (data.views.empty() && options.gram_files.empty()) {
    throw Error(ErrorKind::kUsage, "predict needs DATA, --view NAME=FILE or --gram NAME=FILE");
  }
  const Prediction prediction = model.Predict(data, context, options);
  if (arguments.needs_probabilities && prediction.probability.empty()) {
    throw Error(ErrorKind::kUsage,
                "--probabilities: the model has none; train it with --probabilities on, or --loss logistic");
  }
  if (arguments.has_ids && data.ids.empty()) {
    throw Error(ErrorKind::kData,
                "--ids: the data has none, expected a column of ids (`id_column` NAME says which)");
  }
  std::string lines = arguments.has_header ? Header(arguments, model, prediction) : "";
  lines += Lines(prediction, model.outputs(), arguments.has_ids ? data.ids : std::vector<std::string>());
  WriteText(arguments.output, lines);
  const bool has_classes = model.task() == Task::kClassify && !data.labels.empty();
  if (arguments.summary.empty() && (arguments.run.is_quiet || !has_classes)) return;
  PredictionSummary summary = ScorePrediction(model, data.labels, prediction, context);
  if (summary.classes && !arguments.run.is_quiet) PrintToStderr(ScoresText(*summary.classes));
  if (summary.scores && has_classes && !arguments.run.is_quiet) PrintToStderr(ScoresText(*summary.scores));
  if (arguments.summary.empty()) return;
  summary.seconds = SecondsSinceStart();
  WriteText(arguments.summary, summary.ToJson() + "\n");
}

}  // namespace

void AddPredict(CLI::App& app) {
  CLI::App& verb = *app.add_subcommand("predict", "apply a model to samples: a line for each");
  const auto arguments = std::make_shared<PredictArguments>();
  verb.add_option("MODEL", arguments->model, "a model that train wrote");
  AddDataOptions(verb, arguments->data);
  verb.add_option(
          "--gram", arguments->grams,
          "NAME=FILE, values of precomputed kernel NAME: a row per new, a column per training sample; of a "
          "joint kernel a row per new sample and class, a column per training sample and class")
      ->allow_extra_args(false);
  AddRunOptions(verb, arguments->run);
  verb.add_option("-o,--output", arguments->output, "file for the predictions (default: standard output)");
  verb.add_option("--summary", arguments->summary,
                  "file for the scores, where there are labels; - for standard output");
  verb.add_flag("--ids", arguments->has_ids, "the id of each sample in front of its line");
  verb.add_flag("--probabilities", arguments->needs_probabilities,
                "fail unless the model has probabilities, which then follow the values");
  verb.add_flag("--header", arguments->has_header, "names of the columns on the first line");
  verb.footer(
      "Predictions have one line per sample, in the order given, and no header but with --header. Columns "
      "between tabs:\n"
      "  two classes     label, f (the second class where f > 0)\n"
      "  more classes    label, a value for each class; inspect MODEL lists them in their order\n"
      "  several labels  labels between their separator, or nothing, then a value for each label\n"
      "  regression      value\n"
      "  one class       1 or -1, f (1, like the samples of training, unless f < 0)\n"
      "Probabilities follow where the model has any: of the second of two classes, else of each class. It "
      "has\n"
      "them if trained with --probabilities on, and with the loss logistic where machines tell one class "
      "from\n"
      "the rest (ovr) or samples have several labels.");
  verb.callback([&verb, arguments] { Run(verb, *arguments); });
}

}  // namespace kweave::app
