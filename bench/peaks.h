// What one core does at best, to compare the loops of the program with: arithmetic, exponentials, memory.
#ifndef KWEAVE_BENCH_PEAKS_H_
#define KWEAVE_BENCH_PEAKS_H_

#include "kweave/index.h"

namespace kweave {

/// Runs `rounds` rounds of independent fused multiply-adds in registers; returns how many operations (two for
/// each multiply-add, times the lanes) one round makes. `result` keeps them alive. T: float or double.
template <class T>
double RunMultiplyAdds(Index rounds, T* result);

/// out[j] = exp(in[j]) by Highway's own function, which a user of the library would call.
void PlainExponentials(const float* in, Index count, float* out);

/// out[j] = log(in[j]), likewise. T: float or double.
template <class T>
void PlainLogarithms(const T* in, Index count, T* out);

/// a[j] = b[j] + factor * c[j]: 24 bytes for every element, as the STREAM benchmark counts.
void Triad(const double* b, const double* c, double factor, Index count, double* a);

/// The sum of all values, in several chains.
float Sum(const float* values, Index count);

}  // namespace kweave

#endif  // KWEAVE_BENCH_PEAKS_H_
