// How many bytes of text the readers take per second on one core. The text lies in memory.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "base/random.h"
#include "data/csv_reader.h"
#include "data/libsvm_reader.h"

namespace kweave {
namespace {

constexpr int kRows = 20'000;
constexpr int kCols = 50;

/// `digits` significant digits per value; 17 is what writers use that lose nothing.
std::string Number(Random& random, int digits) {
  return fmt::format("{:.{}g}", random.Uniform() - 0.5, digits);
}

std::string LibsvmText(int digits, int step) {
  Random random(0);
  std::string text;
  for (int i = 0; i < kRows; ++i) {
    text += i % 2 == 0 ? "+1" : "-1";
    for (int j = 1; j <= kCols; ++j)
      text += fmt::format(" {}:{}", j * step, digits == 0 ? "1" : Number(random, digits));
    text += '\n';
  }
  return text;
}

std::string CsvText(int digits) {
  Random random(0);
  std::string text = "label";
  for (int j = 0; j < kCols; ++j) text += fmt::format(",feature{}", j);
  for (int i = 0; i < kRows; ++i) {
    text += i % 2 == 0 ? "\n1" : "\n0";
    for (int j = 0; j < kCols; ++j) text += ',' + Number(random, digits);
  }
  return text;
}

template <class Reader>
void Measure(benchmark::State& state, const std::string& text, const Reader& reader) {
  const FileBytes file = MakeFileBytes("text", text);
  for (auto _ : state) benchmark::DoNotOptimize(reader(file));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void BM_LibsvmDense(benchmark::State& state) {
  Measure(state, LibsvmText(static_cast<int>(state.range(0)), 1),
          [](const FileBytes& file) { return ReadLibsvm(file); });
}
BENCHMARK(BM_LibsvmDense)->Arg(6)->Arg(9)->Arg(17)->Unit(benchmark::kMillisecond);

void BM_LibsvmSparseBinary(benchmark::State& state) {
  Measure(state, LibsvmText(0, 1000), [](const FileBytes& file) { return ReadLibsvm(file); });
}
BENCHMARK(BM_LibsvmSparseBinary)->Unit(benchmark::kMillisecond);

void BM_Csv(benchmark::State& state) {
  Measure(state, CsvText(static_cast<int>(state.range(0))),
          [](const FileBytes& file) { return ReadCsv(file, {}); });
}
BENCHMARK(BM_Csv)->Arg(6)->Arg(9)->Arg(17)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kweave

BENCHMARK_MAIN();
