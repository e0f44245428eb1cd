// Solves   weights of fewer kernels that a bundle (weights/models/bundle.h) cannot tell from those given.
// Takes    slopes by kernel: the planes of the bundle or all products of its betas; theta, overwritten.
// Holds    the sum of theta; what no plane may change by is said with each.
#ifndef KWEAVE_WEIGHTS_MODELS_FEWER_KERNELS_H_
#define KWEAVE_WEIGHTS_MODELS_FEWER_KERNELS_H_

#include <span>
#include <vector>

#include "regularizer/regularizer.h"

namespace kweave {

/// Moves the weight of kernels that every plane finds alike to one of them, and weights too small to matter
/// to others; no plane changes by more than 2 tolerance.
void MergeWeights(std::span<const std::span<const double>> planes, double tolerance, std::span<double> theta);

/// Moves weight to few kernels where those can stand for all: nothing that the products say, of a plane or of
/// the curvature between two, changes by more than the tolerance.
void ThinWeights(std::span<const std::span<const double>> products, double tolerance,
                 std::span<double> theta);

/// Brings bounded weights that are hardly above their lower bounds down to these, and gives others what that
/// frees; no plane changes by more than the tolerance.
void TrimWeights(std::span<const std::span<const double>> planes, const LinearWeights& bounds,
                 double tolerance, std::span<double> theta);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_FEWER_KERNELS_H_
