#include "loss/class_cycle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kweave {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();

std::size_t Offset(Index u) { return static_cast<std::size_t>(u); }

// Shortest paths, and the edges they end with.
class Paths {
 public:
  Paths(const ClassPrices& prices, std::vector<double> potentials)
      : prices_(prices), potentials_(std::move(potentials)), before_(potentials_.size()) {}

  // Relaxes all edges, longer by `excess`, until nothing changes; false when a cycle is negative.
  bool Relax(double excess) {
    std::fill(before_.begin(), before_.end(), Index{-1});
    for (Index pass = 0; pass <= prices_.classes; ++pass) {
      if (!RelaxOnce(excess)) return true;
      if (pass >= 2 && HasCycle()) return false;
    }
    return !HasCycle();
  }

  const std::vector<Index>& cycle() const { return cycle_; }
  std::vector<double>& potentials() { return potentials_; }

 private:
  bool RelaxOnce(double excess) {
    bool has_changed = false;
    for (Index u = 0; u < prices_.classes; ++u) {
      const double* lengths = prices_.length.data() + u * prices_.classes;
      const double from = potentials_[Offset(u)] + excess;
      for (Index v = 0; v < prices_.classes; ++v) {
        double& to = potentials_[Offset(v)];
        const double shorter = from + lengths[v];
        if (!(shorter < to - kRounding * (std::abs(to) + std::abs(from) + std::abs(lengths[v])))) continue;
        to = shorter;
        before_[Offset(v)] = u;
        has_changed = true;
      }
    }
    return has_changed;
  }

  // Whether the last edges of the paths close a cycle, which goes to cycle_.
  bool HasCycle() {
    std::vector<Index> seen_from(before_.size(), -1);
    for (Index start = 0; start < prices_.classes; ++start) {
      Index at = start;
      while (at >= 0 && seen_from[Offset(at)] < 0) {
        seen_from[Offset(at)] = start;
        at = before_[Offset(at)];
      }
      if (at < 0 || seen_from[Offset(at)] != start) continue;
      cycle_.clear();
      for (Index v = at; cycle_.empty() || v != at; v = before_[Offset(v)]) cycle_.push_back(v);
      std::reverse(cycle_.begin(), cycle_.end());
      return true;
    }
    return false;
  }

  const ClassPrices& prices_;
  std::vector<double> potentials_;
  std::vector<Index> before_;  // on the shortest path to each class
  std::vector<Index> cycle_;
};

}  // namespace

double MeanLength(const ClassPrices& prices, std::span<const Index> cycle) {
  double sum = 0;
  for (std::size_t e = 0; e < cycle.size(); ++e) {
    sum += prices.Length(cycle[e], cycle[(e + 1) % cycle.size()]);
  }
  return sum / static_cast<double>(cycle.size());
}

std::vector<Index> ShortestPair(const ClassPrices& prices) {
  std::vector<Index> pair;
  double shortest = kInfinity;
  for (Index u = 0; u < prices.classes; ++u) {
    for (Index v = u + 1; v < prices.classes; ++v) {
      const double length = prices.Length(u, v) + prices.Length(v, u);
      if (length < shortest) {
        shortest = length;
        pair = {u, v};
      }
    }
  }
  return pair;
}

ClassPotentials FindPotentials(const ClassPrices& prices, std::span<const double> start) {
  ClassPotentials result;
  result.biases.assign(start.begin(), start.end());
  result.biases.resize(Offset(prices.classes), 0.0);
  result.cycle = ShortestPair(prices);
  if (result.cycle.empty()) return result;
  result.excess = -MeanLength(prices, result.cycle);
  Paths paths(prices, result.biases);
  while (!paths.Relax(result.excess)) {
    const double excess = -MeanLength(prices, paths.cycle());
    if (!(excess > result.excess)) break;  // by rounding only
    result.cycle = paths.cycle();
    result.excess = excess;
    paths.potentials() = result.biases;
  }
  result.biases = std::move(paths.potentials());
  return result;
}

}  // namespace kweave
