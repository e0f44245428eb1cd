#include "weights/methods/gradient_methods.h"

#include "weights/baselines/spg.h"
#include "weights/methods/projected_quasi_newton.h"

namespace kweave {

namespace {

template <bool is_spectral, LineSearch search>
std::unique_ptr<GradientSteps> MakeSpg(const Regularizer& regularizer) {
  return std::make_unique<SpectralGradient>(SpgParts{is_spectral, search}, ProjectionOf(regularizer));
}

std::unique_ptr<GradientSteps> MakeQuasiNewton(const Regularizer& regularizer) {
  return std::make_unique<ProjectedQuasiNewton>(regularizer);
}

// "We found that projected gradient descent needed to solve SVMs with a precision of 1e-6 from the very
// start" (Jain et al. 2012).
constexpr double kPrecise = 1e-6;

}  // namespace

std::span<const GradientMethodRecord> GradientMethodTable() {
  static constexpr GradientMethodRecord kTable[] = {
      {"pgd", "Projected gradients with Armijo's rule and precise solves; any norm, most penalties.",
       MakeSpg<false, LineSearch::kLast>, kPrecise, true},
      {"pgd+n", "Projected gradients with the non-monotone line search of spg; any norm, most penalties.",
       MakeSpg<false, LineSearch::kAverage>, kPrecise, true},
      {"pgd+n+s", "Both: spg without its tuning of the precision; any norm, most penalties.",
       MakeSpg<true, LineSearch::kAverage>, kPrecise, true},
      {"pgd+s", "Projected gradients with the step length of spg; any norm, most penalties.",
       MakeSpg<true, LineSearch::kLast>, kPrecise, true},
      {"projected-quasi-newton",
       "Spectral projected gradients that learn curvatures from their steps; any norm, most penalties.",
       MakeQuasiNewton, 0, false},
      {"spg", "Spectral projected gradients; any norm, most penalties.", MakeSpg<true, LineSearch::kAverage>,
       0, true},
      {"spg-max", "The same with the classical line search, against the largest of the last values.",
       MakeSpg<true, LineSearch::kMaximum>, 0, true},
  };
  return kTable;
}

const GradientMethodRecord* FindGradientMethod(std::string_view name) {
  if (name == "auto") name = "projected-quasi-newton";
  for (const GradientMethodRecord& record : GradientMethodTable()) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

std::string GradientMethodNames() {
  std::string names = "auto";
  for (const GradientMethodRecord& record : GradientMethodTable()) names.append(", ").append(record.name);
  return names;
}

}  // namespace kweave
