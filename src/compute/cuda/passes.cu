#include <algorithm>

#include "compute/cuda/memory.cuh"
#include "compute/cuda/passes.cuh"

namespace kweave::cuda {
namespace {

constexpr int kAtOnce = 4;  // rows that a thread evaluates together, to hide latencies

// The rows of its half of a tile that a thread reads, and its column.
template <class T>
class ColumnOwner {
 public:
  __device__ void Begin(int column, int columns, int half) {
    column_ = column;
    is_inside_ = column < columns;
    half_ = half;
  }

 protected:
  // Calls use(row in the tile, base values of kAtOnce rows); rows that do not count are among them.
  template <class Use>
  __device__ void ForRows(const TileMemory<T>& memory, int rows, Use use) const {
    // Two threads share a column, as evenly as kAtOnce allows.
    const int half = (rows + 2 * kAtOnce - 1) / (2 * kAtOnce) * kAtOnce;
    const int last = min(rows, (half_ + 1) * half);
    for (int row = half_ * half; row < last; row += kAtOnce) {
      T base[kAtOnce];
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) base[r] = memory.tile[row + r][column_ % kTileColumns];
      use(row, base);
    }
  }
  // Those of the rows at `first + row`; 0 for rows that do not count.
  __device__ static void LoadFactors(const T* factors, int first, int row, int rows, T (&own)[kAtOnce]) {
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) own[r] = row + r < rows ? factors[first + row + r] : T{0};
  }

  int column_ = 0, half_ = 0;
  bool is_inside_ = false;
};

template <class T>
class RowSum : public ColumnOwner<T> {
 public:
  __device__ RowSum(const Combination<T>& combination, const T* factors, double* out, bool adds)
      : combination_(combination), factors_(factors), out_(out), adds_(adds) {}

  __device__ void Use(const TileMemory<T>& memory, int first, int rows) {
    T sum = 0;
    this->ForRows(memory, rows, [&](int row, const T(&base)[kAtOnce]) {
      T factors[kAtOnce], values[kAtOnce];
      this->LoadFactors(factors_, first, row, rows, factors);
      Evaluate(combination_, base, values);
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) sum = fma(factors[r], values[r], sum);
    });
    total_ += sum;
  }
  __device__ void End(TileMemory<T>& memory) {
    double* other = reinterpret_cast<double*>(&memory.tile[0][0]);
    if (this->half_ == 1) other[this->column_ % kTileColumns] = total_;
    __syncthreads();
    if (this->half_ == 1 || !this->is_inside_) return;
    total_ += other[this->column_ % kTileColumns];
    out_[this->column_] = adds_ ? out_[this->column_] + total_ : total_;
  }

 private:
  const Combination<T>& combination_;
  const T* factors_;
  double* out_;
  bool adds_;
  double total_ = 0;
};

template <class T, int kCount>
class FunctionSums : public ColumnOwner<T> {
 public:
  __device__ FunctionSums(const Functions<T>& functions, const T* factors, double* out, long size)
      : functions_(functions), factors_(factors), out_(out), size_(size) {}

  __device__ void Use(const TileMemory<T>& memory, int first, int rows) {
    T sums[kCount] = {};
    const bool is_table = functions_.form == BaseFunctions::Form::kTable;
    this->ForRows(memory, rows, [&](int row, const T(&base)[kAtOnce]) {
      T factors[kAtOnce];
      this->LoadFactors(factors_, first, row, rows, factors);
      is_table ? AddPolynomials(base, factors, sums) : AddMembers(base, factors, sums);
    });
#pragma unroll
    for (int k = 0; k < kCount; ++k) totals_[k] += sums[k];
  }
  __device__ void End(TileMemory<T>& memory) {
    double* other = reinterpret_cast<double*>(&memory.tile[0][0]);
    const int place = this->column_ % kTileColumns;
    for (int k = 0; k < kCount; ++k) {
      if (this->half_ == 1) other[k * kTileColumns + place] = totals_[k];
    }
    __syncthreads();
    if (this->half_ == 1 || !this->is_inside_) return;
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (k < functions_.count)
        out_[k * size_ + this->column_] = totals_[k] + other[k * kTileColumns + place];
    }
  }

 private:
  __device__ void AddMembers(const T (&base)[kAtOnce], const T (&factors)[kAtOnce], T (&sums)[kCount]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (k >= functions_.count) continue;
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) sums[k] = fma(factors[r], Member(functions_, k, base[r]), sums[k]);
    }
  }
  __device__ void AddPolynomials(const T (&base)[kAtOnce], const T (&factors)[kAtOnce],
                                 T (&sums)[kCount]) const {
    T twice[kAtOnce], last[kAtOnce], now[kAtOnce];  // factors included
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      const T t = Variable(functions_, base[r]);
      twice[r] = 2 * t;
      last[r] = factors[r] * t;  // T_-1 = T_1
      now[r] = factors[r];
    }
    for (int k = 0; k < functions_.first; ++k) Next(twice, last, now);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (k >= functions_.count) continue;
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) sums[k] += now[r];
      Next(twice, last, now);
    }
  }
  __device__ static void Next(const T (&twice)[kAtOnce], T (&last)[kAtOnce], T (&now)[kAtOnce]) {
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      const T next = fma(twice[r], now[r], -last[r]);
      last[r] = now[r];
      now[r] = next;
    }
  }

  const Functions<T>& functions_;
  const T* factors_;
  double* out_;
  long size_;
  double totals_[kCount] = {};
};

template <class T>
class RowStore : public ColumnOwner<T> {
 public:
  __device__ RowStore(const Combination<T>& combination, T* out, int stride, bool adds)
      : combination_(combination), out_(out), stride_(stride), adds_(adds) {}

  __device__ void Use(const TileMemory<T>& memory, int first, int rows) {
    this->ForRows(memory, rows, [&](int row, const T(&base)[kAtOnce]) {
      T values[kAtOnce];
      Evaluate(combination_, base, values);
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        if (row + r >= rows || !this->is_inside_) continue;
        T* const out = out_ + static_cast<long>(first + row + r) * stride_ + this->column_;
        *out = adds_ ? *out + values[r] : values[r];
      }
    });
  }
  __device__ void End(TileMemory<T>&) const {}

 private:
  const Combination<T>& combination_;
  T* out_;
  int stride_;
  bool adds_;
};

template <class T, bool kIsDistance>
__global__ void __launch_bounds__(kTileThreads, 2)
    SumRowsKernel(Samples<T> samples, TileRange range, const __grid_constant__ Combination<T> combination,
                  const T* factors, double* partials, bool adds) {
  RowSum<T> sum(combination, factors, partials + static_cast<long>(blockIdx.y) * range.column_count, adds);
  ForTiles<T, kIsDistance>(samples, range, sum);
}

template <class T, bool kIsDistance, int kCount>
__global__ void __launch_bounds__(kTileThreads, kCount > 8 ? 1 : 2)
    SumFunctionsKernel(Samples<T> samples, TileRange range, const __grid_constant__ Functions<T> functions,
                       const T* factors, double* partials) {
  const long size = range.column_count;
  FunctionSums<T, kCount> sums(functions, factors, partials + blockIdx.y * functions.count * size, size);
  ForTiles<T, kIsDistance>(samples, range, sums);
}

template <class T, bool kIsDistance>
__global__ void __launch_bounds__(kTileThreads, 2)
    StoreRowsKernel(Samples<T> samples, TileRange range, const __grid_constant__ Combination<T> combination,
                    T* out, int stride, bool adds) {
  RowStore<T> store(combination, out, stride, adds);
  ForTiles<T, kIsDistance>(samples, range, store);
}

__global__ void AddPartialsKernel(const double* partials, int splits, long size, double* out) {
  const long j = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (j >= size) return;
  double sum = 0;
  for (int s = 0; s < splits; ++s) sum += partials[s * size + j];
  out[j] += sum;
}

// Launches a kernel on all tiles of columns; the shared memory it needs is more than kernels have by default.
template <class T, class Kernel, class... Arguments>
void Launch(Kernel* kernel, const TileRange& range, const PassPlan& plan, const Arguments&... arguments) {
  constexpr int kBytes = sizeof(TileMemory<T>);  // of shared memory
  Check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "give a computation its shared memory");
  const dim3 grid((range.column_count + kTileColumns - 1) / kTileColumns, plan.splits);
  kernel<<<grid, kTileThreads, kBytes, plan.stream>>>(arguments...);
  CheckLaunch();
}

}  // namespace

int ChooseSplits(int columns, int row_tiles, int multiprocessors) {
  constexpr int kBlocksEach = 4;  // two at a time, and two more to even out the end
  const int tiles = std::max((columns + kTileColumns - 1) / kTileColumns, 1);
  return std::clamp(kBlocksEach * multiprocessors / tiles, 1, std::max(row_tiles, 1));
}

template <class T>
void SumRows(const Samples<T>& samples, const TileRange& range, const Combination<T>& combination,
             const T* factors, double* partials, bool adds, const PassPlan& plan) {
  if (plan.is_distance) {
    Launch<T>(SumRowsKernel<T, true>, range, plan, samples, range, combination, factors, partials, adds);
  } else {
    Launch<T>(SumRowsKernel<T, false>, range, plan, samples, range, combination, factors, partials, adds);
  }
}

template <class T>
void SumFunctions(const Samples<T>& samples, const TileRange& range, const Functions<T>& functions,
                  const T* factors, double* partials, const PassPlan& plan) {
  const auto launch = [&](auto kernel) {
    Launch<T>(kernel, range, plan, samples, range, functions, factors, partials);
  };
  if (functions.count <= 8) {
    plan.is_distance ? launch(SumFunctionsKernel<T, true, 8>) : launch(SumFunctionsKernel<T, false, 8>);
  } else {
    plan.is_distance ? launch(SumFunctionsKernel<T, true, kMembersPerPass>)
                     : launch(SumFunctionsKernel<T, false, kMembersPerPass>);
  }
}

template <class T>
void StoreRows(const Samples<T>& samples, const TileRange& range, const Combination<T>& combination, T* out,
               int stride, bool adds, const PassPlan& plan) {
  if (plan.is_distance) {
    Launch<T>(StoreRowsKernel<T, true>, range, plan, samples, range, combination, out, stride, adds);
  } else {
    Launch<T>(StoreRowsKernel<T, false>, range, plan, samples, range, combination, out, stride, adds);
  }
}

void AddPartials(const double* partials, int splits, long size, double* out, cudaStream_t stream) {
  constexpr int kThreads = 256;  // any number that fills a multiprocessor
  AddPartialsKernel<<<static_cast<unsigned>((size + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      partials, splits, size, out);
  CheckLaunch();
}

template void SumRows(const Samples<float>&, const TileRange&, const Combination<float>&, const float*,
                      double*, bool, const PassPlan&);
template void SumRows(const Samples<double>&, const TileRange&, const Combination<double>&, const double*,
                      double*, bool, const PassPlan&);
template void SumFunctions(const Samples<float>&, const TileRange&, const Functions<float>&, const float*,
                           double*, const PassPlan&);
template void SumFunctions(const Samples<double>&, const TileRange&, const Functions<double>&, const double*,
                           double*, const PassPlan&);
template void StoreRows(const Samples<float>&, const TileRange&, const Combination<float>&, float*, int, bool,
                        const PassPlan&);
template void StoreRows(const Samples<double>&, const TileRange&, const Combination<double>&, double*, int,
                        bool, const PassPlan&);

}  // namespace kweave::cuda
