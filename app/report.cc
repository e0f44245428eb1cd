// kweave report: a page about a model or a selection, for people.
#include "kweave/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "kweave/error.h"
#include "kweave/train.h"
#include "option_flags.h"
#include "shared.h"
#include "terminal.h"
#include "verbs.h"

namespace kweave::app {
namespace {

struct ReportArguments {
  std::string model;
  DataArguments data;
  RunArguments run;
  std::vector<std::string> grams;  ///< NAME=FILE
  std::string output;
  std::string title;
};

// As a shell takes it for one word.
std::string Quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%_-+=:,./";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// The flags that give an option its value.
std::string FlagsOf(const std::string& flag, const OptionValue& value) {
  const auto write = [&flag]<class T>(const T& held) -> std::string {
    const auto one = [&flag](const std::string& word) { return " " + flag + " " + Quoted(word); };
    if constexpr (std::is_same_v<T, std::string>) {
      return one(held);
    } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, long>) {
      return one(fmt::format("{}", held));
    } else if constexpr (std::is_same_v<T, bool>) {
      return one(held ? "true" : "false");
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      std::string text;
      for (const std::string& word : held) text += one(word);
      return text;
    } else if constexpr (std::is_same_v<T, NamedNumbers>) {
      std::string text;
      for (const auto& [name, number] : held) text += one(fmt::format("{}={}", name, number));
      return text;
    } else if constexpr (std::is_same_v<T, NamedIntervals>) {
      std::string text;
      for (const auto& [name, ends] : held)
        text += one(fmt::format("{}={}..{}", name, ends.first, ends.second));
      return text;
    } else {
      return one("FILE");  // values for every sample
    }
  };
  return std::visit(write, value);
}

// The command that trains the model again. Files have no names in a model, so FILE stands for them.
std::string TrainCommand(const Model& model) {
  std::string text = "kweave train";
  const TrainOptions options = GivenOptions(model.summary());
  std::string specs;
  for (const std::string& spec : options.kernels) specs += spec + "\n";
  std::vector<std::string> views;
  for (const SourceReport& source : model.summary().sources) {
    // Files of kernel values are named by the kernels.
    const bool is_file = specs.find("file=" + source.name) != std::string::npos;
    if (!is_file) views.push_back(source.name);
  }
  if (views.size() == 1 && views.front() == "data") {
    text += " DATA";
  } else {
    for (const std::string& name : views) text += " --view " + Quoted(name) + "=FILE";
  }
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) {
    if (const OptionValue value = record.get(options); value != record.fallback)
      text += FlagsOf(record.FlagText(), value);
  }
  return text + " -o MODEL";
}

// The command that selects again, as far as the model and the grid tell it.
std::string SelectCommand(const Selection& found) {
  if (!found.model) return {};
  std::string text = TrainCommand(*found.model);
  text = "kweave select" + text.substr(std::string_view("kweave train").size());
  return text.substr(0, text.rfind(" -o MODEL")) + " -o SELECTION";
}

void ReportSelection(const ReportArguments& arguments) {
  if (!arguments.data.data.empty() || !arguments.data.views.empty() || !arguments.grams.empty())
    throw Error(ErrorKind::kUsage,
                "the page about a selection takes no DATA; report MODEL DATA scores its model");
  const Selection found = LoadSelection(arguments.model);
  if (found.points.empty() || !found.chosen)
    throw Error(ErrorKind::kData, fmt::format("{}: nothing was chosen yet", arguments.model));
  const ReportOptions options{
      .title = arguments.title, .reproduce = SelectCommand(found), .data_name = "", .predict = {}};
  WriteText(arguments.output, SelectionReport(found, options));
}

void Run(const ReportArguments& arguments) {
  if (arguments.model.empty()) throw Error(ErrorKind::kUsage, "report needs a MODEL file, or a SELECTION");
  if (arguments.output.empty()) throw Error(ErrorKind::kUsage, "report needs -o PAGE.html");
  std::error_code code;
  if (std::filesystem::is_directory(arguments.model, code)) return ReportSelection(arguments);
  const Context context = MakeContext(arguments.run);
  ReportOptions options{.title = arguments.title, .reproduce = "", .data_name = "", .predict = {}};
  for (const std::string& text : arguments.grams)
    options.predict.gram_files.push_back(SplitAssignment("gram_files", text));
  std::vector<NamedFile> inputs = InputFiles(arguments.data);
  inputs.push_back({"MODEL", arguments.model});
  for (const auto& [name, path] : options.predict.gram_files) inputs.push_back({"--gram", path});
  CheckOutputs({{"-o", arguments.output}}, inputs);
  const Model model = Model::Load(arguments.model);
  options.reproduce = TrainCommand(model);
  ReadOptions read = MakeReadOptions(arguments.data, context);
  read.labels_required = false;
  model.ExpectViews(read);
  std::optional<Dataset> data;
  if (!read.views.empty() || !read.labels_path.empty()) data = ReadDataset(read);
  if (!options.predict.gram_files.empty() && !data) data.emplace();
  WriteText(arguments.output, ModelReport(model, data ? &*data : nullptr, options, context));
}

}  // namespace

void AddReport(CLI::App& app) {
  CLI::App& verb = *app.add_subcommand(
      "report", "a page about a model or a selection: what mattered, and how sure that is");
  const auto arguments = std::make_shared<ReportArguments>();
  verb.add_option("MODEL", arguments->model, "a model that train wrote, or the folder of a selection");
  AddDataOptions(verb, arguments->data);
  verb.add_option("--gram", arguments->grams,
                  "NAME=FILE, values of precomputed kernel NAME, as predict takes them")
      ->allow_extra_args(false);
  verb.add_option("-o,--output", arguments->output, "the page, one HTML file; - for standard output");
  verb.add_option("--title", arguments->title, "heading of the page (default: Kweave report)");
  AddRunOptions(verb, arguments->run);
  verb.footer(
      "DATA, samples that the model was not trained on, adds scores, contributions of the sources and "
      "alignments "
      "of the kernels.");
  verb.callback([arguments] { Run(*arguments); });
}

}  // namespace kweave::app
