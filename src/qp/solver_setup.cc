#include "qp/solver_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "kweave/error.h"

namespace kweave {

namespace {

void Require(bool holds, const std::string& sentence) {
  if (!holds) throw Error(ErrorKind::kUsage, sentence);
}

void ValidateTerm(std::string_view name, std::span<const double> values, std::size_t size) {
  Require(values.empty() || values.size() == size,
          fmt::format("The dual problem has {} variables, but {} values of {}.", size, values.size(), name));
  const bool is_valid =
      std::all_of(values.begin(), values.end(), [](double v) { return v >= 0 && v < HUGE_VAL; });
  Require(is_valid, fmt::format("A value of {} is negative or not finite.", name));
}

}  // namespace

void ValidateSolve(const DualProblem& problem, Index rows, const SolverState& state,
                   const SolverOptions& options) {
  const std::size_t size = problem.linear.size();
  Require(
      problem.lower.size() == size && problem.upper.size() == size && state.beta.size() == size &&
          rows == problem.size() && (!state.gradient_is_valid || state.gradient.size() == size),
      fmt::format("The dual problem has {} variables; its bounds, start and rows must have as many.", size));
  Require(size <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
          fmt::format("The dual problem has {} variables; at most 2^31 - 1 are supported.", size));
  Require(options.tolerance >= 0,
          fmt::format("tolerance is {}; it must not be negative.", options.tolerance));
  Require(options.rows_per_batch >= 1,
          fmt::format("rows_per_batch is {}; it must be at least 1.", options.rows_per_batch));
  ValidateTerm("kink", problem.kink, size);
  ValidateTerm("curvature", problem.curvature, size);
  for (std::size_t k = 0; k < size; ++k) {
    if (problem.lower[k] <= state.beta[k] && state.beta[k] <= problem.upper[k]) continue;
    throw Error(ErrorKind::kUsage, fmt::format("The start of variable {} is {}, outside its bounds [{}, {}].",
                                               k, state.beta[k], problem.lower[k], problem.upper[k]));
  }
}

std::int64_t MostSteps(const DualProblem& problem, const SolverOptions& options) {
  return options.max_steps > 0 ? options.max_steps : std::max<std::int64_t>(10'000'000, 100 * problem.size());
}

template <class T>
void CompleteGradient(const DualProblem& problem, RowSource<T>& rows, SolverState& state) {
  if (state.gradient_is_valid) return;
  state.gradient.assign(state.beta.size(), 0.0);
  const bool is_zero = std::all_of(state.beta.begin(), state.beta.end(), [](double b) { return b == 0; });
  if (!is_zero) rows.Multiply(state.beta, state.gradient);
  for (std::size_t k = 0; k < state.gradient.size(); ++k) {
    state.gradient[k] += problem.linear[k];
    if (!problem.curvature.empty()) state.gradient[k] += problem.curvature[k] * state.beta[k];
  }
  state.gradient_is_valid = true;
}

double Objective(const DualProblem& problem, const SolverState& state) {
  double sum = 0;
  for (std::size_t k = 0; k < state.beta.size(); ++k) {
    if (state.beta[k] == 0) continue;
    sum += 0.5 * state.beta[k] * (state.gradient[k] + problem.linear[k]);
    if (!problem.kink.empty()) sum += problem.kink[k] * std::abs(state.beta[k]);
  }
  return sum;
}

template void CompleteGradient(const DualProblem&, RowSource<float>&, SolverState&);
template void CompleteGradient(const DualProblem&, RowSource<double>&, SolverState&);

}  // namespace kweave
