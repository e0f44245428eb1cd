#include "weights/methods/newton_step.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kweave {

namespace {

double At(std::span<const double> values, Index m) { return values[static_cast<std::size_t>(m)]; }

// Directions have norm one and do not overlap, so the constraint is ||.||_p <= 1 along them too.
std::vector<Direction> NewtonDirections(const LpNorm& norm, const Evaluation& at, std::size_t most) {
  std::vector<double> importance(at.theta.size());
  norm.BestResponse(at.quadratics, importance);
  const double largest = *std::max_element(at.quadratics.begin(), at.quadratics.end());
  std::vector<Index> order;
  for (std::size_t m = 0; m < at.theta.size(); ++m) {
    importance[m] = std::max(at.theta[m], importance[m]) + 1e-6 * at.quadratics[m] / largest;
    if (at.quadratics[m] > 0) order.push_back(static_cast<Index>(m));
  }
  const std::size_t singles = order.size() <= most ? order.size() : most / 2;
  const auto rest = order.begin() + static_cast<std::ptrdiff_t>(singles);
  std::nth_element(order.begin(), rest, order.end(),
                   [&](Index a, Index b) { return At(importance, a) > At(importance, b); });
  std::vector<Direction> directions;
  for (auto m = order.begin(); m != rest; ++m) directions.push_back({{*m}, {1.0}});

  order.erase(order.begin(), rest);
  std::erase_if(order, [&](Index m) { return At(at.theta, m) == 0; });
  const auto urge = [&](Index m) {
    return std::log(At(at.quadratics, m)) - (norm.p() - 1) * std::log(At(at.theta, m));
  };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return urge(a) < urge(b); });
  const std::size_t group_size = order.size() / (most / 2) + 1;
  for (std::size_t begin = 0; begin < order.size(); begin += group_size) {
    Direction& direction = directions.emplace_back();
    for (std::size_t k = begin; k < std::min(begin + group_size, order.size()); ++k) {
      direction.kernels.push_back(order[k]);
      direction.weights.push_back(At(at.theta, order[k]));
    }
    norm.Normalize(direction.weights);
  }
  return directions;
}

// The model's own beta is feasible, and where the best beta for its theta is not the only one it is the
// better choice among them.
DualPoint Measured(std::vector<double> beta, const Machine& machine, const LpNorm& norm) {
  const std::vector<double> quadratics = machine.gram().Answer({.a = beta}).quadratics;
  const double linear = machine.Linear(beta);
  return {std::move(beta), linear - norm.DualTerm(quadratics)};
}

}  // namespace

std::optional<DualPoint> TakeNewtonStep(const LpNorm& norm, const Evaluation& last, const Machine& machine,
                                        const RunState& state, const NewtonStepOptions& options,
                                        std::span<double> theta) {
  if (machine.risk() == nullptr) return std::nullopt;
  const std::vector<Direction> directions = NewtonDirections(norm, last, options.most_directions);
  if (directions.size() < 2) return std::nullopt;
  const LocalModel model(last, machine, directions, options.most_bounded);
  if (!model.is_valid()) return std::nullopt;
  const double precision =
      options.precision * std::max(state.relative_gap, state.target_gap) * std::abs(last.primal);
  const SaddlePoint point = SolveSaddle(model.problem(), norm.p(), precision);
  if (point.t.empty()) return std::nullopt;

  std::fill(theta.begin(), theta.end(), 0.0);
  for (std::size_t k = 0; k < directions.size(); ++k) {
    for (std::size_t j = 0; j < directions[k].kernels.size(); ++j) {
      theta[static_cast<std::size_t>(directions[k].kernels[j])] = point.t[k] * directions[k].weights[j];
    }
  }
  norm.Normalize(theta);
  if (!options.measures_partial && !model.moves_all_free()) return DualPoint{};
  return Measured(model.Beta(point), machine, norm);
}

}  // namespace kweave
