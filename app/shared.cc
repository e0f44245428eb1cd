#include "shared.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "kweave/error.h"
#include "kweave/kernels.h"
#include "kweave/output_file.h"
#include "kweave/readers.h"
#include "kweave/train.h"
#include "option_flags.h"
#include "terminal.h"

namespace kweave::app {

void AddDataOptions(CLI::App& verb, DataArguments& arguments) {
  verb.add_option("DATA", arguments.data, "file with samples: view 'data'");
  verb.add_option("--view", arguments.views,
                  "NAME=FILE, a further view of the same samples; may be given several times")
      ->allow_extra_args(false);
  AddFlags(verb, ReadOptionRecords(), arguments.read);
}

ReadOptions MakeReadOptions(const DataArguments& arguments, const Context& context) {
  ReadOptions options = arguments.read;
  options.log = context.log;
  if (!arguments.data.empty()) options.views.push_back({"data", arguments.data});
  for (const std::string& text : arguments.views) {
    const auto [name, path] = SplitAssignment("view", text);
    if (std::ranges::find(options.views, name, &ViewSource::name) != options.views.end()) {
      throw Error(ErrorKind::kUsage, fmt::format("view '{}' is given twice", name));
    }
    options.views.push_back({name, path});
  }
  return options;
}

std::vector<NamedFile> InputFiles(const DataArguments& arguments) {
  std::vector<NamedFile> files = {{"DATA", arguments.data},
                                  {"--labels", arguments.read.labels_path},
                                  {"--confounds", arguments.read.confounds_path}};
  for (const std::string& view : arguments.views)
    files.push_back({"--view", SplitAssignment("view", view).second});
  return files;
}

namespace {

// Devices and pipes may be given twice.
bool IsSameFile(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == "-" || b == "-") return false;
  std::error_code code;
  if (std::filesystem::exists(a, code) && std::filesystem::exists(b, code)) {
    return std::filesystem::is_regular_file(a, code) && std::filesystem::equivalent(a, b, code);
  }
  const auto place = [&code](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(FinalPath(path), code), code);
  };
  return place(a) == place(b);
}

}  // namespace

void CheckOutputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto& [option, path] = outputs[k];
    if (path.empty()) continue;
    for (const NamedFile& input : inputs) {
      if (IsSameFile(path, input.path)) {
        throw Error(ErrorKind::kUsage, fmt::format("{} {} would overwrite the input {} {}", option, path,
                                                   input.option, input.path));
      }
    }
    for (std::size_t other = 0; other < k; ++other) {
      if (IsSameFile(path, outputs[other].path)) {
        throw Error(ErrorKind::kUsage,
                    fmt::format("{} and {} are the same file, {}", outputs[other].option, option, path));
      }
    }
    CheckWritable(path);
  }
}

void CheckOutputs(const std::vector<NamedFile>& outputs, const Dataset& data, const TrainOptions& options) {
  std::vector<NamedFile> inputs;
  for (const auto& [option, file] : FilesOfOptions(data, options))
    inputs.push_back({WithFlags("`" + option + "`"), file});
  CheckOutputs(outputs, inputs);
}

void AddRunOptions(CLI::App& verb, RunArguments& arguments) {
  Context& context = arguments.context;
  constexpr double kMostThreads = 4096;  // more than any machine has; a slip would start them all
  AddNumber(
      verb, "threads", 0L, {.least = 1, .most = kMostThreads},
      [&context](const OptionValue& value) { context.threads = static_cast<int>(std::get<long>(value)); },
      "threads to use (default: all cores the process may use)");
  verb.add_option_function<std::string>(
      "--memory", [&context](const std::string& text) { context.memory_bytes = ParseSize(text); },
      "memory for training beside the data, such as 2G; caches get what is left of it (default: "
      "half of what is free)");
  verb.add_option("--config", arguments.config, "take these options from a TOML file; flags win");
  verb.add_flag("-q,--quiet", arguments.is_quiet, "print errors only");
  verb.add_flag("-v,--verbose", arguments.is_verbose, "say what was decided, and why");
}

Context MakeContext(const RunArguments& arguments) {
  Context context = arguments.context;
  context.log = [quiet = arguments.is_quiet, verbose = arguments.is_verbose](LogLevel level,
                                                                             std::string_view message) {
    if (level == LogLevel::kDetail ? !verbose : quiet && level == LogLevel::kNote) return;
    PrintToStderr(fmt::format("kweave: {}{}\n", level == LogLevel::kWarning ? "warning: " : "",
                              Escaped(WithFlags(message))));
  };
  return context;
}

void AddSeed(CLI::App& verb, Context& context) {
  AddNumber(
      verb, "seed", 0L, {.least = 0},
      [&context](const OptionValue& value) {
        context.seed = static_cast<std::uint64_t>(std::get<long>(value));
      },
      "seed of everything random (default: 0)");
}

void AddKernelHelp(CLI::App& verb) {
  verb.footer(
      "Kernels:\n" + KernelHelp() +
      "\nA list or range makes several kernels: rbf(gamma=[0.1,1,10]), poly(degree=1..3). SPEC@view works on "
      "one\n"
      "view, each(SPEC) on single features; k1*k2, k1+k2 and mean(k1,k2) build one kernel from others.");
}

std::pair<std::string, std::string> SplitAssignment(std::string_view option, const std::string& text) {
  // Kernel names hold '=' themselves; values do not.
  const std::size_t middle = text.rfind('=');
  if (middle == std::string::npos || middle == 0 || middle + 1 == text.size()) {
    throw Error(ErrorKind::kUsage, fmt::format("`{}` '{}', expected NAME=VALUE", option, text),
                {std::string(option), text, "NAME=VALUE"});
  }
  return {text.substr(0, middle), text.substr(middle + 1)};
}

std::vector<std::pair<std::string, std::string>> SplitAssignments(std::string_view option,
                                                                  const std::vector<std::string>& pieces) {
  std::vector<std::pair<std::string, std::string>> assignments;
  std::string front;
  for (const std::string& piece : pieces) {
    if (piece.find('=') == std::string::npos) {
      front += piece + ",";
      continue;
    }
    assignments.push_back(SplitAssignment(option, front + piece));
    front.clear();
  }
  if (!front.empty()) SplitAssignment(option, front.substr(0, front.size() - 1));  // throws
  return assignments;
}

std::size_t ParseSize(const std::string& text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(end, text.data() + text.size() - end);
  if (unit.size() > 1 && (unit.ends_with('B') || unit.ends_with('b'))) unit.pop_back();
  if (unit.ends_with('i')) unit.pop_back();
  constexpr std::string_view kUnits = "KMGT";
  int power = 0;
  bool is_known = unit.empty() || unit == "B";
  if (unit.size() == 1 && !is_known) {
    const std::size_t place =
        kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    is_known = place != std::string_view::npos;
    power = static_cast<int>(place) + 1;
  }
  const double bytes = is_known ? std::ldexp(value, 10 * power) : 0;
  if (code != std::errc() || !(bytes >= 1 && bytes < 0x1p62)) {
    throw Error(ErrorKind::kUsage, fmt::format("`memory` '{}', expected a size such as 2G or 512M", text),
                {"memory", text, "a size such as 2G or 512M"});
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace kweave::app
