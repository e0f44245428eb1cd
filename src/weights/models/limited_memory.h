// Solves     d = H v, where H stands in for the inverse of a Hessian that is known by a few of its products
//            only.
// Method     the two-loop recursion (Liu, Nocedal: On the limited memory BFGS method for large scale
//            optimization, 1989) over the latest steps s and the changes y of the gradient along them,
//            started from a diagonal that is scaled by the latest pair.
// Takes and  a diagonal for every product, in which 0 holds a variable: H is then that of the free ones
//            alone.
// returns
// Holds      H is symmetric and positive definite on the free variables: pairs without curvature there are
//            left out.
// Costs      4 n multiplications per pair and product; 2 n numbers per pair.
#ifndef KWEAVE_WEIGHTS_MODELS_LIMITED_MEMORY_H_
#define KWEAVE_WEIGHTS_MODELS_LIMITED_MEMORY_H_

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace kweave {

class LimitedMemory {
 public:
  explicit LimitedMemory(std::size_t most_pairs) : most_pairs_(most_pairs) {}

  void Clear() { pairs_.clear(); }
  bool is_empty() const { return pairs_.empty(); }
  /// The gradient changed by `change` along `step`. Forgets the oldest pair when there are too many.
  void Add(std::vector<double> step, std::vector<double> change);
  /// For the products to come: about the inverse of the Hessian's diagonal, 0 for variables that are held.
  void UseDiagonal(std::vector<double> inverse_diagonal);
  /// H v, in place; 0 for held variables.
  void Multiply(std::span<double> v) const;

 private:
  struct Pair {
    std::vector<double> step, change;
    double curvature = 0;  // step' change over the free variables; 0: left out
  };

  double FreeDot(std::span<const double> a, std::span<const double> b) const;

  const std::size_t most_pairs_;
  std::deque<Pair> pairs_;        // the latest last
  std::vector<double> diagonal_;  // scaled
  std::vector<double> is_free_;   // 1 or 0
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_LIMITED_MEMORY_H_
