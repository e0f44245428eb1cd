// What a regulariser adds to the primal and subtracts in the dual, as docs/dev/notation.md and docs/norms.md
// state it.
#ifndef KWEAVE_VERIFY_PLAIN_REGULARIZERS_H_
#define KWEAVE_VERIFY_PLAIN_REGULARIZERS_H_

#include <algorithm>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "model/problem.h"

namespace kweave::verify {

/// A regulariser of `kernels` weights: all but logdet, which needs the kernel matrix and builds on its
/// constraint.
class PlainRegularizer {
 public:
  /// Throws Error(kData) when the description does not fit the number of kernels or is not known.
  PlainRegularizer(const ModelRegularizer& description, std::size_t kernels);

  /// 1/2 theta' q + r(theta); for block norms above 2 and matrices on the parts 1/2 ||w||^2 with ||w_m|| =
  /// theta_m sqrt(q_m).
  double Primal(std::span<const double> theta, std::span<const double> q) const;
  /// How far theta is outside the set it must be in: 0 or less inside.
  double Violation(std::span<const double> theta) const;
  /// The largest 1/2 theta' q - r(theta), or conjugate of 1/2 ||w||^2: what the dual subtracts; where it is
  /// found by iteration an upper bound on it. q_m < 0 counts as 0; infinite outside its domain.
  double DualTerm(std::span<const double> q) const;

 private:
  bool IsMinimized() const;
  double WeightNorm(std::span<const double> theta) const;
  double GroupNorm(std::span<const double> x, double inner, double outer) const;
  double BoundedDual(std::span<const double> q) const;

  ModelRegularizer about_;
  std::vector<double> matrix_;
  std::size_t kernels_;
};

/// ||max(x, 0)||_r, 1 <= r <= infinity.
double PlainNorm(std::span<const double> x, double r);

/// The largest value of a concave function on [low, high], from function values alone; the ends are looked
/// at, too. From some point on it may be minus infinity.
template <class Function>
double LargestOnInterval(double low, double high, const Function& function) {
  constexpr int kSections = 90;  // 0.618^90 is below the last place
  const double golden = std::numbers::phi - 1;
  double largest = std::max(function(low), function(high));
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double at_a = function(a), at_b = function(b);
  for (int k = 0; k < kSections; ++k) {
    largest = std::max({largest, at_a, at_b});
    if (at_a > at_b || at_a == -std::numeric_limits<double>::infinity()) {
      high = b, b = a, at_b = at_a;
      a = high - golden * (high - low), at_a = function(a);
    } else {
      low = a, a = b, at_a = at_b;
      b = low + golden * (high - low), at_b = function(b);
    }
  }
  return std::max({largest, at_a, at_b});
}

}  // namespace kweave::verify

#endif  // KWEAVE_VERIFY_PLAIN_REGULARIZERS_H_
