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
#include "terminal.h"
#include "verbs.h"

// Stands before the function of this name in OpenBLAS, which asks it, when it is loaded, for how many threads it is to start.
// They would spin for some 20 ms before they sleep, on cores that a short run has better use for; where a large matrix needs
// more than one, they are started then.
extern "C" int openblas_num_threads_env() { return 1; }

namespace {

constexpr int kWrongUsage = 2;
constexpr int kOutOfMemory = 4;
constexpr int kInternalError = 70;
constexpr int kInterrupted = 130;
constexpr const char* kInterruptedSentence = "interrupted before there was a model";

int Fail(const std::string& sentence, int status) {
  kweave::app::Complain(fmt::format("kweave: {}\n", sentence));
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

int Run(CLI::App& app, int argc, char** argv) {
  try {
    CheckVerb(app, argc, argv);
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
    if (kweave::app::IsInterrupted()) return Fail(kInterruptedSentence, kInterrupted);
    return Fail(error.what(), static_cast<int>(error.kind()));
  } catch (const kweave::app::Interrupted&) {
    return Fail(kInterruptedSentence, kInterrupted);
  } catch (const std::bad_alloc&) {
    return Fail("out of memory; a smaller --memory leaves more room for the data", kOutOfMemory);
  } catch (const std::exception& error) {
    return Fail(fmt::format("internal error: {}", error.what()), kInternalError);
  }
}

}  // namespace

int main(int argc, char** argv) {
  kweave::app::SecondsSinceStart();
  kweave::app::OccupyStandardStreams();
  kweave::app::IgnoreBrokenPipes();
  CLI::App app("Kweave learns one model from many kernels.", "kweave");
  app.set_version_flag("--version", "kweave " KWEAVE_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  kweave::app::AddTrain(app);
  kweave::app::AddPredict(app);
  kweave::app::AddInspect(app);
  kweave::app::AddKernels(app);
  return Run(app, argc, argv);
}
