#include "weights/method_table.h"

#include <fmt/format.h>

#include <string>

#include "kweave/error.h"
#include "regularizer/lp_norm.h"
#include "weights/analytic.h"
#include "weights/analytic_newton.h"
#include "weights/cutting_plane.h"
#include "weights/cutting_plane_taylor.h"
#include "weights/lbfgs.h"
#include "weights/level.h"
#include "weights/newton.h"
#include "weights/reduced_gradient.h"
#include "weights/silp.h"
#include "weights/spg.h"
#include "weights/uniform.h"

namespace kweave {

namespace {

template <class Method>
std::unique_ptr<WeightMethod> Make(const Regularizer& regularizer) {
  return std::make_unique<Method>(regularizer);
}

// Linear, and weight costs nothing.
bool IsPolytope(const Regularizer& regularizer) {
  const auto linear = regularizer.linear();
  return linear && linear->cost == 0;
}

// theta >= 0, sum theta <= 1.
bool IsSimplex(const Regularizer& regularizer) {
  return regularizer.lp_norm() != nullptr && regularizer.lp_norm()->p() == 1;
}

// One of the methods that FindSpgOptions knows.
template <const char* name>
std::unique_ptr<WeightMethod> MakeSpg(const Regularizer& regularizer) {
  return std::make_unique<Spg>(regularizer, ScaledFor(regularizer, *FindSpgOptions(name)));
}
constexpr char kSpg[] = "spg", kSpgMax[] = "spg-max", kPgd[] = "pgd", kPgdN[] = "pgd+n", kPgdS[] = "pgd+s",
               kPgdNS[] = "pgd+n+s";

bool IsProjectable(const Regularizer& regularizer, const Loss&) {
  return regularizer.is_minimized() && regularizer.has_projection();
}

// Maxima are exact, other kinks of the dual term smoothed: that ends at gaps of 1e-4 to 1e-6, and is for where nothing else serves.
bool HasModel(const Regularizer& regularizer, const Loss& loss) {
  if (regularizer.linear() || regularizer.is_dual_smooth() || regularizer.largest_part()) return true;
  return !IsProjectable(regularizer, loss) && regularizer.Smoothed(1e-3) != nullptr;
}

bool HasClosedForm(const Regularizer& regularizer, const Loss&) {
  return regularizer.has_analytic_update() &&
         (regularizer.lp_norm() != nullptr || regularizer.is_dual_smooth() || !regularizer.is_minimized());
}

// For norm 1, measured once each in CPU time: with 50 widths on 2,000 to 10,000 samples, where few kernels stay
// active, `level` took the fewest solves (2 to 6 to a gap of 1e-3; `analytic` 4 to 8, `silp` 4 to 9) and no more
// time, on seven UCI sets with 91 to 793 kernels as much time as `analytic` to a tenth of it at 1e-3, but with
// tens of active kernels it is slower, at 1e-6 mostly and on 50 features with C = 100 at 1e-3 too (2 times, and
// 4 times at 1e-6).
std::string_view Choose(const Regularizer& regularizer, const Loss& loss) {
  if (IsUniformSum(regularizer)) return "uniform";
  // Measured on 50 features of 50 to 800 samples, block norms 30 and inf: `analytic` reaches gaps of 1e-3 to 1e-2 in 20
  // to 180 solves, `level` stalls at 0.005 to 0.5.
  if (!regularizer.is_minimized() && regularizer.has_analytic_update()) return "analytic";
  if (regularizer.lp_norm() != nullptr) return IsSimplex(regularizer) ? "level" : "analytic+newton";
  // Prices on weights: on seven problems `spg` always gets to a gap of 1e-6, `level` stalls at up to 5e-3.
  // Bounds on single weights of norm 1: on 50 and 60 features and 60 widths `level` took a tenth to three times the time of `spg` and
  // less in sum, to gaps of 1e-3 and of 1e-6; with 1,800 kernels `spg` stalls before the latter.
  if (regularizer.linear() && !IsPolytope(regularizer)) return "spg";
  return HasModel(regularizer, loss) ? "level" : "spg";
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
  static const MethodRecord table[] = {
      {"analytic", "Weights in closed form after each solve; any norm.", HasClosedForm, Make<Analytic>},
      {"analytic+newton", "The same, with the steps of newton where that would crawl.", HasClosedForm,
       Make<AnalyticNewton>},
      {"cutting-plane", "Cutting planes with the exact weights over all cuts; any norm.",
       [](const Regularizer& regularizer, const Loss&) {
         return regularizer.is_minimized() && (regularizer.is_dual_smooth() || IsPolytope(regularizer));
       },
       Make<CuttingPlane>},
      {"cutting-plane-taylor",
       "The same with a sequence of Taylor expansions of the norm; norms from 1.1 to 4.",
       [](const Regularizer& regularizer, const Loss&) {
         const LpNorm* norm = regularizer.lp_norm();
         return norm != nullptr && norm->p() >= CuttingPlaneTaylor::kLeastNorm &&
                norm->p() <= CuttingPlaneTaylor::kMostNorm;
       },
       Make<CuttingPlaneTaylor>},
      {"lbfgs", "Quasi-Newton steps of weights and machine together; norms above 1 with smooth losses.",
       [](const Regularizer& regularizer, const Loss& loss) {
         return regularizer.is_dual_smooth() && loss.smooth() != nullptr;
       },
       nullptr, LearnByLbfgs},
      {"level",
       "Level bundle whose model of the objective is curved; any norm, and all that has no closed form.",
       HasModel, Make<Level>},
      {"newton",
       "Newton steps of the weights, on a model that sees which samples become free or bound; any norm.",
       [](const Regularizer& regularizer, const Loss&) { return regularizer.lp_norm() != nullptr; },
       Make<Newton>, nullptr, false, true},
      {kPgd, "Projected gradients with Armijo's rule and precise solves; any norm, most penalties.",
       IsProjectable, MakeSpg<kPgd>, nullptr, true},
      {kPgdN, "Projected gradients with the non-monotone line search of spg; any norm, most penalties.",
       IsProjectable, MakeSpg<kPgdN>, nullptr, true},
      {kPgdS, "Projected gradients with the step length of spg; any norm, most penalties.", IsProjectable,
       MakeSpg<kPgdS>, nullptr, true},
      {kPgdNS, "Both: spg without its tuning of the precision; any norm, most penalties.", IsProjectable,
       MakeSpg<kPgdNS>, nullptr, true},
      {"reduced-gradient",
       "Reduced gradients with a line search of precise solves, as SimpleMKL has it; norm 1.",
       [](const Regularizer& regularizer, const Loss&) { return IsSimplex(regularizer); },
       Make<ReducedGradient>, nullptr, true},
      {"silp", "Column generation over a linear program; norm 1.",
       [](const Regularizer& regularizer, const Loss&) { return regularizer.linear().has_value(); },
       Make<Silp>},
      {kSpg, "Spectral projected gradients; any norm, most penalties.", IsProjectable, MakeSpg<kSpg>, nullptr,
       true},
      {kSpgMax, "The same with the classical line search, against the largest of the last values.",
       IsProjectable, MakeSpg<kSpgMax>, nullptr, true},
      {"uniform", "One solve on the sum of all kernels; norm inf.",
       [](const Regularizer& regularizer, const Loss&) { return IsUniformSum(regularizer); }, Make<Uniform>},
  };
  return table;
}

const MethodRecord& FindMethod(std::string_view name, const Regularizer& regularizer, const Loss& loss) {
  if (name == "auto") return FindMethod(Choose(regularizer, loss), regularizer, loss);
  for (const MethodRecord& record : MethodTable()) {
    if (record.name != name) continue;
    if (record.serves(regularizer, loss)) return record;
    throw Error(ErrorKind::kUsage, fmt::format("method {} does not serve {} with this loss; these do: {}",
                                               name, regularizer.Name(), NamesServing(regularizer, loss)));
  }
  throw Error(ErrorKind::kUsage, fmt::format("there is no method {}; for {} there are: {}", name,
                                             regularizer.Name(), NamesServing(regularizer, loss)));
}

}  // namespace kweave
