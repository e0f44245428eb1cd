// A kernel matrix that is any differentiable function of its parameters, not only the sum of fixed ones with weights.
#ifndef KWEAVE_GRAM_PARAMETRIC_GRAM_H_
#define KWEAVE_GRAM_PARAMETRIC_GRAM_H_

#include <algorithm>
#include <span>

#include "gram/gram.h"

namespace kweave {

/// K(theta): rows, diagonal and outputs as of every Gram, kernels() being the number of parameters. There are no K_m here:
/// quadratics and products of its expansions are 0, and the derivatives take their place.
class ParametricGram : public Gram {
 public:
  /// gradients[m] = a' (dK / dtheta_m) a at theta, for every parameter in one pass.
  virtual void Gradients(std::span<const double> theta, std::span<const double> a,
                         std::span<double> gradients) = 0;
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_PARAMETRIC_GRAM_H_
