// Biases of classes as potentials of a graph, and what is left to gain where there are none.
//
// Solves   find b with b_v - b_u <= length(u, v) + excess for all pairs of classes and the smallest excess.
// Method   length(u, v) is the smallest price, over all samples, of raising beta at class u at the cost of class v. Steps that keep the
//          sums of all classes go round a cycle of classes, one sample for each of its edges; they lower the dual objective
//          where the lengths sum to less than zero. So a machine is optimal when no cycle is negative, and then
//          shortest paths are the biases. Two classes are not always enough: with three, each pair may be settled and the
//          three together not. The smallest mean length of a cycle is minus the excess: paths by Bellman and Ford
//          at an excess that some cycle has; a cycle negative even so gives the next excess.
// Takes    lengths of all edges; returns b, the excess and the cycle that has it.
// Holds    the bounds above, up to rounding.
// Costs    a few passes over m^2 edges; the number of classes of them at worst, for each excess tried.
#ifndef KWEAVE_LOSS_CLASS_CYCLE_H_
#define KWEAVE_LOSS_CLASS_CYCLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kweave/index.h"

namespace kweave {

/// The cheapest way to raise each class at the cost of each other one.
struct ClassPrices {
  explicit ClassPrices(Index class_count)
      : classes(class_count),
        length(static_cast<std::size_t>(class_count * class_count)),
        sample(static_cast<std::size_t>(class_count * class_count)) {}

  /// No sample can raise anything; without biases every move is free of charge.
  void Clear(bool has_bias) {
    std::fill(length.begin(), length.end(), has_bias ? std::numeric_limits<double>::infinity() : 0.0);
    std::fill(sample.begin(), sample.end(), std::int64_t{-1});
  }
  /// Sample i, with the gradient g over all classes, can raise class u.
  void Offer(std::int64_t i, Index u, const double* g) {
    double* lengths = length.data() + u * classes;
    std::int64_t* samples = sample.data() + u * classes;
    const double own = g[u];
    for (Index v = 0; v < classes; ++v) {
      const double price = own - g[v];
      const bool is_lower = price < lengths[v];
      samples[v] = is_lower ? i : samples[v];
      lengths[v] = is_lower ? price : lengths[v];
    }
    lengths[u] = std::numeric_limits<double>::infinity();
  }
  /// The same at the cost of one class only.
  void OfferOne(std::int64_t i, Index u, Index v, const double* g) {
    const auto at = static_cast<std::size_t>(u * classes + v);
    const double price = g[u] - g[v];
    if (!(price < length[at])) return;
    length[at] = price;
    sample[at] = i;
  }
  /// Forgets all offers to raise or lower class u.
  void Forget(Index u, bool has_bias) {
    const double none = has_bias ? std::numeric_limits<double>::infinity() : 0.0;
    for (Index v = 0; v < classes; ++v) {
      for (const Index at : {u * classes + v, v * classes + u}) {
        length[static_cast<std::size_t>(at)] = none;
        sample[static_cast<std::size_t>(at)] = -1;
      }
    }
  }
  double Length(Index u, Index v) const { return length[static_cast<std::size_t>(u * classes + v)]; }
  std::int64_t Sample(Index u, Index v) const { return sample[static_cast<std::size_t>(u * classes + v)]; }

  Index classes;
  std::vector<double> length;        ///< u m + v: of raising u at the cost of v; infinite where u = v
  std::vector<std::int64_t> sample;  ///< that offers it; -1: none needed
};

struct ClassPotentials {
  std::vector<double> biases;
  std::vector<Index>
      cycle;  ///< classes in order, each raised at the cost of the next; empty when nothing can be raised
  double excess = 0;  ///< minus its mean length: positive where there is something to gain
};

/// The two classes that form the shortest cycle; empty when nothing can be raised.
std::vector<Index> ShortestPair(const ClassPrices& prices);
double MeanLength(const ClassPrices& prices, std::span<const Index> cycle);

/// `start` may hold biases of a similar problem, or be empty.
ClassPotentials FindPotentials(const ClassPrices& prices, std::span<const double> start);

}  // namespace kweave

#endif  // KWEAVE_LOSS_CLASS_CYCLE_H_
