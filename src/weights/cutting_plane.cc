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
constexpr int kPlainMoves = 10;  // as the papers have them; most runs are over by then

}  // namespace

void CuttingPlane::Begin(std::span<double> theta) {
  regularizer_.Start(theta);
  if (const auto linear = regularizer_.linear())
    program_ = std::make_unique<CutProgram>(theta.size(), *linear);
}

void CuttingPlane::Move(const Evaluation& last, const Machine& machine, const RunState& state,
                        std::span<double> theta) {
  program_ != nullptr ? MoveByProgram(last, machine, theta) : MoveByMixture(last, state, theta);
  ++moves_;
}

void CuttingPlane::MoveByProgram(const Evaluation& last, const Machine& machine, std::span<double> theta) {
  if (moves_ > kPlainMoves && !dual_point_.beta.empty()) AddMixture(machine);
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

// Its quadratics are below the mixed ones, so its plane is nowhere below the mixture of theirs.
void CuttingPlane::AddMixture(const Machine& machine) {
  Evaluation mixture;
  mixture.beta = dual_point_.beta;
  mixture.linear = machine.Linear(mixture.beta);
  mixture.quadratics.resize(static_cast<std::size_t>(machine.gram().kernels()));
  machine.gram().Expand(mixture.beta)->Quadratics(mixture.quadratics);
  program_->AddCut(mixture);
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
