#ifndef KWEAVE_BOUNDS_H_
#define KWEAVE_BOUNDS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kweave/summary.h"

namespace kweave {

// What generalisation bounds say about the block norm P, given the function that was learned (Kloft 2011,
// sections 4.1, 4.4 and 5.1.1). A bound on the generalisation error grows with the complexity of { w :
// ||w||_{2,P} <= D }, and D must be large enough for the best function to be among them. With w in the place
// of the best function, the factors below are the part of the bound that depends on P: where they are
// smallest, P suits the function. They say nothing about its error itself.

/// ||w_m|| = theta_m sqrt(q_m) for every kernel; with several machines the medians over them.
std::vector<double> PartNorms(const Summary& summary);

/// min over t >= P of sqrt(t*) M^(1/t*) ||w||_{2,P}, from global Rademacher complexities, 1 <= P <= infinity;
/// M parts. Throws Error(kUsage) on any other P and on no parts.
double GlobalBoundFactor(std::span<const double> part_norms, double block_norm);

/// min over t in [P, 2] of (t* ||w||_{2,P})^(2/(1+a)) M^(1 + 2/(1+a) (1/t* - 1)), from local ones, 1 <= P <=
/// 2; a > 0 says how fast the eigenvalues of the kernels fall: as j^-a.
double LocalBoundFactor(std::span<const double> part_norms, double block_norm, double eigenvalue_decay);

/// The global factor as a function of P.
///
///     const auto curve = kweave::GlobalBoundCurve(kweave::PartNorms(model.summary()));
///     std::cout << curve.best_block_norm << '\n' << curve.ToText();
struct BoundCurve {
  std::vector<double> block_norm;
  std::vector<double> factor;
  double best_block_norm = 1;  ///< with the smallest factor, the first of equals
  /// A plot for the terminal.
  std::string ToText() const;
  std::string ToJson() const;
};

/// At `points` values of P, evenly from 1 to 4. Throws Error(kUsage) on no parts and on less than two points.
BoundCurve GlobalBoundCurve(std::span<const double> part_norms, std::size_t points = 61);

}  // namespace kweave

#endif  // KWEAVE_BOUNDS_H_
