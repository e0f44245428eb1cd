#include "train/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/constants.h"
#include "base/run_control.h"
#include "base/threads.h"
#include "compute/cpu/blas_threads.h"
#include "data/presence.h"
#include "gram/product_gram.h"
#include "kernel/language.h"
#include "kernel/rbf.h"
#include "kweave/error.h"
#include "model/content.h"
#include "train/effective_options.h"
#include "train/feature_groups.h"
#include "train/memory_plan.h"
#include "train/objective.h"
#include "train/prepared.h"
#include "train/regularizer_choice.h"
#include "train/training_run.h"
#include "weights/run/learn_parameters.h"

namespace kweave {
namespace {

// The kernels whose parameters are learned: as given, without normalisation.
PreparedKernels PrepareFactors(const PreparedSamples& samples, const TrainOptions& options,
                               std::uint64_t seed) {
  PreparedKernels factors;
  factors.kernels =
      ParseKernels(EffectiveKernels(options, samples.views), samples.views, seed, samples.numbering);
  factors.views = ViewsOf(factors.kernels, samples.views);
  for (Index m = 0; m < factors.kernels.size(); ++m) {
    factors.names.push_back(factors.kernels.Name(m));
    factors.kept.push_back(m);
  }
  return factors;
}

// The product as one kernel, named so. Where no factor has a width it is the constant 1: none beside a bias,
// else a factor so wide that it is 1 everywhere.
PreparedKernels ComposeProduct(const PreparedKernels& factors, std::vector<double> theta, bool has_bias) {
  const bool is_constant = std::ranges::none_of(theta, [](double width) { return width > 0; });
  if (is_constant && !has_bias && !theta.empty()) theta[0] = kTiny;
  PreparedKernels product;
  product.kernels = factors.kernels;
  product.kernels.families.clear(), product.kernels.order.clear(), product.kernels.given_names.clear();
  Composite composite;
  for (Index m = 0; m < factors.kernels.size(); ++m) {
    if (!(theta[m] > 0)) continue;
    KernelTerm term = factors.kernels.Term(m);
    term.parameters[kRbfGamma] *= theta[m];
    composite.nodes.push_back(
        {Composite::Operation::kTerm, static_cast<std::int32_t>(composite.terms.size())});
    composite.terms.push_back(term);
  }
  if (composite.terms.empty()) return product;
  product.names = {"product"};
  composite.nodes.push_back(
      {Composite::Operation::kProduct, static_cast<std::int32_t>(composite.terms.size())});
  product.kernels.composites = {std::move(composite)};
  product.kernels.order = {{-1, 0}};
  product.kernels.given_names[0] = product.names[0];
  product.normalization.scale = {1};
  product.kept = {0};
  return product;
}

// The learned machine as one on the product, whose weight is 1.
Learned AsOneKernel(const Learned& learned, bool is_constant) {
  Learned one = learned;
  one.theta.assign(is_constant ? 0 : 1, 1.0);
  one.certificate.quadratics.assign(one.theta.size(), 0.0);
  if (is_constant) one.beta.assign(one.beta.size(), 0.0);
  return one;
}

}  // namespace

Model TrainProduct(const Dataset& data, const TrainOptions& options, const Context& context) {
  RunControl control(context);
  ThreadPool pool(context.threads);
  const ScopedPoll poll(pool, [&control] { control.ShouldStop(); });  // which throws if the run is abandoned
  const ScopedBlasThreads blas_threads(pool.size());
  control.Report({.target_gap = options.gap, .phase = "kernels"});
  const PreparedSamples samples = PrepareSamples(data, options);
  if (samples.y.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("a product is learned for two classes, but there are {}",
                                               samples.classes.size()));
  }
  if (LacksViews(samples.views) || options.missing_views == MissingViews::kRescale) {
    throw Error(ErrorKind::kUsage,
                "a product is learned from samples that have all views; `combine` sum takes others",
                {"combine", "product", "sum"});
  }
  const PreparedKernels factors = PrepareFactors(samples, options, context.seed);
  const auto count = static_cast<Index>(samples.indices.size());
  const MemoryPlan plan = PlanMemory(factors.kernels, factors.views, count, options, context);
  const std::unique_ptr<Gram> working = MakeProductGram(factors.kernels, factors.views, plan.use_float, pool);
  std::unique_ptr<Gram> exact;
  const ParametricPair pair{working.get(), plan.use_float, [&]() -> Gram& {
                              if (!plan.use_float) return *working;
                              if (!exact)
                                exact = MakeProductGram(factors.kernels, factors.views, false, pool);
                              return *exact;
                            }};
  const double kernel_seconds = control.Seconds();
  const Objective objective(samples.y, samples.upper, options);
  const TrainingRun run{.samples = samples,
                        .prepared = factors,
                        .options = options,
                        .context = context,
                        .plan = plan,
                        .pool = pool,
                        .control = control};
  const ChosenRegularizer chosen = MakeRegularizer(options, factors, samples.views, context.seed,
                                                   {nullptr, [&] { return MatrixOf(pair.exact()); }});
  const Learned learned = LearnParameters(
      pair, {objective.risk(), chosen.regularizer}, run.Learning(),
      {.restarts = options.restarts, .looks_around = options.method == "auto", .seed = context.seed},
      control);

  const PreparedKernels product = ComposeProduct(factors, learned.theta, options.bias);
  LearnedMachines one = OneMachine(AsOneKernel(learned, product.kept.empty()),
                                   objective.DecisionBias(learned.certificate.bias));
  one.problem.is_product = true;
  one.problem.regularizer = chosen.described;
  one.kernel_work.rows = working->rows_evaluated() + (exact ? exact->rows_evaluated() : 0);
  ModelContent content = MakeContent(samples, product, options, one);
  ReportFactors(factors, learned, content.summary);
  return run.Finish(std::move(content), one, kernel_seconds);
}

}  // namespace kweave
