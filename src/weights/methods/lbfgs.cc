#include "weights/methods/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/constants.h"
#include "base/dot.h"
#include "base/stopwatch.h"
#include "loss/smooth_loss.h"
#include "qp/line_search.h"
#include "regularizer/regularizer.h"
#include "weights/models/limited_memory.h"

namespace kweave {

namespace {

constexpr std::size_t kPairs =
    20;  // the upper end of what Nocedal and Wright, section 7.2, recommend: a step costs far more
// Relative to C and to the size of beta: the roots of what float64 resolves, below which curvatures and
// secants are rounding.
constexpr double kLeastCurvature = 1e-9, kSameBeta = 1e-9;
// Of the dual, as a share of the gap: steps that do not close the gap may still climb, and a hundred of them
// without either have stalled. With float values single precision is the likely cause, and shows sooner.
constexpr double kClearRise = 1e-3;
constexpr int kStepsWithoutProgress = 100, kFloatStepsWithoutProgress = 20;
constexpr std::int64_t kDefaultMaxIterations = 10000;  // a guard, beyond any run that converged

/// A feasible beta and all that follows from it.
struct Point {
  std::vector<double> beta, quadratics, theta;
  std::vector<double> gradient;   // of -D, up to the constant that suits the bias
  std::vector<double> wanted;     // -C l'(f + b): feasible, and where the loss alone would have beta
  std::vector<double> curvature;  // of -L between beta and wanted
  double primal = kInfinity;
  double dual = -kInfinity;
};

class Lbfgs {
 public:
  Lbfgs(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
        RunControl& control)
      : pair_(gram),
        risk_(problem.risk),
        loss_(*problem.risk.loss->smooth()),
        regularizer_(*problem.regularizer),
        options_(options),
        control_(control),
        gram_(gram.working),
        is_float_(gram.working_is_float),
        most_steps_(options.max_iterations > 0 ? options.max_iterations : kDefaultMaxIterations),
        account_(options.target_gap, control, problem.risk.least_size),
        memory_(kPairs) {
    learned_.method = learned_.solver = "lbfgs";
    learned_.driver = "interleaved";
    learned_.solves = 1;
  }

  Learned Run() {
    Stopwatch watch;
    const Status status = Climb();
    learned_.solve_seconds = watch.Seconds() - learned_.certificate_seconds;
    return Finish(status);
  }

 private:
  Status Climb() {
    at_ = best_ = Evaluate(FirstBeta());
    for (;;) {
      Account();
      if (control_.ShouldStop()) return *control_.stop_reason();
      if (IsCertified()) return Status::kConverged;
      if (IsStuck()) return Status::kStalled;
      if (learned_.iterations == most_steps_) return Status::kIterationLimit;
      Step();
    }
  }

  // That of a similar problem, or what the loss asks for where f is zero.
  std::vector<double> FirstBeta() const {
    const std::vector<double> f(risk_.y.size());
    std::vector<double> beta = options_.start ? options_.start->beta : Wanted(f, risk_.BestBias(f));
    risk_.MakeFeasible(beta);
    return beta;
  }

  std::vector<double> Wanted(std::span<const double> f, double bias) const {
    std::vector<double> wanted(f.size());
    for (std::size_t i = 0; i < f.size(); ++i) {
      wanted[i] = -risk_.C[i] * loss_.DerivativesAt(f[i] + bias, risk_.y[i]).first;
    }
    return wanted;
  }

  Point Evaluate(std::vector<double> beta) {
    ExpandInto(*gram_, beta, expansion_);
    Point point;
    point.beta = std::move(beta);
    point.quadratics.resize(static_cast<std::size_t>(gram_->kernels()));
    point.theta.resize(point.quadratics.size());
    expansion_->Quadratics(point.quadratics);
    regularizer_.BestResponse(point.quadratics, point.theta);
    std::vector<double> f(point.beta.size());
    expansion_->Outputs(point.theta, f);
    const double bias = risk_.BestBias(f);
    point.primal = regularizer_.Primal(point.theta, point.quadratics) + risk_.Value(f, bias);
    point.dual = Dual(point.beta, point.quadratics);
    point.wanted = Wanted(f, bias);
    Differentiate(f, bias, point);
    return point;
  }

  double Dual(std::span<const double> beta, std::span<const double> quadratics) const {
    return risk_.Dual(beta) - regularizer_.DualTerm(quadratics);
  }

  void Differentiate(std::span<const double> f, double bias, Point& point) const {
    point.gradient.resize(f.size());
    point.curvature.resize(f.size());
    for (std::size_t i = 0; i < f.size(); ++i) {
      const double output = f[i] + bias;
      const double distance = point.beta[i] - point.wanted[i];
      point.gradient[i] = output - risk_.PieceAt(i, point.beta[i], output).slope;
      const double secant = point.gradient[i] / distance;
      const double size = std::abs(point.beta[i]) + std::abs(point.wanted[i]);
      const bool is_secant = std::abs(distance) > kSameBeta * size && secant > 0 && std::isfinite(secant);
      const double second = loss_.DerivativesAt(output, risk_.y[i]).second;
      point.curvature[i] = is_secant ? secant : 1 / (risk_.C[i] * std::max(second, kLeastCurvature));
    }
  }

  void Account() {
    if (account_.LowerPrimal(at_.primal)) best_ = at_;
    account_.RaiseDual(at_.dual);
    account_.Record({.solves = 1, .inside_solve = true}, learned_.iterations);
    if (!account_.NotesProgress(kClearRise)) account_.CountStep();
  }

  void Step() {
    ++learned_.iterations;
    std::vector<double> next = QuasiNewtonPoint();
    if (!(SlopeTowards(next) < 0)) {
      memory_.Clear();
      next = at_.wanted;
      risk_.MakeFeasible(next);
    }
    const double slope = SlopeTowards(next);
    Point reached = Evaluate(next);
    if (!(reached.dual >= at_.dual - kSufficientDecrease * slope)) {
      const double share = LineSearch(reached, slope);
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = at_.beta[i] + share * (next[i] - at_.beta[i]);
      reached = Evaluate(std::move(next));
      // Rounding is all that is left.
      if (!(reached.dual > at_.dual)) account_.CountStep(kFloatStepsWithoutProgress);
    }
    Remember(reached);
    if (reached.dual >= at_.dual) at_ = std::move(reached);
  }

  // Where the quadratic model of the free variables is best on the plane: at beta - H (gradient + c) with sum
  // zero.
  std::vector<double> QuasiNewtonPoint() {
    std::vector<double> inverse(at_.beta.size());
    for (std::size_t i = 0; i < inverse.size(); ++i) inverse[i] = IsHeld(i) ? 0 : 1 / at_.curvature[i];
    memory_.UseDiagonal(inverse);
    std::vector<double> step = at_.gradient;
    memory_.Multiply(step);
    double constant = 0;
    std::vector<double> normal(step.size());
    if (risk_.has_bias) {
      normal.assign(step.size(), 1.0);
      memory_.Multiply(normal);
      constant = Sum(step) / std::max(Sum(normal), kTiny);
    }
    for (std::size_t i = 0; i < step.size(); ++i) {
      step[i] = at_.beta[i] - step[i] + constant * normal[i];
      const Interval range = risk_.Feasible(i);
      step[i] = std::clamp(step[i], range.lower, range.upper);
    }
    if (risk_.has_bias) RestoreSum(inverse, step);
    risk_.MakeFeasible(step);
    return step;
  }

  // Beta and what the loss wants are at the same end of the interval.
  bool IsHeld(std::size_t i) const {
    const Interval range = risk_.Feasible(i);
    return (at_.beta[i] <= range.lower && at_.wanted[i] <= range.lower) ||
           (at_.beta[i] >= range.upper && at_.wanted[i] >= range.upper);
  }

  // Shifts the free variables, each by its scale, while they are inside their intervals.
  void RestoreSum(std::span<const double> scale, std::span<double> beta) const {
    for (int pass = 0; pass < kMostRootSteps; ++pass) {
      double excess = -risk_.bias_slope, magnitude = 0, room = 0;
      for (std::size_t i = 0; i < beta.size(); ++i) {
        excess += beta[i];
        magnitude += std::abs(beta[i]);
      }
      if (std::abs(excess) <= std::numeric_limits<double>::epsilon() * magnitude) return;
      const auto can_move = [&](std::size_t i) {
        const Interval range = risk_.Feasible(i);
        return excess > 0 ? beta[i] > range.lower : beta[i] < range.upper;
      };
      for (std::size_t i = 0; i < beta.size(); ++i) room += can_move(i) ? scale[i] : 0;
      if (room == 0) return;
      for (std::size_t i = 0; i < beta.size(); ++i) {
        if (!can_move(i)) continue;
        const Interval range = risk_.Feasible(i);
        beta[i] = std::clamp(beta[i] - excess * scale[i] / room, range.lower, range.upper);
      }
    }
  }

  // Of -D at the present point.
  double SlopeTowards(std::span<const double> beta) const {
    double slope = 0;
    for (std::size_t i = 0; i < beta.size(); ++i) slope += at_.gradient[i] * (beta[i] - at_.beta[i]);
    return slope;
  }

  // The share of the way at which D is about highest; the expansion is that of the far end. Along the way
  // q(t) = q(0) + 2 t cross + t^2 square, and -D is convex.
  double LineSearch(const Point& to, double slope_start) const {
    const std::size_t kernels = to.theta.size(), samples = to.beta.size();
    std::vector<double> cross(kernels), square(kernels), q(kernels), theta(kernels);
    expansion_->Products(at_.beta, cross);
    for (std::size_t m = 0; m < kernels; ++m) {
      cross[m] -= at_.quadratics[m];
      square[m] = to.quadratics[m] - at_.quadratics[m] - 2 * cross[m];
    }
    const auto slope_at = [&](double t) {
      for (std::size_t m = 0; m < kernels; ++m) q[m] = at_.quadratics[m] + t * (2 * cross[m] + t * square[m]);
      regularizer_.BestResponse(q, theta);
      double slope = 0;
      for (std::size_t m = 0; m < kernels; ++m) slope += theta[m] * (cross[m] + t * square[m]);
      for (std::size_t i = 0; i < samples; ++i) {
        const double way = to.beta[i] - at_.beta[i];
        slope -= way * risk_.PieceAt(i, at_.beta[i] + t * way, 0).slope;
      }
      return slope;
    };
    const double slope_end = slope_at(1);
    if (slope_end <= 0) return 0.5;  // rounding hides the rise
    const auto is_flat = [&](double slope) { return std::abs(slope) <= kFlatSlope * -slope_start; };
    return FindFlat(slope_at, {0, 1, slope_start, slope_end}, is_flat);
  }

  void Remember(const Point& reached) {
    std::vector<double> step(reached.beta.size()), change(reached.beta.size());
    for (std::size_t i = 0; i < step.size(); ++i) {
      step[i] = reached.beta[i] - at_.beta[i];
      change[i] = reached.gradient[i] - at_.gradient[i];
    }
    if (Dot(step, change) > 0) memory_.Add(std::move(step), std::move(change));
  }

  // Asks the certificate when the estimates are good enough.
  bool IsCertified() {
    if (!account_.IsWorthCertifying()) return false;
    if (Certified().relative_gap <= options_.target_gap) return true;
    account_.NoteRefusal();
    if (!UseExactKernels()) account_.LowerAim();
    return false;
  }

  const Certificate& Certified() {
    ScopedSeconds seconds(learned_.certificate_seconds);
    learned_.certificate = Certify(pair_.exact(), risk_, regularizer_, best_.theta, best_.beta, at_.beta);
    return learned_.certificate;
  }

  bool IsStuck() {
    if (account_.HasGivenUp() || !std::isfinite(account_.gap())) return true;
    if (account_.steps_since_progress() >= kFloatStepsWithoutProgress && UseExactKernels()) return false;
    return account_.steps_since_progress() >= kStepsWithoutProgress;
  }

  bool UseExactKernels() {
    if (!is_float_) return false;
    is_float_ = false;
    gram_ = &pair_.exact();
    expansion_.reset();
    memory_.Clear();
    at_ = best_ = Evaluate(std::move(at_.beta));
    account_.Forget();
    account_.LowerPrimal(best_.primal);
    account_.RaiseDual(at_.dual);
    return true;
  }

  Learned Finish(Status status) {
    if (status != Status::kConverged && Certified().relative_gap <= options_.target_gap) {
      status = Status::kConverged;
    }
    learned_.status = status;
    learned_.history = std::move(account_.history());
    learned_.theta = best_.theta;
    learned_.beta = best_.beta;
    return std::move(learned_);
  }

  const GramPair& pair_;
  const Risk& risk_;
  const SmoothLoss& loss_;
  const Regularizer& regularizer_;
  const LearnOptions& options_;
  RunControl& control_;
  Gram* gram_;
  bool is_float_;
  const std::int64_t most_steps_;
  RunAccount account_;

  std::unique_ptr<MovableExpansion> expansion_;  // of the beta evaluated last
  Point at_;                                     // the largest dual bound so far
  Point best_;                                   // the smallest primal so far
  LimitedMemory memory_;
  Learned learned_;
};

}  // namespace

Learned LearnByLbfgs(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                     RunControl& control) {
  return Lbfgs(gram, problem, options, control).Run();
}

}  // namespace kweave
