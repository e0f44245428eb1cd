// kweave train: reads, trains, writes the model and says how good it is.
//
// Next on the main path: src/train/train.cc.
#include "kweave/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

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

struct TrainArguments {
  DataArguments data;
  RunArguments run;
  TrainOptions options;
  std::string output;
  std::string summary;
  bool accepts_partial = false;
  bool is_dry_run = false;
  bool prints_page = false;
};

// Where a model goes that misses the gap, so that an older one stays; devices hold none.
std::string PartialPath(const TrainArguments& arguments) {
  std::error_code code;
  const bool is_device = std::filesystem::exists(arguments.output, code) &&
                         !std::filesystem::is_regular_file(arguments.output, code);
  return is_device ? arguments.output : arguments.output + ".partial";
}

// What a run may write; nothing when it only forecasts.
std::vector<NamedFile> Outputs(const TrainArguments& arguments) {
  if (arguments.is_dry_run) return {};
  std::vector<NamedFile> outputs = {{"-o", arguments.output}, {"--summary", arguments.summary}};
  if (const std::string partial = PartialPath(arguments);
      !arguments.accepts_partial && partial != arguments.output) {
    outputs.push_back({"-o, of a run that ends early,", partial});
  }
  return outputs;
}

void CheckOutputs(const CLI::App& verb, const TrainArguments& arguments) {
  if (arguments.is_dry_run) return;
  if (arguments.output.empty()) throw Error(ErrorKind::kUsage, "train needs -o MODEL, the file to write");
  if (arguments.output == "-") {
    throw Error(ErrorKind::kUsage, "-o -: a model cannot go to standard output, expected a file");
  }
  std::vector<NamedFile> inputs = InputFiles(arguments.data);
  for (NamedFile& file : FilesOfFlags(verb, TrainOptionRecords())) inputs.push_back(std::move(file));
  inputs.push_back({"--config", arguments.run.config});
  CheckOutputs(Outputs(arguments), inputs);
}

// How training ended, and when.
std::string OutcomeText(const Summary& summary) {
  std::string text =
      fmt::format("{}: {} {:.2g} after {:.3g} s", ToString(summary.status),
                  summary.projected_gradient ? "projected gradient" : "relative duality gap",
                  summary.projected_gradient.value_or(summary.relative_gap), summary.seconds.total);
  const bool has_machines_apart = !summary.machines.empty() && !summary.machines[0].history.empty();
  if (summary.status != Status::kConverged && has_machines_apart) {
    const auto converged = std::ranges::count(summary.machines, Status::kConverged, &MachineReport::status);
    text += fmt::format(", {} of {} machines converged", converged, summary.machines.size());
  }
  return text;
}

// Whether machines have weights of their own, of which the summary tells the means.
bool HasMeanWeights(const Summary& summary) {
  return std::ranges::any_of(summary.machines, [&](const MachineReport& machine) {
    return machine.weights != summary.machines[0].weights;
  });
}

// Of a model that is not at MODEL.
std::string PartialText(const Summary& summary, const TrainArguments& arguments) {
  return fmt::format("{}, expected at most {:.2g}: the model is in {}, not in {} (see --accept-partial)",
                     OutcomeText(summary), arguments.options.gap, PartialPath(arguments), arguments.output);
}

// As the documentation of exit statuses has it.
int StatusOf(Status status, bool accepts_partial) {
  constexpr int kEndedEarly = 5;  // docs/summary.md
  if (status == Status::kConverged || accepts_partial) return 0;
  return status == Status::kInterrupted ? InterruptedStatus() : kEndedEarly;
}

// Of how many samples lack which views; empty where none does.
std::string MissingText(const Summary& summary) {
  std::string text;
  for (const MissingReport& view : summary.missing_views)
    text += fmt::format("{}{} lack view '{}'", text.empty() ? "" : ", ", view.missing, view.view);
  return text.empty() ? "" : fmt::format(", of {} samples {}", summary.samples, text);
}

std::string ResultText(const Summary& summary, const std::string& output) {
  std::string text = OutcomeText(summary);
  const bool has_mean_weights = HasMeanWeights(summary);
  if (has_mean_weights) {
    text += fmt::format(", {} machines ({})", summary.machines.size(),
                        summary.multiclass ? ToString(*summary.multiclass) : "");
  }
  text += fmt::format(", {} support vectors, {} of {} {}{}{}\n", summary.n_support, summary.kernels_active,
                      summary.kernels_total,
                      summary.projected_gradient ? "factors with a width" : "kernels with a weight",
                      has_mean_weights ? " (means over the machines)" : "", MissingText(summary));
  constexpr std::size_t kShown = 10;  // with the lines above them half a screen
  std::vector<const KernelReport*> heaviest;
  for (const KernelReport& kernel : summary.kernels) {
    if (kernel.weight > 0) heaviest.push_back(&kernel);
  }
  std::ranges::stable_sort(heaviest, std::greater{},
                           [](const KernelReport* kernel) { return kernel->weight; });
  for (std::size_t k = 0; k < std::min(heaviest.size(), kShown); ++k) {
    text += fmt::format("{:>10.4g}  {}\n", heaviest[k]->weight, heaviest[k]->name);
  }
  if (heaviest.empty()) text += "no kernel has a weight: every sample gets the same prediction\n";
  if (heaviest.size() > kShown) text += fmt::format("            and {} more\n", heaviest.size() - kShown);
  return text + fmt::format("model written to {}\n", output);
}

// What training chose where it was free to.
std::string ChoicesText(const Summary& summary) {
  std::string text;
  for (const auto& [name, value] : summary.options) {
    if (name == "method" || name == "driver" || name == "solver")
      text += fmt::format(", `{}` {}", name, value);
  }
  return "learned by" + text.substr(std::min<std::size_t>(1, text.size()));
}

// Everyday options stay where --help shows them first; the others follow in groups.
void GroupOptions(CLI::App& verb) {
  constexpr std::string_view kEveryday[] = {"help",       "view",  "labels", "task",    "kernel",
                                            "C",          "norm",  "gap",    "threads", "output",
                                            "time-limit", "quiet", "summary"};
  constexpr std::string_view kData[] = {"label-separator", "label-column",   "id-column",    "join",
                                        "format",          "weights",        "class-weight", "scale",
                                        "confounds",       "feature-groups", "missing-views"};
  constexpr std::string_view kRun[] = {"memory", "config", "verbose", "seed", "accept-partial", "dry-run"};
  for (CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_single_name();
    const auto is_in = [&name](std::span<const std::string_view> names) {
      return std::ranges::find(names, name) != names.end();
    };
    if (option->get_positional() || option->get_group().empty() || is_in(kEveryday)) continue;
    option->group(is_in(kData) ? "Data" : is_in(kRun) ? "Run" : "Learning");
  }
}

void Run(CLI::App& verb, TrainArguments& arguments) {
  if (arguments.prints_page) return Print(OptionsPage());
  if (!arguments.run.config.empty()) ApplyConfig(verb, arguments.run.config);
  const CheckedOptions options(arguments.options);  // before data is read
  Context context = MakeContext(arguments.run);
  ReadOptions read = MakeReadOptions(arguments.data, context);
  read.labels_required = options->task != Task::kOneClass;
  CheckOutputs(verb, arguments);

  std::string account;
  const Dataset data = ReadDataset(read, account);
  const double read_seconds = SecondsSinceStart();
  CheckOutputs(Outputs(arguments), data, *options);
  // Beside the result, so that on standard error an error stands alone.
  if (!arguments.run.is_quiet && arguments.summary != "-") Tell(account + "\n");
  if (arguments.is_dry_run) return Print(ForecastTraining(data, options, context).ToText());
  CatchInterrupts();

  ProgressLine line(!arguments.run.is_quiet);
  context.stop_requested = IsInterrupted;
  context.progress = [&](const Progress& progress) { line.Show(progress); };
  context.log = [&line, log = context.log](LogLevel level, std::string_view message) {
    line.Clear();
    log(level, message);
  };
  if (context.time_limit_seconds > 0) {
    context.time_limit_seconds = std::max(context.time_limit_seconds - read_seconds, 1e-3);
  }
  AnswerInterrupts("kweave: stopping, certifying the best model so far; a second signal ends at once\n");
  const Model model = Train(data, options, context);
  AnswerInterrupts(nullptr);
  line.Clear();
  Summary summary = model.summary();
  context.log(LogLevel::kDetail, ChoicesText(summary));
  const int status = StatusOf(summary.status, arguments.accepts_partial);
  const std::string output = status == 0 ? arguments.output : PartialPath(arguments);
  model.Save(output);

  summary.seconds.read = read_seconds;
  summary.seconds.total = SecondsSinceStart();
  if (!arguments.summary.empty()) WriteText(arguments.summary, summary.ToJson() + "\n");
  if (status != 0) {
    context.log(LogLevel::kWarning, PartialText(summary, arguments));
  } else if (arguments.run.is_quiet && summary.status != Status::kConverged) {
    context.log(LogLevel::kWarning, OutcomeText(summary));
  }
  if (!arguments.run.is_quiet && arguments.summary != "-") Tell(ResultText(summary, output));
  if (status != 0) throw ExitStatus{status};
}

}  // namespace

void AddTrain(CLI::App& app) {
  CLI::App& verb = *app.add_subcommand("train", "learn a model from samples");
  const auto arguments = std::make_shared<TrainArguments>();
  AddDataOptions(verb, arguments->data);
  AddFlags(verb, TrainOptionRecords(), arguments->options);
  verb.get_option("--block-norm")->excludes("--norm");
  AddKernelHelp(verb);
  AddRunOptions(verb, arguments->run);
  AddSeed(verb, arguments->run.context);
  AddNumber(
      verb, "time_limit", 0.0, {.least = 0},
      [arguments](const OptionValue& value) {
        arguments->run.context.time_limit_seconds = std::get<double>(value);
      },
      "seconds after which to stop (default: none)");
  verb.add_option("-o,--output", arguments->output,
                  "the model file to write; MODEL.partial where the gap was not reached");
  verb.add_flag("--accept-partial", arguments->accepts_partial,
                "write a model that misses the gap to MODEL, too, with exit status 0");
  verb.add_option("--summary", arguments->summary,
                  "file for the machine-readable result; - for standard output");
  verb.add_flag("--dry-run", arguments->is_dry_run, "forecast memory and work, and train nothing");
  verb.add_flag("--options-page", arguments->prints_page)->group("");  // hidden: for the documentation
  GroupOptions(verb);
  verb.callback([&verb, arguments] { Run(verb, *arguments); });
}

}  // namespace kweave::app
