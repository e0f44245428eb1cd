#include "regularizer/shrinkage.h"

#include <algorithm>
#include <cmath>

#include "base/constants.h"

namespace kweave {

namespace {

constexpr double kPrecision = 1e-13;  // relative: rounding of the powers

}  // namespace

// Without a start the steps begin where both terms are at most v.
Shrinkage::Shrunk Shrinkage::Solve(double lambda, double v, double& root) const {
  if (r_ == 1) return {v / (1 + lambda), v / (1 + lambda)};
  const double a = is_below_two_ ? 1 : lambda;
  const double b = is_below_two_ ? lambda : 1;
  const double most = std::min(std::pow(v / a, 1 / r_), v / b);
  if (!(most > 0)) return {0, 0};  // less than numbers can say
  root = root > 0 ? std::min(root, most) : most;
  double power = std::pow(root, r_);
  for (int k = 0; k < kMostNewtonSteps; ++k) {
    const double excess = a * power + b * root - v;
    if (std::abs(excess) <= kPrecision * v) break;
    const double next = std::min(root - excess / (a * r_ * power / root + b), most);
    if (next == root) break;
    root = next;
    power = std::pow(root, r_);
  }
  return is_below_two_ ? Shrunk{power, root} : Shrunk{root, power};
}

}  // namespace kweave
