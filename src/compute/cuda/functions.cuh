// Functions of a base quantity as kernels evaluate them.
#ifndef KWEAVE_COMPUTE_CUDA_FUNCTIONS_CUH_
#define KWEAVE_COMPUTE_CUDA_FUNCTIONS_CUH_

#include <cuda_runtime.h>

#include "compute/device.h"

namespace kweave::cuda {

/// Members that one pass evaluates, each with an accumulator in registers or a coefficient; more of them take
/// more passes.
inline constexpr int kMembersPerPass = 32;
/// As many as tables have terms (kMostTableTerms of compute/cpu/family_loops.h).
inline constexpr int kMostTerms = 256;

/// The functions first, first + 1, ... of a base, as an argument of a kernel.
template <class T>
struct Functions {
  BaseFunctions::Form form = BaseFunctions::Form::kPower;
  int first = 0, count = 0;
  T rate[kMembersPerPass], offset[kMembersPerPass];  // of members, from the first one
  int degree[kMembersPerPass];
  T stretch = 0, slope = 1, shift = 0;
  bool is_of_root = false;
};

/// Their sum with coefficients: of a table from T_0 on.
template <class T>
struct Combination {
  Functions<T> functions;
  T coefficients[kMostTerms];
};

// Beyond a quarter exp loses no more than two bits to the 1 that is taken off; below, six terms of the series
// leave 5e-8 of the value.
constexpr float kSeriesEnd = 0.25F;

__device__ inline float Expm1(float x) {
  const float series =
      x *
      fmaf(x, fmaf(x, fmaf(x, fmaf(x, fmaf(x, 1.0F / 720, 1.0F / 120), 1.0F / 24), 1.0F / 6), 0.5F), 1.0F);
  return fabsf(x) < kSeriesEnd ? series : __expf(x) - 1;
}
__device__ inline double Expm1(double x) { return expm1(x); }
__device__ inline float Log1p(float x) { return __logf(1 + x); }
__device__ inline double Log1p(double x) { return log1p(x); }

template <class T>
__device__ T Power(T base, int degree) {
  T result = 1;
  for (; degree > 0; degree >>= 1, base *= base) {
    if (degree & 1) result *= base;
  }
  return result;
}

template <class T>
__device__ T Member(const Functions<T>& functions, int k, T base) {
  return functions.form == BaseFunctions::Form::kExponential
             ? Expm1(-functions.rate[k] * base)
             : Power(functions.rate[k] * base + functions.offset[k], functions.degree[k]);
}

/// The variable of a table.
template <class T>
__device__ T Variable(const Functions<T>& functions, T base) {
  const T v = functions.is_of_root ? sqrt(base) : base;
  const T u = functions.stretch > 0 ? Log1p(functions.stretch * v) : v;
  return functions.slope * u + functions.shift;
}

/// values[r] = the combination at base[r]; several at once hide the latency of recurrences.
template <class T, int kCount>
__device__ void Evaluate(const Combination<T>& combination, const T (&base)[kCount], T (&values)[kCount]) {
  const Functions<T>& functions = combination.functions;
  if (functions.form != BaseFunctions::Form::kTable) {
    for (int r = 0; r < kCount; ++r) values[r] = 0;
    for (int k = 0; k < functions.count; ++k) {
#pragma unroll
      for (int r = 0; r < kCount; ++r) {
        values[r] += combination.coefficients[k] * Member(functions, k, base[r]);
      }
    }
    return;
  }
  // Clenshaw's recurrence.
  T twice[kCount], last[kCount];
#pragma unroll
  for (int r = 0; r < kCount; ++r) {
    twice[r] = 2 * Variable(functions, base[r]);
    values[r] = last[r] = 0;
  }
  for (int k = functions.count - 1; k > 0; --k) {
#pragma unroll
    for (int r = 0; r < kCount; ++r) {
      const T next = fma(twice[r], values[r], combination.coefficients[k] - last[r]);
      last[r] = values[r];
      values[r] = next;
    }
  }
#pragma unroll
  for (int r = 0; r < kCount; ++r) {
    values[r] = fma(twice[r] / 2, values[r], combination.coefficients[0] - last[r]);
  }
}

}  // namespace kweave::cuda

#endif  // KWEAVE_COMPUTE_CUDA_FUNCTIONS_CUH_
