#include "weights/analytic.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace kweave {

namespace {

constexpr int kPlainUpdates = 10;
constexpr double kAffordableUpdates = 10;
constexpr double kLongestStep = 4;  // of log theta
constexpr int kPatience = 200;
constexpr double kLeastLog = -80;

std::vector<double> Logs(std::span<const double> theta) {
  std::vector<double> logs;
  for (const double value : theta)
    logs.push_back(value > 0 ? std::max(std::log(value), kLeastLog) : kLeastLog);
  return logs;
}

}  // namespace

void AnalyticStep(const Regularizer& regularizer, const Evaluation& last, double floor,
                  std::span<double> theta) {
  std::vector<double> response(theta.size());
  regularizer.BestResponse(last.quadratics, response);
  regularizer.AnalyticUpdate(last.theta, last.quadratics, theta);
  for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = std::max(theta[m], floor * response[m]);
  FillFeasible(regularizer, theta);
}

void Analytic::Move(const Evaluation& last, const Machine& machine, const RunState& state,
                    std::span<double> theta) {
  if (mixes_) mixture_.Add(last, machine, state);
  if (!update_.empty() && !has_gone_back_ && cut_back_.IsWorse(last)) {
    GoBackToUpdate(last, theta);
    return;
  }
  const bool was_extrapolated = !update_.empty();
  update_.clear();
  if (cut_back_.Cuts(last, theta)) {
    extrapolation_.Forget();
    return;
  }
  if (was_extrapolated) has_gone_back_ = false;
  extrapolates_ = extrapolates_ || Crawls(state);
  previous_gap_ = state.relative_gap;
  AnalyticStep(regularizer_, last, std::min(1e-3, state.relative_gap), theta);
  if (extrapolates_) Extrapolate(last, theta);
}

int Analytic::patience() const { return mixes_ ? kPatience : WeightMethod::patience(); }

bool Analytic::Crawls(const RunState& state) const {
  if (norm_ == nullptr || cut_back_.moves() <= kPlainUpdates) return false;
  const double rate = state.relative_gap / previous_gap_;
  if (!(rate < 1)) return true;
  return std::log(state.target_gap / state.relative_gap) < kAffordableUpdates * std::log(rate);
}

// What the update would have done at a point that was too far says more about it.
void Analytic::GoBackToUpdate(const Evaluation& last, std::span<double> theta) {
  has_gone_back_ = true;
  AnalyticStep(regularizer_, last, 0, theta);
  extrapolation_.Remember(Logs(last.theta), Logs(theta));
  std::ranges::copy(update_, theta.begin());
  update_.clear();
}

// From the update's theta to where its last steps point. What vanishes does not count.
void Analytic::Extrapolate(const Evaluation& last, std::span<double> theta) {
  update_.assign(theta.begin(), theta.end());
  const std::vector<double> from = Logs(last.theta);
  const std::vector<double> next = extrapolation_.Next(from, Logs(theta), last.theta);
  for (std::size_t m = 0; m < theta.size(); ++m) {
    if (theta[m] > 0)
      theta[m] = std::exp(from[m] + std::clamp(next[m] - from[m], -kLongestStep, kLongestStep));
  }
  norm_->Normalize(theta);
}

}  // namespace kweave
