// The best bias of losses that are piecewise linear, exactly.
#ifndef KWEAVE_LOSS_PIECEWISE_LINEAR_H_
#define KWEAVE_LOSS_PIECEWISE_LINEAR_H_

#include <vector>

namespace kweave {

/// Where a convex, piecewise linear function of b bends, and by how much its slope grows there.
struct Corner {
  double at = 0;
  double jump = 0;
};

/// The b that minimises the convex function with these corners and the slope `left_slope` before the first of
/// them; the middle one where there are several. A function that falls for ever (or grows from the start) up
/// to rounding has its minimum at the last (first) corner. 0 without corners. O(n).
double LowestPoint(std::vector<Corner> corners, double left_slope);

}  // namespace kweave

#endif  // KWEAVE_LOSS_PIECEWISE_LINEAR_H_
