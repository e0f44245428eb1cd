#include "weights/run/common_machine.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "certificate/certificate.h"

namespace kweave {

namespace {

// The part of a vector over all machines' samples that belongs to one of them.
template <class T>
std::span<T> PartOf(std::span<T> values, std::size_t part, std::size_t parts) {
  const std::size_t size = values.size() / parts;
  return values.subspan(part * size, size);
}

}  // namespace

// What the machines know of their own betas.
class CommonMachine::StackedExpansion final : public Expansion {
 public:
  explicit StackedExpansion(const std::vector<std::unique_ptr<SampleMachine>>& parts) : parts_(parts) {}

  void Quadratics(std::span<double> q) const override {
    AddUp(q, [&](std::size_t c, std::span<double> own) { parts_[c]->expansion().Quadratics(own); });
  }
  void Products(std::span<const double> b, std::span<double> products) const override {
    AddUp(products, [&](std::size_t c, std::span<double> own) {
      parts_[c]->expansion().Products(PartOf(b, c, parts_.size()), own);
    });
  }
  void Outputs(std::span<const double> theta, std::span<double> out) const override {
    for (std::size_t c = 0; c < parts_.size(); ++c) {
      parts_[c]->expansion().Outputs(theta, PartOf(out, c, parts_.size()));
    }
  }

 private:
  template <class Ask>
  void AddUp(std::span<double> sums, Ask ask) const {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::vector<double> own(sums.size());
    for (std::size_t c = 0; c < parts_.size(); ++c) {
      ask(c, own);
      for (std::size_t m = 0; m < own.size(); ++m) sums[m] += own[m];
    }
  }

  const std::vector<std::unique_ptr<SampleMachine>>& parts_;
};

CommonMachine::CommonMachine(const CommonLearningProblem& problem, const LearnOptions& options,
                             RunControl& control)
    : problem_(problem), control_(control) {
  problems_.reserve(problem.risks.size());
  for (const Risk& risk : problem.risks) {
    problems_.push_back({risk, problem.regularizer});
    parts_.push_back(std::make_unique<SampleMachine>(problems_.back(), options, control));
  }
  expansion_ = std::make_unique<StackedExpansion>(parts_);
}

CommonMachine::~CommonMachine() = default;

void CommonMachine::UseGram(Gram& gram, bool is_float) {
  gram_ = &dynamic_cast<JointGram&>(gram);
  for (const auto& part : parts_) part->UseGram(gram_->samples(), is_float);
}

// Outputs are those of the stacked betas, which are not known.
void CommonMachine::StartFrom(std::span<const double> beta, std::span<const double>) {
  for (std::size_t c = 0; c < parts_.size(); ++c) parts_[c]->StartFrom(PartOf(beta, c, parts_.size()));
}

void CommonMachine::ReleaseRows() {
  for (const auto& part : parts_) part->ReleaseRows();
}

double CommonMachine::Linear(std::span<const double> beta) const {
  double sum = 0;
  for (std::size_t c = 0; c < parts_.size(); ++c) sum += parts_[c]->Linear(PartOf(beta, c, parts_.size()));
  return sum;
}

std::vector<double> CommonMachine::FeasibleStart() const {
  std::vector<double> beta;
  for (const auto& part : parts_) {
    const std::vector<double> own = part->FeasibleStart();
    beta.insert(beta.end(), own.begin(), own.end());
  }
  return beta;
}

Evaluation CommonMachine::Solve(std::span<const double> theta, double relative_gap, ThetaMover* mover) {
  ScopedSeconds seconds(work_.seconds);
  std::vector<double> now(theta.begin(), theta.end());
  for (;;) {
    Evaluation evaluation = SolveParts(now, relative_gap);
    if (mover == nullptr || control_.ShouldStop()) return evaluation;
    const std::optional<double> wanted = mover->MoveInside(evaluation, now);
    if (!wanted) return evaluation;
    relative_gap = *wanted;
  }
}

// The regulariser counts once, at the sum of the quadratics.
Evaluation CommonMachine::SolveParts(std::span<const double> theta, double relative_gap) {
  const Regularizer& regularizer = *problem_.regularizer;
  Evaluation total;
  total.theta.assign(theta.begin(), theta.end());
  total.quadratics.assign(theta.size(), 0.0);
  ++work_.solves;
  for (const auto& part : parts_) {
    const Evaluation own = part->Solve(theta, relative_gap);
    const double regularization = regularizer.Primal(theta, own.quadratics);
    total.beta.insert(total.beta.end(), own.beta.begin(), own.beta.end());
    for (std::size_t m = 0; m < theta.size(); ++m) total.quadratics[m] += own.quadratics[m];
    total.primal += own.primal - regularization;
    total.inner_dual += own.inner_dual - regularization;
    total.linear += own.linear;
    total.is_precision_used_up = total.is_precision_used_up || own.is_precision_used_up;
  }
  work_.solver = parts_.front()->work().solver;
  const double regularization = regularizer.Primal(theta, total.quadratics);
  total.primal += regularization;
  total.inner_dual += regularization;
  total.dual = LowerBound(regularizer, total.linear, total.quadratics, /*may_scale=*/true);
  return total;
}

Certificate CommonMachine::Certify(Gram& gram, std::span<const double> theta, std::span<const double> beta,
                                   std::span<const double> dual_beta) const {
  return CertifyCommon(gram, problem_.risks, *problem_.regularizer, theta, beta, dual_beta);
}

}  // namespace kweave
