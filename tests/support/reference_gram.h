#ifndef KWEAVE_TESTS_SUPPORT_REFERENCE_GRAM_H_
#define KWEAVE_TESTS_SUPPORT_REFERENCE_GRAM_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gram/gram.h"
#include "gram/normalization.h"
#include "kernel/kernel_set.h"

namespace kweave::testing {

/// Solves the dual problem on a whole matrix, a pair of variables at a time: the one that gains most by
/// growing and the one that gains most by falling, as far as the quadratic on their pieces or the next bound
/// or kink allows.
class ReferenceSolver final : public DualSolver {
 public:
  /// `matrix` is K, row after row.
  ReferenceSolver(const DualProblem& problem, std::vector<double> matrix)
      : problem_(problem), matrix_(std::move(matrix)) {}

  void Start(SolverState& state) override { state_ = &state; }
  void CompleteGradient() override {}  // it always is

  SolverProgress Advance(double tolerance, std::int64_t most_steps) override {
    SolverProgress progress;
    progress.rows_computed = problem_.size();
    for (;;) {
      const Pair pair = WorstPair();
      progress.violation = std::max(pair.violation, 0.0);
      if (!std::isfinite(pair.violation) && pair.grows >= 0 && pair.falls >= 0) {
        progress.outcome = SolverOutcome::kNotFinite;
      } else if (progress.violation <= tolerance) {
        progress.outcome = SolverOutcome::kConverged;
      } else if (progress.steps == most_steps) {
        progress.outcome = SolverOutcome::kStepLimit;
      } else if (Step(pair)) {
        ++progress.steps;
        continue;
      } else {
        progress.outcome = SolverOutcome::kStalled;
      }
      state_->gradient_is_valid = progress.outcome != SolverOutcome::kNotFinite;
      progress.objective = Objective();
      return progress;
    }
  }

 private:
  struct Pair {
    Index grows = -1, falls = -1;
    double violation = 0;
  };

  double At(std::span<const double> values, Index i) const {
    return values.empty() ? 0 : values[static_cast<std::size_t>(i)];
  }
  double beta(Index i) const { return state_->beta[static_cast<std::size_t>(i)]; }
  double K(Index i, Index j) const { return matrix_[static_cast<std::size_t>(i * problem_.size() + j)]; }
  // The derivative of the objective when the variable grows, and when it falls.
  double UpSlope(Index i) const {
    return At(state_->gradient, i) + (beta(i) >= 0 ? 1 : -1) * At(problem_.kink, i);
  }
  double LowSlope(Index i) const {
    return At(state_->gradient, i) + (beta(i) > 0 ? 1 : -1) * At(problem_.kink, i);
  }
  // How far it may grow, and fall, on the piece it is on.
  double RoomAbove(Index i) const { return (beta(i) < 0 ? PieceEnd(i) : At(problem_.upper, i)) - beta(i); }
  double RoomBelow(Index i) const { return beta(i) - (beta(i) > 0 ? PieceEnd(i) : At(problem_.lower, i)); }
  // A kink, or the bound on the way to it.
  double PieceEnd(Index i) const {
    const double bound = beta(i) < 0 ? At(problem_.upper, i) : At(problem_.lower, i);
    if (At(problem_.kink, i) == 0) return bound;
    return beta(i) < 0 ? std::min(bound, 0.0) : std::max(bound, 0.0);
  }

  Pair WorstPair() const {
    Pair pair;
    for (Index i = 0; i < problem_.size(); ++i) {
      if (beta(i) < At(problem_.upper, i) && (pair.grows < 0 || !(UpSlope(i) >= UpSlope(pair.grows))))
        pair.grows = i;
      if (beta(i) > At(problem_.lower, i) && (pair.falls < 0 || !(LowSlope(i) <= LowSlope(pair.falls))))
        pair.falls = i;
    }
    if (pair.grows >= 0 && pair.falls >= 0) pair.violation = LowSlope(pair.falls) - UpSlope(pair.grows);
    return pair;
  }

  // False when rounding leaves nothing to do.
  bool Step(const Pair& pair) {
    const Index i = pair.grows, j = pair.falls;
    const double curvature =
        K(i, i) + K(j, j) - 2 * K(i, j) + At(problem_.curvature, i) + At(problem_.curvature, j);
    const double length =
        std::min({curvature > 0 ? pair.violation / curvature : std::numeric_limits<double>::infinity(),
                  RoomAbove(i), RoomBelow(j)});
    if (!(length > 0) || !std::isfinite(length)) return false;
    Move(i, length, length == RoomAbove(i) ? beta(i) + RoomAbove(i) : beta(i) + length);
    Move(j, -length, length == RoomBelow(j) ? beta(j) - RoomBelow(j) : beta(j) - length);
    return true;
  }
  void Move(Index i, double change, double value) {
    state_->beta[static_cast<std::size_t>(i)] = value;
    for (Index k = 0; k < problem_.size(); ++k) {
      state_->gradient[static_cast<std::size_t>(k)] += change * K(i, k);
    }
    state_->gradient[static_cast<std::size_t>(i)] += change * At(problem_.curvature, i);
  }

  double Objective() const {
    double sum = 0;
    for (Index i = 0; i < problem_.size(); ++i) {
      sum += 0.5 * beta(i) * (At(state_->gradient, i) + At(problem_.linear, i)) +
             At(problem_.kink, i) * std::abs(beta(i));
    }
    return sum;
  }

  const DualProblem problem_;
  const std::vector<double> matrix_;
  SolverState* state_ = nullptr;
};

/// A back end as plain as can be: every kernel value by its definition, in double precision, for every pair
/// and every question anew. No tables, no SIMD, no threads, nothing kept between calls, and a solver of its
/// own. Kernels on features between training samples; matrices in files it does not know.
class ReferenceGram final : public Gram {
 public:
  /// All must outlive it.
  ReferenceGram(const KernelSet& kernels, std::span<const View> views, const Normalization& normalization)
      : Gram({.left_count = RowCount(views[0].features),
              .right_count = RowCount(views[0].features),
              .kernels = kernels.size()}),
        kernels_(kernels),
        normalization_(normalization),
        samples_(static_cast<std::size_t>(RowCount(views[0].features))) {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      for (const View& view : views) {
        std::vector<double>& x = samples_[i].emplace_back(ColumnCount(view.features));
        CopyRow(view.features, static_cast<Index>(i), x);
      }
    }
  }

  std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) override {
    std::vector<VectorAnswer> answers(requests.size());
    for (std::size_t v = 0; v < requests.size(); ++v) {
      auto expansion = std::make_unique<PlainExpansion>(*this);
      expansion->MoveTo(requests[v].a);
      if (requests[v].wants_quadratics) {
        answers[v].quadratics.resize(static_cast<std::size_t>(kernels_.size()));
        expansion->Quadratics(answers[v].quadratics);
      }
      if (requests[v].has_outputs()) {
        answers[v].outputs.resize(samples_.size());
        expansion->Outputs(requests[v].theta, answers[v].outputs);
      }
      if (requests[v].keeps_expansion) answers[v].expansion = std::move(expansion);
    }
    return answers;
  }

  /// k_m(x_i, x_j) after normalisation.
  double Value(Index m, Index i, Index j) const {
    double value = normalization_.scale[static_cast<std::size_t>(m)] * Expression(m, i, j);
    const auto chain = normalization_.chains.find(m);
    if (chain == normalization_.chains.end()) return value;
    for (const FittedStep& step : chain->second) {
      const double left = step.per_sample.empty() ? 0 : step.per_sample[static_cast<std::size_t>(i)];
      const double right = step.per_sample.empty() ? 0 : step.per_sample[static_cast<std::size_t>(j)];
      if (step.kind == Normalizer::kSpherical) {
        value *= left * right;
      } else if (step.kind == Normalizer::kCenter) {
        value += step.constant - left - right;
      } else {
        value *= step.constant;
      }
    }
    return value;
  }

 protected:
  std::shared_ptr<const LearnedMatrix> MakeLearned(std::span<const double> theta) override {
    return std::make_shared<Learned>(*this, theta);
  }

 private:
  class Learned final : public LearnedMatrix {
   public:
    Learned(ReferenceGram& gram, std::span<const double> theta) : LearnedMatrix(theta), gram_(gram) {}

    void Rows(std::span<const Index> rows, float* out, Index stride) const override {
      FillRows(rows, out, stride);
    }
    void Rows(std::span<const Index> rows, double* out, Index stride) const override {
      FillRows(rows, out, stride);
    }
    void Diagonal(std::span<double> out) const override {
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = Value(static_cast<Index>(i), static_cast<Index>(i));
    }
    std::unique_ptr<DualSolver> MakeSolver(const DualProblem& problem, const SolverOptions&) const override {
      const Index n = gram_.left_count();
      std::vector<double> matrix;
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) matrix.push_back(Value(i, j));
      }
      gram_.CountRows(n);
      return std::make_unique<ReferenceSolver>(problem, std::move(matrix));
    }

   private:
    double Value(Index i, Index j) const {
      double sum = 0;
      for (std::size_t m = 0; m < theta().size(); ++m) {
        if (theta()[m] != 0) sum += theta()[m] * gram_.Value(static_cast<Index>(m), i, j);
      }
      return sum;
    }
    template <class T>
    void FillRows(std::span<const Index> rows, T* out, Index stride) const {
      gram_.CountRows(static_cast<std::int64_t>(rows.size()));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        for (Index j = 0; j < gram_.right_count(); ++j)
          out[static_cast<Index>(r) * stride + j] = static_cast<T>(Value(rows[r], j));
      }
    }

    ReferenceGram& gram_;
  };

  // K_m a of every kernel.
  class PlainExpansion final : public MovableExpansion {
   public:
    explicit PlainExpansion(ReferenceGram& gram) : gram_(gram) {}

    void MoveTo(std::span<const double> a) override {
      a_.assign(a.begin(), a.end());
      gram_.CountRows(std::ranges::count_if(a, [](double value) { return value != 0; }));
      products_.assign(static_cast<std::size_t>(gram_.kernels()), std::vector<double>(a.size(), 0.0));
      for (std::size_t m = 0; m < products_.size(); ++m) {
        for (std::size_t i = 0; i < a.size(); ++i) {
          for (std::size_t j = 0; j < a.size() && a[i] != 0; ++j) {
            products_[m][j] +=
                a[i] * gram_.Value(static_cast<Index>(m), static_cast<Index>(i), static_cast<Index>(j));
          }
        }
      }
    }
    void Quadratics(std::span<double> q) const override { Products(a_, q); }
    void Products(std::span<const double> b, std::span<double> products) const override {
      for (std::size_t m = 0; m < products_.size(); ++m) {
        products[m] = 0;
        for (std::size_t j = 0; j < b.size(); ++j) products[m] += b[j] * products_[m][j];
      }
    }
    void Outputs(std::span<const double> theta, std::span<double> out) const override {
      std::ranges::fill(out, 0.0);
      for (std::size_t m = 0; m < products_.size(); ++m) {
        for (std::size_t j = 0; j < out.size(); ++j) out[j] += theta[m] * products_[m][j];
      }
    }

   private:
    ReferenceGram& gram_;
    std::vector<double> a_;
    std::vector<std::vector<double>> products_;
  };

  // Before normalisation, in postfix order.
  double Expression(Index m, Index i, Index j) const {
    const Composite expression = kernels_.Expression(m);
    std::vector<double> stack;
    for (const Composite::Node& node : expression.nodes) {
      if (node.operation == Composite::Operation::kTerm) {
        stack.push_back(Term(expression.terms[static_cast<std::size_t>(node.argument)], i, j));
        continue;
      }
      const bool is_product = node.operation == Composite::Operation::kProduct;
      double value = is_product ? 1 : 0;
      for (Index k = 0; k < node.argument; ++k) {
        value = is_product ? value * stack.back() : value + stack.back();
        stack.pop_back();
      }
      stack.push_back(node.operation == Composite::Operation::kMean ? value / node.argument : value);
    }
    return stack.back();
  }

  double Term(const KernelTerm& term, Index i, Index j) const {
    const FeatureSubset& subset = kernels_.subsets[static_cast<std::size_t>(term.subset)];
    const auto features = [&](Index sample) {
      const std::vector<double>& all =
          samples_[static_cast<std::size_t>(sample)][static_cast<std::size_t>(term.view)];
      if (subset.empty()) return all;
      std::vector<double> some;
      for (const std::int32_t column : subset) some.push_back(all[static_cast<std::size_t>(column)]);
      return some;
    };
    const double base =
        term.kind->base->plain(features(i), features(j), term.kind->BaseParameter(term.parameters));
    return ShapeValue(*term.kind->shape, term.parameters, base);
  }

  const KernelSet& kernels_;
  const Normalization& normalization_;
  std::vector<std::vector<std::vector<double>>> samples_;  // by sample and view
};

}  // namespace kweave::testing

#endif  // KWEAVE_TESTS_SUPPORT_REFERENCE_GRAM_H_
