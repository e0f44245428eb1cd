// Any text as the options of training, as words of a command line or as a configuration file: it is refused
// with a sentence, or leaves options whose values are in their ranges. Nothing is trained.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/option_flags.h"
#include "app/shared.h"
#include "fuzz_input.h"
#include "kweave/readers.h"
#include "kweave/train.h"

namespace {

using namespace kweave;
using namespace kweave::app;

struct Arguments {
  DataArguments data;
  RunArguments run;
  TrainOptions options;
};

void CheckArguments(const Arguments& arguments) {
  const CheckedOptions options(arguments.options);
  Require(std::isfinite(options->C) && options->C > 0);
  Require(options->norm >= 1 && options->gap > 0);
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) record.Check(*options);
  const Context context = MakeContext(arguments.run);
  Require(context.threads >= 0 && context.threads < 10'000);
  MakeReadOptions(arguments.data, context);
}

void Parse(bool is_config, const std::uint8_t* data, std::size_t size) {
  static FuzzPath file;
  Arguments arguments;
  CLI::App verb("train", "train");
  AddDataOptions(verb, arguments.data);
  AddFlags(verb, TrainOptionRecords(), arguments.options);
  AddRunOptions(verb, arguments.run);
  AddSeed(verb, arguments.run.context);
  if (is_config) {
    ApplyConfig(verb, file.Hold({reinterpret_cast<const char*>(data), size}));
  } else {
    std::vector<std::string> words = FuzzPieces(data, size, '\n', size + 1);
    std::ranges::reverse(words);  // as CLI11 takes them
    verb.parse(words);
  }
  CheckArguments(arguments);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  AllowErrors([&] {
    try {
      Parse(data[0] % 2 == 0, data + 1, size - 1);
    } catch (const CLI::Error& error) {  // --help, too, is one
      Require(error.what()[0] != '\0');
    }
  });
  return 0;
}
