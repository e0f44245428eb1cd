#include "compute/cpu/grouped_exponentials.h"

#include <algorithm>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/grouped_exponentials.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compute/cpu/exponential-inl.h"

#ifndef KWEAVE_COMPUTE_CPU_GROUPED_EXPONENTIALS_ONCE
#define KWEAVE_COMPUTE_CPU_GROUPED_EXPONENTIALS_ONCE
namespace kweave {
namespace {
constexpr kweave::Index kMostMembers = 16;  // of a group: their totals stay in the nearest cache
constexpr int kMostLanes = 8;               // doubles of the widest vectors, 512 bits
}  // namespace
}  // namespace kweave
#endif

HWY_BEFORE_NAMESPACE();
namespace kweave::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, kMostLanes>;
using Vector = hn::Vec<Tag>;

// exp(z) - 1 for small z.
HWY_INLINE Vector ShortSeries(Tag d, Vector z) {
  auto p = hn::Set(d, 1.0 / 720);
  p = hn::MulAdd(p, z, hn::Set(d, 1.0 / 120));
  p = hn::MulAdd(p, z, hn::Set(d, 1.0 / 24));
  p = hn::MulAdd(p, z, hn::Set(d, 1.0 / 6));
  p = hn::MulAdd(p, z, hn::Set(d, 0.5));
  p = hn::MulAdd(p, z, hn::Set(d, 1.0));
  return hn::Mul(p, z);
}

using Group = GroupedExponentials::Group;
using Total = GroupedExponentials::Total;

template <int kTotals>
HWY_INLINE void AddGroup(const Group& group, const double* HWY_RESTRICT differences,
                         const double* HWY_RESTRICT base, Index count, const double* HWY_RESTRICT weights,
                         double* HWY_RESTRICT sums, const Total* totals) {
  const Tag d;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  HWY_ALIGN double partial[2][kMostMembers * kMostLanes] = {};
  const auto rate = hn::Set(d, -group.centre);
  for (Index j = 0; j < count; j += 4 * lanes) {
    const auto load = [&](const double* from, int v) HWY_ATTR { return hn::LoadU(d, from + j + v * lanes); };
    const Vector b0 = load(base, 0), b1 = load(base, 1), b2 = load(base, 2), b3 = load(base, 3);
    Vector s0 = load(sums, 0), s1 = load(sums, 1), s2 = load(sums, 2), s3 = load(sums, 3);
    const Vector m0 = ExpMinusOne(d, hn::Mul(rate, b0)), m1 = ExpMinusOne(d, hn::Mul(rate, b1));
    const Vector m2 = ExpMinusOne(d, hn::Mul(rate, b2)), m3 = ExpMinusOne(d, hn::Mul(rate, b3));
    const auto one = hn::Set(d, 1.0);
    const Vector e0 = hn::Add(m0, one), e1 = hn::Add(m1, one), e2 = hn::Add(m2, one), e3 = hn::Add(m3, one);
    for (Index k = group.begin; k < group.end; ++k) {
      const auto difference = hn::Set(d, -differences[k]);
      const auto weight = hn::Set(d, weights[k]);
      const Vector v0 = hn::MulAdd(ShortSeries(d, hn::Mul(difference, b0)), e0, m0);
      const Vector v1 = hn::MulAdd(ShortSeries(d, hn::Mul(difference, b1)), e1, m1);
      const Vector v2 = hn::MulAdd(ShortSeries(d, hn::Mul(difference, b2)), e2, m2);
      const Vector v3 = hn::MulAdd(ShortSeries(d, hn::Mul(difference, b3)), e3, m3);
      s0 = hn::MulAdd(weight, v0, s0);
      s1 = hn::MulAdd(weight, v1, s1);
      s2 = hn::MulAdd(weight, v2, s2);
      s3 = hn::MulAdd(weight, v3, s3);
      for (int t = 0; t < kTotals; ++t) {
        double* to = partial[t] + (k - group.begin) * kMostLanes;
        const double* factors = totals[t].factors;
        auto total = hn::MulAdd(load(factors, 0), v0, hn::Load(d, to));
        auto other = hn::Mul(load(factors, 1), v1);
        total = hn::MulAdd(load(factors, 2), v2, total);
        other = hn::MulAdd(load(factors, 3), v3, other);
        hn::Store(hn::Add(total, other), d, to);
      }
    }
    hn::StoreU(s0, d, sums + j);
    hn::StoreU(s1, d, sums + j + lanes);
    hn::StoreU(s2, d, sums + j + 2 * lanes);
    hn::StoreU(s3, d, sums + j + 3 * lanes);
  }
  for (int t = 0; t < kTotals; ++t) {
    for (Index k = group.begin; k < group.end; ++k) {
      const double* from = partial[t] + (k - group.begin) * kMostLanes;
      totals[t].totals[k] += hn::GetLane(hn::SumOfLanes(d, hn::Load(d, from)));
    }
  }
}

template <int kTotals>
HWY_INLINE void AddGroupsWith(std::span<const Group> groups, const double* differences, const double* base,
                              Index count, const double* weights, double* sums, const Total* totals) {
  for (const Group& group : groups) {
    AddGroup<kTotals>(group, differences, base, count, weights, sums, totals);
  }
}

void AddGroups(std::span<const Group> groups, const double* differences, const double* base, Index count,
               const double* weights, double* sums, std::span<const Total> totals) {
  if (totals.empty()) {
    AddGroupsWith<0>(groups, differences, base, count, weights, sums, totals.data());
  } else if (totals.size() == 1) {
    AddGroupsWith<1>(groups, differences, base, count, weights, sums, totals.data());
  } else {
    AddGroupsWith<2>(groups, differences, base, count, weights, sums, totals.data());
  }
}

}  // namespace kweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kweave {

HWY_EXPORT(AddGroups);

namespace {
constexpr double kReach = 0.0072;          // largest |gamma - centre| / centre
constexpr double kLargestExponent = 1e30;  // beyond, terms of the series may overflow
}  // namespace

GroupedExponentials::GroupedExponentials(std::span<const double> gammas, double largest_base)
    : order_(gammas.size()), differences_(gammas.size()) {
  std::iota(order_.begin(), order_.end(), Index{0});
  std::ranges::sort(order_, {}, [&](Index m) { return gammas[m]; });
  for (Index begin = 0, end = 0; begin < size(); begin = end) {
    const double lowest = gammas[order_[begin]];
    const auto belongs = [&](Index k) {
      const double gamma = gammas[order_[k]];
      return gamma == lowest ||
             (gamma * largest_base < kLargestExponent && gamma - lowest <= kReach * (gamma + lowest));
    };
    while (end < size() && end - begin < kMostMembers && belongs(end)) ++end;
    const double centre = 0.5 * (lowest + gammas[order_[end - 1]]);
    groups_.push_back({centre, begin, end});
    for (Index k = begin; k < end; ++k) differences_[k] = gammas[order_[k]] - centre;
  }
}

std::vector<double> GroupedExponentials::Arrange(std::span<const double> weights) const {
  std::vector<double> arranged(order_.size());
  for (std::size_t k = 0; k < order_.size(); ++k) arranged[k] = weights[order_[k]];
  return arranged;
}

void GroupedExponentials::AddBack(std::span<const double> arranged, std::span<double> values) const {
  for (std::size_t k = 0; k < order_.size(); ++k) values[order_[k]] += arranged[k];
}

void GroupedExponentials::Add(const double* base, Index count, std::span<const double> weights, double* sums,
                              std::span<const Total> totals) const {
  HWY_DYNAMIC_DISPATCH(AddGroups)
  (groups_, differences_.data(), base, count, weights.data(), sums, totals);
}

}  // namespace kweave
#endif  // HWY_ONCE
