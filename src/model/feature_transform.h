// What becomes of features before kernels see them: confounds are regressed out, then they are scaled.
#ifndef KWEAVE_MODEL_FEATURE_TRANSFORM_H_
#define KWEAVE_MODEL_FEATURE_TRANSFORM_H_

#include <span>
#include <string>
#include <vector>

#include "kweave/choices.h"
#include "kweave/dataset.h"

namespace kweave {

/// Feature f of a sample x with confounds c becomes (x_f - sum_k coefficients[k, f] c_k - shift_f) factor_f.
struct FeatureTransform {
  std::string view;                  ///< the name of the view
  std::vector<double> shift;         ///< one per feature; empty: all 0
  std::vector<double> factor;        ///< one per feature; empty: all 1
  std::vector<double> coefficients;  ///< confound after confound, one per feature; empty: no confounds

  bool empty() const { return shift.empty() && factor.empty() && coefficients.empty(); }
};

/// Fits to the samples that have the view.
///
/// Solves   B of least squares, x = B (1, c) + rest for every feature; then mean and standard deviation, or
///          least and largest value, of the rest.
/// Method   Cholesky factor of the moments of standardised confounds; confounds that others explain are left
///          out (coefficient 0).
/// Holds    a feature without variance gets the factor 1. Sparse features are not shifted, so that zeros
///          stay: standard divides by the standard deviation, minmax by the largest magnitude.
/// Costs    one pass over the features for the moments with the confounds, two for the scale.
///
/// Sequences stay as they are. `confounds` without columns: none. Throws Error(kUsage) on sparse features
/// with confounds.
FeatureTransform FitTransform(const View& view, const Features& confounds, FeatureScale scale);

/// The same view after the transform, in float64 where it is dense. `confounds` are those of its samples.
View ApplyTransform(const FeatureTransform& transform, const View& view, const Features& confounds);

}  // namespace kweave

#endif  // KWEAVE_MODEL_FEATURE_TRANSFORM_H_
