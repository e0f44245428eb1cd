#ifndef KWEAVE_VERIFY_H_
#define KWEAVE_VERIFY_H_

#include <string>
#include <vector>

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/model.h"

namespace kweave {

/// What a model claims and what was found, for one machine or for several that were learned as one.
struct VerifiedClaim {
  std::string name;  ///< of the machine; empty where it is the only one
  double primal = 0, dual = 0, relative_gap = 0;
  double claimed_primal = 0, claimed_dual = 0, claimed_gap = 0;  ///< the last one relative
  /// Bounds on the effect of rounding on `primal` and `dual`.
  double primal_rounding = 0, dual_rounding = 0;
  bool holds = true;  ///< the bounds found are no worse than those claimed, beyond rounding
};

/// What Verify found.
struct Verification {
  bool holds = true;                              ///< the verdict: there are no failures
  double primal = 0, dual = 0, relative_gap = 0;  ///< sums over the machines; the largest of their gaps
  std::vector<VerifiedClaim> claims;
  std::vector<std::string> failures;   ///< a sentence for every claim that does not hold
  std::vector<std::string> unchecked;  ///< a sentence for everything that could not be checked
  double kernel_values = 0;            ///< kernel values computed

  std::string ToText() const;
  std::string ToJson() const;
};

/// Recomputes primal, dual and gap of a model from the data it was trained on, by plain loops over the
/// formulas of docs/dev/notation.md. Shares nothing with training but the readers, the parser of kernel
/// specifications and the model file. Costs about n^2 / 2 evaluations of every kernel, those of weight 0
/// included, on one thread.
///
///     const Model model = Model::Load("model.kweave");
///     const Verification found = Verify(model, data, context);
///     if (!found.holds) std::puts(found.ToText().c_str());
///
/// Throws Error(kData) on data that cannot be that of training: other views, another number of samples.
Verification Verify(const Model& model, const Dataset& data, const Context& context);

}  // namespace kweave

#endif  // KWEAVE_VERIFY_H_
