// The two passes over all variables that every step of SMO makes, and the smaller loops around them.
#ifndef KWEAVE_COMPUTE_CPU_SMO_LOOPS_H_
#define KWEAVE_COMPUTE_CPU_SMO_LOOPS_H_

#include <limits>

#include "kweave/index.h"

namespace kweave {

/// Which way a variable may move, as one float so that SIMD loops test it with a compare.
namespace side {
inline constexpr float kAtLower = -1;                                     ///< may only grow: in I_up
inline constexpr float kFree = 0;                                         ///< in I_up and I_low
inline constexpr float kAtUpper = 1;                                      ///< may only fall: in I_low
inline constexpr float kFixed = std::numeric_limits<float>::quiet_NaN();  ///< in neither
}  // namespace side

/// The ends of the gradient: its minimum over I_up (side <= 0), its maximum over I_low (side >= 0).
struct GradientEnds {
  Index up = -1;  ///< where the minimum is, the first of equals; -1 when I_up is empty
  double min_up = std::numeric_limits<double>::infinity();
  double max_low = -std::numeric_limits<double>::infinity();
};

/// The ends of gradient[0..size). Where `kinks` is not null, a variable in I_up counts with gradient + kink
/// and one in I_low with gradient - kink, here and below.
GradientEnds FindGradientEnds(const double* gradient, const double* kinks, const float* sides, Index size);

/// gradient += step * (row_i - row_j), and the ends of the result, in one pass.
template <class T>
GradientEnds UpdateGradient(double step, const T* row_i, const T* row_j, const double* kinks,
                            const float* sides, double* gradient, Index size);

/// The variable i that looks for a partner.
struct Seeker {
  double gradient;
  double diagonal;
  double least_curvature;  ///< tau
};

/// argmax of (g_k - g_i)^2 / max(K_ii + K_kk - 2 K_ik, least_curvature) over k in I_low with g_k > g_i; -1 if
/// none. i.gradient has its kink added already.
template <class T>
Index FindPartner(const Seeker& i, const T* row_i, const double* gradient, const double* kinks,
                  const float* sides, const double* diagonal, Index size);

/// out += scale * row.
template <class T>
void AddScaledRow(double scale, const T* row, double* out, Index size);

/// out += sum over r < count of scales[r] * rows[r][offset ..], reading and writing out once per few rows.
template <class T>
void AddScaledRows(const double* scales, const T* const* rows, Index count, Index offset, double* out,
                   Index size);

/// False when a value is infinite or not a number.
template <class T>
bool AllFinite(const T* values, Index size);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_SMO_LOOPS_H_
