// Constants of one meaning that several folders need.
#ifndef KWEAVE_BASE_CONSTANTS_H_
#define KWEAVE_BASE_CONSTANTS_H_

#include <limits>

#include "kweave/index.h"

namespace kweave {

/// A bound where nothing bounds.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The least of a divisor that may be 0: the smallest number whose inverse is finite.
inline constexpr double kTiny = std::numeric_limits<double>::min();

/// Relative error granted to the result of a few operations: half a unit in the last place for each of eight.
inline constexpr double kFewRoundings = 4 * std::numeric_limits<double>::epsilon();

/// Error granted to a sum of products, relative to the sum of their magnitudes. Rounding of random sign gives
/// sqrt(n / 3) / 2 units in the last place: as much as this for three thousand products one after the other.
inline constexpr double kSumRounding = 16 * std::numeric_limits<double>::epsilon();

/// A guard on Newton and interior-point steps, which need ten to thirty; only rounding makes more of them.
inline constexpr int kMostNewtonSteps = 60;

/// The share of the way to the boundary that an interior-point step may take, so that nothing becomes 0
/// (Nocedal and Wright, section 16.6, recommend what tends to 1).
inline constexpr double kToBoundary = 0.995;

/// A guard on searches for a root: 64 doublings reach any outputs that occur, 53 halvings neighbours in
/// float64, and as many Newton or secant steps may lie between them.
inline constexpr int kMostRootSteps = 200;

/// Rows of a matrix computed in one call where all of them are wanted in turn: a batch that all threads share
/// and that takes little memory.
inline constexpr Index kRowsPerCall = 64;

}  // namespace kweave

#endif  // KWEAVE_BASE_CONSTANTS_H_
