// A family of analytic functions, or of polynomials, as expansions in one set of Chebyshev polynomials.
//
// Solves: for all members m, k_m(b) - shift = sum_{k < terms} c_mk T_k(t) + e_m
//   with |e_m| small on 0 <= b <= B.
// Method: v = b, or sqrt(b) for shapes that are analytic in the root, 0 <= v <= V. t is the affine image on
//   [-1,1] of u = log(1 + g v), 0 <= u <= U = log(1 + g V); the coefficients come from interpolation at N
//   Chebyshev nodes, cut after `terms`.
// Takes and returns: shape and parameters, B and the error wanted;
//   the variable, the coefficients and a bound on every |e_m|.
// Holds: |e_m| <= sum_{terms <= k < N} |c_mk| + aliasing. In u, v = (e^u - 1) / g is entire, and as long as
//   |Im u| <= pi/2 Re v >= -1/g, because Re e^u >= 0 there: the shape bounds |k_m| by a number F
//   (exp(gamma/g) for exponentials). The Bernstein ellipse with parameter rho = s + sqrt(s^2 + 1), s = pi /
//   U, stays inside that strip (its half height is U/2 (rho - 1/rho)/2 = pi/2) and |v| <= (e^R + 1) / g
//   there, R = U/2 (1 + (rho + 1/rho)/2) its right end, so the exact coefficients obey |a_k| <= 2 F rho^-k.
//   Interpolation differs from truncation at N by folded-in coefficients of index N and above, so the
//   aliasing is at most 4 F rho^-N / (1 - 1/rho). A polynomial is its own expansion: interpolation at one
//   node more than its degree finds it.
// Costs: members x N values and members x N x terms multiplications, once.
#ifndef KWEAVE_GRAM_FAMILY_TABLE_H_
#define KWEAVE_GRAM_FAMILY_TABLE_H_

#include <cmath>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "kernel/kernel_kind.h"
#include "kweave/dataset.h"

namespace kweave {

struct FamilyTable {
  double stretch = 0;  ///< g
  double slope = 1;    ///< t = slope log(1 + stretch v) + offset; slope b + offset where g is 0
  double offset = 0;
  bool is_of_root = false;  ///< v = sqrt(b)
  Index terms = 0;
  std::vector<double> coefficients;  ///< members x terms
  std::vector<double> error;         ///< a bound on |e_m| for every member
};

/// Of a shape that says where it is analytic. Nothing when more than `max_terms` terms would be needed.
/// `relative_error` is relative to the range |k(B) - k(0)| of each member.
std::optional<FamilyTable> FitFamilyTable(const Shape& shape, std::span<const KernelParameters> members,
                                          double upper_bound, double relative_error, Index max_terms);

/// Of a shape that is a polynomial, on -largest <= b <= largest: as many terms as the highest degree asks
/// for, and no error but rounding, relative to the values at the ends.
FamilyTable FitPowerTable(const Shape& shape, std::span<const KernelParameters> members, double largest);

/// Whether a table of T serves a polynomial of products whose diagonal has this mean and largest value:
/// rounding is relative to the values at the ends, so typical ones must not be much smaller.
template <class T>
bool KeepsDigits(Index polynomial_degree, double mean, double largest) {
  const auto degree = static_cast<double>(polynomial_degree);
  constexpr double kLeastTypical = std::is_same_v<T, float> ? 2e-3 : 1e-8;  // leaves 4 and 8 digits
  return std::pow(mean, degree) >= kLeastTypical * std::pow(largest, degree);
}

}  // namespace kweave

#endif  // KWEAVE_GRAM_FAMILY_TABLE_H_
