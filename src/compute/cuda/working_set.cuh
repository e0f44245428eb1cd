// A step of the solver on the device, but for the rows (compute/cuda/solver.cu): choice of the working set,
// the problem restricted to it, and the ends of the gradient.
#ifndef KWEAVE_COMPUTE_CUDA_WORKING_SET_CUH_
#define KWEAVE_COMPUTE_CUDA_WORKING_SET_CUH_

#include <cuda_runtime.h>

#include "compute/cuda/memory.cuh"

namespace kweave::cuda {

/// The most variables of a set: four for each of the 1,024 threads of a block.
inline constexpr int kMostInSet = 4096;

/// The most on a device whose blocks may have so much shared memory.
int MostInSet(std::size_t shared_bytes);

/// The dual problem and where it stands; arrays over all variables.
struct Variables {
  double *beta = nullptr, *gradient = nullptr;
  const double *lower = nullptr, *upper = nullptr, *diagonal = nullptr;  ///< with curvature
  const double *kink = nullptr, *curvature = nullptr;                    ///< null: none
  int count = 0;
  double least_curvature = 0;  ///< of a step
};

/// The ends of the gradient over some variables: the largest of those that may fall, the smallest of those
/// that may grow, and where.
struct Ends {
  double min_up, max_low;
  int up, low;
};

enum class StepOutcome : int { kRunning, kConverged, kStepLimit, kStalled, kNotFinite };

/// What the steps of a batch share, on the device.
struct StepControl {
  // Written by the host, for a batch.
  double tolerance = 0;
  long long most_steps = 0;
  int most_in_set = 0;
  double share_left_in_set = 0;  ///< of the violation of all, at which a set is left
  unsigned first_round = 0;
  int rounds_between_ends = 1;  ///< a batch ends after so many rounds, or a multiple of them
  // Results.
  StepOutcome outcome = StepOutcome::kRunning;
  long long steps = 0;  ///< of this batch
  long long rows = 0;   ///< of variables that moved, so far
  double decrease = 0;  ///< of the objective, so far
  Ends ends = {};
  // Of the running step.
  unsigned round = 0;
  int kept = 0, set_size = 0, moved = 0;
  unsigned finished_blocks = 0;
  /// By side: those that may grow, those that may fall.
  int wanted[2] = {}, least_bin[2] = {}, above[2] = {};
};

/// What a solver needs beside the problem.
template <class T>
struct SetWorkspace {
  explicit SetWorkspace(int variables, int most_in_set);
  static std::size_t Bytes(int variables, int most_in_set);

  int blocks = 0;
  DeviceArray<StepControl> control{1};
  DeviceArray<Ends> ends;        // by block of variables
  DeviceArray<float> keys;       // violation times a random number; negative: of those that may fall
  DeviceArray<unsigned> stamps;  // the round that a variable was kept for
  DeviceArray<int> histogram, block_counts, set, moved;
  DeviceArray<T> matrix, changes;  // of the set
};

/// Chooses the set of the next step, unless the batch is over.
template <class T>
void ChooseSet(const Variables& variables, SetWorkspace<T>& workspace, cudaStream_t stream);

/// Solves the problem restricted to the set, whose matrix is in the workspace, and lists what moved.
template <class T>
void SolveSet(const Variables& variables, SetWorkspace<T>& workspace, int most_in_set, cudaStream_t stream);

/// Adds the partial sums of the rows that moved to the gradient, and finds its ends.
template <class T>
void FinishGradient(const Variables& variables, SetWorkspace<T>& workspace, const double* partials,
                    int splits, cudaStream_t stream);

}  // namespace kweave::cuda

#endif  // KWEAVE_COMPUTE_CUDA_WORKING_SET_CUH_
