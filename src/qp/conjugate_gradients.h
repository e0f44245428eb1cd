// Solves   (K + V) d + c = V rho for d and, with `has_plane`, for the number c with sum d = 0; else c = 0.
// Method   conjugate gradients, projected onto the plane through the preconditioner M (Gould, Hribar,
//          Nocedal: On the solution of equality constrained quadratic programming problems arising in
//          optimization, 2001): with u = M 1 a residual r gives the direction M r - u (1' M r) / (1' u). It
//          ends by 1/2 r' V^-1 r, the duality gap that d leaves to a quadratic loss of curvature V^-1.
// Takes    K, V, rho and a rule when to end; a preconditioner, which is built when it is empty and built anew
//          when it takes more steps than that would cost. Returns d, the best it has when it ends.
// Holds    sum d = 0 up to rounding.
// Costs    per step a product with K and one with the preconditioner.
#ifndef KWEAVE_QP_CONJUGATE_GRADIENTS_H_
#define KWEAVE_QP_CONJUGATE_GRADIENTS_H_

#include <functional>
#include <span>
#include <vector>

#include "qp/kernel_matrix.h"
#include "qp/preconditioner.h"

namespace kweave {

/// A guard: a step beyond it would be as inexact, and its line search makes up for that.
inline constexpr int kMostConjugateSteps = 500;

/// Whether to end: the gap that d leaves, d, and its residual V rho - (K + V) d - c.
using IsEnough = std::function<bool(double gap, std::span<const double> d, std::span<const double> residual)>;

/// False when `proceed`, asked at every step, said no.
bool SolveOnPlane(KernelMatrix& kernel, std::span<const double> v, std::span<const double> rho,
                  bool has_plane, const IsEnough& is_enough, Preconditioner& preconditioner,
                  const std::function<bool()>& proceed, std::vector<double>& d);

}  // namespace kweave

#endif  // KWEAVE_QP_CONJUGATE_GRADIENTS_H_
