// Solves   the Hessian of J(theta) for some of the kernels, at a solved machine.
// Method   while the same samples stay free (0 < alpha < C), J is smooth: with G = (K_m beta)_m over the free
//          samples, H = G' K(theta)^-1 G on the plane sum beta = 0. That plane is entered by subtracting one
//          free sample from all others, which also removes any constant of the kernel. (Chapelle,
//          Rakotomamonjy: Second order optimization of kernel parameters, 2008, take the same derivative.)
// Takes    the last evaluation and its machine; returns H, row after row, or nothing when it is too costly.
// Holds    H is positive semidefinite, and zero with fewer than two free samples.
// Costs    rows of the free samples, one output per kernel, F^3 / 3 + F^2 K multiplications for F free
// samples and
//          K kernels; memory 8 F (F + K) bytes, never more than the limit.
#ifndef KWEAVE_WEIGHTS_CURVATURE_H_
#define KWEAVE_WEIGHTS_CURVATURE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "weights/machine.h"

namespace kweave {

std::optional<std::vector<double>> Curvature(const Evaluation& at, const Machine& machine,
                                             std::span<const Index> kernels, std::size_t memory_limit_bytes);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_CURVATURE_H_
