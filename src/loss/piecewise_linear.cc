#include "loss/piecewise_linear.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace kweave {

double LowestPoint(std::vector<Corner> corners, double left_slope) {
  if (corners.empty()) return 0;
  double total = std::abs(left_slope);
  for (const Corner& corner : corners) total += corner.jump;
  std::sort(corners.begin(), corners.end(), [](const Corner& a, const Corner& b) { return a.at < b.at; });
  const double zero = 1e-13 * total;  // the sum of the slopes is exact only up to rounding
  double slope = left_slope;
  if (slope >= -zero) return corners.front().at;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    slope += corners[i].jump;
    if (slope > zero) return corners[i].at;
    if (slope >= -zero && i + 1 < corners.size()) return std::midpoint(corners[i].at, corners[i + 1].at);
  }
  return corners.back().at;
}

}  // namespace kweave
