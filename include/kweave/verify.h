#ifndef KWEAVE_VERIFY_H_
#define KWEAVE_VERIFY_H_

#include <string>
#include <vector>

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/model.h"

namespace kweave {

/// What a model says of itself, and what was found: of one machine, or of several that were learned as one.
struct VerifiedClaim {
  std::string name;  ///< of the machine; empty where it is the only one
  double primal = 0, dual = 0, relative_gap = 0;
  double claimed_primal = 0, claimed_dual = 0, claimed_gap = 0;  ///< the last one relative
  /// How far rounding may have moved what was found.
  double primal_rounding = 0, dual_rounding = 0;
  bool holds = true;
};

/// What Verify found. `holds` is the verdict: nothing speaks against what the model says of itself.
struct Verification {
  bool holds = true;
  double primal = 0, dual = 0, relative_gap = 0;  ///< sums over the machines; the largest of their gaps
  std::vector<VerifiedClaim> claims;
  std::vector<std::string> failures;   ///< one sentence for each thing that is not as the model says
  std::vector<std::string> unchecked;  ///< one sentence for each thing that could not be checked
  double kernel_values = 0;            ///< how many were computed

  std::string ToText() const;
  std::string ToJson() const;
};

/// Computes primal, dual and gap of a model anew, by plain loops over the formulas of docs/dev/notation.md,
/// from the data it was trained on. Shares nothing with training but the readers, the parser of kernel
/// specifications and the model file. Costs about n^2 / 2 evaluations of every kernel, weight or none, on one
/// thread.
///
///     const Model model = Model::Load("model.kweave");
///     const Verification found = Verify(model, data, context);
///     if (!found.holds) std::puts(found.ToText().c_str());
///
/// Throws Error(kData) on data that cannot be that of training: other views, another number of samples.
Verification Verify(const Model& model, const Dataset& data, const Context& context);

}  // namespace kweave

#endif  // KWEAVE_VERIFY_H_
