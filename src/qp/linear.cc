#include "qp/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/constants.h"
#include "base/dot.h"
#include "kweave/error.h"
#include "qp/feature_newton.h"
#include "qp/response.h"
#include "qp/stall_watch.h"

namespace kweave {

namespace {

constexpr double kFirstWidth = 0.5;   // of the smoothing, relative to the spread of the outputs
constexpr double kInexactness = 0.1;  // what a proximal step may miss, as a share of what it gains by moving
constexpr int kStepsOfEasy = 4,
              kStepsOfHard = 12;  // Newton steps after which sigma grows fast, or not at all
// On 3,000 digits of MNIST, odd against even, C = 100, gap 1e-6: 15 steps take a sixth longer, 240 as long.
constexpr int kMostStepsOfRound = 60;
// There growth by 1.5 takes 8 % longer, by 12 a quarter; a round that was cut goes back a little more than
// one growth.
constexpr double kGrowth = 3, kShrink = 4;
constexpr double kMostSigma = 1000;         // times the first: beyond it rounding of the outputs moves beta
constexpr int kRoundsWithoutProgress = 20;  // a guard: 5 end no solve of these digits either

class Linear final : private SolverPause {
 public:
  Linear(const Risk& risk, const DualProblem& terms, const FeatureMatrix& features, SolverState& state,
         double& sigma, const LinearOptions& options, SolveObserver* observer)
      : risk_(risk),
        terms_(terms),
        features_(features),
        state_(state),
        sigma_(sigma),
        options_(options),
        observer_(observer),
        is_smooth_(risk.loss->smooth() != nullptr),
        output_unit_(risk.OutputUnit() > 0 ? risk.OutputUnit() : 1),
        smooth_(risk),
        proximal_(terms),
        system_(features, options.most_to_factor, options.pool) {}

  SolverResult Run() {
    Start();
    for (;;) {
      if (!std::isfinite(answer_.gap())) return Finish(SolverOutcome::kNotFinite);
      if (answer_.relative_gap() <= std::max(options_.relative_gap, kFewRoundings))
        return Finish(SolverOutcome::kConverged);
      if (steps_ >= options_.max_steps) return Finish(SolverOutcome::kStepLimit);
      if (IsStalled()) return Finish(SolverOutcome::kStalled);
      if (!SolveRound()) return Finish(SolverOutcome::kStoppedByObserver);
    }
  }

 private:
  void Start() {
    const std::size_t size = state_.beta.size(), width = static_cast<std::size_t>(features_.columns());
    for (auto* vector : {&u_, &f_, &beta_, &stiffness_, &change_, &between_}) vector->resize(size);
    for (auto* vector : {&w_, &combined_, &gradient_, &direction_}) vector->resize(width);
    center_ = state_.beta;
    Recentre();
    answer_ = risk_.BoundsAt(center_, f_);
    center_dual_ = answer_.dual;
    state_.gradient = f_;
    state_.gradient_is_valid = true;
    milestone_ = answer_;
    first_sigma_ = is_smooth_ ? 1 : FirstSigma();
    sigma_ = std::clamp(sigma_, first_sigma_, kMostSigma * first_sigma_);
  }

  // w and its outputs become those of the center.
  void Recentre() {
    features_.MultiplyTransposed(center_, w_, options_.pool);
    features_.Multiply(w_, f_, options_.pool);
  }

  // Such that the smoothing is about as wide as the outputs are spread: beta moves over its range on that
  // width.
  double FirstSigma() const {
    double range = 0, count = 0, mean = 0, square = 0;
    for (std::size_t i = 0; i < f_.size(); ++i) {
      const double slack = f_[i] + terms_.linear[i];
      mean += slack / static_cast<double>(f_.size());
      square += slack * slack / static_cast<double>(f_.size());
      const double width = terms_.upper[i] - terms_.lower[i];
      if (!std::isfinite(width)) continue;
      range += width;
      ++count;
    }
    const double spread = std::sqrt(std::max(square - mean * mean, 0.0));
    return (range > 0 ? range / count : 1) / (kFirstWidth * (spread > 0 ? spread : 1));
  }

  // One proximal step, or all of a smooth problem. False when the observer ends the solve.
  bool SolveRound() {
    ++rounds_;
    if (!is_smooth_) proximal_.Set(center_, sigma_);
    const std::int64_t before = steps_;
    for (;;) {
      Respond();
      if (IsSolved() || IsRoundDone() || steps_ >= options_.max_steps) break;
      if (!is_smooth_ && steps_ - before >= kMostStepsOfRound) break;
      if (!Observe()) return false;
      if (!Step()) break;
    }
    const bool is_cut = steps_ - before >= kMostStepsOfRound;
    risk_.MakeFeasible(beta_);
    std::swap(beta_, center_);  // beta_ keeps the old one
    Recentre();
    const double dual = Offer(center_, f_).dual;
    if (is_cut && !is_smooth_ && dual < center_dual_) {
      center_ = beta_;
      Recentre();
    } else {
      center_dual_ = dual;
    }
    if (answer_.relative_gap() > options_.relative_gap) AdjustSigma(steps_ - before);
    return true;
  }

  // The larger sigma, the fewer the rounds and the more Newton steps in one of them.
  void AdjustSigma(std::int64_t steps) {
    if (steps >= kMostStepsOfRound) {
      sigma_ /= kShrink;
      growth_ = 1 + (growth_ - 1) / 4;
    } else if (steps <= kStepsOfEasy) {
      sigma_ *= growth_ * growth_;
    } else if (steps <= kStepsOfHard) {
      sigma_ *= growth_;
    }
    sigma_ = std::min(sigma_, kMostSigma * first_sigma_);
  }

  // The answer is the best beta seen.
  MachineBounds Offer(std::span<const double> beta, std::span<const double> f) {
    const MachineBounds bounds = risk_.BoundsAt(beta, f);
    if (bounds.gap() < answer_.gap()) {
      answer_ = bounds;
      state_.beta.assign(beta.begin(), beta.end());
      state_.gradient.assign(f.begin(), f.end());
    }
    return bounds;
  }

  // Whether beta is good enough, with the outputs it gives; asked for those only where w promises that.
  bool IsSolved() {
    const double primal = 0.5 * Dot(w_, w_) + risk_.Value(f_, bias_);
    const double dual = risk_.Dual(beta_) - 0.5 * Dot(combined_, combined_);
    if (primal - dual > options_.relative_gap * std::abs(primal)) return false;
    risk_.MakeFeasible(beta_);
    features_.MultiplyTransposed(beta_, combined_, options_.pool);
    features_.Multiply(combined_, between_, options_.pool);
    Offer(beta_, between_);
    return answer_.relative_gap() <= options_.relative_gap;
  }

  // beta for the present w, its bias, and the gradient.
  void Respond() {
    const Response& response = is_smooth_ ? static_cast<const Response&>(smooth_) : proximal_;
    if (risk_.has_bias) {
      bias_ = BalanceBias(response, f_, risk_.bias_slope, bias_, output_unit_, u_, beta_, stiffness_);
    } else {
      u_ = f_;
      response.At(u_, beta_, stiffness_);
    }
    features_.MultiplyTransposed(beta_, combined_, options_.pool);
    for (std::size_t k = 0; k < w_.size(); ++k) gradient_[k] = w_[k] - combined_[k];
  }

  // Whether the Newton steps have done what they can for this round.
  bool IsRoundDone() const {
    const double missing = 0.5 * Dot(gradient_, gradient_);
    if (missing <= kFewRoundings * kFewRoundings * Dot(w_, w_)) return true;
    if (is_smooth_) return false;
    double moved = 0;
    for (std::size_t i = 0; i < beta_.size(); ++i) moved += (beta_[i] - center_[i]) * (beta_[i] - center_[i]);
    return missing <= kInexactness * moved / (2 * sigma_);
  }

  // A Newton step on w. False where it leads nowhere.
  bool Step() {
    ++steps_;
    const double shift = system_.Solve(stiffness_, risk_.has_bias, gradient_, direction_);
    features_.Multiply(direction_, change_, options_.pool);
    for (double& value : change_) value += shift;
    const double length = LineSearch(shift);
    if (length == 0) return false;
    for (std::size_t k = 0; k < w_.size(); ++k) w_[k] += length * direction_[k];
    for (std::size_t i = 0; i < f_.size(); ++i) f_[i] += length * (change_[i] - shift);
    bias_ += length * shift;
    return true;
  }

  // How far to go along the direction: about to where the function, convex along it, is lowest.
  double LineSearch(double shift) {
    const Response& response = is_smooth_ ? static_cast<const Response&>(smooth_) : proximal_;
    const double linear = Dot(w_, direction_) + risk_.bias_slope * shift,
                 square = Dot(direction_, direction_);
    const auto slope_at = [&](double t) {
      for (std::size_t i = 0; i < u_.size(); ++i) between_[i] = u_[i] + t * change_[i];
      response.At(between_, beta_, stiffness_);
      return linear + t * square - Dot(beta_, change_);
    };
    return FindStep(slope_at, Dot(gradient_, direction_));
  }

  bool IsStalled() {
    const bool is_closer = answer_.gap() <= kClearProgress * milestone_.gap();
    const bool is_higher = center_dual_ >= milestone_.dual + kClearMove * milestone_.gap();
    if (is_closer || is_higher) {
      milestone_ = {answer_.primal, std::max(answer_.dual, center_dual_)};
      rounds_at_milestone_ = rounds_;
    }
    return rounds_ - rounds_at_milestone_ >= kRoundsWithoutProgress;
  }

  bool Observe() {
    return observer_ == nullptr || observer_->Observe(*this) == SolveObserver::Verdict::kContinue;
  }

  SolverResult Finish(SolverOutcome outcome) const {
    SolverResult result;
    result.outcome = outcome;
    result.steps = steps_;
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
  const DualProblem terms_;
  const FeatureMatrix& features_;
  SolverState& state_;  // the answer: the beta with the smallest gap, and its outputs
  double& sigma_;
  const LinearOptions& options_;
  SolveObserver* const observer_;
  const bool is_smooth_;
  const double output_unit_;
  const SmoothResponse smooth_;
  ProximalResponse proximal_;
  FeatureNewton system_;

  MachineBounds answer_;  // of state_
  std::vector<double> w_;
  std::vector<double> f_;  // X w
  double bias_ = 0;
  std::vector<double> u_;       // f + bias
  std::vector<double> center_;  // of the proximal step, and its dual bound
  double center_dual_ = 0;
  std::vector<double> beta_;       // of w and the center
  std::vector<double> stiffness_;  // minus the derivative of beta by u
  std::vector<double> combined_;   // X' beta
  std::vector<double> gradient_;   // w - X' beta
  std::vector<double> direction_;  // of w, and `change_` of u
  std::vector<double> change_, between_;
  double first_sigma_ = 1;
  double growth_ = kGrowth;  // of sigma
  std::int64_t steps_ = 0, rounds_ = 0;
  MachineBounds milestone_;  // at the last clear progress
  std::int64_t rounds_at_milestone_ = 0;
};

}  // namespace

SolverResult SolveLinear(const Risk& risk, const DualProblem& terms, const FeatureMatrix& features,
                         SolverState& state, double& sigma, const LinearOptions& options,
                         SolveObserver* observer) {
  const std::size_t size = risk.y.size();
  if (state.beta.size() != size || risk.C.size() != size || features.rows() != static_cast<Index>(size) ||
      (!risk.loss->smooth() && terms.linear.size() != size)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("The problem has {} samples; its costs, start and features must have as many.", size));
  }
  return Linear(risk, terms, features, state, sigma, options, observer).Run();
}

}  // namespace kweave
