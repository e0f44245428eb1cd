#include "weights/run/learn_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/constants.h"
#include "base/random.h"
#include "base/stopwatch.h"
#include "kweave/error.h"
#include "regularizer/regularizer.h"
#include "weights/methods/gradient_methods.h"
#include "weights/run/sample_machine.h"

namespace kweave {

namespace {

// Relative inner gaps, in place of the steps of eq. (13): its first, 1e-1; this share of the projected
// gradient, down to this share of the target.
constexpr double kFirstInnerGap = 0.1, kInnerShare = 0.1, kLeastInnerShare = 0.05;
// Eq. (13), last line: a step that short means that the gradient is wrong. Gradients are as wrong as the root
// of the gap, so that much less of it may be what is missing; below the least, float64 is.
constexpr double kTinyStep = 1e-8, kPrecisionGain = 0.01, kLeastInnerGap = 1e-9;
// Of W, relative, and steps without it after which the run has stalled: non-monotone steps may rise for some
// tens.
constexpr double kClearProgress = 1e-6;
constexpr int kStepsWithoutProgress = 100;
constexpr std::int64_t kDefaultMaxIterations = 2000;  // a guard, beyond any run that converged
constexpr double kSpread =
    2;  // of the logarithms of random starts: widths from a seventh to seven times the first

/// Theta and all that is known of it.
struct Point {
  Point() { at.primal = kInfinity; }

  Evaluation at;
  std::vector<double> gradient;
  double projected_gradient = kInfinity;
  double value() const { return at.inner_dual; }
};

class Descent {
 public:
  Descent(const ParametricPair& pair, const LearningProblem& problem, const LearnOptions& options,
          const GradientMethodRecord& method, RunAccount& account, RunControl& control)
      : pair_(pair),
        problem_(problem),
        options_(options),
        method_(method),
        account_(account),
        control_(control),
        most_steps_(options.max_iterations > 0 ? options.max_iterations : kDefaultMaxIterations),
        machine_(problem, options, control),
        steps_(method.make(*problem.regularizer)) {}

  /// W at theta, roughly.
  Point Look(std::span<const double> theta, Learned& learned) {
    if (gram_ == nullptr) UseGram(*pair_.working, pair_.working_is_float);
    inner_gap_ = kFirstInnerGap;
    return Evaluate(theta, learned);
  }

  /// From one starting point; adds to the account and to the counts of `learned`.
  std::pair<Status, Point> Run(std::vector<double> theta, Learned& learned) {
    UseGram(*pair_.working, pair_.working_is_float);
    inner_gap_ = tunes_precision() ? kFirstInnerGap : method_.inner_gap;
    const std::int64_t last_step = learned.iterations + most_steps_;
    Status status = Status::kStalled;
    for (;;) {
      Point point = Evaluate(theta, learned);
      Note(point, learned);
      if (control_.ShouldStop()) {
        status = *control_.stop_reason();
        break;
      }
      // A trial point above the best one is for the line search to refuse, however flat W is there. The best
      // one itself may have a dual above its primal, by rounding.
      const bool may_be_best = std::min(point.value(), point.at.primal) <= best_.at.primal;
      if (point.projected_gradient <= options_.target_gap && may_be_best) {
        if (IsPrecise(point)) {
          best_ = std::move(point);
          status = Status::kConverged;
          break;
        }
        Refine();
        continue;
      }
      if (learned.iterations == last_step) {
        status = Status::kIterationLimit;
        break;
      }
      if (!Step(point, theta)) break;
      ++learned.iterations;
    }
    learned.solver = machine_.work().solver;
    return {status, std::move(best_)};
  }

  const SolveWork& work() const { return machine_.work(); }

 private:
  bool tunes_precision() const { return method_.inner_gap == 0; }

  void UseGram(Gram& gram, bool is_float) {
    gram_ = &gram;
    is_float_ = is_float;
    machine_.UseGram(gram, is_float);
  }

  Point Evaluate(std::span<const double> theta, Learned& learned) {
    Point point;
    point.at = machine_.Solve(theta, inner_gap_);
    ScopedSeconds seconds(learned.weight_seconds);
    point.gradient.resize(theta.size());
    problem_.regularizer->Gradient(theta, point.gradient);
    std::vector<double> derivatives =
        gram_->Answer({.a = point.at.beta, .theta = theta, .wants_outputs = false}).quadratics;
    for (std::size_t m = 0; m < theta.size(); ++m) point.gradient[m] -= 0.5 * derivatives[m];
    point.at.quadratics = std::move(derivatives);
    point.projected_gradient = ProjectedGradient(theta, point);
    return point;
  }

  // Parameters above 1 are measured in units of the largest: a penalty that makes W huge far out makes them
  // huge, too.
  double ProjectedGradient(std::span<const double> theta, const Point& point) const {
    const double unit = std::max(std::abs(point.value()), std::numeric_limits<double>::min());
    double size = 1;
    for (const double value : theta) size = std::max(size, std::abs(value));
    std::vector<double> projected(theta.begin(), theta.end());
    for (std::size_t m = 0; m < theta.size(); ++m) projected[m] -= size * (size / unit) * point.gradient[m];
    problem_.regularizer->Project(projected);
    double largest = 0;
    for (std::size_t m = 0; m < theta.size(); ++m) {
      largest = std::max(largest, std::abs(projected[m] - theta[m]));
    }
    return largest / size;
  }

  void Note(const Point& point, Learned& learned) {
    if (point.at.primal < best_.at.primal - kClearProgress * std::abs(point.at.primal)) {
      steps_since_progress_ = 0;
    } else {
      ++steps_since_progress_;
    }
    if (!(point.at.primal >= best_.at.primal)) best_ = point;
    account_.RecordMeasure({.primal = best_.at.primal,
                            .dual = best_.at.inner_dual,
                            .relative_gap = point.projected_gradient,
                            .solves = machine_.work().solves},
                           learned.iterations);
  }

  // Whether the solve cannot have hidden a gradient that matters.
  bool IsPrecise(const Point& point) const {
    return !is_float_ &&
           (point.at.relative_inner_gap() <= kWantedSlack * LeastInnerGap() || point.at.is_precision_used_up);
  }

  double LeastInnerGap() const { return kLeastInnerShare * options_.target_gap; }

  void Refine() {
    inner_gap_ = std::min(inner_gap_, LeastInnerGap());
    if (is_float_) Exact();
    steps_->Restart();
  }

  // Values of the two precisions are not compared with each other.
  void Exact() {
    UseGram(pair_.exact(), false);
    best_.at.primal = kInfinity;
    steps_since_progress_ = 0;
    steps_->Restart();
  }

  // False when there is nowhere left to go.
  bool Step(const Point& point, std::vector<double>& theta) {
    if (tunes_precision()) {
      inner_gap_ = std::min(inner_gap_, std::max(kInnerShare * point.projected_gradient, LeastInnerGap()));
    }
    steps_->Next(point.value(), point.gradient, theta);
    const bool is_stuck = steps_->step() < kTinyStep || steps_since_progress_ >= kStepsWithoutProgress;
    if (!is_stuck) return true;
    theta = best_.at.theta;
    if (is_float_) {
      Exact();
      return true;
    }
    if (inner_gap_ <= kLeastInnerGap) return false;
    inner_gap_ = std::max(kPrecisionGain * inner_gap_, kLeastInnerGap);
    steps_since_progress_ = 0;
    steps_->Restart();
    return true;
  }

  const ParametricPair& pair_;
  const LearningProblem& problem_;
  const LearnOptions& options_;
  const GradientMethodRecord& method_;
  RunAccount& account_;
  RunControl& control_;
  const std::int64_t most_steps_;
  SampleMachine machine_;
  const std::unique_ptr<GradientSteps> steps_;
  Gram* gram_ = nullptr;
  bool is_float_ = false;
  double inner_gap_ = kFirstInnerGap;
  Point best_;
  int steps_since_progress_ = 0;
};

// Where descents start: the regulariser's own start; after it, or where there is one descent only instead of
// it if it is lower, the lowest of what a look around found; then random ones, spread over some orders of
// magnitude.
class Starts {
 public:
  Starts(const Regularizer& regularizer, std::size_t size, std::uint64_t seed)
      : regularizer_(regularizer), random_(seed), own_(size) {
    regularizer.Start(own_);
  }

  // Near zero, single parameters, and all of them in proportion to what they are worth near zero or alone.
  // What a parameter is worth near zero says the gradient there, so that only few need to be tried alone.
  void LookAround(Descent& descent, Learned& learned, RunControl& control) {
    std::vector<double> near = own_;
    for (double& value : near) value *= kNearZero;
    const Point first = descent.Look(near, learned);
    Add(near, first.at.primal);
    Add(own_, descent.Look(own_, learned).at.primal);
    std::vector<double> worth(own_.size()), worth_alone(own_.size(), 0.0);
    for (std::size_t m = 0; m < worth.size(); ++m) worth[m] = std::max(-first.gradient[m], 0.0);
    std::vector<std::size_t> order(worth.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto tried = std::min<std::size_t>(order.size(), kMostAlone);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(tried), order.end(),
                      [&](std::size_t a, std::size_t b) { return worth[a] > worth[b]; });
    for (const std::size_t m : std::span(order).first(tried)) {
      if (control.ShouldStop()) return;
      std::vector<double> alone(own_.size(), 0.0);
      alone[m] = 1;
      Look(std::move(alone), descent, learned);
      worth_alone[m] = std::max(first.at.primal - values_.back(), 0.0);
    }
    Look(std::move(worth), descent, learned);
    Look(std::move(worth_alone), descent, learned);
  }

  std::vector<std::vector<double>> Choose(int count) {
    std::vector<std::size_t> order(points_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return values_[k]; });
    std::vector<std::vector<double>> chosen;
    if (count > 1 || points_.empty()) chosen.push_back(own_);
    for (const std::size_t k : order) {
      if (static_cast<int>(chosen.size()) == std::max(count, 1)) return chosen;
      if (points_[k] != own_ || count == 1) chosen.push_back(points_[k]);
    }
    while (static_cast<int>(chosen.size()) < count) {
      chosen.push_back(own_);
      for (double& value : chosen.back()) value *= std::exp(kSpread * (2 * random_.Uniform() - 1));
      regularizer_.Project(chosen.back());
    }
    return chosen;
  }

 private:
  static constexpr double kNearZero = 0.01;      // of the own start: W is as at 0 but for a few percent
  static constexpr std::size_t kMostAlone = 32;  // rough solves; a descent takes as many

  // In this direction, with the sum of the own start.
  void Look(std::vector<double> theta, Descent& descent, Learned& learned) {
    const double sum = std::accumulate(theta.begin(), theta.end(), 0.0);
    const double own_sum = std::accumulate(own_.begin(), own_.end(), 0.0);
    if (!(sum > 0) || !std::isfinite(own_sum / sum)) return Add(own_, values_.front());
    for (double& value : theta) value *= own_sum / sum;
    regularizer_.Project(theta);
    const double value = descent.Look(theta, learned).at.primal;
    Add(std::move(theta), value);
  }
  void Add(std::vector<double> theta, double value) {
    points_.push_back(std::move(theta));
    values_.push_back(std::isnan(value) ? kInfinity : value);
  }

  const Regularizer& regularizer_;
  Random random_;
  std::vector<double> own_;
  std::vector<std::vector<double>> points_;
  std::vector<double> values_;
};

void Finish(Gram& gram, const Risk& risk, Point best, Learned& learned) {
  std::vector<double> outputs =
      gram.Answer({.a = best.at.beta, .theta = best.at.theta, .wants_quadratics = false}).outputs;
  Certificate& certificate = learned.certificate;
  certificate.bias = risk.BestBias(outputs);
  certificate.outputs = std::move(outputs);
  certificate.primal = best.at.primal;
  certificate.dual = best.at.inner_dual;
  certificate.gap = std::max(best.at.inner_gap(), 0.0);
  certificate.relative_gap = RelativeGap(certificate.primal, certificate.dual, risk.least_size);
  certificate.quadratics = std::move(best.at.quadratics);
  learned.projected_gradient = best.projected_gradient;
  learned.theta = std::move(best.at.theta);
  learned.beta = std::move(best.at.beta);
}

}  // namespace

Learned LearnParameters(const ParametricPair& gram, const LearningProblem& problem,
                        const LearnOptions& options, const ParameterOptions& parameters,
                        RunControl& control) {
  const GradientMethodRecord* method = FindGradientMethod(options.method);
  if (method == nullptr) {
    throw Error(ErrorKind::kUsage,
                fmt::format("`method` {} learns weights of a sum only; these learn parameters: {}",
                            options.method, GradientMethodNames()),
                {"method", options.method, GradientMethodNames()});
  }
  if (!problem.regularizer->has_projection()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} has no projection, which learning parameters needs",
                                               problem.regularizer->Name()));
  }
  Learned learned;
  learned.method = method->name;
  learned.driver = "wrapper";
  RunAccount account(options.target_gap, control);
  const auto make_descent = [&] { return Descent(gram, problem, options, *method, account, control); };
  const auto count = [&](const Descent& descent) {
    learned.solves += descent.work().solves;
    learned.solve_seconds += descent.work().seconds;
  };
  Starts starts(*problem.regularizer, static_cast<std::size_t>(gram.working->kernels()), parameters.seed);
  if (parameters.looks_around) {
    Descent scout = make_descent();
    starts.LookAround(scout, learned, control);
    count(scout);
  }
  Point best;
  bool is_first = true;
  for (const std::vector<double>& theta : starts.Choose(parameters.restarts)) {
    if (!is_first && control.ShouldStop()) break;
    Descent descent = make_descent();
    auto [status, point] = descent.Run(theta, learned);
    count(descent);
    if (!std::exchange(is_first, false) && !(point.at.primal < best.at.primal)) continue;
    learned.status = status;
    best = std::move(point);
  }
  learned.history = std::move(account.history());
  Finish(gram.exact(), problem.risk, std::move(best), learned);
  return learned;
}

}  // namespace kweave
