// The loops over classes that machines with one output for each of them spend their time in.
#ifndef KWEAVE_COMPUTE_CPU_CLASS_LOOPS_H_
#define KWEAVE_COMPUTE_CPU_CLASS_LOOPS_H_

#include "kweave/index.h"

namespace kweave {

/// out[k] = min(out[k], value - row[k]).
void LowerToDifferences(double value, const double* row, double* out, Index size);

/// The largest of a[k] + b[k]; minus infinity where there are none.
double LargestSum(const double* a, const double* b, Index size);

/// Where from + lengths[k] is below to[k] by more than rounding, to[k] becomes it, and before[k] becomes
/// `source`. Whether there was one.
bool RelaxPaths(double from, const double* lengths, Index source, double* to, Index* before, Index size);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_CLASS_LOOPS_H_
