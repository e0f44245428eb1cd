// Biases of classes as potentials of a graph, and the most violated cycle where there are none.
//
// Solves   find b with b_v - b_u <= length(u, v) + excess for all pairs of classes and the smallest excess.
// Method   length(u, v) is the smallest price, over all samples, of raising beta at class u at the cost of
//          class v. Steps that keep the sums of all classes go round a cycle of classes, one sample for each
//          of its edges; they lower the dual objective where the lengths sum to less than zero. So a machine
//          is optimal when no cycle is negative, and then shortest paths are the biases. Two classes are not
//          always enough: with three, each pair may be settled and the three together not. The smallest mean
//          length of a cycle is minus the excess: paths by Bellman and Ford at an excess that some cycle has;
//          a cycle negative even so gives the next excess.
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

#include "compute/cpu/class_loops.h"
#include "kweave/index.h"

namespace kweave {

/// The cheapest way to raise each class at the cost of each other one. Which sample offers it is not kept:
/// those who need to know looks for the one whose price is the length.
struct ClassPrices {
  explicit ClassPrices(Index class_count)
      : classes(class_count), length(static_cast<std::size_t>(class_count * class_count)) {}

  /// No sample can raise anything; without biases every move is free of charge.
  void Clear(bool has_bias) { std::fill(length.begin(), length.end(), None(has_bias)); }
  static double None(bool has_bias) { return has_bias ? std::numeric_limits<double>::infinity() : 0.0; }

  /// A sample with the gradient g over all classes can raise class u; `raise` is g[u], or more where its dual
  /// term has a corner.
  void Offer(Index u, double raise, const double* g) {
    double* lengths = length.data() + u * classes;
    LowerToDifferences(raise, g, lengths, classes);
    lengths[u] = std::numeric_limits<double>::infinity();
  }
  /// The same at the cost of one other class only.
  void OfferOne(Index u, Index v, const double* g) {
    double& shortest = length[static_cast<std::size_t>(u * classes + v)];
    shortest = std::min(shortest, g[u] - g[v]);
  }
  /// All offers that another table has, too.
  void Merge(const ClassPrices& other) {
    for (std::size_t k = 0; k < length.size(); ++k) length[k] = std::min(length[k], other.length[k]);
  }
  /// Forgets all offers to raise or lower class u.
  void Forget(Index u, bool has_bias) {
    for (Index v = 0; v < classes; ++v) {
      for (const Index at : {u * classes + v, v * classes + u}) {
        length[static_cast<std::size_t>(at)] = None(has_bias);
      }
    }
  }
  double Length(Index u, Index v) const { return length[static_cast<std::size_t>(u * classes + v)]; }

  Index classes;
  std::vector<double> length;  ///< u m + v: of raising u at the cost of v; infinite where u = v
};

struct ClassPotentials {
  std::vector<double> biases;
  std::vector<Index>
      cycle;  ///< classes in order, each raised at the cost of the next; empty when nothing can be raised
  double excess = 0;  ///< minus its mean length: positive where there is something to gain
};

/// The shortest cycle of two classes, kept while the prices of a few classes change.
class ClassPairs {
 public:
  explicit ClassPairs(const ClassPrices& prices);

  /// All prices are new.
  void Find();
  /// Those of raising or lowering these classes are; `is_changed` says the same by class.
  void Update(std::span<const Index> changed, std::span<const char> is_changed);
  /// Both classes; empty when nothing can be raised.
  std::vector<Index> Shortest() const;

 private:
  void FindFor(Index u);
  void Consider(Index u, Index v);

  const ClassPrices& prices_;
  std::vector<Index> partners_;  // of each class in its shortest cycle of two; -1: none
  std::vector<double> lengths_;  // of that cycle
};

double MeanLength(const ClassPrices& prices, std::span<const Index> cycle);

/// `start` may hold biases of a similar problem, or be empty.
ClassPotentials FindPotentials(const ClassPrices& prices, std::span<const double> start);

/// A cycle whose mean length is below -excess; empty, and potentials that meet all prices up to the excess,
/// where there is none. `potentials` may start as those of a similar problem, or empty.
std::vector<Index> FindCycle(const ClassPrices& prices, double excess, std::vector<double>& potentials);

}  // namespace kweave

#endif  // KWEAVE_LOSS_CLASS_CYCLE_H_
