#include <algorithm>

#include "compute/cuda/matrix.cuh"

namespace kweave::cuda {
namespace {

// Rows that leave the device at a time, and samples that go to it: enough for full speed, small beside the
// rest.
constexpr Index kRowsAtOnce = 256;
constexpr Index kValuesAtOnce = Index{1} << 23;
constexpr Index kSamplesPerPiece = 64;  // of a thread
// Sets of up to 4,096 variables gained nothing below 200,000 samples, and sets above 1,024 nothing below
// 20,000 (measured on a prototype, where all three were close to each other).
constexpr Index kManySamples = 20'000, kVeryManySamples = 200'000;

int Depth(Index features) { return static_cast<int>((features + kPanel - 1) / kPanel * kPanel); }
int RowTiles(Index rows, int tile) { return static_cast<int>((rows + tile - 1) / tile); }

template <class T>
Functions<T> MakeFunctions(const BaseFunctions& all, std::span<const int> members, int first, int count) {
  Functions<T> functions;
  functions.form = all.form;
  functions.first = first;
  functions.count = count;
  functions.stretch = static_cast<T>(all.stretch);
  functions.slope = static_cast<T>(all.slope);
  functions.shift = static_cast<T>(all.offset);
  functions.is_of_root = all.is_of_root;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const BaseFunctions::Member& member = all.members[static_cast<std::size_t>(members[k])];
    functions.rate[k] = static_cast<T>(member.rate);
    functions.offset[k] = static_cast<T>(member.offset);
    functions.degree[k] = member.degree;
  }
  return functions;
}

// Those of one pass from `first` on.
template <class T>
Functions<T> FunctionsOfPass(const BaseFunctions& all, int first) {
  const int count = std::min(kMembersPerPass, static_cast<int>(all.count()) - first);
  std::vector<int> members;
  for (int k = 0; k < count && all.form != BaseFunctions::Form::kTable; ++k) members.push_back(first + k);
  return MakeFunctions<T>(all, members, first, count);
}

}  // namespace

int SetSize(Index variables, const DeviceTraits& traits) {
  const int size = variables >= kVeryManySamples ? kMostInSet
                   : variables >= kManySamples   ? kMostInSet / 2
                                                 : kMostInSet / 4;
  return static_cast<int>(std::min<Index>(std::min(size, traits.most_in_set), variables));
}

template <class T>
CudaMatrix<T>::CudaMatrix(std::span<const DeviceBase> bases, Index samples, const DeviceTraits& traits,
                          ThreadPool& pool)
    : traits_(traits), size_(static_cast<int>(samples)) {
  for (const DeviceBase& base : bases) UploadBase(base, pool);
}

template <class T>
std::size_t CudaMatrix<T>::Bytes(std::span<const DeviceBase> bases, Index samples,
                                 const DeviceTraits& traits) {
  const int tiles = RowTiles(samples, TileShape<T>::kRows);
  const auto splits =
      static_cast<std::size_t>(ChooseSplits(static_cast<int>(samples), tiles, traits.multiprocessors));
  const auto n = static_cast<std::size_t>(samples);
  std::size_t values = 0, functions = 0;
  for (const DeviceBase& base : bases) {
    values += static_cast<std::size_t>(Depth(base.features)) + 1;
    functions += static_cast<std::size_t>(base.functions.count());
  }
  const std::size_t vectors = 7 + functions + splits * (kMembersPerPass + 1);
  return n * (values * sizeof(T) + vectors * sizeof(double) + kRowsAtOnce * sizeof(T) + 2 * sizeof(int)) +
         SetWorkspace<T>::Bytes(size_t{n}, SetSize(samples, traits));
}

template <class T>
void CudaMatrix<T>::UploadBase(const DeviceBase& base, ThreadPool& pool) {
  ResidentBase<T>& resident = bases_.emplace_back();
  resident.is_distance = base.is_distance;
  resident.functions = base.functions;
  resident.depth = Depth(base.features);
  const Index depth = resident.depth, n = size_, at_once = std::clamp<Index>(kValuesAtOnce / depth, 1, n);
  resident.values.Resize(static_cast<std::size_t>(n * depth));
  std::vector<T> values(static_cast<std::size_t>(at_once * depth)), norms(static_cast<std::size_t>(n));
  for (Index first = 0; first < n; first += at_once) {
    const Index count = std::min(at_once, n - first);
    pool.ParallelFor(count, kSamplesPerPiece, [&](Index begin, Index end, int) {
      std::vector<double> sample(static_cast<std::size_t>(base.features));
      for (Index i = begin; i < end; ++i) {
        base.copy_sample(first + i, sample);
        T* const out = values.data() + i * depth;
        double norm = 0;
        for (std::size_t f = 0; f < sample.size(); ++f) {
          out[f] = static_cast<T>(sample[f]);
          norm += static_cast<double>(out[f]) * static_cast<double>(out[f]);
        }
        std::fill(out + sample.size(), out + depth, T{0});
        norms[static_cast<std::size_t>(first + i)] = static_cast<T>(norm);
      }
    });
    Check(cudaMemcpyAsync(resident.values.get() + first * depth, values.data(),
                          static_cast<std::size_t>(count * depth) * sizeof(T), cudaMemcpyHostToDevice,
                          stream()),
          "take samples");
    Check(cudaStreamSynchronize(stream()), "take samples");
  }
  resident.norms.Upload(norms.data(), norms.size(), stream());
  Check(cudaStreamSynchronize(stream()), "take samples");
}

template <class T>
void CudaMatrix<T>::UploadRows(std::span<const Index> rows) {
  const std::vector<int> list(rows.begin(), rows.end());
  rows_.Upload(list.data(), list.size(), stream());
  Check(cudaStreamSynchronize(stream()), "take data");
}

template <class T>
void CudaMatrix<T>::AddMoments(std::span<const Index> rows, std::span<const double> factors,
                               std::span<double> moments) {
  if (rows.empty()) return;
  UploadRows(rows);
  const std::vector<T> own(factors.begin(), factors.end());
  factors_.Upload(own.data(), own.size(), stream());
  const auto n = static_cast<std::size_t>(size_);
  moments_.Clear(moments.size(), stream());
  const TileRange range{
      .rows = rows_.get(), .row_count = static_cast<int>(rows.size()), .column_count = size_};
  const int splits =
      ChooseSplits(size_, RowTiles(range.row_count, TileShape<T>::kRows), traits_.multiprocessors);
  double* out = moments_.get();
  for (const ResidentBase<T>& base : bases_) {
    for (int first = 0; first < base.functions.count(); first += kMembersPerPass) {
      const Functions<T> functions = FunctionsOfPass<T>(base.functions, first);
      partials_.Resize(static_cast<std::size_t>(splits * functions.count) * n);
      SumFunctions(base.samples(), range, functions, factors_.get(), partials_.get(),
                   {base.is_distance, splits, stream()});
      AddPartials(partials_.get(), splits, functions.count * static_cast<long>(n), out, stream());
      out += functions.count * n;
    }
  }
  std::vector<double> found(moments.size());
  moments_.Download(found.data(), found.size(), stream());
  for (std::size_t k = 0; k < found.size(); ++k) moments[k] += found[k];
}

template <class T>
std::vector<BaseCombination<T>> CudaMatrix<T>::Combine(std::span<const double> coefficients) const {
  std::vector<BaseCombination<T>> parts;
  std::size_t first = 0;
  for (const ResidentBase<T>& base : bases_) {
    const auto own = coefficients.subspan(first, static_cast<std::size_t>(base.functions.count()));
    first += own.size();
    std::vector<int> active;
    for (std::size_t k = 0; k < own.size(); ++k) {
      if (own[k] != 0) active.push_back(static_cast<int>(k));
    }
    if (active.empty()) continue;
    if (base.functions.form == BaseFunctions::Form::kTable) {
      const int terms = active.back() + 1;
      BaseCombination<T>& part =
          parts.emplace_back(&base, Combination<T>{MakeFunctions<T>(base.functions, {}, 0, terms), {}});
      std::copy_n(own.begin(), terms, part.combination.coefficients);
      continue;
    }
    for (std::size_t begin = 0; begin < active.size(); begin += kMembersPerPass) {
      const auto some = std::span<const int>(active).subspan(
          begin, std::min<std::size_t>(kMembersPerPass, active.size() - begin));
      BaseCombination<T>& part = parts.emplace_back(
          &base,
          Combination<T>{MakeFunctions<T>(base.functions, some, 0, static_cast<int>(some.size())), {}});
      for (std::size_t k = 0; k < some.size(); ++k)
        part.combination.coefficients[k] = static_cast<T>(own[static_cast<std::size_t>(some[k])]);
    }
  }
  return parts;
}

template <class T>
template <class Out>
void CudaMatrix<T>::RowsAs(std::span<const double> coefficients, std::span<const Index> rows, Out* out,
                           Index stride) {
  const std::vector<BaseCombination<T>> parts = Combine(coefficients);
  const auto n = static_cast<std::size_t>(size_);
  std::vector<T> values;
  for (std::size_t first = 0; first < rows.size(); first += kRowsAtOnce) {
    const auto some = rows.subspan(first, std::min<std::size_t>(kRowsAtOnce, rows.size() - first));
    UploadRows(some);
    values_.Clear(some.size() * n, stream());
    const TileRange range{
        .rows = rows_.get(), .row_count = static_cast<int>(some.size()), .column_count = size_};
    for (const BaseCombination<T>& part : parts) {
      StoreRows(part.base->samples(), range, part.combination, values_.get(), size_, /*adds=*/true,
                {part.base->is_distance, RowTiles(range.row_count, TileShape<T>::kRows), stream()});
    }
    values.resize(some.size() * n);
    values_.Download(values.data(), values.size(), stream());
    for (std::size_t r = 0; r < some.size(); ++r) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(r * n), n,
                  out + static_cast<Index>(first + r) * stride);
    }
  }
}

template <class T>
void CudaMatrix<T>::Block(std::span<const double> coefficients, std::span<const Index> samples,
                          std::span<double> out) {
  if (samples.empty()) return;
  UploadRows(samples);
  values_.Clear(out.size(), stream());
  const int count = static_cast<int>(samples.size());
  const TileRange range{
      .rows = rows_.get(), .columns = rows_.get(), .row_count = count, .column_count = count};
  for (const BaseCombination<T>& part : Combine(coefficients)) {
    StoreRows(part.base->samples(), range, part.combination, values_.get(), count, /*adds=*/true,
              {part.base->is_distance, RowTiles(count, TileShape<T>::kRows), stream()});
  }
  std::vector<T> values(out.size());
  values_.Download(values.data(), values.size(), stream());
  std::ranges::copy(values, out.begin());
}

template <class T>
std::unique_ptr<DualSolver> CudaMatrix<T>::MakeSolver(std::span<const double> coefficients,
                                                      std::span<const double> diagonal,
                                                      const DualProblem& problem) {
  if (!solver_memory_) solver_memory_ = std::make_unique<SolverMemory<T>>(size_, SetSize(size_, traits_));
  return MakeCudaSolver<T>(*this, Combine(coefficients), diagonal, problem, *solver_memory_);
}

template class CudaMatrix<float>;
template class CudaMatrix<double>;

}  // namespace kweave::cuda
