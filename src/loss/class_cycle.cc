#include "loss/class_cycle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/constants.h"
#include "base/offset.h"

namespace kweave {

namespace {

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
      const double from = potentials_[Offset(u)] + excess;
      has_changed = RelaxPaths(from, prices_.length.data() + u * prices_.classes, u, potentials_.data(),
                               before_.data(), prices_.classes) ||
                    has_changed;
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

ClassPairs::ClassPairs(const ClassPrices& prices)
    : prices_(prices), partners_(Offset(prices.classes)), lengths_(Offset(prices.classes)) {}

void ClassPairs::Consider(Index u, Index v) {
  const double length = prices_.Length(u, v) + prices_.Length(v, u);
  if (!(length < lengths_[Offset(u)])) return;
  lengths_[Offset(u)] = length;
  partners_[Offset(u)] = v;
}

void ClassPairs::FindFor(Index u) {
  lengths_[Offset(u)] = kInfinity;
  partners_[Offset(u)] = -1;
  for (Index v = 0; v < prices_.classes; ++v) {
    if (v != u) Consider(u, v);
  }
}

void ClassPairs::Find() {
  for (Index u = 0; u < prices_.classes; ++u) FindFor(u);
}

void ClassPairs::Update(std::span<const Index> changed, std::span<const char> is_changed) {
  for (Index u = 0; u < prices_.classes; ++u) {
    const Index partner = partners_[Offset(u)];
    if (is_changed[Offset(u)] != 0 || (partner >= 0 && is_changed[Offset(partner)] != 0)) {
      FindFor(u);
    } else {
      for (const Index v : changed) Consider(u, v);
    }
  }
}

std::vector<Index> ClassPairs::Shortest() const {
  const auto shortest = std::min_element(lengths_.begin(), lengths_.end());
  const auto u = static_cast<Index>(shortest - lengths_.begin());
  if (partners_[Offset(u)] < 0) return {};
  return {u, partners_[Offset(u)]};
}

ClassPotentials FindPotentials(const ClassPrices& prices, std::span<const double> start) {
  ClassPotentials result;
  result.biases.assign(start.begin(), start.end());
  result.biases.resize(Offset(prices.classes), 0.0);
  ClassPairs pairs(prices);
  pairs.Find();
  result.cycle = pairs.Shortest();
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

std::vector<Index> FindCycle(const ClassPrices& prices, double excess, std::vector<double>& potentials) {
  potentials.resize(Offset(prices.classes), 0.0);
  Paths paths(prices, potentials);
  if (!paths.Relax(excess)) return paths.cycle();
  potentials = std::move(paths.potentials());
  return {};
}

}  // namespace kweave
