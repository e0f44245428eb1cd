#include "weights/silp.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "weights/cut_back.h"

namespace kweave {

namespace {

constexpr double kLargestShare = 0.5;  // of the way from the best theta to the program's
constexpr double kLeastShare = 0.05;
constexpr double kGrow = 1.2;               // after a better theta
constexpr double kShrink = 0.8;             // after none
constexpr double kNegligibleWeight = 1e-3;  // where the program gives none; less as the gap closes

}  // namespace

Silp::Silp(const Regularizer& regularizer)
    : regularizer_(regularizer),
      weights_(*regularizer.linear()),
      best_primal_(std::numeric_limits<double>::infinity()),
      share_(kLargestShare) {}

void Silp::Begin(std::span<double> theta) {
  regularizer_.Start(theta);
  program_ = std::make_unique<CutProgram>(theta.size(), weights_);
}

void Silp::Move(const Evaluation& last, const Machine& machine, const RunState& state,
                std::span<double> theta) {
  const bool is_better = last.primal < best_primal_;
  share_ = is_better ? std::min(kGrow * share_, kLargestShare) : std::max(kShrink * share_, kLeastShare);
  if (is_better) {
    best_primal_ = last.primal;
    best_theta_ = last.theta;
  }
  program_->AddCut(last);
  dual_point_.beta.clear();
  if (!program_->Solve()) {
    regularizer_.BestResponse(last.quadratics, theta);
    ++fallbacks_;
    return;
  }
  dual_point_ = program_->Mixture(regularizer_);
  const std::span<const double> vertex = program_->vertex();
  const double negligible = std::min(kNegligibleWeight, state.relative_gap);
  const bool is_bounded = weights_.is_bounded();
  double freed = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    theta[m] = (1 - share_) * best_theta_[m] + share_ * vertex[m];
    const double lower = is_bounded ? weights_.lower[m] : 0;
    if (theta[m] - lower < negligible && vertex[m] <= lower) {
      freed += theta[m] - lower;
      theta[m] = lower;
    }
  }
  if (is_bounded) GiveOut(weights_, freed, theta);
  FillFeasible(regularizer_, theta);
}

const DualPoint* Silp::dual_point() { return dual_point_.beta.empty() ? nullptr : &dual_point_; }

}  // namespace kweave
