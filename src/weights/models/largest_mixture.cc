#include "weights/models/largest_mixture.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/constants.h"
#include "base/dot.h"
#include "weights/models/hull_saddle.h"

namespace kweave {

namespace {

constexpr int kMostHalvings = 20;  // down to a millionth of a step, where nothing rises any more
constexpr double kSufficientRise =
    0.1;  // of what the matrices promise: less, and they were wrong about the way

class NewtonOverParts {
 public:
  NewtonOverParts(const LargestPart& parts, const MixtureModel& model, double precision)
      : parts_(parts),
        model_(model),
        precision_(precision),
        T_(model.linear().size()),
        M_(model.kernels()),
        G_(static_cast<std::size_t>(*std::max_element(parts.groups.begin(), parts.groups.end())) + 1) {}

  MixturePoint Run(std::span<const double> start) {
    MoveTo({start.begin(), start.end()});
    std::vector<double> weights(G_, 0.0);
    weights[static_cast<std::size_t>(std::ranges::max_element(values_) - values_.begin())] = 1;
    Weigh(weights);
    for (int k = 0; k < kMostNewtonSteps && at_.error > precision_; ++k) {
      if (!Step()) break;
    }
    return std::move(at_);
  }

 private:
  std::size_t GroupOf(std::size_t m) const { return static_cast<std::size_t>(parts_.groups[m]); }

  double Largest() const { return *std::ranges::max_element(values_); }
  // f and its slope, in units of the model.
  double Outer(double z) const { return z * (parts_.linear + model_.unit() * parts_.square * z); }
  double OuterSlope(double z) const { return parts_.linear + 2 * model_.unit() * parts_.square * z; }

  void MoveTo(std::vector<double> w) {
    at_.w = std::move(w);
    at_.quadratics.resize(M_);
    model_.Quadratics(at_.w, at_.quadratics);
    responses_ = Response(*parts_.sum, model_, at_.quadratics);
    values_.assign(G_, 0.0);
    for (std::size_t m = 0; m < M_; ++m) values_[GroupOf(m)] += responses_[m] * at_.quadratics[m];
    at_.linear = Dot(model_.linear(), at_.w);
    at_.value = at_.linear - Outer(Largest());
    slopes_ = model_.Slopes(at_.w);
  }

  // With these weights of the groups no w has more than the first sum, as the objective is concave; the rest
  // is what the weights leave of the maximum.
  void Weigh(std::span<const double> weights) {
    const double mean = Dot(weights, values_);
    at_.theta = responses_;
    for (std::size_t m = 0; m < M_; ++m) at_.theta[m] *= 2 * OuterSlope(mean) * weights[GroupOf(m)];
    gradient_.assign(model_.linear().begin(), model_.linear().end());
    for (std::size_t t = 0; t < T_; ++t)
      gradient_[t] -= 0.5 * Dot(at_.theta, std::span(slopes_).subspan(t * M_, M_));
    at_.error =
        *std::ranges::max_element(gradient_) - Dot(gradient_, at_.w) + (at_.linear - Outer(mean) - at_.value);
  }

  // Half the second derivatives of all N_g.
  std::vector<double> Curvatures() const {
    std::vector<double> matrices(G_ * T_ * T_, 0.0);
    model_.AddCurvature(responses_, parts_.groups, matrices);
    const std::vector<double> changes = ResponseSlopes(*parts_.sum, model_, at_.quadratics, slopes_);
    for (std::size_t t = 0; t < T_; ++t) {
      for (std::size_t s = 0; s < T_; ++s) {
        for (std::size_t m = 0; m < M_; ++m) {
          const double entry = 0.25 * changes[s * M_ + m] * slopes_[t * M_ + m];
          double* matrix = matrices.data() + GroupOf(m) * T_ * T_;
          matrix[t * T_ + s] += entry;
          matrix[s * T_ + t] += entry;
        }
      }
    }
    return matrices;
  }

  // Half the slopes of all N_g by w.
  std::vector<double> HalfSlopes() const {
    std::vector<double> halves(G_ * T_, 0.0);
    for (std::size_t m = 0; m < M_; ++m) {
      double* of_group = halves.data() + GroupOf(m) * T_;
      for (std::size_t t = 0; t < T_; ++t) of_group[t] += 0.5 * responses_[m] * slopes_[t * M_ + m];
    }
    return halves;
  }

  // What differences leave of the slope is added, so that B w is half the slope and w' B w the value.
  void MendSlope(std::span<const double> half_slope, std::span<double> B) const {
    std::vector<double> rest(half_slope.begin(), half_slope.end());
    for (std::size_t t = 0; t < T_; ++t) rest[t] -= Dot(B.subspan(t * T_, T_), at_.w);
    const double all = Dot(rest, at_.w);
    for (std::size_t t = 0; t < T_; ++t) {
      for (std::size_t s = 0; s < T_; ++s) B[t * T_ + s] += rest[t] + rest[s] - all;
    }
  }

  bool Step() {
    const std::vector<double> curvatures = Curvatures(), half_slopes = HalfSlopes();
    double trace = 0;
    for (std::size_t g = 0; g < G_; ++g) {
      double sum = 0;
      for (std::size_t t = 0; t < T_; ++t) sum += curvatures[(g * T_ + t) * T_ + t];
      trace = std::max(trace, sum);
    }
    for (const double ridge : kMixtureRidges) {
      HullProblem problem;
      problem.l.assign(model_.linear().begin(), model_.linear().end());
      problem.B = curvatures;
      for (std::size_t g = 0; g < G_; ++g) {
        const auto matrix = std::span(problem.B).subspan(g * T_ * T_, T_ * T_);
        for (std::size_t t = 0; t < T_; ++t) matrix[t * T_ + t] += ridge * trace;
        MendSlope(std::span(half_slopes).subspan(g * T_, T_), matrix);
      }
      BendOutwards(problem);
      const HullPoint hull = SolveScaled(problem);
      if (!hull.theta.empty() && StepTo(hull, Promise(problem, hull))) return true;
    }
    return false;
  }

  // f at the largest part z, as a quadratic in w: z counts with the slope of f, and what f bends is added to
  // all parts alike, as the square of the change of their mean. What the slope alone leaves of the value goes
  // to l.
  void BendOutwards(HullProblem& problem) const {
    const double z = Largest(), slope = OuterSlope(z);
    for (double& value : problem.B) value *= 2 * slope;
    for (double& value : problem.l) value += slope * z - Outer(z);
    if (parts_.square == 0 || !(slope > 0)) return;
    std::vector<double> change(T_);  // of the mean part by w, none at w itself
    for (std::size_t t = 0; t < T_; ++t) change[t] = (model_.linear()[t] - gradient_[t]) / slope;
    const double here = Dot(change, at_.w);
    for (double& value : change) value -= here;
    const double bend = 2 * model_.unit() * parts_.square;
    for (std::size_t g = 0; g < G_; ++g) {
      for (std::size_t t = 0; t < T_; ++t) {
        for (std::size_t s = 0; s < T_; ++s) problem.B[(g * T_ + t) * T_ + s] += bend * change[t] * change[s];
      }
    }
  }

  // With numbers of order one, which the solution does not depend on.
  HullPoint SolveScaled(const HullProblem& problem) const {
    double largest = 0;
    for (const double value : problem.B) largest = std::max(largest, std::abs(value));
    const auto [least, most] = std::ranges::minmax(problem.l);
    const double scale = 1 / std::max(largest, most - least);
    if (!std::isfinite(scale)) return {};
    HullProblem scaled = problem;
    for (double& value : scaled.B) value *= scale;
    for (double& value : scaled.l) value = scale * (value - most);
    return SolveHull(scaled, std::min(1e-8, 0.1 * scale * precision_));
  }

  // What the matrices say that the hull's w gains.
  double Promise(const HullProblem& problem, const HullPoint& hull) const {
    double largest = 0;
    for (std::size_t g = 0; g < G_; ++g) {
      double value = 0;
      for (std::size_t t = 0; t < T_; ++t)
        value += hull.w[t] * Dot(std::span(problem.B).subspan((g * T_ + t) * T_, T_), hull.w);
      largest = std::max(largest, value);
    }
    return Dot(problem.l, hull.w) - 0.5 * largest - at_.value;
  }

  bool StepTo(const HullPoint& hull, double promise) {
    const MixturePoint before = at_;
    const std::vector<double> gradient = gradient_;
    double share = 1;
    for (int trial = 0; trial < kMostHalvings; ++trial, share *= 0.5) {
      std::vector<double> w = before.w;
      for (std::size_t t = 0; t < T_; ++t) w[t] += share * (hull.w[t] - w[t]);
      MoveTo(std::move(w));
      Weigh(hull.theta);
      if (promise > 0 && at_.value >= before.value + kSufficientRise * share * promise) return true;
      // Near the end rounding hides what is gained.
      if (trial == 0 && at_.error < 0.5 * before.error && at_.value >= before.value - precision_) return true;
    }
    MoveTo(before.w);
    at_ = before;
    gradient_ = gradient;
    return false;
  }

  const LargestPart& parts_;
  const MixtureModel& model_;
  const double precision_;
  const std::size_t T_, M_, G_;
  MixturePoint at_;
  std::vector<double> responses_, values_, slopes_;  // at w: dN_g/dq, N_g, dq/dw
  std::vector<double> gradient_;                     // of the objective, at the last weights of the groups
};

}  // namespace

MixturePoint SolveLargestMixture(const LargestPart& parts, const MixtureModel& model,
                                 std::span<const double> start, double precision) {
  return NewtonOverParts(parts, model, precision).Run(start);
}

}  // namespace kweave
