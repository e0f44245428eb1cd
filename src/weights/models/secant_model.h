// Solves     minimise  g' d + 1/2 d' B d  over the x = theta + d of a convex set, where B stands in for a
//            Hessian that is known by a few of its products only.
// Method     projected quasi-Newton steps (Schmidt, van den Berg, Friedlander and Murphy: Optimizing costly
//            functions with simple constraints, 2009). B begins as a diagonal, in which the last pair sets
//            the size, and is updated by the latest steps s and the changes y of the gradient along them
//            (BFGS); the minimum is found by spectral projected gradients with exact line searches.
// Takes and  pairs s, y as they come; the diagonal as 1 over scales, the metric of the projection; returns x.
// returns
// Holds      B is symmetric and positive definite: pairs without curvature are left out. x is feasible, and
//            the model is no higher there than at theta.
// Costs      per inner step 4 M multiplications for each of at most 30 pairs and a projection, limited to
//            about a second; 3 M numbers per pair, limited to 32 MB.
#ifndef KWEAVE_WEIGHTS_MODELS_SECANT_MODEL_H_
#define KWEAVE_WEIGHTS_MODELS_SECANT_MODEL_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <vector>

namespace kweave {

class SecantModel {
 public:
  /// Overwrites a point v by the feasible x with the smallest sum_m (x_m - v_m)^2 / scale_m; no scales: all
  /// 1.
  using Projection = std::function<void(std::span<double> point, std::span<const double> scales)>;

  void Clear() { pairs_.clear(); }
  bool is_empty() const { return pairs_.empty(); }
  /// The gradient changed by `change` along `step`. Forgets the oldest pair when there are too many.
  void Add(std::vector<double> step, std::vector<double> change);
  /// Not while it is empty. Before the updates B is in proportion to 1 / scale_m on the diagonal; no scales:
  /// all 1.
  std::vector<double> Minimize(std::span<const double> theta, std::span<const double> gradient,
                               std::span<const double> scales, const Projection& project);

 private:
  struct Pair {
    std::vector<double> step, change;
    double curvature = 0;        // step' change
    std::vector<double> image;   // B step, by the pairs before
    double image_curvature = 0;  // step' image
  };

  double SpectralLength(std::span<const double> step, std::span<const double> change) const;
  void Update();
  std::vector<double> Multiply(std::span<const double> v, std::size_t updates) const;

  std::deque<Pair> pairs_;      // the latest last
  std::vector<double> scales_;  // of the metric
  double length_ = 0;           // B is 1 / (length scale) before the updates
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_SECANT_MODEL_H_
