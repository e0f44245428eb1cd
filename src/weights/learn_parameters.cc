#include "weights/learn_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/random.h"
#include "base/stopwatch.h"
#include "kweave/error.h"
#include "regularizer/regularizer.h"
#include "weights/sample_machine.h"
#include "weights/spectral_gradient.h"
#include "weights/spg.h"

namespace kweave {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFirstInnerGap = 0.1;
constexpr double kInnerShare = 0.1;        // of the projected gradient, wanted of an inner gap
constexpr double kLeastInnerShare = 0.05;  // of the target
constexpr double kTinyStep = 1e-8;
constexpr double kLeastInnerGap = 1e-9;
constexpr double kPrecisionGain = 0.01;
constexpr double kClearProgress = 1e-6;  // of W, relative
constexpr int kStepsWithoutProgress = 100;
constexpr std::int64_t kDefaultMaxIterations = 2000;
constexpr double kSpread = 2;  // of the logarithms of random starts

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
          const SpgOptions& method, RunControl& control)
      : pair_(pair),
        problem_(problem),
        options_(options),
        method_(method),
        control_(control),
        most_steps_(options.max_iterations > 0 ? options.max_iterations : kDefaultMaxIterations),
        machine_(problem, options, control),
        steps_(method.steps, [this](std::span<double> theta, std::span<const double> scales) {
          scales.empty() ? problem_.regularizer->Project(theta)
                         : problem_.regularizer->ProjectScaled(theta, scales);
        }) {
    if (method.tunes_precision) steps_.UseSecants();
  }

  /// From one starting point; adds to the history and counts of `learned`.
  std::pair<Status, Point> Run(std::vector<double> theta, Learned& learned) {
    UseGram(*pair_.working, pair_.working_is_float);
    inner_gap_ = method_.tunes_precision ? kFirstInnerGap : method_.inner_gap();
    const std::int64_t last_step = learned.iterations + most_steps_;
    Status status = Status::kStalled;
    for (;;) {
      Point point = Evaluate(theta, learned);
      Note(point, learned);
      if (control_.ShouldStop()) {
        status = *control_.stop_reason();
        break;
      }
      if (point.projected_gradient <= options_.target_gap) {
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
    learned.solver = machine_.solver();
    return {status, std::move(best_)};
  }

  double solve_seconds() const { return machine_.solve_seconds(); }
  std::int64_t solves() const { return machine_.solves(); }

 private:
  void UseGram(ParametricGram& gram, bool is_float) {
    gram_ = &gram;
    is_float_ = is_float;
    machine_.UseGram(gram, is_float);
  }

  Point Evaluate(std::span<const double> theta, Learned& learned) {
    Point point;
    point.at = machine_.Solve(theta, inner_gap_);
    ScopedSeconds seconds(learned.weight_seconds);
    point.gradient.resize(theta.size());
    std::vector<double> derivatives(theta.size());
    problem_.regularizer->Gradient(theta, point.gradient);
    gram_->Gradients(theta, point.at.beta, derivatives);
    for (std::size_t m = 0; m < theta.size(); ++m) point.gradient[m] -= 0.5 * derivatives[m];
    point.at.quadratics = std::move(derivatives);
    point.projected_gradient = ProjectedGradient(theta, point);
    return point;
  }

  double ProjectedGradient(std::span<const double> theta, const Point& point) const {
    const double unit = std::max(std::abs(point.value()), std::numeric_limits<double>::min());
    std::vector<double> projected(theta.begin(), theta.end());
    for (std::size_t m = 0; m < theta.size(); ++m) projected[m] -= point.gradient[m] / unit;
    problem_.regularizer->Project(projected);
    double largest = 0;
    for (std::size_t m = 0; m < theta.size(); ++m) {
      largest = std::max(largest, std::abs(projected[m] - theta[m]));
    }
    return largest;
  }

  void Note(const Point& point, Learned& learned) {
    if (point.at.primal < best_.at.primal - kClearProgress * std::abs(point.at.primal)) {
      steps_since_progress_ = 0;
    } else {
      ++steps_since_progress_;
    }
    if (!(point.at.primal >= best_.at.primal)) best_ = point;
    learned.history.push_back({.seconds = control_.Seconds(),
                               .primal = best_.at.primal,
                               .dual = best_.at.inner_dual,
                               .relative_gap = point.projected_gradient,
                               .solves = machine_.solves(),
                               .inside_solve = false});
    control_.Report({.relative_gap = point.projected_gradient,
                     .target_gap = options_.target_gap,
                     .iterations = learned.iterations,
                     .solves = machine_.solves(),
                     .phase = "solve"});
  }

  // Whether the solve cannot have hidden a gradient that matters.
  bool IsPrecise(const Point& point) const {
    return !is_float_ &&
           (point.at.relative_inner_gap() <= 1.5 * LeastInnerGap() || point.at.is_precision_used_up);
  }

  double LeastInnerGap() const { return kLeastInnerShare * options_.target_gap; }

  void Refine() {
    inner_gap_ = std::min(inner_gap_, LeastInnerGap());
    if (is_float_) Exact();
    steps_.Restart();
  }

  // Values of the two precisions are not compared with each other.
  void Exact() {
    UseGram(pair_.exact(), false);
    best_.at.primal = kInfinity;
    steps_since_progress_ = 0;
    steps_.Restart();
  }

  // False when there is nowhere left to go.
  bool Step(const Point& point, std::vector<double>& theta) {
    if (method_.tunes_precision) {
      inner_gap_ = std::min(inner_gap_, std::max(kInnerShare * point.projected_gradient, LeastInnerGap()));
    }
    steps_.Next(point.value(), point.gradient, theta);
    const bool is_stuck = steps_.step() < kTinyStep || steps_since_progress_ >= kStepsWithoutProgress;
    if (!is_stuck) return true;
    theta = best_.at.theta;
    if (is_float_) {
      Exact();
      return true;
    }
    if (inner_gap_ <= kLeastInnerGap) return false;
    // Eq. (13), last line. Gradients are as wrong as the root of the gap, so that much less of it may be what is missing.
    inner_gap_ = std::max(kPrecisionGain * inner_gap_, kLeastInnerGap);
    steps_since_progress_ = 0;
    steps_.Restart();
    return true;
  }

  const ParametricPair& pair_;
  const LearningProblem& problem_;
  const LearnOptions& options_;
  const SpgOptions method_;
  RunControl& control_;
  const std::int64_t most_steps_;
  SampleMachine machine_;
  SpectralGradient steps_;
  ParametricGram* gram_ = nullptr;
  bool is_float_ = false;
  double inner_gap_ = kFirstInnerGap;
  Point best_;
  int steps_since_progress_ = 0;
};

// The first is the regulariser's own; the others spread over some orders of magnitude.
std::vector<double> StartingPoint(const Regularizer& regularizer, std::size_t size, int number,
                                  Random& random) {
  std::vector<double> theta(size);
  regularizer.Start(theta);
  if (number == 0) return theta;
  for (double& value : theta) value *= std::exp(kSpread * (2 * random.Uniform() - 1));
  regularizer.Project(theta);
  return theta;
}

void Finish(ParametricGram& gram, const Risk& risk, Point best, Learned& learned) {
  std::vector<double> outputs(best.at.beta.size());
  gram.Expand(best.at.beta)->Outputs(best.at.theta, outputs);
  Certificate& certificate = learned.certificate;
  certificate.bias = risk.BestBias(outputs);
  certificate.outputs = std::move(outputs);
  certificate.primal = best.at.primal;
  certificate.dual = best.at.inner_dual;
  certificate.gap = std::max(best.at.inner_gap(), 0.0);
  certificate.relative_gap = RelativeGap(certificate.primal, certificate.dual);
  certificate.quadratics = std::move(best.at.quadratics);
  learned.projected_gradient = best.projected_gradient;
  learned.theta = std::move(best.at.theta);
  learned.beta = std::move(best.at.beta);
}

}  // namespace

Learned LearnParameters(const ParametricPair& gram, const LearningProblem& problem,
                        const LearnOptions& options, const ParameterOptions& parameters,
                        RunControl& control) {
  const std::optional<SpgOptions> method = FindSpgOptions(options.method);
  if (!method) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("method {} learns weights of a sum only; these learn parameters: auto, spg, spg-max, "
                    "pgd, pgd+n, pgd+s, pgd+n+s",
                    options.method));
  }
  if (!problem.regularizer->has_projection()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} has no projection, which learning parameters needs",
                                               problem.regularizer->Name()));
  }
  Learned learned;
  learned.method = options.method == "auto" ? "spg" : options.method;
  learned.driver = "wrapper";
  Random random(parameters.seed);
  Point best;
  for (int start = 0; start < std::max(parameters.restarts, 1); ++start) {
    if (start > 0 && control.ShouldStop()) break;
    const std::vector<double> theta =
        StartingPoint(*problem.regularizer, static_cast<std::size_t>(gram.working->kernels()), start, random);
    Descent descent(gram, problem, options, ScaledFor(*problem.regularizer, *method), control);
    auto [status, point] = descent.Run(theta, learned);
    learned.solves += descent.solves();
    learned.solve_seconds += descent.solve_seconds();
    if (start > 0 && !(point.at.primal < best.at.primal)) continue;
    learned.status = status;
    best = std::move(point);
  }
  Finish(gram.exact(), problem.risk, std::move(best), learned);
  return learned;
}

}  // namespace kweave
