// Passes over pairs of samples: tiles of base quantities by products in registers, which a consumer uses at
// once, so that no value is ever kept in the memory of the device.
//
// Solves     for all tiles of some rows and columns: b(i, j) = <x_i, x_j> or ||x_i - x_j||^2, handed to a
//            consumer column by column.
// Method     the usual blocked product (a thread holds 8 x 8 or 4 x 8 sums, panels of 8 features pass through
//            shared memory, the next one loaded while this one is used). Distances are ||x||^2 + ||z||^2 - 2
//            <x, z> in float32, as on the CPU, and sums of squared differences in float64, which lose no
//            digits. The tile then goes to shared memory, and a thread owns one of its columns: what it sums
//            up needs no other thread.
// Takes and  lists of rows and columns (null: all in order), how many rows, which may be known on the device
//            only.
// returns
// Holds      the same sums in the same order in every run.
// Costs      a pass over the features of rows and columns for each tile; 256 threads and some 90 kB of shared
//            memory a block.
#ifndef KWEAVE_COMPUTE_CUDA_TILES_CUH_
#define KWEAVE_COMPUTE_CUDA_TILES_CUH_

#include <cuda_runtime.h>

namespace kweave::cuda {

inline constexpr int kTileThreads = 256;  // 16 x 16
inline constexpr int kTileColumns = 128;  // two threads own a column, each half of the rows
inline constexpr int kPanel = 8;          // features that pass through shared memory at a time

template <class T>
struct TileShape {
  static constexpr int kVector = 16 / sizeof(T);           // values of one wide access
  static constexpr int kRows = sizeof(T) == 4 ? 128 : 64;  // a tile of 64 kB in both precisions
  // Of the 16 x 16 threads, each has so many sums.
  static constexpr int kMicroRows = kRows / 16, kMicroColumns = kTileColumns / 16;
  // Shifted from row to row, so that stores of neighbours meet different banks.
  static constexpr int kRowStride = kRows + kVector, kColumnStride = kTileColumns + kVector;
};

template <class T>
struct Samples {
  const T* values = nullptr;  ///< sample after sample, `depth` values each
  const T* norms = nullptr;   ///< squared
  int depth = 0;              ///< features and zeros, a multiple of kPanel
};

/// Which rows and columns. Counts on the device, where given, hold.
struct TileRange {
  const int* rows = nullptr;     ///< null: 0, 1, ...
  const int* columns = nullptr;  ///< likewise
  int row_count = 0, column_count = 0;
  const int* device_row_count = nullptr;
  const int* device_column_count = nullptr;
};

template <class T>
struct TileMemory {
  using Shape = TileShape<T>;
  alignas(16) T tile[Shape::kRows][kTileColumns];
  alignas(16) T left[2][kPanel][Shape::kRowStride];
  alignas(16) T right[2][kPanel][Shape::kColumnStride];
  T left_norms[Shape::kRows], right_norms[kTileColumns];
  int left_index[Shape::kRows], right_index[kTileColumns];
};

template <class T>
struct alignas(16) Wide {
  T values[TileShape<T>::kVector];
};

/// Fills memory.tile, of which the first `rows` rows count; the indices must be there. All threads take part;
/// none may use the tile before the next barrier.
template <class T, bool kIsDistance>
__device__ void FillTile(const Samples<T>& samples, TileMemory<T>& memory, int rows) {
  using Shape = TileShape<T>;
  // How many accesses fetch a panel, by sample and by thread.
  constexpr int kVector = Shape::kVector, kPerSample = kPanel / kVector;
  constexpr int kLeftLoads = Shape::kRows * kPerSample / kTileThreads;
  constexpr int kRightLoads = kTileColumns * kPerSample / kTileThreads;
  const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
  Wide<T> left[kLeftLoads], right[kRightLoads];
  const auto load = [&](int first) {
    for (int l = 0; l < kLeftLoads; ++l) {
      const int v = thread + l * kTileThreads;
      left[l] = *reinterpret_cast<const Wide<T>*>(
          samples.values + static_cast<long>(memory.left_index[v / kPerSample]) * samples.depth + first +
          v % kPerSample * kVector);
    }
    for (int l = 0; l < kRightLoads; ++l) {
      const int v = thread + l * kTileThreads;
      right[l] = *reinterpret_cast<const Wide<T>*>(
          samples.values + static_cast<long>(memory.right_index[v / kPerSample]) * samples.depth + first +
          v % kPerSample * kVector);
    }
  };
  const auto store = [&](int buffer) {
    for (int l = 0; l < kLeftLoads; ++l) {
      const int v = thread + l * kTileThreads;
      for (int e = 0; e < kVector; ++e)
        memory.left[buffer][v % kPerSample * kVector + e][v / kPerSample] = left[l].values[e];
    }
    for (int l = 0; l < kRightLoads; ++l) {
      const int v = thread + l * kTileThreads;
      for (int e = 0; e < kVector; ++e)
        memory.right[buffer][v % kPerSample * kVector + e][v / kPerSample] = right[l].values[e];
    }
  };
  // The second half of a thread's sums are of the second half of the rows, which may not count.
  const bool is_full = rows > Shape::kRows / 2;
  T sums[Shape::kMicroRows][Shape::kMicroColumns] = {};
  load(0);
  store(0);
  __syncthreads();
  int buffer = 0;
  for (int first = 0; first < samples.depth; first += kPanel, buffer ^= 1) {
    const bool has_next = first + kPanel < samples.depth;
    if (has_next) load(first + kPanel);
#pragma unroll
    for (int k = 0; k < kPanel; ++k) {
      T a[Shape::kMicroRows], b[Shape::kMicroColumns];
#pragma unroll
      for (int q = 0; q < Shape::kMicroRows / kVector; ++q) {
        const Wide<T> w = *reinterpret_cast<const Wide<T>*>(&memory.left[buffer][k][(q * 16 + ty) * kVector]);
        for (int e = 0; e < kVector; ++e) a[q * kVector + e] = w.values[e];
      }
#pragma unroll
      for (int q = 0; q < Shape::kMicroColumns / kVector; ++q) {
        const Wide<T> w =
            *reinterpret_cast<const Wide<T>*>(&memory.right[buffer][k][(q * 16 + tx) * kVector]);
        for (int e = 0; e < kVector; ++e) b[q * kVector + e] = w.values[e];
      }
      const auto multiply = [&](int i) {
#pragma unroll
        for (int j = 0; j < Shape::kMicroColumns; ++j) {
          if constexpr (kIsDistance && sizeof(T) == 8) {
            const T difference = a[i] - b[j];
            sums[i][j] = fma(difference, difference, sums[i][j]);
          } else {
            sums[i][j] = fma(a[i], b[j], sums[i][j]);
          }
        }
      };
#pragma unroll
      for (int i = 0; i < Shape::kMicroRows / 2; ++i) multiply(i);
      if (is_full) {
#pragma unroll
        for (int i = Shape::kMicroRows / 2; i < Shape::kMicroRows; ++i) multiply(i);
      }
    }
    if (has_next) store(buffer ^ 1);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < Shape::kMicroRows; ++i) {
    const int row = (i / kVector * 16 + ty) * kVector + i % kVector;
#pragma unroll
    for (int q = 0; q < Shape::kMicroColumns / kVector; ++q) {
      Wide<T> w;
      const int column = (q * 16 + tx) * kVector;
#pragma unroll
      for (int e = 0; e < kVector; ++e) {
        T value = sums[i][q * kVector + e];
        if constexpr (kIsDistance && sizeof(T) == 4) {
          value = fmaxf(memory.left_norms[row] + memory.right_norms[column + e] - 2 * value, 0.0F);
          if (memory.left_index[row] == memory.right_index[column + e]) value = 0;
        }
        w.values[e] = value;
      }
      *reinterpret_cast<Wide<T>*>(&memory.tile[row][column]) = w;
    }
  }
}

/// One block: the columns of tile blockIdx.x, and every gridDim.y-th tile of rows from blockIdx.y on. A
/// consumer has Begin(column, half), Use(memory, first row, rows of the tile that count), and End(memory).
template <class T, bool kIsDistance, class Consumer>
__device__ void ForTiles(const Samples<T>& samples, const TileRange& range, Consumer& consumer) {
  using Shape = TileShape<T>;
  extern __shared__ __align__(16) char shared[];
  TileMemory<T>& memory = *reinterpret_cast<TileMemory<T>*>(shared);
  const int rows = range.device_row_count != nullptr ? *range.device_row_count : range.row_count;
  const int columns = range.device_column_count != nullptr ? *range.device_column_count : range.column_count;
  const int thread = threadIdx.x, first_column = blockIdx.x * kTileColumns;
  if (first_column >= columns) return;
  if (thread < kTileColumns) {
    const int place = first_column + thread;
    const int index = place >= columns ? 0 : range.columns != nullptr ? range.columns[place] : place;
    memory.right_index[thread] = index;
    memory.right_norms[thread] = samples.norms[index];
  }
  consumer.Begin(first_column + thread % kTileColumns, columns, thread / kTileColumns);
  for (int first = blockIdx.y * Shape::kRows; first < rows; first += gridDim.y * Shape::kRows) {
    __syncthreads();  // nobody reads the last tile any more
    if (thread < Shape::kRows) {
      const int place = first + thread;
      const int index = place >= rows ? 0 : range.rows != nullptr ? range.rows[place] : place;
      memory.left_index[thread] = index;
      memory.left_norms[thread] = samples.norms[index];
    }
    __syncthreads();
    const int count = min(Shape::kRows, rows - first);
    FillTile<T, kIsDistance>(samples, memory, count);
    __syncthreads();
    consumer.Use(memory, first, count);
  }
  __syncthreads();
  consumer.End(memory);
}

}  // namespace kweave::cuda

#endif  // KWEAVE_COMPUTE_CUDA_TILES_CUH_
