// The loops in which training spends its time, beside what the hardware does at best: operations per second
// and nanoseconds per pair of samples, on one core. bench/cases/loops.py makes fractions of them.
#include <benchmark/benchmark.h>
#include <cblas.h>

#include <vector>

#include "base/memory.h"
#include "compute/cpu/family_loops.h"
#include "compute/cpu/packed_product.h"
#include "compute/cpu/smo_loops.h"
#include "peaks.h"

namespace kweave {
namespace {

constexpr Index kCount = 4096;

template <class T>
AlignedVector<T> Ramp(Index count, double high) {
  AlignedVector<T> values(count);
  for (Index j = 0; j < count; ++j)
    values[j] = static_cast<T>(high * static_cast<double>(j) / static_cast<double>(count));
  return values;
}

void PerPair(benchmark::State& state, double pairs) {
  state.counters["ns/pair"] = benchmark::Counter(pairs * static_cast<double>(state.iterations()) * 1e-9,
                                                 benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class T>
void Exponentials(benchmark::State& state) {
  const auto base = Ramp<T>(kCount, 20);
  const std::vector<T> gammas(state.range(0), T(0.5)), weights(state.range(0), T(1));
  AlignedVector<T> out(kCount);
  for (auto _ : state) AddExponentials<T>(base.data(), kCount, gammas, weights, out.data());
  PerPair(state, kCount);
}
BENCHMARK_TEMPLATE(Exponentials, float)->Arg(1)->Arg(5)->Arg(50);
BENCHMARK_TEMPLATE(Exponentials, double)->Arg(1)->Arg(5)->Arg(50);

template <class T>
void Chebyshev(benchmark::State& state) {
  const auto base = Ramp<T>(kCount, 20);
  const std::vector<T> coefficients(state.range(0), T(0.01));
  AlignedVector<T> out(kCount);
  const TableVariable<T> variable{T(3), T(0.4), T(-1)};
  for (auto _ : state) AddChebyshev<T>(base.data(), kCount, variable, coefficients, out.data());
  PerPair(state, kCount);
}
BENCHMARK_TEMPLATE(Chebyshev, float)->Arg(17)->Arg(33);
BENCHMARK_TEMPLATE(Chebyshev, double)->Arg(33)->Arg(50);

// Sixty-four rows of 512 columns, as the gram layer asks.
template <class T, bool kTable>
void MomentLoop(benchmark::State& state) {
  constexpr Index kRows = 64, kColumns = 512, kStride = kColumns + 16;
  const auto base = Ramp<T>(kRows * kColumns, 20);
  std::vector<const T*> rows;
  for (Index r = 0; r < kRows; ++r) rows.push_back(base.data() + r * kColumns);
  const std::vector<T> factors(kRows, T(0.1)), gammas(state.range(0), T(0.5));
  AlignedVector<T> moments(state.range(0) * kStride);
  const TableVariable<T> variable{T(3), T(0.4), T(-1)};
  for (auto _ : state) {
    if (kTable) {
      AddChebyshevMoments<T>({rows, factors}, kColumns, variable, state.range(0), moments.data(), kStride);
    } else {
      AddExponentialMoments<T>({rows, factors}, kColumns, gammas, moments.data(), kStride);
    }
  }
  PerPair(state, kRows * kColumns);
}
BENCHMARK_TEMPLATE(MomentLoop, float, false)->Arg(1)->Arg(5)->Arg(50)->Name("ExponentialMoments<float>");
BENCHMARK_TEMPLATE(MomentLoop, float, true)->Arg(17)->Arg(33)->Name("ChebyshevMoments<float>");
BENCHMARK_TEMPLATE(MomentLoop, double, true)->Arg(33)->Arg(50)->Name("ChebyshevMoments<double>");

void MatrixProduct(benchmark::State& state) {
  const int rows = static_cast<int>(state.range(0)), columns = 512, depth = static_cast<int>(state.range(1));
  openblas_set_num_threads(1);
  const auto a = Ramp<float>(rows * depth, 1), b = Ramp<float>(columns * depth, 1);
  AlignedVector<float> c(rows * columns);
  for (auto _ : state) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, depth, 1, a.data(), depth, b.data(),
                depth, 0, c.data(), columns);
  }
  PerPair(state, static_cast<double>(rows) * columns);
  state.counters["GFLOP/s"] = benchmark::Counter(
      2e-9 * rows * columns * depth * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(MatrixProduct)->Args({64, 123})->Args({64, 784})->Args({16, 123})->Args({2, 123})->Args({1, 123});

void PackedRows(benchmark::State& state) {
  const Index rows = state.range(0), columns = 512, depth = state.range(1);
  const auto a = Ramp<float>(rows * depth, 1);
  PackedSamples<float> b(columns, depth);
  AlignedVector<float> c(rows * columns);
  for (auto _ : state) PackedProduct<float>(a.data(), rows, b, 0, columns, false, c.data(), columns);
  PerPair(state, static_cast<double>(rows * columns));
  state.counters["GFLOP/s"] = benchmark::Counter(
      2e-9 * static_cast<double>(rows * columns * depth) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}
BENCHMARK(PackedRows)
    ->Args({64, 123})
    ->Args({64, 784})
    ->Args({32, 123})
    ->Args({16, 123})
    ->Args({2, 123})
    ->Args({1, 123});

// Passes over vectors: in the nearest caches, in the last one, in memory.
void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(10'000)->Arg(200'000)->Arg(20'000'000);
}

void CountBytes(benchmark::State& state, double bytes_per_element) {
  state.counters["GB/s"] = benchmark::Counter(1e-9 * bytes_per_element * static_cast<double>(state.range(0)) *
                                                  static_cast<double>(state.iterations()),
                                              benchmark::Counter::kIsRate);
}

void StreamTriad(benchmark::State& state) {
  const auto b = Ramp<double>(state.range(0), 1), c = b;
  AlignedVector<double> a(state.range(0));
  for (auto _ : state) Triad(b.data(), c.data(), 0.5, state.range(0), a.data());
  CountBytes(state, 24);
}
BENCHMARK(StreamTriad)->Apply(Sizes);

void StreamRead(benchmark::State& state) {
  const auto values = Ramp<float>(state.range(0), 1);
  for (auto _ : state) benchmark::DoNotOptimize(Sum(values.data(), state.range(0)));
  CountBytes(state, 4);
}
BENCHMARK(StreamRead)->Apply(Sizes);

// Two rows of float, sides, and a gradient that is read and written.
void SmoUpdateGradient(benchmark::State& state) {
  const auto row_i = Ramp<float>(state.range(0), 1), row_j = Ramp<float>(state.range(0), 2);
  const AlignedVector<float> sides(state.range(0), side::kFree);
  auto gradient = Ramp<double>(state.range(0), 1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(UpdateGradient<float>(1e-9, row_i.data(), row_j.data(), nullptr, sides.data(),
                                                   gradient.data(), state.range(0)));
  }
  CountBytes(state, 3 * 4 + 2 * 8);
}
BENCHMARK(SmoUpdateGradient)->Apply(Sizes);

void SmoFindPartner(benchmark::State& state) {
  const auto row = Ramp<float>(state.range(0), 1);
  const AlignedVector<float> sides(state.range(0), side::kFree);
  const auto gradient = Ramp<double>(state.range(0), 1);
  const AlignedVector<double> diagonal(state.range(0), 1.0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(FindPartner<float>({0.1, 1, 1e-12}, row.data(), gradient.data(), nullptr,
                                                sides.data(), diagonal.data(), state.range(0)));
  }
  CountBytes(state, 2 * 4 + 2 * 8);
}
BENCHMARK(SmoFindPartner)->Apply(Sizes);

template <class T>
void MultiplyAddPeak(benchmark::State& state) {
  constexpr Index kRounds = 10'000;
  double operations = 0;
  T result = 0;
  for (auto _ : state) operations += kRounds * RunMultiplyAdds<T>(kRounds, &result);
  benchmark::DoNotOptimize(result);
  state.counters["GFLOP/s"] = benchmark::Counter(1e-9 * operations, benchmark::Counter::kIsRate);
}
BENCHMARK_TEMPLATE(MultiplyAddPeak, float);
BENCHMARK_TEMPLATE(MultiplyAddPeak, double);

void HighwayExponentials(benchmark::State& state) {
  auto in = Ramp<float>(kCount, -10);
  AlignedVector<float> out(kCount);
  for (auto _ : state) {
    PlainExponentials(in.data(), kCount, out.data());
    benchmark::ClobberMemory();
  }
  PerPair(state, kCount);
}
BENCHMARK(HighwayExponentials);

template <class T>
void HighwayLogarithms(benchmark::State& state) {
  auto in = Ramp<T>(kCount, 10);
  for (T& value : in) value += 1;
  AlignedVector<T> out(kCount);
  for (auto _ : state) {
    PlainLogarithms<T>(in.data(), kCount, out.data());
    benchmark::ClobberMemory();
  }
  PerPair(state, kCount);
}
BENCHMARK_TEMPLATE(HighwayLogarithms, float);
BENCHMARK_TEMPLATE(HighwayLogarithms, double);

}  // namespace
}  // namespace kweave
