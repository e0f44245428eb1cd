// What is asked of the kernel weights: the seam between regularisers and everything that learns.
//
// With u_m = ||w_m|| a regulariser is a function R of the u_m^2, and the problem is min over w, b of R +
// risk. Every w_m is theta_m times an expansion with the quadratic q_m, so u_m^2 = theta_m^2 q_m. Most
//     regularisers are
//     R = min over theta in Theta of  1/2 sum_m u_m^2 / theta_m + r(theta),
// with Theta a convex set of theta >= 0 and r convex: there the weights are minimised over. Where they are
// not (block norms above 2), R itself is what counts. The dual term R*(q) = max over u of sum_m u_m sqrt(q_m)
// - R, which is max over theta of 1/2 theta' q - r(theta) where weights are minimised over, makes the lower
//   bound L - R*(q).
//
// A regulariser has what is not optional here and more as far as it goes; methods state what they need
// (weights/methods/method_table.cc).
#ifndef KWEAVE_REGULARIZER_REGULARIZER_H_
#define KWEAVE_REGULARIZER_REGULARIZER_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kweave {

class LpNorm;
class Regularizer;
using RegularizerPointer = std::shared_ptr<const Regularizer>;

/// A regulariser that a linear program describes: theta >= 0, sum theta <= total, at `cost` for each unit of
/// weight; where weights are bounded, which then cost nothing, lower <= theta <= upper.
struct LinearWeights {
  double cost = 0;
  double total = 1;
  std::vector<double> lower = {}, upper = {};  ///< of every kernel; both empty where there are none

  bool is_bounded() const { return !lower.empty(); }
};

/// The largest theta' q of bounded weights: what the lower bounds leave goes to the kernels of largest q > 0.
void FillByQuadratics(const LinearWeights& weights, std::span<const double> q, std::span<double> theta);
/// Gives `freed` to the bounded weights above their lower bound, in proportion to the room that the upper
/// ones leave.
void GiveOut(const LinearWeights& weights, double freed, std::span<double> theta);

/// A dual term that is a function of the largest of several: R*(q) = f(z), z = max over g of N_g, N_g of
/// degree one in the quadratics of the kernels of group g, f convex. 1/2 sum_g N_g is a dual term that is
/// smooth.
struct LargestPart {
  std::vector<int> groups;  ///< of every kernel, from 0 on
  RegularizerPointer sum;
  double linear = 0.5;  ///< f(z) = linear z + square z^2
  double square = 0;
};

/// A dual term that is a function of a norm of norms: R*(q) = f(z), z = || (||max(q, 0)_g||_inner)_g
/// ||_outer.
struct DualNorm {
  double inner = 1;
  double outer = 1;
  std::vector<int> groups = {};  ///< of every kernel, from 0 on; empty: all in one
  double linear = 0.5;           ///< f(z) = linear z + square z^2
  double square = 0;
};

/// What a regulariser is and has, known once it is made.
struct RegularizerTraits {
  std::string name;  ///< for messages, as the options say it: "norm 2"
  /// Whether it is theta >= 0, ||theta||_p <= 1, which has more to offer: a LpNorm.
  bool is_lp_norm = false;
  /// Whether theta minimises r(theta) + J(theta) over a convex set.
  bool is_minimized = true;
  /// Whether the dual term has a gradient wherever some q_m > 0.
  bool is_dual_smooth = true;
  /// The d of R*(s^2 q) = s^d R*(q): 2 for squared norms; 0 where there is none.
  double dual_degree = 2;
  bool has_analytic_update = false;
  bool has_projection = false;
  /// Above 0 where gradient steps should be in proportion to the weights, since r bends without bound as a
  /// weight goes to 0, or most weights end there: weights below this share of the largest count as that.
  double least_step_share = 0;
  /// Where Theta and r are linear.
  std::optional<LinearWeights> linear = {};
  /// For a dual term that is not smooth only since it is that of a maximum.
  std::optional<LargestPart> largest_part = {};
  /// Where the dual term is that of a norm: single q_m then change it at little cost.
  std::optional<DualNorm> dual_norm = {};
  /// Whether weights always sum to 1.
  bool sum_is_one = false;
  /// What weights are at least, of every kernel; empty: 0.
  std::vector<double> least_weights = {};
};

class Regularizer {
 public:
  explicit Regularizer(RegularizerTraits traits) : traits_(std::move(traits)) {}
  virtual ~Regularizer() = default;

  const std::string& Name() const { return traits_.name; }
  /// Itself, or null where it is none.
  const LpNorm* lp_norm() const;
  bool is_minimized() const { return traits_.is_minimized; }
  bool is_dual_smooth() const { return traits_.is_dual_smooth; }
  double dual_degree() const { return traits_.dual_degree; }
  bool has_analytic_update() const { return traits_.has_analytic_update; }
  bool has_projection() const { return traits_.has_projection; }
  double least_step_share() const { return traits_.least_step_share; }
  const std::optional<LinearWeights>& linear() const { return traits_.linear; }
  const std::optional<LargestPart>& largest_part() const { return traits_.largest_part; }
  const std::optional<DualNorm>& dual_norm() const { return traits_.dual_norm; }
  bool sum_is_one() const { return traits_.sum_is_one; }
  const std::vector<double>& least_weights() const { return traits_.least_weights; }

  /// r(theta), for feasible theta: 0 for a constraint.
  double Value(std::span<const double> theta) const { return Evaluate(theta, {}); }
  /// Of r.
  void Gradient(std::span<const double> theta, std::span<double> gradient) const {
    Evaluate(theta, gradient);
  }
  /// Both at once; no gradient where there is no room for one.
  virtual double Evaluate(std::span<const double> theta, std::span<double> gradient) const;
  /// What the objective says of theta and an expansion with these quadratics, beside the risk: 1/2 theta' q +
  /// r(theta) where weights are minimised over, R elsewhere. Rises with every q_m >= 0.
  virtual double Primal(std::span<const double> theta, std::span<const double> q) const;
  /// R*(q); q_m < 0 counts as 0. Infinite outside its domain.
  virtual double DualTerm(std::span<const double> q) const = 0;
  /// A lower bound on r(theta), and so on the problem: what beta = 0 gives. 0 but for determinants.
  double LeastValue(std::size_t kernels) const;
  /// A theta that attains the dual term: twice its gradient.
  virtual void BestResponse(std::span<const double> q, std::span<double> theta) const = 0;

  /// A first theta without zeros.
  virtual void Start(std::span<double> theta) const = 0;
  /// Nearest cheap feasible theta.
  virtual void MakeFeasible(std::span<double> theta) const = 0;

  /// Where there is one, the theta that minimises 1/2 sum_m u_m^2 / theta_m + r(theta), u_m^2 = theta_m^2 q_m
  /// at the old theta. May work in place; where weights are not minimised over, the theta that goes with the
  /// maximum.
  virtual void AnalyticUpdate(std::span<const double> theta, std::span<const double> q,
                              std::span<double> updated) const;
  /// Where there is one, the theta in Theta with the smallest sum_m (theta_m - v_m)^2 / scales_m, v what
  /// `theta` holds before; no scales: the nearest. They are only given where `least_step_share` is above 0.
  virtual void Project(std::span<double> theta, std::span<const double> scales) const;
  void Project(std::span<double> theta) const { Project(theta, {}); }

  /// For maximum norms, which a single part that is too long makes large: lowers the weights of such parts to
  /// what q says that they are worth. Returns whether it changed any.
  virtual bool Shorten(std::span<const double> q, std::span<double> theta) const { return false; }
  /// For a dual term that is not smooth: a regulariser whose is and lies within this relative distance of it;
  /// else null.
  virtual RegularizerPointer Smoothed(double relative_error) const { return nullptr; }

 protected:
  /// For constructors.
  RegularizerTraits& traits() { return traits_; }

 private:
  RegularizerTraits traits_;
};

/// The s in [0, 1] with the largest s L - R*(s^2 q).
double BestScale(const Regularizer& regularizer, double linear, std::span<const double> q);

/// The best lower bound that beta gives, from its L and its quadratics: max over s in [0, 1] of s L - R*(s^2
/// q) where 0 is feasible too (`may_scale`; L is concave), else L - R*(q).
double LowerBound(const Regularizer& regularizer, double linear, std::span<const double> q, bool may_scale);

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_REGULARIZER_H_
