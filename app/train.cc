// kweave train: reads, trains, writes the model and says how good it is.
//
// Next on the main path: src/train/train.cc.
#include "kweave/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <memory>

#include "config.h"
#include "kweave/error.h"
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
  std::vector<std::string> class_weights;  ///< LABEL=FACTOR
  std::vector<std::string> weight_bounds;  ///< KERNEL=LOWER..UPPER
  std::vector<std::string> class_C;        ///< LABEL=C
  std::vector<std::string> class_norm;     ///< LABEL=P
  std::string weights_path;
  std::string output;
  std::string summary;
  bool is_dry_run = false;
  bool prints_page = false;
};

double ParseFactor(std::string_view text, const std::string& place) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: '{}' is not a number", place, text));
  }
  return value;
}

// KERNEL=LOWER..UPPER, either end may be empty. Names of kernels hold equals signs, too.
std::pair<std::string, std::pair<double, double>> ParseBounds(const std::string& text) {
  const std::size_t equals = text.rfind('='),
                    dots = text.find("..", equals == std::string::npos ? 0 : equals);
  if (equals == std::string::npos || equals == 0 || dots == std::string::npos) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--weight-bounds {}: expected KERNEL=LOWER..UPPER, such as 2=0.1..0.5", text));
  }
  const std::string_view whole = text;
  const std::string_view lower = whole.substr(equals + 1, dots - equals - 1), upper = whole.substr(dots + 2);
  const std::string place = "--weight-bounds " + text;
  return {text.substr(0, equals),
          {lower.empty() ? 0 : ParseFactor(lower, place),
           upper.empty() ? std::numeric_limits<double>::infinity() : ParseFactor(upper, place)}};
}

std::vector<double> ReadWeights(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::kData, fmt::format("{}: cannot be read", path));
  std::vector<double> weights;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    double value = 0;
    const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (code != std::errc() || end != line.data() + line.size()) {
      throw Error(ErrorKind::kData,
                  fmt::format("{}: line {}: '{}' is not a number", path, weights.size() + 1, line));
    }
    weights.push_back(value);
  }
  return weights;
}

TrainOptions MakeOptions(const TrainArguments& arguments) {
  TrainOptions options = arguments.options;
  for (const auto& [label, factor] : SplitAssignments("--class-weight", arguments.class_weights)) {
    options.class_weights.emplace_back(label, ParseFactor(factor, "--class-weight " + label + "=" + factor));
  }
  for (const std::string& text : arguments.weight_bounds) options.weight_bounds.push_back(ParseBounds(text));
  for (const auto& [label, C] : SplitAssignments("--class-C", arguments.class_C)) {
    options.class_C.emplace_back(label, ParseFactor(C, "--class-C " + label + "=" + C));
  }
  for (const auto& [label, norm] : SplitAssignments("--class-norm", arguments.class_norm)) {
    options.class_norm.emplace_back(
        label, ParseFactor(EvaluateFraction(norm), "--class-norm " + label + "=" + norm));
  }
  if (!arguments.weights_path.empty()) options.sample_weights = ReadWeights(arguments.weights_path);
  Validate(options);
  return options;
}

void CheckOutputs(const TrainArguments& arguments) {
  if (arguments.is_dry_run) return;
  if (arguments.output.empty()) throw Error(ErrorKind::kUsage, "train needs -o MODEL, the file to write");
  if (arguments.output == "-") {
    throw Error(ErrorKind::kUsage, "-o -: a model cannot go to standard output, expected a file");
  }
  std::vector<NamedFile> inputs = InputFiles(arguments.data);
  const TrainOptions& options = arguments.options;
  for (const auto& files :
       {FilesNamedIn("--kernel", options.kernels), FilesNamedIn("--class-kernel", options.class_kernels)}) {
    inputs.insert(inputs.end(), files.begin(), files.end());
  }
  inputs.push_back({"--matrix", options.matrix});
  inputs.push_back({"--weights", arguments.weights_path});
  inputs.push_back({"--config", arguments.run.config});
  CheckOutputs({{"-o", arguments.output}, {"--summary", arguments.summary}}, inputs);
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

std::string ResultText(const Summary& summary, const std::string& output) {
  std::string text = OutcomeText(summary);
  const bool has_mean_weights = HasMeanWeights(summary);
  if (has_mean_weights) {
    text += fmt::format(", {} machines ({})", summary.machines.size(), summary.multiclass);
  }
  text += fmt::format(", {} support vectors, {} of {} {}{}\n", summary.n_support, summary.kernels_active,
                      summary.kernels_total,
                      summary.projected_gradient ? "factors with a width" : "kernels with a weight",
                      has_mean_weights ? " (means over the machines)" : "");
  constexpr std::size_t kShown = 10;
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

// docs/options.md, from the same records as --help and the validation.
std::string OptionsPage() {
  std::string page =
      "# Options of training\n\nPrinted by `kweave train --options-page`; a test compares.\n\n"
      "| option | meaning | allowed | default |\n| --- | --- | --- | --- |\n";
  for (const OptionRecord& record : TrainOptionRecords()) {
    page += fmt::format("| `{}{}` | {} | {} | {} |\n", record.name.size() == 1 ? "-" : "--", record.name,
                        record.sentence, record.range, record.fallback);
  }
  return page;
}

void Run(CLI::App& verb, TrainArguments& arguments) {
  if (arguments.prints_page) return Print(OptionsPage());
  if (!arguments.run.config.empty()) ApplyConfig(verb, arguments.run.config);
  const TrainOptions options = MakeOptions(arguments);
  Context context = MakeContext(arguments.run);
  ReadOptions read = MakeReadOptions(arguments.data, context);
  read.labels_required = options.task != "oneclass";
  CheckOutputs(arguments);

  CatchInterrupts();
  const Dataset data = ReadDataset(read);
  const double read_seconds = SecondsSinceStart();
  if (arguments.is_dry_run) return Print(ForecastTraining(data, options, context).ToText());
  ThrowIfInterrupted();

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
  const Model model = Train(data, options, context);
  line.Clear();
  model.Save(arguments.output);

  Summary summary = model.summary();
  summary.seconds.read = read_seconds;
  summary.seconds.total = SecondsSinceStart();
  if (!arguments.summary.empty()) WriteText(arguments.summary, summary.ToJson() + "\n");
  if (arguments.run.is_quiet && summary.status != Status::kConverged) {
    context.log(LogLevel::kWarning, OutcomeText(summary));
  }
  if (!arguments.run.is_quiet && arguments.summary != "-") Tell(ResultText(summary, arguments.output));
}

}  // namespace

void AddTrain(CLI::App& app) {
  CLI::App& verb = *app.add_subcommand("train", "learn a model from samples");
  const auto arguments = std::make_shared<TrainArguments>();
  AddDataOptions(verb, arguments->data);
  TrainOptions& options = arguments->options;
  AddKernelOptions(verb, options);
  verb.add_option("--task", options.task, OptionHelp("task"));
  verb.add_option("--loss", options.loss, OptionHelp("loss"));
  verb.add_option("-C", options.C, OptionHelp("C"));
  verb.add_option("--epsilon", options.epsilon, OptionHelp("epsilon"));
  verb.add_option("--nu", options.nu, OptionHelp("nu"));
  verb.add_option("--sharpness", options.sharpness, OptionHelp("sharpness"));
  verb.add_option("--bias", options.bias, OptionHelp("bias"));
  CLI::Option* norm =
      verb.add_option("--norm", options.norm, OptionHelp("norm"))->transform(EvaluateFraction);
  verb.add_option("--block-norm", options.block_norm, OptionHelp("block-norm"))
      ->transform(EvaluateFraction)
      ->excludes(norm);
  verb.add_option("--regularizer", options.regularizer, OptionHelp("regularizer"));
  verb.add_option("--penalty", options.penalty, OptionHelp("penalty"))->check(CLI::PositiveNumber);
  verb.add_option("--weight-bounds", arguments->weight_bounds, OptionHelp("weight-bounds"))
      ->allow_extra_args(false);
  verb.add_option("--groups", options.groups, OptionHelp("groups"));
  verb.add_option("--inner-norm", options.inner_norm, OptionHelp("inner-norm"))->transform(EvaluateFraction);
  verb.add_option("--matrix", options.matrix, OptionHelp("matrix"));
  verb.add_option("--matrix-on", options.matrix_on, OptionHelp("matrix-on"));
  verb.add_option("--ridge", options.ridge, OptionHelp("ridge"));
  verb.add_option("--elastic", options.elastic, OptionHelp("elastic"));
  verb.add_option("--multiclass", options.multiclass, OptionHelp("multiclass"));
  verb.add_option("--machine-weights", options.machine_weights, OptionHelp("machine-weights"));
  verb.add_option("--class-kernel", options.class_kernels, OptionHelp("class-kernel"))
      ->allow_extra_args(false);
  verb.add_option("--combine", options.combine, OptionHelp("combine"));
  verb.add_option("--restarts", options.restarts, OptionHelp("restarts"));
  verb.add_option("--method", options.method, OptionHelp("method"));
  verb.add_option("--driver", options.driver, OptionHelp("driver"));
  verb.add_option("--solver", options.solver, OptionHelp("solver"));
  verb.add_option("--gap", options.gap, OptionHelp("gap"));
  verb.add_option("--certificate", options.certificate, OptionHelp("certificate"));
  verb.add_option("--max-iterations", options.max_iterations, OptionHelp("max-iterations"));
  verb.add_option("--class-weight", arguments->class_weights, OptionHelp("class-weight"))
      ->allow_extra_args(false)
      ->delimiter(',');
  verb.add_option("--class-C", arguments->class_C, OptionHelp("class-C"))
      ->allow_extra_args(false)
      ->delimiter(',');
  verb.add_option("--class-norm", arguments->class_norm, OptionHelp("class-norm"))
      ->allow_extra_args(false)
      ->delimiter(',');
  verb.add_option("--weights", arguments->weights_path, OptionHelp("weights"));
  AddRunOptions(verb, arguments->run);
  verb.add_option("--seed", arguments->run.context.seed, "seed of everything random (default: 0)");
  verb.add_option("--time-limit", arguments->run.context.time_limit_seconds,
                  "seconds after which to stop (default: none)")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("-o,--output", arguments->output, "the model file to write");
  verb.add_option("--summary", arguments->summary,
                  "file for the machine-readable result; - for standard output");
  verb.add_flag("--dry-run", arguments->is_dry_run, "forecast memory and work, and train nothing");
  verb.add_flag("--options-page", arguments->prints_page)->group("");  // hidden: for the documentation
  verb.callback([&verb, arguments] { Run(verb, *arguments); });
}

}  // namespace kweave::app
