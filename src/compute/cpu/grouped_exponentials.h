// Solves   sums and quadratics of very many exponentials exp(-gamma_m b) of the same base values b, each
//          evaluated to rounding.
// Method   gammas are sorted into groups whose members differ little from the group's centre c. One
//          exponential e = exp(-c b) serves the group; a member's own is e exp(z) with z = (c - gamma_m) b,
//          and exp(z) - 1 is six terms of its series: half as many operations as an exponential, and none of
//          them needs the exponent.
// Takes    gammas and, per call, base values; adds to sums over members and to sums over pairs.
// Holds    members lie within kReach of their centre, so with x = c b >= 0 the rest of the series is at most
//          exp(-x) (kReach x)^7 / 7! exp(kReach x), whose largest value, near x = 7, is 1.6e-16: no more than
//          rounding. exp(-gamma b) - 1 is formed as m + s (1 + m) with m = exp(-c b) - 1 and s = exp(z) - 1,
//          so small arguments keep their digits.
// Costs    ten operations per pair and member, and an exponential per pair and group.
#ifndef KWEAVE_COMPUTE_CPU_GROUPED_EXPONENTIALS_H_
#define KWEAVE_COMPUTE_CPU_GROUPED_EXPONENTIALS_H_

#include <span>
#include <vector>

#include "kweave/index.h"

namespace kweave {

class GroupedExponentials {
 public:
  /// Base values are from 0 to `largest_base`.
  GroupedExponentials(std::span<const double> gammas, double largest_base);

  Index size() const { return static_cast<Index>(order_.size()); }
  /// Calls take multiples of so many values; base values of zero add nothing.
  static constexpr Index kMultiple = 32;

  /// weights in the order of the calls below.
  std::vector<double> Arrange(std::span<const double> weights) const;
  /// Adds results of the calls below to values in the order of the gammas.
  void AddBack(std::span<const double> arranged, std::span<double> values) const;

  /// What `factors` of the pairs add up to, for every member.
  struct Total {
    const double* factors;
    double* totals;
  };

  /// sums[j] += sum_m weights[m] (exp(-gamma_m base[j]) - 1) and, for up to two totals,
  /// totals[m] += sum_j factors[j] (exp(-gamma_m base[j]) - 1), for `count` pairs.
  void Add(const double* base, Index count, std::span<const double> weights, double* sums,
           std::span<const Total> totals) const;

  /// Members gamma = centre + difference, next to each other.
  struct Group {
    double centre;
    Index begin, end;
  };

 private:
  std::vector<Index> order_;         // of gammas, ascending
  std::vector<double> differences_;  // gamma - centre, in this order
  std::vector<Group> groups_;
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_GROUPED_EXPONENTIALS_H_
