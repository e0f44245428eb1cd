#include "compute/cpu/class_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/class_loops.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kweave::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using DoubleVector = hn::Vec<DoubleTag>;

void LowerToDifferences(double value, const double* row, double* out, Index size) {
  const DoubleTag d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const DoubleVector from = hn::Set(d, value);
  Index k = 0;
  for (; k + lanes <= size; k += lanes) {
    const DoubleVector difference = hn::Sub(from, hn::LoadU(d, row + k));
    hn::StoreU(hn::Min(hn::LoadU(d, out + k), difference), d, out + k);
  }
  for (; k < size; ++k) out[k] = std::min(out[k], value - row[k]);
}

double LargestSum(const double* a, const double* b, Index size) {
  const DoubleTag d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  double largest = -std::numeric_limits<double>::infinity();
  Index k = 0;
  if (size >= lanes) {
    DoubleVector lane_largest = hn::Set(d, largest);
    for (; k + lanes <= size; k += lanes) {
      lane_largest = hn::Max(lane_largest, hn::Add(hn::LoadU(d, a + k), hn::LoadU(d, b + k)));
    }
    largest = hn::GetLane(hn::MaxOfLanes(d, lane_largest));
  }
  for (; k < size; ++k) largest = std::max(largest, a[k] + b[k]);
  return largest;
}

bool RelaxPaths(double from, const double* lengths, Index source, double* to, Index* before, Index size) {
  constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();  // of sums along a path
  const auto relax_one = [&](Index k) {
    const double shorter = from + lengths[k];
    if (!(shorter < to[k] - kRounding * (std::abs(to[k]) + std::abs(from) + std::abs(lengths[k]))))
      return false;
    to[k] = shorter;
    before[k] = source;
    return true;
  };
  const DoubleTag d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const DoubleVector start = hn::Set(d, from), start_magnitude = hn::Set(d, std::abs(from));
  bool has_changed = false;
  Index k = 0;
  for (; k + lanes <= size; k += lanes) {
    const DoubleVector length = hn::LoadU(d, lengths + k), now = hn::LoadU(d, to + k);
    const DoubleVector magnitude = hn::Add(hn::Add(hn::Abs(now), start_magnitude), hn::Abs(length));
    const DoubleVector most = hn::NegMulAdd(hn::Set(d, kRounding), magnitude, now);
    if (hn::AllFalse(d, hn::Lt(hn::Add(start, length), most))) continue;  // nearly always
    for (Index lane = k; lane < k + lanes; ++lane) has_changed = relax_one(lane) || has_changed;
  }
  for (; k < size; ++k) has_changed = relax_one(k) || has_changed;
  return has_changed;
}

}  // namespace kweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {

HWY_EXPORT(LowerToDifferences);
HWY_EXPORT(LargestSum);
HWY_EXPORT(RelaxPaths);

void LowerToDifferences(double value, const double* row, double* out, Index size) {
  HWY_DYNAMIC_DISPATCH(LowerToDifferences)(value, row, out, size);
}
double LargestSum(const double* a, const double* b, Index size) {
  return HWY_DYNAMIC_DISPATCH(LargestSum)(a, b, size);
}
bool RelaxPaths(double from, const double* lengths, Index source, double* to, Index* before, Index size) {
  return HWY_DYNAMIC_DISPATCH(RelaxPaths)(from, lengths, source, to, before, size);
}

}  // namespace kweave
#endif  // HWY_ONCE
