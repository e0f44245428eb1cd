#ifndef KWEAVE_WEIGHTS_RUN_GRAM_ROWS_H_
#define KWEAVE_WEIGHTS_RUN_GRAM_ROWS_H_

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "gram/gram.h"
#include "qp/dual_problem.h"

namespace kweave {

/// The learned kernel as the solvers see it, wherever theta has moved. Gram and theta must outlive it. T:
/// float or double.
template <class T>
class GramRows : public RowSource<T> {
 public:
  GramRows(Gram& gram, std::span<const double> theta) : gram_(gram), theta_(theta) {}

  Index size() const override { return gram_.left_count(); }
  void Diagonal(std::span<double> out) override { Learned().Diagonal(out); }
  void Rows(std::span<const Index> rows, T* out, Index stride) override { Learned().Rows(rows, out, stride); }
  void Multiply(std::span<const double> beta, std::span<double> out) override {
    std::ranges::copy(gram_.Answer({.a = beta, .theta = theta_, .wants_quadratics = false}).outputs,
                      out.begin());
  }
  double Shift() override { return Learned().shift(); }
  std::unique_ptr<ProductMatrix> Products() override { return Learned().Products(); }
  std::unique_ptr<DualSolver> MakeSolver(const DualProblem& problem, const SolverOptions& options) override {
    std::unique_ptr<DualSolver> own = Learned().MakeSolver(problem, options);
    if (!own) return nullptr;
    return std::make_unique<FollowingSolver>(*this, problem, options, std::move(own));
  }

 private:
  // The solver of a learned matrix, and of another one when theta has moved.
  class FollowingSolver final : public DualSolver {
   public:
    FollowingSolver(GramRows& rows, const DualProblem& problem, const SolverOptions& options,
                    std::unique_ptr<DualSolver> own)
        : rows_(rows), problem_(problem), options_(options), own_(std::move(own)), at_(rows.learned_) {}

    void Start(SolverState& state) override {
      rows_.Learned();
      if (at_ != rows_.learned_) {
        at_ = rows_.learned_;
        own_ = at_->MakeSolver(problem_, options_);
      }
      own_->Start(state);
    }
    SolverProgress Advance(double tolerance, std::int64_t most_steps) override {
      return own_->Advance(tolerance, most_steps);
    }
    void CompleteGradient() override { own_->CompleteGradient(); }

   private:
    GramRows& rows_;
    const DualProblem& problem_;
    const SolverOptions& options_;
    std::unique_ptr<DualSolver> own_;
    std::shared_ptr<const LearnedMatrix> at_;
  };

  // Theta may have moved since the last call.
  const LearnedMatrix& Learned() {
    if (!learned_ || !std::ranges::equal(theta_, learned_->theta())) {
      learned_.reset();  // its memory serves the next one
      learned_ = gram_.Learn(theta_);
    }
    return *learned_;
  }

  Gram& gram_;
  std::span<const double> theta_;
  std::shared_ptr<const LearnedMatrix> learned_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_RUN_GRAM_ROWS_H_
