// Solves     x + lambda x^(p-1) = v for x, v > 0, lambda >= 0, 1 < p < infinity: what a power of x in a
//            penalty leaves of v.
// Method     as a t^r + b t = v with r >= 1: t = x^(p-1) for p < 2, t = x above. The left side is convex in
//            t, so that Newton steps fall to the root from above, wherever they began: a step from below
//            leads above.
// Takes      a place to start, or 0.
// Holds      the equation to 1e-13 of v.
// Costs      a power for each of few steps; none for p = 2.
#ifndef KWEAVE_REGULARIZER_SHRINKAGE_H_
#define KWEAVE_REGULARIZER_SHRINKAGE_H_

namespace kweave {

class Shrinkage {
 public:
  explicit Shrinkage(double p) : is_below_two_(p < 2), r_(is_below_two_ ? 1 / (p - 1) : p - 1) {}

  struct Shrunk {
    double x;
    double power;  ///< x^(p-1)
  };
  /// `root` is where to start, and where it ended.
  Shrunk Solve(double lambda, double v, double& root) const;

 private:
  bool is_below_two_;
  double r_;
};

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_SHRINKAGE_H_
