#include "weights/methods/method_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kweave/error.h"
#include "regularizer/lp_norm.h"
#include "weights/baselines/analytic.h"
#include "weights/baselines/cutting_plane.h"
#include "weights/baselines/cutting_plane_taylor.h"
#include "weights/baselines/reduced_gradient.h"
#include "weights/baselines/silp.h"
#include "weights/methods/analytic_newton.h"
#include "weights/methods/gradient_methods.h"
#include "weights/methods/lbfgs.h"
#include "weights/methods/level.h"
#include "weights/methods/newton.h"
#include "weights/methods/uniform.h"

namespace kweave {

namespace {

template <class Method>
std::unique_ptr<WeightMethod> Make(const Regularizer& regularizer) {
  return std::make_unique<Method>(regularizer);
}

// Linear, and weight costs nothing.
bool IsPolytope(const Regularizer& regularizer) {
  const auto& linear = regularizer.linear();
  return linear && linear->cost == 0;
}

// theta >= 0, sum theta <= 1.
bool IsSimplex(const Regularizer& regularizer) {
  return regularizer.lp_norm() != nullptr && regularizer.lp_norm()->p() == 1;
}

bool IsProjectable(const Regularizer& regularizer, const Loss&) {
  return regularizer.is_minimized() && regularizer.has_projection();
}

// Maxima are exact, other kinks of the dual term smoothed: that ends at gaps of 1e-4 to 1e-6, and is for
// where nothing else serves.
bool HasModel(const Regularizer& regularizer, const Loss& loss) {
  if (regularizer.linear() || regularizer.is_dual_smooth() || regularizer.largest_part()) return true;
  return !IsProjectable(regularizer, loss) && regularizer.Smoothed(1e-3) != nullptr;
}

bool HasClosedForm(const Regularizer& regularizer, const Loss&) {
  return regularizer.has_analytic_update() &&
         (regularizer.lp_norm() != nullptr || regularizer.is_dual_smooth() || !regularizer.is_minimized());
}

// For norm 1, measured once each in CPU time: with 50 widths on 2,000 to 10,000 samples, where few kernels
// stay active, `level` took the fewest solves (2 to 6 to a gap of 1e-3; an extrapolated closed form 4 to 8, a
// damped linear program 4 to 9) and no more time, on seven UCI sets with 91 to 793 kernels as much time as
// the former to a tenth of it at 1e-3, but with tens of active kernels it is slower, at 1e-6 mostly and on 50
// features with C = 100 at 1e-3 too (2 times, and 4 times at 1e-6).
std::string_view Choose(const Regularizer& regularizer, const Loss& loss) {
  if (IsUniformSum(regularizer)) return "uniform";
  // Measured on 50 features of 50 to 800 samples, block norms 30 and inf: the closed form reaches gaps of
  // 1e-3 to 1e-2 in 20 to 180 solves, `level` stalls at 0.005 to 0.5.
  if (!regularizer.is_minimized() && regularizer.has_analytic_update()) return "analytic+newton";
  if (regularizer.lp_norm() != nullptr) return IsSimplex(regularizer) ? "level" : "analytic+newton";
  // Prices on weights: on seven problems projected quasi-Newton steps always get to a gap of 1e-6, `level`
  // stalls at up to 5e-3. Bounds on single weights of norm 1: on 50 and 60 features and 60 widths `level`
  // took a tenth to three times the time of those steps and less in sum, to gaps of 1e-3 and of 1e-6; with
  // 1,800 kernels they stall before the latter.
  constexpr std::string_view kQuasiNewton = "projected-quasi-newton";
  if (regularizer.linear() && !IsPolytope(regularizer)) return kQuasiNewton;
  return HasModel(regularizer, loss) ? "level" : kQuasiNewton;
}

bool IsNorm(const Regularizer& regularizer, const Loss&) { return regularizer.lp_norm() != nullptr; }

bool HasExpansions(const Regularizer& regularizer, const Loss&) {
  const LpNorm* norm = regularizer.lp_norm();
  return norm != nullptr && norm->p() >= CuttingPlaneTaylor::kLeastNorm &&
         norm->p() <= CuttingPlaneTaylor::kMostNorm;
}

constexpr std::string_view kCuttingPlane = "cutting-plane";

MethodRecord MakeRecord(const GradientMethodRecord& gradient) {
  return {.name = gradient.name,
          .sentence = gradient.sentence,
          .serves = IsProjectable,
          .make =
              [&gradient](const Regularizer& regularizer) {
                return std::make_unique<GradientMethod>(regularizer, gradient.make(regularizer),
                                                        gradient.inner_gap,
                                                        gradient.is_baseline ? kBaselinePatience : kPatience);
              },
          .is_baseline = gradient.is_baseline,
          .needs_whole_solves = true,
          .mixes_betas = true};
}

std::vector<MethodRecord> MakeTable() {
  std::vector<MethodRecord> table = {
      {.name = "analytic",
       .sentence = "Weights in closed form after each solve; any norm.",
       .serves = HasClosedForm,
       .make = Make<Analytic>,
       .is_baseline = true,
       .mixes_betas = true},
      {.name = "analytic+newton",
       .sentence = "The same, with the steps of newton where that would crawl.",
       .serves = HasClosedForm,
       .make = Make<AnalyticNewton>},
      {.name = kCuttingPlane,
       .sentence = "Cutting planes with the exact weights over all cuts; any norm.",
       .serves =
           [](const Regularizer& regularizer, const Loss&) {
             return regularizer.is_minimized() && (regularizer.is_dual_smooth() || IsPolytope(regularizer));
           },
       .make = Make<CuttingPlane>,
       .is_baseline = true},
      {.name = "cutting-plane-taylor",
       .sentence = "The same with a sequence of Taylor expansions of the norm; norms from 1.1 to 4.",
       .serves = HasExpansions,
       .make = Make<CuttingPlaneTaylor>,
       .is_baseline = true},
      {.name = "lbfgs",
       .sentence = "Quasi-Newton steps of weights and machine together; norms above 1 with smooth losses.",
       .serves = [](const Regularizer& regularizer,
                    const Loss& loss) { return regularizer.is_dual_smooth() && loss.smooth() != nullptr; },
       .learn = LearnByLbfgs},
      {.name = "level",
       .sentence =
           "Level bundle whose model of the objective is curved; any norm, and all that has no closed form.",
       .serves = HasModel,
       .make = Make<Level>},
      {.name = "newton",
       .sentence =
           "Newton steps of the weights, on a model that sees which samples become free or bound; any norm.",
       .serves = IsNorm,
       .make = Make<Newton>,
       .needs_one_output = true},
      {.name = "reduced-gradient",
       .sentence = "Reduced gradients with a line search of precise solves, as SimpleMKL has it; norm 1.",
       .serves = [](const Regularizer& regularizer, const Loss&) { return IsSimplex(regularizer); },
       .make = Make<ReducedGradient>,
       .is_baseline = true,
       .needs_whole_solves = true,
       .mixes_betas = true},
      {.name = "silp",
       .sentence = "Column generation over a linear program; norm 1.",
       .serves = [](const Regularizer& regularizer, const Loss&) { return regularizer.linear().has_value(); },
       .make = Make<Silp>,
       .is_baseline = true},
      {.name = "uniform",
       .sentence = "One solve on the sum of all kernels; norm inf.",
       .serves = [](const Regularizer& regularizer, const Loss&) { return IsUniformSum(regularizer); },
       .make = Make<Uniform>},
  };
  for (const GradientMethodRecord& gradient : GradientMethodTable()) table.push_back(MakeRecord(gradient));
  std::ranges::sort(table, {}, &MethodRecord::name);
  return table;
}

bool ServesDriver(const MethodRecord& method, DriverKind driver) {
  if (driver == DriverKind::kWrapper) return method.learn == nullptr;
  return driver != DriverKind::kInterleaved || !method.needs_whole_solves;
}

const MethodRecord& CheckDriver(const MethodRecord& method, DriverKind driver) {
  if (ServesDriver(method, driver)) return method;
  if (method.learn != nullptr) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("`method` {} moves weights with every step, not with `driver` wrapper", method.name),
        {"driver", "wrapper", "auto, interleaved"});
  }
  throw Error(
      ErrorKind::kUsage,
      fmt::format("`method` {} compares values of whole solves, so it needs `driver` wrapper", method.name),
      {"driver", "interleaved", "auto, wrapper"});
}

bool ServesOutputs(const MethodRecord& method, const MachineKind& machine) {
  return machine.has_one_output || (method.make != nullptr && !method.needs_one_output);
}

// What may get on where the first has stalled: other methods, those for small gaps before the papers' own,
// and in between the first again, without what misled it.
std::vector<const MethodRecord*> OthersInTurn(const MethodRecord& first, const MachineKind& machine,
                                              DriverKind driver) {
  std::vector<const MethodRecord*> others, baselines;
  for (const MethodRecord& other : MethodTable()) {
    const bool serves = other.make != nullptr && other.name != first.name &&
                        other.serves(machine.regularizer, machine.loss) && ServesDriver(other, driver) &&
                        ServesOutputs(other, machine);
    if (serves) (other.is_baseline ? baselines : others).push_back(&other);
  }
  if (first.make != nullptr) others.push_back(&first);
  others.insert(others.end(), baselines.begin(), baselines.end());
  return others;
}

std::string NamesServing(const Regularizer& regularizer, const Loss& loss) {
  std::string names = "auto";
  for (const MethodRecord& record : MethodTable()) {
    if (record.serves(regularizer, loss)) names += fmt::format(", {}", record.name);
  }
  return names;
}

}  // namespace

std::span<const MethodRecord> MethodTable() {
  static const std::vector<MethodRecord> table = MakeTable();
  return table;
}

const MethodRecord& FindMethod(std::string_view name, const Regularizer& regularizer, const Loss& loss,
                               DriverKind driver) {
  if (name == "auto") {
    const MethodRecord& chosen = FindMethod(Choose(regularizer, loss), regularizer, loss);
    if (ServesDriver(chosen, driver) || !HasModel(regularizer, loss)) return CheckDriver(chosen, driver);
    return FindMethod("level", regularizer, loss);  // moves inside solves, too
  }
  for (const MethodRecord& record : MethodTable()) {
    if (record.name != name) continue;
    // Where weights are linear, cutting planes are a linear program: the summary names the method that runs.
    if (name == kCuttingPlane && regularizer.linear()) return FindMethod("silp", regularizer, loss, driver);
    if (record.serves(regularizer, loss)) return CheckDriver(record, driver);
    const std::string serving = NamesServing(regularizer, loss);
    throw Error(ErrorKind::kUsage,
                fmt::format("`method` {} does not serve {} with this loss; these do: {}", name,
                            regularizer.Name(), serving),
                {"method", std::string(name), serving});
  }
  const std::string serving = NamesServing(regularizer, loss);
  throw Error(ErrorKind::kUsage,
              fmt::format("there is no `method` {}; for {} there are: {}", name, regularizer.Name(), serving),
              {"method", std::string(name), serving});
}

Learned LearnByMethods(const MachineKind& machine, const LearnOptions& options,
                       const std::function<Learned(const MethodRecord&, const LearnOptions&)>& learn) {
  const auto& [regularizer, loss, has_one_output] = machine;
  const MethodRecord& first = FindMethod(options.method, regularizer, loss, options.driver);
  if (!ServesOutputs(first, machine)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("`method` {} does not serve machines with several outputs", first.name),
                {"method", std::string(first.name), "one that serves several outputs"});
  }
  Learned best = learn(first, options);
  if (options.method != "auto" || !options.certifies) return best;
  for (const MethodRecord* other : OthersInTurn(first, machine, options.driver)) {
    // Where digits are missing, or solvers get nowhere, the papers' methods do not help, and no weights at
    // all a solver of several outputs, which has no second one to take over.
    if (!best.stalled_by.empty() && (other->is_baseline || !has_one_output)) break;
    bool gets_on = true;
    while (best.status == Status::kStalled && gets_on) {
      const double before = best.certificate.relative_gap;
      const Certificate& certified = best.certificate;
      const WarmStart start{.theta = best.theta,
                            .beta = best.beta,
                            .dual_beta = certified.dual_beta.empty() ? best.beta : certified.dual_beta,
                            .dual = certified.dual};
      LearnOptions next = options;
      next.start = &start;
      Learned answer = learn(*other, next);
      if (answer.certificate.relative_gap < before) {
        answer.Follow(best);
        best = std::move(answer);
      } else {
        const Status status = answer.status;
        best += answer;
        if (status == Status::kTimeLimit || status == Status::kInterrupted) best.status = status;
      }
      gets_on = best.certificate.relative_gap <= kClearGapProgress * before && std::isfinite(before);
    }
  }
  return best;
}

}  // namespace kweave
