#include "qp/free_sum.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/constants.h"

namespace kweave {

namespace {

// The rows with one value more, and one row more.
template <class T>
class ExtendedRows : public RowSource<T> {
 public:
  explicit ExtendedRows(RowSource<T>& rows) : rows_(rows), fill_(static_cast<T>(-rows.Shift())) {}

  Index size() const override { return rows_.size() + 1; }
  void Diagonal(std::span<double> out) override {
    fill_ = static_cast<T>(-rows_.Shift());  // the matrix may have changed
    rows_.Diagonal(out.first(out.size() - 1));
    out.back() = fill_;
  }
  void Rows(std::span<const Index> rows, T* out, Index stride) override {
    const Index last = rows_.size();
    const auto place = std::find(rows.begin(), rows.end(), last);
    const auto before = static_cast<std::size_t>(place - rows.begin());
    if (before > 0) rows_.Rows(rows.first(before), out, stride);
    if (place != rows.end()) {
      T* const own = out + static_cast<Index>(before) * stride;
      std::fill_n(own, last, fill_);
      const auto rest = rows.subspan(before + 1);
      if (!rest.empty()) rows_.Rows(rest, own + stride, stride);
    }
    for (std::size_t r = 0; r < rows.size(); ++r) out[static_cast<Index>(r) * stride + last] = fill_;
  }
  void Multiply(std::span<const double> beta, std::span<double> out) override {
    rows_.Multiply(beta.first(beta.size() - 1), out.first(out.size() - 1));
    out.back() = 0;
  }

 private:
  RowSource<T>& rows_;
  T fill_;
};

// Hides the added variable from the observer.
class InnerObserver : public SolveObserver {
 public:
  explicit InnerObserver(SolveObserver& observer) : observer_(observer) {}
  Verdict Observe(SolverPause& pause) override {
    InnerPause inner(pause);
    return observer_.Observe(inner);
  }
  Verdict OnTolerance(SolverPause& pause, double& tolerance) override {
    InnerPause inner(pause);
    return observer_.OnTolerance(inner, tolerance);
  }

 private:
  class InnerPause : public SolverPause {
   public:
    explicit InnerPause(SolverPause& pause) : pause_(pause) {}
    std::int64_t steps() const override { return pause_.steps(); }
    double violation() const override { return pause_.violation(); }
    double objective() const override { return pause_.objective(); }
    std::span<const double> Beta() override { return pause_.Beta().first(pause_.Beta().size() - 1); }
    std::span<double> Gradient() override {
      const std::span<double> gradient = pause_.Gradient();
      return gradient.first(gradient.size() - 1);
    }

   private:
    SolverPause& pause_;
  };

  SolveObserver& observer_;
};

std::vector<double> Extended(std::span<const double> values, double last) {
  std::vector<double> extended(values.begin(), values.end());
  if (!values.empty()) extended.push_back(last);
  return extended;
}

}  // namespace

template <class T>
SolverResult SolveFreeSum(SolveFunction<T>* solve, const DualProblem& problem, RowSource<T>& rows,
                          SolverState& state, const SolverOptions& options, SolveObserver* observer) {
  if (problem.size() == 0) return {};
  const std::vector<double> linear = Extended(problem.linear, 0), kink = Extended(problem.kink, 0);
  const std::vector<double> lower = Extended(problem.lower, -kInfinity),
                            upper = Extended(problem.upper, kInfinity);
  const std::vector<double> curvature = Extended(problem.curvature, 0);
  ExtendedRows<T> extended_rows(rows);
  const double sum = std::accumulate(state.beta.begin(), state.beta.end(), 0.0);
  SolverState extended{Extended(state.beta, -sum), Extended(state.gradient, 0), state.gradient_is_valid};
  std::optional<InnerObserver> inner;
  if (observer != nullptr) inner.emplace(*observer);
  const SolverResult result = solve({linear, lower, upper, kink, curvature}, extended_rows, extended, options,
                                    inner ? &*inner : nullptr);
  extended.beta.pop_back();
  if (!extended.gradient.empty()) extended.gradient.pop_back();
  state = std::move(extended);
  return result;
}

template SolverResult SolveFreeSum(SolveFunction<float>*, const DualProblem&, RowSource<float>&, SolverState&,
                                   const SolverOptions&, SolveObserver*);
template SolverResult SolveFreeSum(SolveFunction<double>*, const DualProblem&, RowSource<double>&,
                                   SolverState&, const SolverOptions&, SolveObserver*);

}  // namespace kweave
