// The command line: parses, runs one verb and turns what was thrown into a message and an exit status.
//
// Next on the main path: app/train.cc.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kweave/error.h"
#include "kweave/nearest_name.h"
#include "kweave/version.h"
#include "option_flags.h"
#include "terminal.h"
#include "verbs.h"

// Stands before the function of this name in OpenBLAS, which asks it, when it is loaded, for how many threads
// it is to start. They would spin for some 20 ms before they sleep, on cores that a short run has better use
// for; where a large matrix needs more than one, they are started then.
extern "C" int openblas_num_threads_env() { return 1; }

namespace {

// As docs/summary.md lists them: those of kweave::ErrorKind, and EX_SOFTWARE of sysexits.h.
constexpr int kWrongUsage = 2;
constexpr int kInternalError = 70;
constexpr const char* kInterruptedSentence = "interrupted before there was a model";

int Fail(const std::string& sentence, int status) {
  kweave::app::PrintToStderr(fmt::format("kweave: {}\n", kweave::app::Escaped(sentence)));
  return status;
}

// Throws unless the first argument, if it is no option, is a verb.
void CheckVerb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  if (std::ranges::find(names, argv[1]) != names.end()) return;
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw kweave::Error(kweave::ErrorKind::kUsage, fmt::format("there is no verb '{}'{} (see kweave --help)",
                                                             argv[1], kweave::NameHint(argv[1], known)));
}

// Throws where an option that takes a value is followed by another option, which the parser would take for
// the value.
void CheckValues(const CLI::App& app, int argc, char** argv) {
  if (argc < 3) return;
  const auto verbs = app.get_subcommands([&](const CLI::App* one) { return one->get_name() == argv[1]; });
  if (verbs.empty()) return;
  const CLI::App* const verb = verbs.front();
  const auto find = [verb](const std::string& word) {
    return word.starts_with('-') ? verb->get_option_no_throw(word) : nullptr;
  };
  for (int i = 2; i + 1 < argc; ++i) {
    const CLI::Option* const option = find(argv[i]);
    if (option == nullptr || option->get_expected_min() == 0) continue;
    if (find(argv[i + 1]) != nullptr) {
      throw kweave::Error(kweave::ErrorKind::kUsage,
                          fmt::format("{} has no value, as the option {} follows", argv[i], argv[i + 1]));
    }
    ++i;
  }
}

// `; did you mean --norm?` after an option that does not exist, else nothing.
std::string OptionHint(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  if (verbs.empty()) return {};
  std::vector<std::string> names;
  for (const CLI::Option* option : verbs.front()->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string& unknown : app.remaining(true)) {
    const std::string_view nearest = kweave::NearestName(unknown.substr(0, unknown.find('=')), known);
    if (unknown.starts_with("--") && !nearest.empty()) return fmt::format("; did you mean {}?", nearest);
  }
  return {};
}

// `kweave help` and `kweave help VERB`, as many programs have them, as --help.
std::vector<char*> WithHelp(int argc, char** argv) {
  static char help_flag[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (argc < 2 || std::string_view(argv[1]) != "help") return words;
  words.erase(words.begin() + 1);
  words.resize(std::min<std::size_t>(words.size(), 2));
  words.push_back(help_flag);
  return words;
}

int Run(CLI::App& app, int argc, char** argv) {
  try {
    kweave::app::CheckAddressSpace();
    CheckVerb(app, argc, argv);
    CheckValues(app, argc, argv);
    app.parse(argc, argv);
    return kweave::app::FinishOutput();
  } catch (const CLI::Success& request) {  // --help, --version
    std::ostringstream text;
    app.exit(request, text, text);
    kweave::app::Print(text.str());
    return kweave::app::FinishOutput();
  } catch (const CLI::ParseError& error) {
    return Fail(fmt::format("{}{} (see kweave --help)", error.what(), OptionHint(app)), kWrongUsage);
  } catch (const kweave::Error& error) {
    if (kweave::app::IsInterrupted()) return Fail(kInterruptedSentence, kweave::app::InterruptedStatus());
    return Fail(kweave::app::WithFlags(error.what()), static_cast<int>(error.kind()));
  } catch (const kweave::app::ExitStatus& end) {
    const int lost = kweave::app::FinishOutput();
    return lost != 0 ? lost : end.status;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return Fail(fmt::format("internal error: {}", error.what()), kInternalError);
  }
}

int RunProgram(int argc, char** argv) {
  CLI::App app("Kweave learns one model from many kernels.", "kweave");
  app.set_version_flag("--version", "kweave " KWEAVE_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  kweave::app::AddTrain(app);
  kweave::app::AddPredict(app);
  kweave::app::AddInspect(app);
  kweave::app::AddKernels(app);
  kweave::app::AddVerify(app);
  kweave::app::AddEvaluate(app);
  kweave::app::AddSelect(app);
  kweave::app::AddReport(app);
  std::vector<char*> words = WithHelp(argc, argv);
  return Run(app, static_cast<int>(words.size()), words.data());
}

}  // namespace

int main(int argc, char** argv) {
  kweave::app::SecondsSinceStart();
  kweave::app::OccupyStandardStreams();
  kweave::app::HandleSignals();
  kweave::app::HandleLackOfMemory();
  try {
    return RunProgram(argc, argv);
  } catch (const std::bad_alloc&) {  // also where there is none left to say what else is wrong
    return kweave::app::FailWithoutMemory();
  }
}
