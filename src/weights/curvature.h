// Solves   the Hessian of J(theta) along some directions, at a solved machine.
// Method   while the same samples stay free (0 < alpha < C), J is smooth: with G = (K(e) beta) for all
//          directions e, over the free samples, H = G' K(theta)^-1 G on the plane sum beta = 0. That plane is
//          entered by subtracting one free sample from all others, which also removes any constant of the
//          kernel. (Chapelle, Rakotomamonjy: Second order optimization of kernel parameters, 2008, take the
//          same derivative.) Of more than kMostFreeSamples free samples an even choice stands for all: H is
//          the squared norm of a projection, which for smooth kernels a choice hardly shortens.
// Takes    the last evaluation and its machine; returns H, row after row, or nothing when K(theta) is
//          singular.
// Holds    H is positive semidefinite, and zero with fewer than two free samples.
// Costs    rows of the free samples, one output per direction, F^3 / 3 + F^2 K multiplications for F free
//          samples and K directions; memory 8 F (2 F + K) bytes.
#ifndef KWEAVE_WEIGHTS_CURVATURE_H_
#define KWEAVE_WEIGHTS_CURVATURE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "weights/machine.h"

namespace kweave {

/// A direction in the space of theta that moves a few kernels only.
struct Direction {
  std::vector<Index> kernels;
  std::vector<double> weights;
};

inline constexpr std::size_t kMostFreeSamples = 2048;

std::optional<std::vector<double>> Curvature(const Evaluation& at, const Machine& machine,
                                             std::span<const Direction> directions);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_CURVATURE_H_
