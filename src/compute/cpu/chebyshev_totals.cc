#include "compute/cpu/chebyshev_totals.h"

#include "compute/cpu/family_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/chebyshev_totals.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kweave::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The recurrence T_{k+1} = 2t T_k - T_{k-1} is linear, so it runs on factor * T_k. Every lane has totals of
// its own until the end; four vectors share a load and a store of them.
void ChebyshevTotals(const double* t, const double* factors, Index count, Index terms, double* totals) {
  const hn::CappedTag<double, 8> d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  alignas(64) double sums[kMostTableTerms * 8];
  for (Index k = 0; k < terms; ++k) hn::Store(hn::Zero(d), d, sums + k * lanes);
  const auto load = [&](const double* from, Index at) HWY_ATTR {
    if (at + lanes <= count) return hn::LoadU(d, from + at);
    alignas(64) double rest[8] = {};
    for (Index k = at; k < count; ++k) rest[k - at] = from[k];
    return hn::Load(d, rest);
  };
  for (Index j = 0; j < count; j += 4 * lanes) {
    const auto t0 = load(t, j), t1 = load(t, j + lanes), t2 = load(t, j + 2 * lanes),
               t3 = load(t, j + 3 * lanes);
    const auto x0 = hn::Add(t0, t0), x1 = hn::Add(t1, t1), x2 = hn::Add(t2, t2), x3 = hn::Add(t3, t3);
    auto p0 = load(factors, j), p1 = load(factors, j + lanes), p2 = load(factors, j + 2 * lanes),
         p3 = load(factors, j + 3 * lanes);
    auto l0 = hn::Mul(t0, p0), l1 = hn::Mul(t1, p1);  // T_{-1} = T_1
    auto l2 = hn::Mul(t2, p2), l3 = hn::Mul(t3, p3);
    for (Index k = 0; k < terms; ++k) {
      const auto sum = hn::Add(hn::Add(p0, p1), hn::Add(p2, p3));
      hn::Store(hn::Add(hn::Load(d, sums + k * lanes), sum), d, sums + k * lanes);
      const auto n0 = hn::MulSub(x0, p0, l0), n1 = hn::MulSub(x1, p1, l1);
      const auto n2 = hn::MulSub(x2, p2, l2), n3 = hn::MulSub(x3, p3, l3);
      l0 = p0, l1 = p1, l2 = p2, l3 = p3;
      p0 = n0, p1 = n1, p2 = n2, p3 = n3;
    }
  }
  for (Index k = 0; k < terms; ++k)
    totals[k] += hn::GetLane(hn::SumOfLanes(d, hn::Load(d, sums + k * lanes)));
}

}  // namespace kweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {

HWY_EXPORT(ChebyshevTotals);

void AddChebyshevTotals(std::span<const double> t, std::span<const double> factors,
                        std::span<double> totals) {
  HWY_DYNAMIC_DISPATCH(ChebyshevTotals)
  (t.data(), factors.data(), static_cast<Index>(t.size()), static_cast<Index>(totals.size()), totals.data());
}

}  // namespace kweave
#endif  // HWY_ONCE
