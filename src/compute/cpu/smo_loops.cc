#include "compute/cpu/smo_loops.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/smo_loops.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kweave::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using DoubleVector = hn::Vec<DoubleTag>;

HWY_INLINE DoubleVector LoadAsDouble(const double* from) { return hn::LoadU(DoubleTag(), from); }
HWY_INLINE DoubleVector LoadAsDouble(const float* from) {
  return hn::PromoteTo(DoubleTag(), hn::LoadU(hn::Rebind<float, DoubleTag>(), from));
}

// Per lane: the least gradient over I_up, the position of its vector, the greatest gradient over I_low.
HWY_INLINE void Consider(DoubleVector up_gradient, DoubleVector low_gradient, DoubleVector sides,
                         DoubleVector position, DoubleVector& min_up, DoubleVector& min_position,
                         DoubleVector& max_low) {
  const DoubleVector zero = hn::Zero(DoubleTag());
  const auto is_less = hn::And(hn::Le(sides, zero), hn::Lt(up_gradient, min_up));
  min_up = hn::IfThenElse(is_less, up_gradient, min_up);
  min_position = hn::IfThenElse(is_less, position, min_position);
  const auto is_greater = hn::And(hn::Ge(sides, zero), hn::Gt(low_gradient, max_low));
  max_low = hn::IfThenElse(is_greater, low_gradient, max_low);
}

void ConsiderOne(double up_gradient, double low_gradient, float side, Index position, GradientEnds& ends) {
  if (side <= 0 && up_gradient < ends.min_up) {
    ends.min_up = up_gradient;
    ends.up = position;
  }
  if (side >= 0 && low_gradient > ends.max_low) ends.max_low = low_gradient;
}

// Lanes are merged so that the first of equal minima wins, as in a plain loop.
void MergeLanes(DoubleVector min_up, DoubleVector min_position, DoubleVector max_low, GradientEnds& ends) {
  const DoubleTag d;
  HWY_ALIGN double minima[hn::MaxLanes(d)];
  HWY_ALIGN double positions[hn::MaxLanes(d)];
  HWY_ALIGN double maxima[hn::MaxLanes(d)];
  hn::Store(min_up, d, minima);
  hn::Store(min_position, d, positions);
  hn::Store(max_low, d, maxima);
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) {
    ends.max_low = std::max(ends.max_low, maxima[lane]);
    if (positions[lane] < 0) continue;
    const Index position = static_cast<Index>(positions[lane]) + static_cast<Index>(lane);
    if (minima[lane] < ends.min_up || (minima[lane] == ends.min_up && position < ends.up)) {
      ends.min_up = minima[lane];
      ends.up = position;
    }
  }
}

// One pass in two independent chains of compares; `next(k)` gives the gradient from k on, one vector of it.
template <bool kHasKinks, class NextVector, class NextValue>
HWY_INLINE GradientEnds ScanEnds(const double* kinks, const float* sides, Index size,
                                 const NextVector& next_vector, const NextValue& next_value) {
  const DoubleTag d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  DoubleVector min_a = hn::Set(d, std::numeric_limits<double>::infinity()), min_b = min_a;
  DoubleVector position_a = hn::Set(d, -1), position_b = position_a;
  DoubleVector max_a = hn::Neg(min_a), max_b = max_a;
  const auto consider = [&](Index k, DoubleVector& min_up, DoubleVector& position,
                            DoubleVector& max_low) HWY_ATTR {
    const DoubleVector gradient = next_vector(k);
    DoubleVector up = gradient, low = gradient;
    if constexpr (kHasKinks) {
      const DoubleVector kink = LoadAsDouble(kinks + k);
      up = hn::Add(gradient, kink);
      low = hn::Sub(gradient, kink);
    }
    Consider(up, low, LoadAsDouble(sides + k), hn::Set(d, static_cast<double>(k)), min_up, position, max_low);
  };
  Index k = 0;
  for (; k + 2 * lanes <= size; k += 2 * lanes) {
    consider(k, min_a, position_a, max_a);
    consider(k + lanes, min_b, position_b, max_b);
  }
  for (; k + lanes <= size; k += lanes) consider(k, min_a, position_a, max_a);
  GradientEnds ends;
  MergeLanes(min_a, position_a, max_a, ends);
  MergeLanes(min_b, position_b, max_b, ends);
  for (; k < size; ++k) {
    const double gradient = next_value(k), kink = kHasKinks ? kinks[k] : 0;
    ConsiderOne(gradient + kink, gradient - kink, sides[k], k, ends);
  }
  return ends;
}

template <bool kHasKinks>
HWY_INLINE GradientEnds FindGradientEndsLoop(const double* gradient, const double* kinks, const float* sides,
                                             Index size) {
  return ScanEnds<kHasKinks>(
      kinks, sides, size, [&](Index k) HWY_ATTR { return LoadAsDouble(gradient + k); },
      [&](Index k) HWY_ATTR { return gradient[k]; });
}

GradientEnds FindGradientEnds(const double* gradient, const double* kinks, const float* sides, Index size) {
  return kinks == nullptr ? FindGradientEndsLoop<false>(gradient, kinks, sides, size)
                          : FindGradientEndsLoop<true>(gradient, kinks, sides, size);
}

template <bool kHasKinks, class T>
HWY_INLINE GradientEnds UpdateGradientLoop(double step, const T* row_i, const T* row_j, const double* kinks,
                                           const float* sides, double* gradient, Index size) {
  const DoubleTag d;
  const DoubleVector steps = hn::Set(d, step);
  return ScanEnds<kHasKinks>(
      kinks, sides, size,
      [&](Index k) HWY_ATTR {
        const DoubleVector difference = hn::Sub(LoadAsDouble(row_i + k), LoadAsDouble(row_j + k));
        const DoubleVector updated = hn::MulAdd(steps, difference, LoadAsDouble(gradient + k));
        hn::StoreU(updated, d, gradient + k);
        return updated;
      },
      [&](Index k) HWY_ATTR {
        return gradient[k] += step * (static_cast<double>(row_i[k]) - static_cast<double>(row_j[k]));
      });
}

template <class T>
HWY_INLINE GradientEnds UpdateGradientOf(double step, const T* row_i, const T* row_j, const double* kinks,
                                         const float* sides, double* gradient, Index size) {
  return kinks == nullptr ? UpdateGradientLoop<false>(step, row_i, row_j, kinks, sides, gradient, size)
                          : UpdateGradientLoop<true>(step, row_i, row_j, kinks, sides, gradient, size);
}

GradientEnds UpdateGradientFloat(double step, const float* row_i, const float* row_j, const double* kinks,
                                 const float* sides, double* gradient, Index size) {
  return UpdateGradientOf(step, row_i, row_j, kinks, sides, gradient, size);
}
GradientEnds UpdateGradientDouble(double step, const double* row_i, const double* row_j, const double* kinks,
                                  const float* sides, double* gradient, Index size) {
  return UpdateGradientOf(step, row_i, row_j, kinks, sides, gradient, size);
}

// Per lane: the best gain so far as the fraction slope2 / curvature, and the position of its vector.
// Gains are compared by cross multiplication: no division in the loop. Close to the optimum few variables are
// candidates, so most vectors end at the first test.
template <bool kHasKinks, class T>
HWY_INLINE void ConsiderPartners(const Seeker& i, const T* row_i, const double* gradient, const double* kinks,
                                 const float* sides, const double* diagonal, Index k,
                                 DoubleVector& best_slope2, DoubleVector& best_curvature,
                                 DoubleVector& best_position) {
  const DoubleTag d;
  const DoubleVector zero = hn::Zero(d);
  DoubleVector slope = hn::Sub(LoadAsDouble(gradient + k), hn::Set(d, i.gradient));
  if constexpr (kHasKinks) slope = hn::Sub(slope, LoadAsDouble(kinks + k));
  const auto is_candidate = hn::And(hn::Ge(LoadAsDouble(sides + k), zero), hn::Gt(slope, zero));
  if (hn::AllFalse(d, is_candidate)) return;
  const DoubleVector diagonals = hn::Add(hn::Set(d, i.diagonal), LoadAsDouble(diagonal + k));
  const DoubleVector curvature = hn::Max(hn::NegMulAdd(hn::Set(d, 2), LoadAsDouble(row_i + k), diagonals),
                                         hn::Set(d, i.least_curvature));
  const DoubleVector slope2 = hn::Mul(slope, slope);
  const auto is_better =
      hn::And(is_candidate, hn::Gt(hn::Mul(slope2, best_curvature), hn::Mul(best_slope2, curvature)));
  best_slope2 = hn::IfThenElse(is_better, slope2, best_slope2);
  best_curvature = hn::IfThenElse(is_better, curvature, best_curvature);
  best_position = hn::IfThenElse(is_better, hn::Set(d, static_cast<double>(k)), best_position);
}

void ConsiderPartner(double gain, Index position, double& best_gain, Index& best) {
  if (best < 0 || gain > best_gain || (gain == best_gain && position < best)) {
    best_gain = gain;
    best = position;
  }
}

void MergePartners(DoubleVector slope2, DoubleVector curvature, DoubleVector position, double& best_gain,
                   Index& best) {
  const DoubleTag d;
  HWY_ALIGN double gains[hn::MaxLanes(d)];
  HWY_ALIGN double positions[hn::MaxLanes(d)];
  hn::Store(hn::Div(slope2, curvature), d, gains);
  hn::Store(position, d, positions);
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) {
    if (positions[lane] < 0) continue;
    ConsiderPartner(gains[lane], static_cast<Index>(positions[lane]) + static_cast<Index>(lane), best_gain,
                    best);
  }
}

template <bool kHasKinks, class T>
HWY_INLINE Index FindPartnerLoop(const Seeker& i, const T* row_i, const double* gradient, const double* kinks,
                                 const float* sides, const double* diagonal, Index size) {
  const DoubleTag d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  DoubleVector slope2_a = hn::Zero(d), slope2_b = slope2_a;
  DoubleVector curvature_a = hn::Set(d, 1), curvature_b = curvature_a;
  DoubleVector position_a = hn::Set(d, -1), position_b = position_a;
  const auto consider = [&](Index k, DoubleVector& slope2, DoubleVector& curvature,
                            DoubleVector& position) HWY_ATTR {
    ConsiderPartners<kHasKinks>(i, row_i, gradient, kinks, sides, diagonal, k, slope2, curvature, position);
  };
  Index k = 0;
  for (; k + 2 * lanes <= size; k += 2 * lanes) {
    consider(k, slope2_a, curvature_a, position_a);
    consider(k + lanes, slope2_b, curvature_b, position_b);
  }
  for (; k + lanes <= size; k += lanes) {
    consider(k, slope2_a, curvature_a, position_a);
  }
  Index best = -1;
  double best_gain = 0;
  MergePartners(slope2_a, curvature_a, position_a, best_gain, best);
  MergePartners(slope2_b, curvature_b, position_b, best_gain, best);
  for (; k < size; ++k) {
    const double slope = gradient[k] - i.gradient - (kHasKinks ? kinks[k] : 0);
    if (!(sides[k] >= 0 && slope > 0)) continue;
    const double curvature =
        std::max(i.diagonal + diagonal[k] - 2 * static_cast<double>(row_i[k]), i.least_curvature);
    ConsiderPartner(slope * slope / curvature, k, best_gain, best);
  }
  return best;
}

template <class T>
HWY_INLINE Index FindPartnerOf(const Seeker& i, const T* row_i, const double* gradient, const double* kinks,
                               const float* sides, const double* diagonal, Index size) {
  return kinks == nullptr ? FindPartnerLoop<false>(i, row_i, gradient, kinks, sides, diagonal, size)
                          : FindPartnerLoop<true>(i, row_i, gradient, kinks, sides, diagonal, size);
}

Index FindPartnerFloat(const Seeker& i, const float* row_i, const double* gradient, const double* kinks,
                       const float* sides, const double* diagonal, Index size) {
  return FindPartnerOf(i, row_i, gradient, kinks, sides, diagonal, size);
}
Index FindPartnerDouble(const Seeker& i, const double* row_i, const double* gradient, const double* kinks,
                        const float* sides, const double* diagonal, Index size) {
  return FindPartnerOf(i, row_i, gradient, kinks, sides, diagonal, size);
}

template <class T>
HWY_INLINE void AddScaledRowLoop(double scale, const T* row, double* out, Index size) {
  const DoubleTag d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  const DoubleVector scales = hn::Set(d, scale);
  Index k = 0;
  for (; k + lanes <= size; k += lanes) {
    hn::StoreU(hn::MulAdd(scales, LoadAsDouble(row + k), LoadAsDouble(out + k)), d, out + k);
  }
  for (; k < size; ++k) out[k] += scale * static_cast<double>(row[k]);
}

void AddScaledRowFloat(double scale, const float* row, double* out, Index size) {
  AddScaledRowLoop(scale, row, out, size);
}
void AddScaledRowDouble(double scale, const double* row, double* out, Index size) {
  AddScaledRowLoop(scale, row, out, size);
}

// Rows go by fours, so that the sums are read and written once for four rows; the columns are few enough for
// the sums to stay in the nearest cache.
template <class T>
HWY_INLINE void AddScaledRowsLoop(const double* scales, const T* const* rows, Index count, Index offset,
                                  double* out, Index size) {
  const DoubleTag d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  Index r = 0;
  for (; r + 4 <= count; r += 4) {
    const DoubleVector s0 = hn::Set(d, scales[r]), s1 = hn::Set(d, scales[r + 1]);
    const DoubleVector s2 = hn::Set(d, scales[r + 2]), s3 = hn::Set(d, scales[r + 3]);
    const T* const row0 = rows[r] + offset;
    const T* const row1 = rows[r + 1] + offset;
    const T* const row2 = rows[r + 2] + offset;
    const T* const row3 = rows[r + 3] + offset;
    Index k = 0;
    for (; k + lanes <= size; k += lanes) {
      const DoubleVector even = hn::MulAdd(s2, LoadAsDouble(row2 + k), hn::Mul(s0, LoadAsDouble(row0 + k)));
      const DoubleVector odd = hn::MulAdd(s3, LoadAsDouble(row3 + k), hn::Mul(s1, LoadAsDouble(row1 + k)));
      hn::StoreU(hn::Add(hn::LoadU(d, out + k), hn::Add(even, odd)), d, out + k);
    }
    for (; k < size; ++k) {
      out[k] += (scales[r] * static_cast<double>(row0[k]) + scales[r + 2] * static_cast<double>(row2[k])) +
                (scales[r + 1] * static_cast<double>(row1[k]) + scales[r + 3] * static_cast<double>(row3[k]));
    }
  }
  for (; r < count; ++r) AddScaledRowLoop(scales[r], rows[r] + offset, out, size);
}

void AddScaledRowsFloat(const double* scales, const float* const* rows, Index count, Index offset,
                        double* out, Index size) {
  AddScaledRowsLoop(scales, rows, count, offset, out, size);
}
void AddScaledRowsDouble(const double* scales, const double* const* rows, Index count, Index offset,
                         double* out, Index size) {
  AddScaledRowsLoop(scales, rows, count, offset, out, size);
}

// x - x is zero for finite x and not a number otherwise, which survives every sum.
template <class T>
HWY_INLINE bool AllFiniteLoop(const T* values, Index size) {
  const hn::ScalableTag<T> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  hn::Vec<hn::ScalableTag<T>> sum = hn::Zero(d);
  Index k = 0;
  for (; k + lanes <= size; k += lanes) {
    const auto value = hn::LoadU(d, values + k);
    sum = hn::Add(sum, hn::Sub(value, value));
  }
  bool is_finite = hn::AllTrue(d, hn::Eq(sum, hn::Zero(d)));
  for (; k < size; ++k) is_finite = is_finite && std::isfinite(values[k]);
  return is_finite;
}

bool AllFiniteFloat(const float* values, Index size) { return AllFiniteLoop(values, size); }
bool AllFiniteDouble(const double* values, Index size) { return AllFiniteLoop(values, size); }

}  // namespace kweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {

HWY_EXPORT(FindGradientEnds);
HWY_EXPORT(UpdateGradientFloat);
HWY_EXPORT(UpdateGradientDouble);
HWY_EXPORT(FindPartnerFloat);
HWY_EXPORT(FindPartnerDouble);
HWY_EXPORT(AddScaledRowFloat);
HWY_EXPORT(AddScaledRowDouble);
HWY_EXPORT(AddScaledRowsFloat);
HWY_EXPORT(AddScaledRowsDouble);
HWY_EXPORT(AllFiniteFloat);
HWY_EXPORT(AllFiniteDouble);

GradientEnds FindGradientEnds(const double* gradient, const double* kinks, const float* sides, Index size) {
  return HWY_DYNAMIC_DISPATCH(FindGradientEnds)(gradient, kinks, sides, size);
}

template <>
GradientEnds UpdateGradient(double step, const float* row_i, const float* row_j, const double* kinks,
                            const float* sides, double* gradient, Index size) {
  return HWY_DYNAMIC_DISPATCH(UpdateGradientFloat)(step, row_i, row_j, kinks, sides, gradient, size);
}
template <>
GradientEnds UpdateGradient(double step, const double* row_i, const double* row_j, const double* kinks,
                            const float* sides, double* gradient, Index size) {
  return HWY_DYNAMIC_DISPATCH(UpdateGradientDouble)(step, row_i, row_j, kinks, sides, gradient, size);
}

template <>
Index FindPartner(const Seeker& i, const float* row_i, const double* gradient, const double* kinks,
                  const float* sides, const double* diagonal, Index size) {
  return HWY_DYNAMIC_DISPATCH(FindPartnerFloat)(i, row_i, gradient, kinks, sides, diagonal, size);
}
template <>
Index FindPartner(const Seeker& i, const double* row_i, const double* gradient, const double* kinks,
                  const float* sides, const double* diagonal, Index size) {
  return HWY_DYNAMIC_DISPATCH(FindPartnerDouble)(i, row_i, gradient, kinks, sides, diagonal, size);
}

template <>
void AddScaledRow(double scale, const float* row, double* out, Index size) {
  HWY_DYNAMIC_DISPATCH(AddScaledRowFloat)(scale, row, out, size);
}
template <>
void AddScaledRow(double scale, const double* row, double* out, Index size) {
  HWY_DYNAMIC_DISPATCH(AddScaledRowDouble)(scale, row, out, size);
}

template <>
void AddScaledRows(const double* scales, const float* const* rows, Index count, Index offset, double* out,
                   Index size) {
  HWY_DYNAMIC_DISPATCH(AddScaledRowsFloat)(scales, rows, count, offset, out, size);
}
template <>
void AddScaledRows(const double* scales, const double* const* rows, Index count, Index offset, double* out,
                   Index size) {
  HWY_DYNAMIC_DISPATCH(AddScaledRowsDouble)(scales, rows, count, offset, out, size);
}

template <>
bool AllFinite(const float* values, Index size) {
  return HWY_DYNAMIC_DISPATCH(AllFiniteFloat)(values, size);
}
template <>
bool AllFinite(const double* values, Index size) {
  return HWY_DYNAMIC_DISPATCH(AllFiniteDouble)(values, size);
}

}  // namespace kweave
#endif  // HWY_ONCE
