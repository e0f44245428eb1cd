#include <cmath>

#include "compute/cuda/working_set.cuh"

namespace kweave::cuda {
namespace {

constexpr unsigned kAll = 0xffffffffu;  // lanes of a warp
// Of loops over all variables: enough threads to fill a multiprocessor, and some variables for each.
constexpr int kThreads = 256, kEach = 4, kPerBlock = kThreads * kEach;
// Of the block that solves a set: as many as a block can have.
constexpr int kSetThreads = 1024, kSetWarps = kSetThreads / 32;
// Keys are told apart by their exponent and three bits more: an eighth of their size.
constexpr int kBinShift = 20, kBins = 1 << (31 - kBinShift);
constexpr float kWorstKey = 3e38F;  // of the worst pair, which is in every set
// Near the end a set needs to be a little better than all must be.
constexpr double kShareOfTolerance = 0.9;
// Guards against a set whose numbers no longer change.
constexpr int kStepsPerVariable = 16;

// A number in (0, 1], the same for the same variable and round.
__device__ float RandomShare(unsigned variable, unsigned round) {
  unsigned h = variable * 0x9E3779B9u ^ (round + 1) * 0x85EBCA6Bu;
  h ^= h >> 16;
  h *= 0x7FEB352Du;
  h ^= h >> 15;
  h *= 0x846CA68Bu;
  h ^= h >> 16;
  return (static_cast<float>(h >> 8) + 1) * (1.0F / (1 << 24));
}

__device__ double KinkUp(double kink, double beta) { return beta >= 0 ? kink : -kink; }
__device__ double KinkLow(double kink, double beta) { return beta > 0 ? kink : -kink; }

__device__ Ends Join(const Ends& a, const Ends& b) {
  Ends ends = a;
  if (b.min_up < a.min_up) ends.min_up = b.min_up, ends.up = b.up;
  if (b.max_low > a.max_low) ends.max_low = b.max_low, ends.low = b.low;
  // NaN must not hide.
  if (!(b.min_up == b.min_up)) ends.min_up = b.min_up;
  if (!(b.max_low == b.max_low)) ends.max_low = b.max_low;
  return ends;
}

__device__ Ends NoEnds() { return {HUGE_VAL, -HUGE_VAL, -1, -1}; }

__device__ Ends JoinLanes(Ends ends) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const Ends other = {__shfl_xor_sync(kAll, ends.min_up, offset),
                        __shfl_xor_sync(kAll, ends.max_low, offset), __shfl_xor_sync(kAll, ends.up, offset),
                        __shfl_xor_sync(kAll, ends.low, offset)};
    // The lower lane goes first, so that both come to the same.
    ends = threadIdx.x % 32 & offset ? Join(other, ends) : Join(ends, other);
  }
  return ends;
}

// Of all threads, for all threads.
__device__ Ends JoinBlock(Ends ends) {
  __shared__ Ends of_warps[32];
  ends = JoinLanes(ends);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = ends;
  __syncthreads();
  ends = threadIdx.x % 32 < blockDim.x / 32 ? of_warps[threadIdx.x % 32] : NoEnds();
  ends = JoinLanes(ends);
  __syncthreads();
  return ends;
}

// The sums of the threads before this one, and of all.
template <class Count>
__device__ Count ScanBlock(Count count, Count& total) {
  __shared__ Count of_warps[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Count sum = count;
  for (int offset = 1; offset < 32; offset *= 2) {
    const Count other = __shfl_up_sync(kAll, sum, offset);
    if (lane >= offset) sum += other;
  }
  if (lane == 31) of_warps[warp] = sum;
  __syncthreads();
  Count before = 0;
  total = 0;
  for (int w = 0; w < static_cast<int>(blockDim.x) / 32; ++w) {
    if (w < warp) before += of_warps[w];
    total += of_warps[w];
  }
  __syncthreads();
  return before + sum - count;
}

// How many of either side are taken, and from which bin on; by one block.
__device__ void FindLeastKeys(StepControl& control, int* histogram) {
  constexpr int kBinsEach = kBins / kThreads;  // of a thread
  long long of_thread[2], before[2], total[2];
  for (int side = 0; side < 2; ++side) {
    of_thread[side] = 0;
    for (int b = 0; b < kBinsEach; ++b) {
      of_thread[side] += __ldcg(&histogram[side * kBins + kBins - 1 - (threadIdx.x * kBinsEach + b)]);
    }
    before[side] = ScanBlock(of_thread[side], total[side]);
  }
  const long long room = control.most_in_set - control.kept;
  const long long half = room / 2, rest = room - total[1];
  long long wanted[2];
  wanted[0] = min(total[0], max(half, rest));
  wanted[1] = min(total[1], room - wanted[0]);
  for (int side = 0; side < 2; ++side) {
    if (threadIdx.x == 0) {
      control.wanted[side] = static_cast<int>(wanted[side]);
      if (wanted[side] == 0) control.least_bin[side] = kBins, control.above[side] = 0;
    }
    if (before[side] >= wanted[side] || before[side] + of_thread[side] < wanted[side]) continue;
    long long above = before[side];
    for (int b = 0; b < kBinsEach; ++b) {
      const int bin = kBins - 1 - (static_cast<int>(threadIdx.x) * kBinsEach + b);
      const int count = __ldcg(&histogram[side * kBins + bin]);
      if (above + count >= wanted[side]) {
        control.least_bin[side] = bin;
        control.above[side] = static_cast<int>(above);
        break;
      }
      above += count;
    }
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 2 * kBins; b += kThreads) histogram[b] = 0;
  if (threadIdx.x == 0) {
    control.finished_blocks = 0;
    control.set_size = control.kept + static_cast<int>(wanted[0] + wanted[1]);
  }
}

__device__ StepOutcome OutcomeAt(const StepControl& control, const Ends& ends) {
  const double violation = ends.max_low - ends.min_up;
  if (!(violation == violation) || violation == HUGE_VAL) return StepOutcome::kNotFinite;
  if (violation <= control.tolerance) return StepOutcome::kConverged;
  const bool may_end = (control.round - control.first_round) % control.rounds_between_ends == 0;
  if (may_end && control.steps >= control.most_steps) return StepOutcome::kStepLimit;
  return StepOutcome::kRunning;
}

// The ends of all variables, whether the batch is over, and a key for every variable of a violating pair that
// is not in the set already.
__global__ void __launch_bounds__(kThreads)
    MakeKeys(Variables variables, StepControl* control, const Ends* ends_of_blocks, const unsigned* stamps,
             float* keys, int* histogram) {
  __shared__ int bins[2 * kBins];
  __shared__ bool is_last;
  if (control->outcome != StepOutcome::kRunning) return;
  const unsigned round = control->round;
  Ends ends = NoEnds();
  for (int b = threadIdx.x; b < static_cast<int>(gridDim.x); b += kThreads)
    ends = Join(ends, ends_of_blocks[b]);
  ends = JoinBlock(ends);
  const StepOutcome outcome = OutcomeAt(*control, ends);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    control->ends = ends;
    control->moved = 0;
    if (outcome != StepOutcome::kRunning) control->outcome = outcome, control->set_size = 0;
  }
  if (outcome != StepOutcome::kRunning) return;
  for (int b = threadIdx.x; b < 2 * kBins; b += kThreads) bins[b] = 0;
  __syncthreads();
  for (int e = 0; e < kEach; ++e) {
    const int i = blockIdx.x * kPerBlock + e * kThreads + threadIdx.x;
    if (i >= variables.count) break;
    const double beta = variables.beta[i], gradient = variables.gradient[i];
    const double kink = variables.kink != nullptr ? variables.kink[i] : 0;
    const double as_up = beta < variables.upper[i] ? ends.max_low - gradient - KinkUp(kink, beta) : 0;
    const double as_low = beta > variables.lower[i] ? gradient + KinkLow(kink, beta) - ends.min_up : 0;
    float key = 0;
    if ((as_up > 0 || as_low > 0) && stamps[i] != round) {
      const bool is_worst = i == ends.up || i == ends.low;
      key = is_worst ? kWorstKey
                     : fmaxf(static_cast<float>(max(as_up, as_low)) * RandomShare(i, round), 1e-37F);
      const int side = as_up > as_low ? 0 : 1;
      atomicAdd(&bins[side * kBins + (__float_as_int(key) >> kBinShift)], 1);
      if (side == 1) key = -key;
    }
    keys[i] = key;
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 2 * kBins; b += kThreads) {
    if (bins[b] != 0) atomicAdd(&histogram[b], bins[b]);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&control->finished_blocks, 1) + 1 == gridDim.x;
  __syncthreads();
  if (is_last) FindLeastKeys(*control, histogram);
}

// Which of four lists a key puts its variable on: of those that may grow and those that may fall, the ones
// above the least bin, and the ones in it; -1: on none.
__device__ int ListOf(const StepControl& control, float key) {
  if (key == 0) return -1;
  const int side = key > 0 ? 0 : 1;
  const int bin = __float_as_int(fabsf(key)) >> kBinShift;
  if (bin < control.least_bin[side]) return -1;
  return 2 * side + (bin > control.least_bin[side] ? 0 : 1);
}

// Four counts of at most kPerBlock each in one number.
__device__ unsigned long long CountLists(const StepControl& control, const float* keys, int count) {
  unsigned long long counts = 0;
  for (int e = 0; e < kEach; ++e) {
    const int i = blockIdx.x * kPerBlock + threadIdx.x * kEach + e;
    const int list = i < count ? ListOf(control, keys[i]) : -1;
    if (list >= 0) counts += 1ull << (16 * list);
  }
  return counts;
}

__global__ void __launch_bounds__(kThreads)
    CountChosen(const StepControl* control, const float* keys, int count, int* block_counts) {
  if (control->outcome != StepOutcome::kRunning) return;
  unsigned long long total;
  ScanBlock(CountLists(*control, keys, count), total);
  if (threadIdx.x < 4) block_counts[blockIdx.x * 4 + threadIdx.x] = total >> (16 * threadIdx.x) & 0xffff;
}

// Those kept come first, then the others by the order of the variables.
__global__ void __launch_bounds__(kThreads)
    WriteChosen(const StepControl* control, const float* keys, int count, const int* block_counts, int* set) {
  __shared__ int starts[4];
  if (control->outcome != StepOutcome::kRunning) return;
  if (threadIdx.x < 4) starts[threadIdx.x] = 0;
  __syncthreads();
  for (int b = threadIdx.x; b < 4 * static_cast<int>(blockIdx.x); b += kThreads) {
    if (block_counts[b] != 0) atomicAdd(&starts[b % 4], block_counts[b]);
  }
  __syncthreads();
  unsigned long long total;
  const unsigned long long before = ScanBlock(CountLists(*control, keys, count), total);
  int places[4];
  for (int list = 0; list < 4; ++list) {
    places[list] = starts[list] + static_cast<int>(before >> (16 * list) & 0xffff);
  }
  const int first[2] = {control->kept, control->kept + control->wanted[0]};
  for (int e = 0; e < kEach; ++e) {
    const int i = blockIdx.x * kPerBlock + threadIdx.x * kEach + e;
    const int list = i < count ? ListOf(*control, keys[i]) : -1;
    if (list < 0) continue;
    const int side = list / 2;
    const int place = places[list]++ + (list % 2 == 1 ? control->above[side] : 0);
    if (place < control->wanted[side]) set[first[side] + place] = i;
  }
}

// Keeps the order of numbers.
__device__ unsigned OrderedBits(float value) {
  const unsigned bits = __float_as_uint(value);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// What is known of the best variable of a warp, and so of all.
struct Found {
  double slope, room, diagonal, product;
  int slot;
};

struct FoundTable {
  unsigned keys[kSetWarps];
  Found found[kSetWarps];
};

// Offers what a thread has found. The largest of all is known after the next barrier.
__device__ void OfferKey(unsigned key, const Found& own, FoundTable& table) {
  const unsigned largest = __reduce_max_sync(kAll, key);
  const unsigned holders = __ballot_sync(kAll, key == largest);
  if (static_cast<int>(threadIdx.x % 32) == __ffs(holders) - 1) {
    table.keys[threadIdx.x / 32] = key;
    table.found[threadIdx.x / 32] = own;
  }
}

// What the thread with the largest key has found; false: all keys are 0.
__device__ bool TakeLargest(const FoundTable& table, Found& best) {
  const unsigned of_warp = table.keys[threadIdx.x % 32];
  const unsigned of_all = __reduce_max_sync(kAll, of_warp);
  best = table.found[__ffs(__ballot_sync(kAll, of_warp == of_all)) - 1];
  return of_all != 0;
}

// The variables of the set that a thread owns: slots thread, thread + 1024, ... Only it touches them.
template <int kOwned>
struct SetMemory {
  double beta[kOwned * kSetThreads], lower[kOwned * kSetThreads], upper[kOwned * kSetThreads];
  double diagonal[kOwned * kSetThreads], kink[kOwned * kSetThreads];
  FoundTable up, low, partner;  // two barriers a step keep readers and writers apart
};

// Writes the numbers of slots with a flag, by their order, and returns how many there are.
template <int kOwned, class Flag, class Write>
__device__ int Compact(Flag flag, Write write) {
  int first = 0;
  for (int k = 0; k < kOwned; ++k) {
    const bool has = flag(k);
    int total;
    const int before = ScanBlock(has ? 1 : 0, total);
    if (has) write(k, first + before);
    first += total;
  }
  return first;
}

template <class T, int kOwned>
class SetSolver {
 public:
  __device__ SetSolver(const Variables& variables, StepControl& control, const int* set, const T* matrix,
                       int stride, SetMemory<kOwned>& memory)
      : variables_(variables),
        control_(control),
        set_(set),
        matrix_(matrix),
        stride_(stride),
        memory_(memory),
        size_(control.set_size) {
    for (int k = 0; k < kOwned; ++k) {
      const int slot = Slot(k);
      gradient_[k] = 0;
      if (slot >= size_) continue;
      const int i = set[slot];
      memory.beta[slot] = variables.beta[i];
      memory.lower[slot] = variables.lower[i];
      memory.upper[slot] = variables.upper[i];
      memory.diagonal[slot] = variables.diagonal[i];
      memory.kink[slot] = variables.kink != nullptr ? variables.kink[i] : 0;
      gradient_[k] = variables.gradient[i];
    }
  }

  // Steps on pairs: the variable that gains most by growing, and the partner with which the objective falls
  // most.
  __device__ void Run() {
    const double violation = control_.ends.max_low - control_.ends.min_up;
    const double target = max(control_.share_left_in_set * violation, kShareOfTolerance * control_.tolerance);
    const long long most = static_cast<long long>(kStepsPerVariable) * size_;
    for (steps_ = 0; steps_ < most; ++steps_) {
      Found up, low, partner;
      if (!FindEnds(up, low) || !(low.slope - up.slope > target)) break;
      T row[kOwned];
      LoadRow(up.slot, row);
      if (!FindPartner(up, row, partner)) break;
      if (!Step(up, partner, row)) break;
    }
  }

  // Beta and the share of the curvature in the gradient go back; lists what moved, and the free variables,
  // which stay in the next set: up to half of it.
  __device__ void Save(int* moved, T* changes, int* kept, unsigned* stamps, int most_kept) {
    double change[kOwned];
    bool is_free[kOwned];
    int own[kOwned], free_count = 0;
    for (int k = 0; k < kOwned; ++k) {
      const int slot = Slot(k);
      change[k] = 0;
      is_free[k] = false;
      own[k] = -1;
      if (slot >= size_) continue;
      own[k] = set_[slot];
      const double beta = memory_.beta[slot];
      change[k] = beta - variables_.beta[own[k]];
      variables_.beta[own[k]] = beta;
      if (change[k] != 0) variables_.gradient[own[k]] += change[k] * Curvature(slot);
      is_free[k] =
          beta > memory_.lower[slot] && beta < memory_.upper[slot] && (memory_.kink[slot] == 0 || beta != 0);
      free_count += is_free[k] ? 1 : 0;
    }
    const int moved_count = Compact<kOwned>([&](int k) { return change[k] != 0; },
                                            [&](int k, int place) {
                                              moved[place] = own[k];
                                              changes[place] = static_cast<T>(change[k]);
                                            });
    int all_free;
    ScanBlock(free_count, all_free);
    // More than there is room for: a random share of them.
    const unsigned round = control_.round;
    const float share =
        all_free > most_kept ? static_cast<float>(most_kept) / static_cast<float>(all_free) : 2.0F;
    const int kept_count =
        Compact<kOwned>([&](int k) { return is_free[k] && RandomShare(own[k], ~round) <= share; },
                        [&](int k, int place) {
                          if (place >= most_kept) return;
                          kept[place] = own[k];
                          stamps[own[k]] = round + 1;
                        });
    if (threadIdx.x != 0) return;
    control_.moved = moved_count;
    control_.rows += moved_count;
    control_.kept = min(kept_count, most_kept);
    control_.steps += steps_;
    control_.decrease += decrease_;
    control_.round = round + 1;
    if (steps_ == 0) control_.outcome = StepOutcome::kStalled, control_.set_size = 0;
  }

 private:
  __device__ static int Slot(int k) { return static_cast<int>(threadIdx.x) + k * kSetThreads; }
  __device__ double Curvature(int slot) const {
    return variables_.curvature != nullptr ? variables_.curvature[set_[slot]] : 0;
  }

  __device__ bool FindEnds(Found& up, Found& low) {
    Found own_up{HUGE_VAL, 0, 0, 0, -1}, own_low{-HUGE_VAL, 0, 0, 0, -1};
    for (int k = 0; k < kOwned; ++k) {
      const int slot = Slot(k);
      if (slot >= size_) continue;
      const double beta = memory_.beta[slot], kink = memory_.kink[slot];
      if (beta < memory_.upper[slot]) {
        const double slope = gradient_[k] + KinkUp(kink, beta);
        if (slope < own_up.slope) own_up = {slope, 0, 0, 0, slot};
      }
      if (beta > memory_.lower[slot]) own_low.slope = max(own_low.slope, gradient_[k] + KinkLow(kink, beta));
    }
    if (own_up.slot >= 0) {
      const double beta = memory_.beta[own_up.slot];
      const bool stops = memory_.kink[own_up.slot] > 0 && beta < 0;
      own_up.room = (stops ? min(memory_.upper[own_up.slot], 0.0) : memory_.upper[own_up.slot]) - beta;
      own_up.diagonal = memory_.diagonal[own_up.slot];
    }
    const unsigned up_key = own_up.slot >= 0 ? OrderedBits(static_cast<float>(-own_up.slope)) : 0;
    const unsigned low_key = own_low.slope > -HUGE_VAL ? OrderedBits(static_cast<float>(own_low.slope)) : 0;
    OfferKey(up_key, own_up, memory_.up);
    OfferKey(low_key, own_low, memory_.low);
    __syncthreads();
    const bool has_up = TakeLargest(memory_.up, up);
    return TakeLargest(memory_.low, low) && has_up;
  }

  __device__ void LoadRow(int slot, T (&row)[kOwned]) const {
    for (int k = 0; k < kOwned; ++k) {
      row[k] = Slot(k) < size_ ? matrix_[static_cast<long>(slot) * stride_ + Slot(k)] : T{0};
    }
  }

  __device__ double CurvatureOfPair(const Found& up, double diagonal, double product) const {
    return max(up.diagonal + diagonal - 2 * product, variables_.least_curvature);
  }

  __device__ bool FindPartner(const Found& up, const T (&row)[kOwned], Found& partner) {
    Found own{0, 0, 0, 0, -1};
    float best = 0;
    for (int k = 0; k < kOwned; ++k) {
      const int slot = Slot(k);
      if (slot >= size_) continue;
      const double beta = memory_.beta[slot];
      if (!(beta > memory_.lower[slot])) continue;
      const double slope = gradient_[k] + KinkLow(memory_.kink[slot], beta), difference = slope - up.slope;
      if (!(difference > 0) || slot == up.slot) continue;
      const float curvature = static_cast<float>(CurvatureOfPair(up, memory_.diagonal[slot], row[k]));
      const float gain = static_cast<float>(difference) * static_cast<float>(difference) / curvature;
      if (!(gain > best)) continue;
      best = gain;
      own = {slope, 0, memory_.diagonal[slot], static_cast<double>(row[k]), slot};
    }
    if (own.slot >= 0) {
      const double beta = memory_.beta[own.slot];
      const bool stops = memory_.kink[own.slot] > 0 && beta > 0;
      own.room = beta - (stops ? max(memory_.lower[own.slot], 0.0) : memory_.lower[own.slot]);
    }
    OfferKey(best > 0 ? OrderedBits(best) : 0, own, memory_.partner);
    __syncthreads();
    return TakeLargest(memory_.partner, partner);
  }

  __device__ bool Step(const Found& up, const Found& low, const T (&up_row)[kOwned]) {
    const double difference = low.slope - up.slope;
    const double curvature = CurvatureOfPair(up, low.diagonal, low.product);
    const double step = min(min(difference / curvature, up.room), low.room);
    if (!(step > 0) || step == HUGE_VAL) return false;
    T low_row[kOwned];
    LoadRow(low.slot, low_row);
    for (int k = 0; k < kOwned; ++k) {
      gradient_[k] += step * (static_cast<double>(up_row[k]) - static_cast<double>(low_row[k]));
      const int slot = Slot(k);
      if (slot == up.slot) {
        memory_.beta[slot] = step == up.room ? Ceiling(slot) : min(memory_.beta[slot] + step, Ceiling(slot));
        gradient_[k] += step * Curvature(slot);
      } else if (slot == low.slot) {
        memory_.beta[slot] = step == low.room ? Floor(slot) : max(memory_.beta[slot] - step, Floor(slot));
        gradient_[k] -= step * Curvature(slot);
      }
    }
    decrease_ += step * (difference - 0.5 * step * curvature);
    return true;
  }

  __device__ double Ceiling(int slot) const {
    const bool stops = memory_.kink[slot] > 0 && memory_.beta[slot] < 0;
    return stops ? min(memory_.upper[slot], 0.0) : memory_.upper[slot];
  }
  __device__ double Floor(int slot) const {
    const bool stops = memory_.kink[slot] > 0 && memory_.beta[slot] > 0;
    return stops ? max(memory_.lower[slot], 0.0) : memory_.lower[slot];
  }

  const Variables& variables_;
  StepControl& control_;
  const int* set_;
  const T* matrix_;
  int stride_;
  SetMemory<kOwned>& memory_;
  int size_;
  double gradient_[kOwned];
  long long steps_ = 0;
  double decrease_ = 0;
};

template <class T, int kOwned>
__global__ void __launch_bounds__(kSetThreads, 1)
    SolveSetKernel(Variables variables, StepControl* control, const T* matrix, int stride, int* set,
                   int* moved, T* changes, unsigned* stamps) {
  extern __shared__ __align__(16) char shared[];
  if (control->outcome != StepOutcome::kRunning) return;
  SetSolver<T, kOwned> solver(variables, *control, set, matrix, stride,
                              *reinterpret_cast<SetMemory<kOwned>*>(shared));
  solver.Run();
  __syncthreads();
  solver.Save(moved, changes, set, stamps, control->most_in_set / 2);
}

__global__ void __launch_bounds__(kThreads)
    FinishGradientKernel(Variables variables, const StepControl* control, const double* partials, int splits,
                         Ends* ends_of_blocks) {
  if (control->outcome != StepOutcome::kRunning) return;
  const bool has_moved = control->moved > 0;
  Ends ends = NoEnds();
  for (int e = 0; e < kEach; ++e) {
    const int i = blockIdx.x * kPerBlock + e * kThreads + threadIdx.x;
    if (i >= variables.count) break;
    double gradient = variables.gradient[i];
    if (has_moved && splits > 0) {
      for (int s = 0; s < splits; ++s) gradient += partials[static_cast<long>(s) * variables.count + i];
      variables.gradient[i] = gradient;
    }
    const double beta = variables.beta[i], kink = variables.kink != nullptr ? variables.kink[i] : 0;
    Ends own = NoEnds();
    if (beta < variables.upper[i]) own.min_up = gradient + KinkUp(kink, beta), own.up = i;
    if (beta > variables.lower[i]) own.max_low = gradient + KinkLow(kink, beta), own.low = i;
    ends = Join(ends, own);
  }
  ends = JoinBlock(ends);
  if (threadIdx.x == 0) ends_of_blocks[blockIdx.x] = ends;
}

template <class T, int kOwned>
void LaunchSolveSet(const Variables& variables, SetWorkspace<T>& workspace, int stride, cudaStream_t stream) {
  constexpr int kBytes = sizeof(SetMemory<kOwned>);  // of shared memory
  Check(cudaFuncSetAttribute(SolveSetKernel<T, kOwned>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "give a computation its shared memory");
  SolveSetKernel<T, kOwned><<<1, kSetThreads, kBytes, stream>>>(
      variables, workspace.control.get(), workspace.matrix.get(), stride, workspace.set.get(),
      workspace.moved.get(), workspace.changes.get(), workspace.stamps.get());
  CheckLaunch();
}

}  // namespace

template <class T>
SetWorkspace<T>::SetWorkspace(int variables, int most_in_set)
    : blocks((variables + kPerBlock - 1) / kPerBlock),
      ends(blocks),
      keys(variables),
      stamps(variables),
      histogram(2 * kBins),
      block_counts(4 * blocks),
      set(most_in_set),
      moved(most_in_set),
      matrix(static_cast<std::size_t>(most_in_set) * most_in_set),
      changes(most_in_set) {}

int MostInSet(std::size_t shared_bytes) {
  return shared_bytes >= sizeof(SetMemory<4>) ? kMostInSet : kMostInSet / 2;
}

template <class T>
std::size_t SetWorkspace<T>::Bytes(int variables, int most_in_set) {
  const std::size_t square = static_cast<std::size_t>(most_in_set) * most_in_set;
  return square * sizeof(T) + static_cast<std::size_t>(variables) * (sizeof(float) + sizeof(unsigned) + 1);
}

template <class T>
void ChooseSet(const Variables& variables, SetWorkspace<T>& workspace, cudaStream_t stream) {
  StepControl* const control = workspace.control.get();
  MakeKeys<<<workspace.blocks, kThreads, 0, stream>>>(variables, control, workspace.ends.get(),
                                                      workspace.stamps.get(), workspace.keys.get(),
                                                      workspace.histogram.get());
  CountChosen<<<workspace.blocks, kThreads, 0, stream>>>(control, workspace.keys.get(), variables.count,
                                                         workspace.block_counts.get());
  WriteChosen<<<workspace.blocks, kThreads, 0, stream>>>(control, workspace.keys.get(), variables.count,
                                                         workspace.block_counts.get(), workspace.set.get());
  CheckLaunch();
}

template <class T>
void SolveSet(const Variables& variables, SetWorkspace<T>& workspace, int most_in_set, cudaStream_t stream) {
  if (most_in_set <= kSetThreads) {
    LaunchSolveSet<T, 1>(variables, workspace, most_in_set, stream);
  } else if (most_in_set <= 2 * kSetThreads) {
    LaunchSolveSet<T, 2>(variables, workspace, most_in_set, stream);
  } else {
    LaunchSolveSet<T, 4>(variables, workspace, most_in_set, stream);
  }
}

template <class T>
void FinishGradient(const Variables& variables, SetWorkspace<T>& workspace, const double* partials,
                    int splits, cudaStream_t stream) {
  FinishGradientKernel<<<workspace.blocks, kThreads, 0, stream>>>(variables, workspace.control.get(),
                                                                  partials, splits, workspace.ends.get());
  CheckLaunch();
}

template struct SetWorkspace<float>;
template struct SetWorkspace<double>;
template void ChooseSet(const Variables&, SetWorkspace<float>&, cudaStream_t);
template void ChooseSet(const Variables&, SetWorkspace<double>&, cudaStream_t);
template void SolveSet(const Variables&, SetWorkspace<float>&, int, cudaStream_t);
template void SolveSet(const Variables&, SetWorkspace<double>&, int, cudaStream_t);
template void FinishGradient(const Variables&, SetWorkspace<float>&, const double*, int, cudaStream_t);
template void FinishGradient(const Variables&, SetWorkspace<double>&, const double*, int, cudaStream_t);

}  // namespace kweave::cuda
