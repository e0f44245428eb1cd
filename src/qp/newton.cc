#include "qp/newton.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/constants.h"
#include "base/dot.h"
#include "kweave/error.h"
#include "loss/smooth_loss.h"
#include "qp/conjugate_gradients.h"
#include "qp/kernel_matrix.h"
#include "qp/line_search.h"
#include "qp/stall_watch.h"

namespace kweave {

namespace {

// Curvature relative to C below which a sample goes to -g at once.
constexpr double kLeastCurvature = 1e-9;
// What solving the model may leave of the gap, as a share of what the objective gains: little by little less
// while the model is right.
constexpr double kFirstForcing = 0.1, kForcingFactor = 0.01, kLeastForcing = 1e-8;
constexpr double kShareOfWanted = 0.3, kShareWhileInfeasible = 1e-3;  // of the gap wanted, for the model
constexpr int kStepsWithoutProgress = 6;
constexpr double kFlat = 0.3;  // slope where a line search ends, as a share of that where it began
// Bringing a step into the intervals is tried when it moves beta, relatively, by no more than this; less once
// that spoiled it, more while steps are taken without it.
constexpr double kFirstMove = 1e-2, kLargestMove = 0.3, kShrinkMove = 0.1, kGrowMove = 3;

// A beta with its outputs and bounds; where it is not feasible the dual bound is that of another one.
struct Point {
  std::vector<double> beta;
  std::vector<double> f;
  MachineBounds bounds;
  bool is_feasible = true;
};

double RelativeDistance(std::span<const double> a, std::span<const double> b) {
  double distance = 0, size = kTiny;
  for (std::size_t i = 0; i < a.size(); ++i) {
    distance += std::abs(a[i] - b[i]);
    size += std::abs(b[i]);
  }
  return distance / size;
}

class Newton final : private SolverPause {
 public:
  Newton(const Risk& risk, RowSource<float>& rows, SolverState& state,
         std::optional<Preconditioner>& preconditioner, const NewtonOptions& options, SolveObserver* observer)
      : risk_(risk),
        loss_(*risk.loss->smooth()),
        source_(rows),
        state_(state),
        preconditioner_(preconditioner),
        options_(options),
        observer_(observer) {
    if (!preconditioner_) preconditioner_.emplace(options.memory_bytes / 2, options.seed);
  }

  SolverResult Run() {
    Start();
    for (;;) {
      if (!std::isfinite(at_.bounds.gap())) return Finish(SolverOutcome::kNotFinite);
      if (answer_.relative_gap() <= std::max(options_.relative_gap, kFewRoundings))
        return Finish(SolverOutcome::kConverged);
      if (steps_ >= options_.max_steps) return Finish(SolverOutcome::kStepLimit);
      if (IsStalled()) return Finish(SolverOutcome::kStalled);
      if (!Observe() && is_stopped_) return Finish(SolverOutcome::kStoppedByObserver);
      Step();
    }
  }

 private:
  void Start() {
    if (!state_.gradient_is_valid) {
      state_.gradient.assign(state_.beta.size(), 0.0);
      source_.Multiply(state_.beta, state_.gradient);
      state_.gradient_is_valid = true;
    }
    at_ = {state_.beta, state_.gradient, {}, true};
    FindBounds(at_);
    milestone_ = answer_ = at_.bounds;
  }

  void FindBounds(Point& point) const {
    point.bounds = risk_.BoundsAt(point.beta, point.f);
    if (!point.is_feasible) point.bounds.dual = at_.bounds.dual;
  }

  // A Newton step. Far from the solution bringing it into the intervals of beta may spoil it; then it is
  // taken as it is, and the answer stays at the last feasible point. Where it leads nowhere, a step towards
  // -g.
  void Step() {
    ++steps_;
    Linearize();
    if (!SolveModel()) return;
    std::vector<double> target = at_.beta;
    for (std::size_t i = 0; i < target.size(); ++i) target[i] += direction_[i];
    std::vector<double> feasible = target;
    risk_.MakeFeasible(feasible);
    const double moved = RelativeDistance(feasible, target);
    if (moved <= harmless_move_) {
      if (Approach(std::move(feasible), true, /*least_step=*/moved > 0 ? 1 : 0)) return;
      harmless_move_ = kShrinkMove * moved;
    }
    if (moved > 0 && Approach(std::move(target), false)) {
      harmless_move_ = std::min(kGrowMove * harmless_move_, kLargestMove);
      return;
    }
    target = at_.beta;
    for (std::size_t i = 0; i < target.size(); ++i) target[i] += residual_[i];
    risk_.MakeFeasible(target);
    Approach(std::move(target), true);
  }

  // g, W and what beta lacks.
  void Linearize() {
    const double bias = risk_.BestBias(at_.f);
    residual_.resize(at_.f.size());
    inverse_curvature_.resize(at_.f.size());
    for (std::size_t i = 0; i < at_.f.size(); ++i) {
      const LossDerivatives derivatives = loss_.DerivativesAt(at_.f[i] + bias, risk_.y[i]);
      residual_[i] = -risk_.C[i] * derivatives.first - at_.beta[i];
      inverse_curvature_[i] = 1 / (risk_.C[i] * std::max(derivatives.second, kLeastCurvature));
    }
  }

  // The direction, from the quadratic model. False when the observer interfered.
  bool SolveModel() {
    if (!kernel_) kernel_.emplace(source_, risk_.has_bias, options_.memory_bytes / 2);
    const auto proceed = [this] { return Observe(); };
    if (!kernel_->Load(proceed)) return false;
    // The model's gap says little of a beta that is outside its intervals.
    const double share = at_.is_feasible ? kShareOfWanted : kShareWhileInfeasible;
    const double wanted = share * options_.relative_gap * std::abs(at_.bounds.primal);
    const auto is_enough = [&](double gap, std::span<const double> d, std::span<const double> r) {
      return gap <= wanted || gap <= forcing_ * ModelDecrease(d, r);
    };
    return SolveOnPlane(*kernel_, inverse_curvature_, residual_, risk_.has_bias, is_enough, *preconditioner_,
                        proceed, direction_);
  }

  // How much the model's objective falls along d, whose residual is r: the outputs change by W^-1 (rho - d) -
  // r.
  double ModelDecrease(std::span<const double> d, std::span<const double> r) const {
    double change = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
      const double v = inverse_curvature_[i];
      const double g = -residual_[i] - at_.beta[i];
      const double output = v * (residual_[i] - d[i]) - r[i];
      change += at_.f[i] * d[i] + 0.5 * d[i] * output + g * output + 0.5 * output * output / v;
    }
    return -change;
  }

  // Goes towards beta as far as the objective falls. False when it does not fall at all, or not for so long a
  // step.
  bool Approach(std::vector<double> beta, bool is_feasible, double least_step = 0) {
    Point full{std::move(beta), std::vector<double>(at_.f.size()), {}, is_feasible};
    source_.Multiply(full.beta, full.f);
    FindBounds(full);
    const double before = at_.bounds.gap();
    if (is_feasible && full.bounds.gap() <= 0.5 * before) {
      // As good as the model said: the next one may be solved more precisely.
      const double promised =
          std::max(forcing_ * before, options_.relative_gap * std::abs(at_.bounds.primal));
      forcing_ = full.bounds.gap() <= 3 * promised ? std::max(forcing_ * kForcingFactor, kLeastForcing)
                                                   : kFirstForcing;
      Accept(std::move(full));
      return true;
    }
    forcing_ = kFirstForcing;
    const double step = LineSearch(full);
    if (step == 0 || step < least_step) return false;
    if (step < 1) {
      for (std::size_t i = 0; i < full.beta.size(); ++i) {
        full.beta[i] = at_.beta[i] + step * (full.beta[i] - at_.beta[i]);
        full.f[i] = at_.f[i] + step * (full.f[i] - at_.f[i]);
      }
      full.is_feasible = is_feasible && at_.is_feasible;
      FindBounds(full);
    }
    Accept(std::move(full));
    return true;
  }

  void Accept(Point point) {
    const double dual = at_.bounds.dual;
    at_ = std::move(point);
    if (at_.is_feasible && at_.bounds.gap() < answer_.gap()) {
      answer_ = at_.bounds;
      state_.beta = at_.beta;
      state_.gradient = at_.f;
    }
    at_.bounds.dual = std::max(at_.bounds.dual, dual);  // any of them bounds the optimum
  }

  // The share of the way to the point at which the objective, convex along it, is about lowest: 1 where that
  // lowers it enough, 0 where it does not fall at first.
  double LineSearch(const Point& to) const {
    double linear = 0, square = 0;  // slope of 1/2 beta' K beta along the way: linear + t square
    for (std::size_t i = 0; i < to.f.size(); ++i) {
      linear += (to.beta[i] - at_.beta[i]) * at_.f[i];
      square += (to.beta[i] - at_.beta[i]) * (to.f[i] - at_.f[i]);
    }
    std::vector<double> between(to.f.size());
    const auto slope_at = [&](double t) {
      for (std::size_t i = 0; i < to.f.size(); ++i) between[i] = at_.f[i] + t * (to.f[i] - at_.f[i]);
      const double bias = risk_.BestBias(between);
      double slope = linear + t * square;
      for (std::size_t i = 0; i < to.f.size(); ++i) {
        const double first = loss_.DerivativesAt(between[i] + bias, risk_.y[i]).first;
        slope += risk_.C[i] * first * (to.f[i] - at_.f[i]);
      }
      return slope;
    };
    const double start = slope_at(0);
    if (!(start < 0)) return 0;
    if (to.bounds.primal <= at_.bounds.primal + kSufficientDecrease * start) return 1;
    const double slope_end = slope_at(1);
    if (slope_end <= 0) return 1;
    // A point with a slope below zero is lower than the start.
    const auto is_flat = [&](double slope) { return slope <= 0 && slope >= kFlat * start; };
    return FindFlat(slope_at, {0, 1, start, slope_end}, is_flat);
  }

  bool IsStalled() {
    const bool is_closer = at_.bounds.gap() <= kClearProgress * milestone_.gap();
    const bool is_lower = at_.bounds.primal <= milestone_.primal - kClearMove * milestone_.gap();
    if (is_closer || is_lower) {
      milestone_ = at_.bounds;
      steps_since_milestone_ = 0;
    }
    return steps_since_milestone_++ >= kStepsWithoutProgress;
  }

  // False when the step must be given up: the observer ends the solve, or changed the matrix.
  bool Observe() {
    if (!observer_ || is_stopped_) return !is_stopped_;
    const SolveObserver::Verdict verdict = observer_->Observe(*this);
    if (verdict == SolveObserver::Verdict::kMatrixChanged) {
      kernel_.reset();
      Start();
    }
    is_stopped_ = verdict == SolveObserver::Verdict::kStop;
    return verdict == SolveObserver::Verdict::kContinue;
  }

  SolverResult Finish(SolverOutcome outcome) {
    SolverResult result;
    result.outcome = outcome;
    result.steps = steps_;
    result.rows_computed = kernel_ && kernel_->is_stored() ? kernel_->size() : 0;
    result.violation = answer_.relative_gap();
    result.objective = -answer_.dual;
    return result;
  }

  std::int64_t steps() const override { return steps_; }
  double violation() const override { return answer_.relative_gap(); }
  double objective() const override { return -answer_.dual; }
  std::span<const double> Beta() override { return state_.beta; }
  std::span<double> Gradient() override { return state_.gradient; }

  const Risk& risk_;
  const SmoothLoss& loss_;
  RowSource<float>& source_;
  SolverState& state_;  // the answer: the feasible beta with the smallest gap, and f = K beta
  std::optional<Preconditioner>& preconditioner_;
  const NewtonOptions& options_;
  SolveObserver* const observer_;

  std::optional<KernelMatrix> kernel_;     // made when first needed
  MachineBounds answer_;                   // of state_
  Point at_;                               // where the next step starts; its dual bound is the best one known
  std::vector<double> residual_;           // -g - beta
  std::vector<double> inverse_curvature_;  // W^-1
  std::vector<double> direction_;
  double harmless_move_ = kFirstMove;
  double forcing_ = kFirstForcing;
  MachineBounds milestone_;  // at the last clear progress, and steps since
  int steps_since_milestone_ = 0;
  std::int64_t steps_ = 0;
  bool is_stopped_ = false;
};

}  // namespace

SolverResult SolveNewton(const Risk& risk, RowSource<float>& rows, SolverState& state,
                         std::optional<Preconditioner>& preconditioner, const NewtonOptions& options,
                         SolveObserver* observer) {
  const std::size_t size = risk.y.size();
  if (!risk.loss->smooth()) throw Error(ErrorKind::kUsage, "Newton's method needs a smooth loss.");
  if (state.beta.size() != size || risk.C.size() != size || rows.size() != static_cast<Index>(size) ||
      (state.gradient_is_valid && state.gradient.size() != size)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("The problem has {} samples; its costs, start and rows must have as many.", size));
  }
  return Newton(risk, rows, state, preconditioner, options, observer).Run();
}

}  // namespace kweave
