// Solves   u = g(u) for a map g whose plain iteration crawls.
// Method   Anderson (1965): the next u is the mixture of the last images g(u_k), weights that sum to one, whose mixed residuals
//          g(u_k) - u_k are smallest in a weighted norm. It steps along differences of the map's own steps.
// Takes    u, g(u) and weights; returns the next u.
// Holds    with nothing to remember it returns g(u) itself.
// Costs    O(M) for each of at most kMemory pairs, and their normal equations.
#ifndef KWEAVE_WEIGHTS_EXTRAPOLATION_H_
#define KWEAVE_WEIGHTS_EXTRAPOLATION_H_

#include <deque>
#include <span>
#include <vector>

namespace kweave {

class Extrapolation {
 public:
  std::vector<double> Next(std::span<const double> u, std::span<const double> image,
                           std::span<const double> weights);
  /// Notes a point whose image is not gone to.
  void Remember(std::span<const double> u, std::span<const double> image);
  void Forget() { pairs_.clear(); }

 private:
  struct Pair {
    std::vector<double> image, residual;
  };
  std::deque<Pair> pairs_;  // the newest last
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_EXTRAPOLATION_H_
