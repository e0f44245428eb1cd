#include "weights/cutting_plane.h"

#include <algorithm>
#include <cstddef>

#include "weights/cut_back.h"

namespace kweave {

namespace {

constexpr std::size_t kMostCuts = 120;
constexpr double kCutPrecision = 1e-2;  // of the gap
constexpr double kLeastPrecision = 1e-4;
constexpr double kMostPrecision = 1e-11;
constexpr int kProgramPatience = 200;

}  // namespace

void CuttingPlane::Begin(std::span<double> theta) {
  regularizer_.Start(theta);
  if (const auto linear = regularizer_.linear())
    program_ = std::make_unique<CutProgram>(theta.size(), *linear);
}

void CuttingPlane::Move(const Evaluation& last, const Machine&, const RunState& state,
                        std::span<double> theta) {
  program_ != nullptr ? MoveByProgram(last, theta) : MoveByMixture(last, state, theta);
}

// Vertices are far apart: planes for all of them come before the first that is better than the start.
int CuttingPlane::patience() const {
  return program_ != nullptr ? kProgramPatience : WeightMethod::patience();
}

void CuttingPlane::MoveByProgram(const Evaluation& last, std::span<double> theta) {
  program_->AddCut(last);
  dual_point_.beta.clear();
  if (!program_->Solve()) {
    regularizer_.BestResponse(last.quadratics, theta);
    ++fallbacks_;
    return;
  }
  dual_point_ = program_->Mixture(regularizer_);
  std::ranges::copy(program_->vertex(), theta.begin());
  FillFeasible(regularizer_, theta);
}

void CuttingPlane::MoveByMixture(const Evaluation& last, const RunState& state, std::span<double> theta) {
  cuts_.Add(last, kMostCuts, mixture_);
  const double precision = std::clamp(kCutPrecision * state.relative_gap, kMostPrecision, kLeastPrecision);
  MixturePoint lowest = SolveMixture(regularizer_, cuts_, mixture_, precision);
  mixture_ = lowest.w;
  std::ranges::copy(lowest.theta, theta.begin());
  // The mixed beta has quadratics no larger than the mixed ones, and L no smaller.
  dual_point_ = {cuts_.Mix(lowest.w), cuts_.unit() * lowest.value};
}

}  // namespace kweave
