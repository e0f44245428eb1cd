#include "weights/baselines/silp.h"

#include <algorithm>

#include "weights/models/backtracking.h"

namespace kweave {

void Silp::Begin(std::span<double> theta) {
  regularizer_.Start(theta);
  program_ = std::make_unique<CutProgram>(theta.size(), *regularizer_.linear());
}

void Silp::Move(const Evaluation& last, const Machine&, const RunState&, std::span<double> theta) {
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

}  // namespace kweave
