// Pairs of sequences, and products with the kernels of a weighted-degree family, on one thread: random DNA of
// 398 letters, 20 orders.
#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include "base/random.h"
#include "base/threads.h"
#include "compute/cpu/match_runs.h"
#include "compute/cpu/position_words.h"

namespace kweave {
namespace {

constexpr Index kLength = 398;
constexpr int kDegree = 20;

struct Sequences {
  explicit Sequences(Index count) {
    Random random(1);
    const Index words_of_each = (kLength + 31) / 32;
    for (Index i = 0; i < count; ++i) {
      offsets.push_back(i * words_of_each);
      for (Index w = 0; w < words_of_each; ++w) words.push_back(random.Next());
      words.back() &= (std::uint64_t{1} << (2 * (kLength % 32))) - 1;
    }
    for (Index i = 0; i < count; ++i) a.push_back(2 * random.Uniform() - 1);
  }
  PackedLetters packed() const { return {words.data(), offsets, kLength, 2}; }

  std::vector<std::uint64_t> words;
  std::vector<Index> offsets;
  std::vector<double> a;
};

RunWeights Weights(bool is_same) {
  RunWeights weights(kLength, kDegree);
  for (Index i = 0; i < kLength; ++i) {
    for (int k = 1; k <= kDegree; ++k)
      weights.Add(i, k, 1.0 / (k + (is_same ? 0 : 0.01 * static_cast<double>(i))));
  }
  return weights;
}

// Argument: whether the weights are the same at all positions.
void Pairs(benchmark::State& state) {
  constexpr Index kColumns = 4096, kRows = 32;
  const Sequences sequences(kColumns);
  const LetterPlanes planes(sequences.packed());
  const RunTable<float> table(Weights(state.range(0) != 0));
  std::vector<Index> rows(kRows);
  std::iota(rows.begin(), rows.end(), Index{5});
  std::vector<float> out(Offset(kRows * kColumns));
  for (auto _ : state) {
    AddRunValues(planes, rows, planes, 0, kColumns, table, out.data(), kColumns);
    benchmark::ClobberMemory();
  }
  state.counters["ns/pair"] =
      benchmark::Counter(static_cast<double>(kRows * kColumns) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(Pairs)->Arg(1)->Arg(0);

void Tree(benchmark::State& state) {
  const Sequences sequences(state.range(0));
  ThreadPool pool(1);
  for (auto _ : state) {
    const PositionWords words(sequences.packed(), 0, kLength, kDegree, pool);
    state.counters["MB"] = static_cast<double>(words.bytes()) * 1e-6;
  }
}
BENCHMARK(Tree)->Arg(100'000)->Unit(benchmark::kMillisecond)->Iterations(1);

// Arguments: sequences; whether squares are wanted; one entry in so many is not zero.
void Products(benchmark::State& state) {
  const Sequences sequences(state.range(0));
  ThreadPool pool(1);
  const PositionWords words(sequences.packed(), 0, kLength, kDegree, pool);
  const RunWeights weights = Weights(true);
  std::vector<double> a = sequences.a, out(a.size(), 0.0);
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (j % Offset(state.range(2)) != 0) a[j] = 0;
  }
  std::vector<double> squares(state.range(1) != 0 ? Offset(kLength * kDegree) : 0);
  for (auto _ : state) {
    words.Multiply(a, weights, out, squares, pool);
    benchmark::ClobberMemory();
  }
  state.counters["ns/letter"] =
      benchmark::Counter(static_cast<double>(state.range(0) * kLength) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(Products)
    ->Args({8'000, 0, 1})
    ->Args({100'000, 0, 1})
    ->Args({100'000, 1, 1})
    ->Args({100'000, 0, 10})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kweave
