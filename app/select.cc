// kweave select: chooses options of training by cross-validation, and trains the point chosen.
#include "kweave/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "config.h"
#include "kweave/error.h"
#include "kweave/readers.h"
#include "option_flags.h"
#include "progress.h"
#include "shared.h"
#include "terminal.h"
#include "verbs.h"

namespace kweave::app {
namespace {

struct SelectArguments {
  DataArguments data;
  RunArguments run;
  SelectRequest request;
  std::vector<std::string> kernel_sets;  ///< SPEC; SPEC; ...
  std::string folds_path, groups_path;
  std::string summary;
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> pieces;
  std::istringstream stream(text);
  for (std::string piece; std::getline(stream, piece, separator);) {
    const std::size_t begin = piece.find_first_not_of(" \t");
    const std::size_t end = piece.find_last_not_of(" \t\r");
    pieces.push_back(begin == std::string::npos ? "" : piece.substr(begin, end - begin + 1));
  }
  return pieces;
}

// What a grid may span: numbers and choices of the problem, not how precisely or by what it is solved.
bool CanVary(const OptionRecord<TrainOptions>& record) {
  static const std::set<std::string_view> kOfRun = {"task",           "gap",          "weights_tolerance",
                                                    "max_iterations", "restarts",     "method",
                                                    "certificate",    "driver",       "solver",
                                                    "device",         "device_memory"};
  if (kOfRun.contains(record.name) || record.is_list) return false;
  const bool is_choice = std::holds_alternative<std::string>(record.fallback) && record.choices != nullptr;
  return is_choice || std::holds_alternative<double>(record.fallback) ||
         std::holds_alternative<long>(record.fallback) || std::holds_alternative<bool>(record.fallback);
}

// One value is set; several are an axis.
void SetOrSpan(const OptionRecord<TrainOptions>& record, std::vector<OptionValue> values,
               SelectRequest& request) {
  if (values.size() == 1) return record.set(request.train, values[0]);
  for (const OptionValue& value : values) record.CheckValue(value);
  std::erase_if(request.grid, [&](const GridAxis& axis) { return axis.option == record.name; });
  request.grid.push_back({std::string(record.name), std::move(values)});
}

// A flag whose values, separated by commas, span the grid.
void AddGridFlag(CLI::App& verb, const OptionRecord<TrainOptions>& record, SelectRequest& request) {
  const std::string help =
      WithFlags(record.Meaning() + " (" + record.AllowedText() +
                "; several between commas: each is tried; default: " + record.DefaultText() + ")");
  verb.add_option_function<std::string>(
      record.FlagText(),
      [&record, &request](const std::string& text) {
        std::vector<OptionValue> values;
        for (const std::string& piece : Split(text, ','))
          values.push_back(ParseOption(record.name, {piece}, record.fallback, record.range));
        if (values.empty()) ParseOption(record.name, {""}, record.fallback, record.range);
        SetOrSpan(record, std::move(values), request);
      },
      help);
}

// Normalisers are lists themselves: every flag is one of them.
void AddNormalizeFlag(CLI::App& verb, const OptionRecord<TrainOptions>& record, SelectRequest& request) {
  verb.add_option_function<std::vector<std::string>>(
          record.FlagText(),
          [&record, &request](const std::vector<std::string>& texts) {
            std::vector<OptionValue> values(texts.begin(), texts.end());
            SetOrSpan(record, std::move(values), request);
          },
          WithFlags(record.Meaning() + " (" + record.AllowedText() +
                    "; given several times: each is tried; default: " + record.DefaultText() + ")"))
      ->allow_extra_args(false);
}

void AddTrainFlags(CLI::App& verb, SelectRequest& request) {
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) {
    if (CanVary(record)) {
      AddGridFlag(verb, record, request);
    } else if (record.name == "normalize") {
      AddNormalizeFlag(verb, record, request);
    } else {
      AddFlag(verb, record, request.train);
    }
  }
}

void AddKernelSets(const std::vector<std::string>& sets, SelectRequest& request) {
  if (sets.empty()) return;
  if (!request.train.kernels.empty())
    throw Error(ErrorKind::kUsage, "--kernel and --kernel-set exclude each other: put all kernels into sets");
  GridAxis axis{"kernels", {}};
  for (const std::string& text : sets) {
    std::vector<std::string> specs = Split(text, ';');
    std::erase(specs, "");
    if (specs.empty()) throw Error(ErrorKind::kUsage, "--kernel-set is empty, expected SPEC;SPEC;...");
    axis.values.emplace_back(std::move(specs));
  }
  if (axis.values.size() == 1) {
    request.train.kernels = std::get<std::vector<std::string>>(axis.values[0]);
  } else {
    request.grid.push_back(std::move(axis));
  }
}

// A word for every sample: a line for each in their order, or an id and a word for each in any order.
std::vector<std::string> ReadWords(const std::string& path, const Dataset& data) {
  std::vector<std::string> words;
  std::map<std::string, std::string> by_id;
  std::istringstream file(ReadText(path, ErrorKind::kData));
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> pieces = Split(line, line.find('\t') != std::string::npos ? '\t' : ',');
    if (pieces.empty() || pieces.size() > 2 || pieces.back().empty()) {
      throw Error(ErrorKind::kData, fmt::format("{}: line {}: '{}', expected a word, or an id and a word",
                                                path, words.size() + 1, line));
    }
    words.push_back(pieces.back());
    if (pieces.size() == 2 && !by_id.emplace(pieces[0], pieces[1]).second)
      throw Error(ErrorKind::kData, fmt::format("{}: id '{}' is there twice", path, pieces[0]));
  }
  if (by_id.empty()) {
    if (std::ssize(words) == data.size) return words;
    throw Error(ErrorKind::kData, fmt::format("{}: {} lines for {} samples", path, words.size(), data.size));
  }
  if (data.ids.empty() || by_id.size() != words.size())
    throw Error(ErrorKind::kData, fmt::format("{}: ids, but the {} none", path,
                                              data.ids.empty() ? "data has" : "other lines have"));
  std::vector<std::string> joined;
  for (const std::string& id : data.ids) {
    const auto at = by_id.find(id);
    if (at == by_id.end())
      throw Error(ErrorKind::kData, fmt::format("{}: there is no line for id '{}'", path, id));
    joined.push_back(at->second);
  }
  return joined;
}

// A fold for every word, in the order of the numbers or words; `-` is always trained on.
std::vector<Fold> FoldsOf(const std::vector<std::string>& words, const std::string& path) {
  const auto comes_first = [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  };
  std::set<std::string, decltype(comes_first)> names(comes_first);
  for (const std::string& word : words) {
    if (word != "-") names.insert(word);
  }
  if (names.size() < 2)
    throw Error(ErrorKind::kData, fmt::format("{}: {} fold, expected two or more", path, names.size()));
  std::vector<Fold> folds;
  for (const std::string& name : names) {
    Fold fold;
    for (std::size_t i = 0; i < words.size(); ++i)
      (words[i] == name ? fold.test : fold.train).push_back(static_cast<Index>(i));
    folds.push_back(std::move(fold));
  }
  return folds;
}

void CheckArguments(const CLI::App& verb, const SelectArguments& arguments) {
  if (arguments.request.folder.empty())
    throw Error(ErrorKind::kUsage, "select needs -o SELECTION, the folder to write");
  std::vector<NamedFile> inputs = InputFiles(arguments.data);
  for (NamedFile& file : FilesOfFlags(verb, TrainOptionRecords())) inputs.push_back(std::move(file));
  for (const auto& [option, path] :
       {std::pair("--config", arguments.run.config), std::pair("--folds-file", arguments.folds_path),
        std::pair("--groups-file", arguments.groups_path)}) {
    inputs.push_back({option, path});
  }
  CheckOutputs({{"--summary", arguments.summary}}, inputs);
}

// Says where a run stands that did not come to its end, and ends the program.
[[noreturn]] void EndEarly(const Selection& found, const SelectArguments& arguments) {
  constexpr int kEndedEarly = 5;  // docs/summary.md
  PrintToStderr(
      fmt::format("kweave: stopped: {} of {} points are finished and kept in {}; the same command goes on\n",
                  found.done, found.total, Escaped(arguments.request.folder)));
  throw ExitStatus{found.status == Status::kInterrupted ? InterruptedStatus() : kEndedEarly};
}

void Report(const Selection& found, const SelectArguments& arguments) {
  const SelectRequest& request = arguments.request;
  if (request.options.fold > 0) {
    if (!arguments.run.is_quiet) {
      Tell(fmt::format("fold {}: finished; {} of {} points are in {}\n", request.options.fold, found.done,
                       found.total, request.folder));
    }
    return;
  }
  if (!arguments.summary.empty()) WriteText(arguments.summary, found.ToJson() + "\n");
  if (arguments.run.is_quiet || arguments.summary == "-") return;
  Tell(WithFlags(found.ToText()));
  Tell(fmt::format("written to {0}: model.kweave, scores.tsv, selection.json\n", request.folder));
}

void Run(CLI::App& verb, SelectArguments& arguments) {
  if (!arguments.run.config.empty()) ApplyConfig(verb, arguments.run.config);
  SelectRequest& request = arguments.request;
  AddKernelSets(arguments.kernel_sets, request);
  Context context = MakeContext(arguments.run);
  CheckArguments(verb, arguments);
  std::string account;
  const Dataset data = ReadDataset(MakeReadOptions(arguments.data, context), account);
  if (!arguments.run.is_quiet && arguments.summary != "-") Tell(account + "\n");
  if (!arguments.folds_path.empty())
    request.given_folds = FoldsOf(ReadWords(arguments.folds_path, data), arguments.folds_path);
  if (!arguments.groups_path.empty()) request.groups = ReadWords(arguments.groups_path, data);
  CatchInterrupts();

  ProgressLine line(!arguments.run.is_quiet);
  context.stop_requested = IsInterrupted;
  context.progress = [&](const Progress& progress) { line.Show(progress); };
  context.log = [&line, log = context.log](LogLevel level, std::string_view message) {
    line.Clear();
    log(level, message);
  };
  AnswerInterrupts("kweave: stopping; finished points are kept\n");
  const Selection found = Select(data, request, context);
  AnswerInterrupts(nullptr);
  line.Clear();
  if (found.status != Status::kConverged) EndEarly(found, arguments);
  Report(found, arguments);
  if (found.model && found.model->summary().status != Status::kConverged) {
    context.log(LogLevel::kWarning, fmt::format("the model has a gap of {:.2g}, expected at most {:.2g}",
                                                found.model->summary().relative_gap, request.train.gap));
    throw ExitStatus{5};
  }
}

}  // namespace

void AddSelect(CLI::App& app) {
  CLI::App& verb = *app.add_subcommand("select", "choose C, norm, kernels and more by cross-validation");
  const auto arguments = std::make_shared<SelectArguments>();
  AddDataOptions(verb, arguments->data);
  AddTrainFlags(verb, arguments->request);
  verb.get_option("--block-norm")->excludes("--norm");
  verb.add_option("--kernel-set", arguments->kernel_sets,
                  "SPEC;SPEC;..., a set of kernels to try; may be given several times")
      ->allow_extra_args(false);
  AddFlags(verb, SelectOptionRecords(), arguments->request.options);
  verb.add_option(
      "--folds-file", arguments->folds_path,
      "a line for every sample with the fold it is tested in, or its id and that fold; - for none");
  verb.add_option(
      "--groups-file", arguments->groups_path,
      "a line for every sample with its group, or its id and that: no group is trained on and tested");
  verb.add_option("--merge", arguments->request.merge,
                  "a folder of the same selection whose finished points count; may be given several times")
      ->allow_extra_args(false);
  AddKernelHelp(verb);
  AddRunOptions(verb, arguments->run);
  AddSeed(verb, arguments->run.context);
  AddNumber(
      verb, "time_limit", 0.0, {.least = 0},
      [arguments](const OptionValue& value) {
        arguments->run.context.time_limit_seconds = std::get<double>(value);
      },
      "seconds after which to stop; the same command goes on (default: none)");
  verb.add_option(
      "-o,--output", arguments->request.folder,
      "the folder for finished points, scores and the model; a run that was stopped goes on from there");
  verb.add_option("--summary", arguments->summary,
                  "file for the machine-readable result; - for standard output");
  verb.callback([&verb, arguments] { Run(verb, *arguments); });
}

}  // namespace kweave::app
