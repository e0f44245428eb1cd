// The command line: parses, runs one verb and turns what was thrown into a message and an exit status.
//
// Next on the main path: app/train.cc.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <new>
#include <sstream>

#include "kweave/error.h"
#include "kweave/version.h"
#include "terminal.h"
#include "verbs.h"

namespace {

constexpr int kWrongUsage = 2;
constexpr int kOutOfMemory = 4;
constexpr int kInternalError = 70;
constexpr int kInterrupted = 130;

int Fail(const std::string& sentence, int status) {
  kweave::app::Complain(fmt::format("kweave: {}\n", sentence));
  return status;
}

int Run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return kweave::app::FinishOutput();
  } catch (const CLI::Success& request) {  // --help, --version
    std::ostringstream text;
    app.exit(request, text, text);
    kweave::app::Print(text.str());
    return kweave::app::FinishOutput();
  } catch (const CLI::ParseError& error) {
    return Fail(fmt::format("{} (see kweave --help)", error.what()), kWrongUsage);
  } catch (const kweave::Error& error) {
    return Fail(error.what(), static_cast<int>(error.kind()));
  } catch (const kweave::app::Interrupted&) {
    return Fail("interrupted before there was a model", kInterrupted);
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
