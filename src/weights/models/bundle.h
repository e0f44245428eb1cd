// Betas of several solves, and the model of J that they make together.
//
// Solves   lower model of J(theta) over the simplex: the machine's own dual over mixtures of the betas,
//          model(theta) = max over w >= 0, sum w = 1 of  sum_t w_t L_t - 1/2 sum_m theta_m w' B_m w,
//          B_m[s][t] = beta_s' K_m beta_t; at each theta solved it is as good as the solve was. Weights with
//          a price instead of a sum are a simplex too, of as much as may be spent: what is not spent goes to
//          a kernel more, whose quadratic is 2 cost for every w. So are weights with bounds: what the lower
//          bounds leave is spent, below the upper ones or not at all.
// Method   a plain bundle keeps B_m's diagonal only, one plane per beta, flat between solves. The products
//          off the diagonal come almost free with the expansion of a solve and give the model its curvature:
//          with few kernels in play it takes a third of the solves.
// Takes    evaluations and their expansions; returns minima of the model, with or without a pull to a centre.
//          For other sets than the simplex the same model is maximised over the mixtures
//          (weights/models/mixture.h, weights/models/largest_mixture.h).
// Holds    model(theta) <= J(theta): mixtures are feasible and L is concave. Numbers inside are in units of
//          the first objective.
// Costs    per beta one product with all others; M T^2 / 2 + n T values for T betas of n samples, limited by
//          dropping betas idle for longest; per minimum that of weights/models/hull_saddle.h, over the
//          kernels that matter, and passes of M T^2 / 2 over all of them to find those.
#ifndef KWEAVE_WEIGHTS_MODELS_BUNDLE_H_
#define KWEAVE_WEIGHTS_MODELS_BUNDLE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "gram/gram.h"
#include "regularizer/regularizer.h"
#include "weights/models/hull_saddle.h"
#include "weights/run/machine.h"

namespace kweave {

/// A point of the model.
struct BundlePoint {
  std::vector<double> theta;       ///< empty when the numbers do not allow a solution
  std::vector<double> mixture;     ///< w
  std::vector<double> quadratics;  ///< of the mixture of the betas, for every kernel
  double linear = 0;               ///< sum_t w_t L_t
  double value = 0;                ///< of the model at theta, and what theta costs
  double slope = 0;                ///< along a weight inside its bounds, where weights have bounds
};

/// rho / 2 sum_m metric_m (theta_m - center_m)^2, added to the model.
struct Pull {
  double rho = 0;
  std::span<const double> center, metric;
};

class Bundle {
 public:
  /// `expansion` is that of the evaluation's beta.
  void Add(const Evaluation& at, const Expansion& expansion);
  /// Finds all products again after the kernels changed; betas out of use are dropped.
  void Measure(Gram& gram);
  /// Drops all but the last beta.
  void Restart();
  bool is_empty() const { return members_.empty(); }
  std::size_t size() const { return members_.size(); }

  /// What the simplex is: sum theta = total, or up to it where weight has a cost or bounds. Sum theta = 1
  /// until told otherwise.
  void Limit(const LinearWeights& weights) { weights_ = weights; }
  /// The minimum of model, cost and pull over the simplex, to a relative precision.
  BundlePoint Minimize(const Pull& pull, double precision);
  /// The minimum for any other regulariser, to an absolute precision: theta is the best response to the best
  /// mixture. A dual term with kinks that are not those of a largest part is smoothed, by this relative
  /// distance.
  BundlePoint Minimize(const Regularizer& regularizer, double precision, double smoothing);
  /// The mixture of the betas; those it uses count as in use.
  std::vector<double> Mix(std::span<const double> mixture);
  /// The quadratics of every beta by kernel, for weights/models/fewer_kernels.h. Valid until the bundle
  /// changes, in units of its own.
  std::vector<std::span<const double>> planes() const;
  /// Those and the products between the betas.
  std::vector<std::span<const double>> products() const;

  /// What values inside are multiplied with to get objectives.
  double unit() const { return unit_; }

 private:
  struct Member {
    double linear;
    std::vector<double> beta;
    std::vector<std::vector<double>> products;  // with the members before and itself, M values each
    int idle = 0;                               // mixtures since it was last in use
  };

  class Curved;

  std::size_t MostMembers() const;
  void Drop(std::size_t t);
  void StartColumns(const Pull& pull);
  BundlePoint OneBeta() const;
  double cost() const { return weights_.cost / unit_; }
  double lower(std::size_t m) const { return weights_.is_bounded() ? weights_.lower[m] : 0; }
  double spare() const;
  double SlopeToBeat(const BundlePoint& point, const Pull& pull) const;
  HullProblem ColumnProblem(const Pull& pull) const;
  void AddUnspent(HullProblem& problem, const std::vector<double>& base) const;
  BundlePoint SolveColumns(const Pull& pull, double precision) const;
  std::vector<Index> MissingColumns(const BundlePoint& point, const Pull& pull, double precision) const;

  LinearWeights weights_;
  std::vector<Member> members_;
  std::vector<double> last_mixture_;
  std::vector<Index> columns_;  // kernels that the minima are looked for among
  double unit_ = 1;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_BUNDLE_H_
