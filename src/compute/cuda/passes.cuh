// What passes over pairs of samples compute: sums of rows, one for each function or of their combination, and
// the values themselves.
#ifndef KWEAVE_COMPUTE_CUDA_PASSES_CUH_
#define KWEAVE_COMPUTE_CUDA_PASSES_CUH_

#include "compute/cuda/functions.cuh"
#include "compute/cuda/tiles.cuh"

namespace kweave::cuda {

/// How a pass runs.
struct PassPlan {
  bool is_distance = true;
  int splits = 1;  ///< of the rows, each with sums of its own
  cudaStream_t stream = nullptr;
};

/// Enough splits to keep every multiprocessor busy.
int ChooseSplits(int columns, int row_tiles, int multiprocessors);

/// partials[s n + j] = the sum over the rows of split s of factors[r] combination(r, j), n =
/// range.column_count. `adds`: to what is there.
template <class T>
void SumRows(const Samples<T>& samples, const TileRange& range, const Combination<T>& combination,
             const T* factors, double* partials, bool adds, const PassPlan& plan);

/// partials[(s count + k) n + j], the same for every function.
template <class T>
void SumFunctions(const Samples<T>& samples, const TileRange& range, const Functions<T>& functions,
                  const T* factors, double* partials, const PassPlan& plan);

/// out[r stride + j] = combination(r, j), or added to it.
template <class T>
void StoreRows(const Samples<T>& samples, const TileRange& range, const Combination<T>& combination, T* out,
               int stride, bool adds, const PassPlan& plan);

/// out[j] += the sum of partials[s size + j] over all splits.
void AddPartials(const double* partials, int splits, long size, double* out, cudaStream_t stream);

}  // namespace kweave::cuda

#endif  // KWEAVE_COMPUTE_CUDA_PASSES_CUH_
