#include "select/reuse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kweave/train.h"
#include "model/content.h"

namespace kweave {
namespace {

// Whether what the formulas are about is learned, and nothing but C differs.
bool DiffersInCostAlone(const Model& model, const TrainOptions& given, const TrainOptions& now) {
  const ModelContent& content = model.content();
  const bool is_served = content.task == Task::kClassify && content.loss == "hinge" && !content.multiclass &&
                         content.machines.size() == 1 && content.problem.has_bias &&
                         now.regularizer == "norm" && now.combine == Combine::kSum &&
                         now.weight_bounds.empty() && now.penalty == 0 && now.block_norm == 0;
  return is_served &&
         std::ranges::all_of(TrainOptionRecords(), [&](const OptionRecord<TrainOptions>& record) {
           return record.name == "C" || !std::holds_alternative<double>(record.fallback) ||
                  record.get(given) == record.get(now);
         });
}

// ||q||_p* with 1/p + 1/p* = 1.
double DualNorm(const std::vector<KernelReport>& kernels, double p) {
  double largest = 0, sum = 0;
  for (const KernelReport& kernel : kernels) largest = std::max(largest, kernel.quadratic);
  if (p == 1 || largest == 0) return largest;
  const double dual = std::isinf(p) ? 1 : p / (p - 1);
  for (const KernelReport& kernel : kernels) sum += std::pow(std::max(kernel.quadratic, 0.0) / largest, dual);
  return largest * std::pow(sum, 1 / dual);
}

// Whether no beta is above what it may be when all costs change by this factor.
bool IsFeasible(const ModelContent& content, double factor) {
  const SparseVector& beta = content.machines[0].beta;
  const std::vector<double>& costs = content.problem.costs;
  for (std::size_t k = 0; k < beta.values.size(); ++k) {
    const Index sample = content.sample_indices[static_cast<std::size_t>(beta.positions[k])];
    const double cost = costs.size() == 1 ? costs[0] : costs.at(static_cast<std::size_t>(sample));
    if (std::abs(beta.values[k]) > factor * cost) return false;
  }
  return true;
}

}  // namespace

bool AlsoSolves(const Model& model, const TrainOptions& options) {
  const Summary& summary = model.summary();
  const TrainOptions given = GivenOptions(summary);
  if (summary.status != Status::kConverged || summary.kernels_total != std::ssize(summary.kernels))
    return false;
  if (!DiffersInCostAlone(model, given, options)) return false;
  const double factor = options.C / given.C;
  if (!IsFeasible(model.content(), factor)) return false;
  double size = 0;  // sum |beta_i|
  for (const double beta : model.content().machines[0].beta.values) size += std::abs(beta);
  double squared_norm = 0;
  for (const KernelReport& kernel : summary.kernels) squared_norm += kernel.weight * kernel.quadratic;
  const double losses = std::max(summary.primal - squared_norm / 2, 0.0);
  const double primal = summary.primal + (factor - 1) * losses;
  const double dual = size - DualNorm(summary.kernels, options.norm) / 2;
  return primal - dual <= options.gap * std::max(std::abs(primal), std::abs(dual));
}

}  // namespace kweave
