#include "loss/piecewise_linear.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>

namespace kweave {

double LowestPoint(std::vector<Corner> corners, double left_slope) {
  if (corners.empty()) return 0;
  constexpr std::ptrdiff_t kFew = 32;  // about where std::sort itself goes over to insertion
  const auto earlier = [](const Corner& a, const Corner& b) { return a.at < b.at; };
  double total = std::abs(left_slope);
  for (const Corner& corner : corners) total += corner.jump;
  const double zero = 1e-13 * total;  // the sum of the slopes is exact only up to rounding
  if (left_slope >= -zero) return std::min_element(corners.begin(), corners.end(), earlier)->at;
  // The function falls before `begin`, with `slope`, and does not after `end`, whose corner follows those
  // before it.
  auto begin = corners.begin(), end = corners.end();
  double slope = left_slope;
  while (end - begin > kFew) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, earlier);
    double at_middle = slope;
    for (auto corner = begin; corner != middle; ++corner) at_middle += corner->jump;
    if (at_middle >= -zero) {
      end = middle;
    } else {
      begin = middle;
      slope = at_middle;
    }
  }
  std::sort(begin, end, earlier);
  for (auto corner = begin; corner != end; ++corner) {
    slope += corner->jump;
    if (slope > zero) return corner->at;
    if (slope >= -zero && corner + 1 != corners.end()) return std::midpoint(corner->at, (corner + 1)->at);
  }
  return std::prev(end)->at;
}

}  // namespace kweave
