/// Kernels of your own with parameters to be learned, and regularisers of your own for them.
///
/// Give the rows of the kernel matrix and their derivatives, check these with CheckGradient, and let
/// LearnKernel find parameters and machine together. examples/kernel/learn_your_kernel.cc does all of it.
/// With the kernels of kweave/kernel_functions.h:
///
///     const kweave::GaussianFunction kernel(kweave::SampleTable(values, 3));  // 3 features, a width for each
///     const kweave::BoxRegularizer box(0, 10, 0.1);                           // widths from 0 to 10, sparse
///     const kweave::LearnedKernel learned = kweave::LearnKernel(kernel, box, labels, {.C = 10});
#ifndef KWEAVE_KERNEL_FUNCTION_H_
#define KWEAVE_KERNEL_FUNCTION_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kweave/context.h"
#include "kweave/index.h"
#include "kweave/summary.h"

namespace kweave {

/// A kernel matrix K(theta) over the training samples that is a differentiable function of its parameters,
/// and positive semidefinite wherever the regulariser allows theta to be. Both calls come from several
/// threads at once.
class KernelFunction {
 public:
  virtual ~KernelFunction() = default;
  /// n, the rows and columns of K.
  virtual Index samples() const = 0;
  /// How many theta has.
  virtual Index parameters() const = 0;
  /// out[j] = K_ij.
  virtual void Row(std::span<const double> theta, Index i, std::span<double> out) const = 0;
  /// gradient[m] += sum_j weights[j] dK_ij / dtheta_m. Most weights may be 0.
  virtual void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                           std::span<double> gradient) const = 0;
};

/// What is asked of the parameters: a convex set by its projection, and a differentiable penalty on it.
class ParameterRegularizer {
 public:
  virtual ~ParameterRegularizer() = default;
  /// r(theta) >= 0.
  virtual double Value(std::span<const double> theta) const = 0;
  /// Overwrites `gradient` by that of r.
  virtual void Gradient(std::span<const double> theta, std::span<double> gradient) const = 0;
  /// Overwrites theta by the nearest point of the set.
  virtual void Project(std::span<double> theta) const = 0;
};

/// mu sum theta + nu/2 sum theta^2 in the box lower <= theta <= upper.
class BoxRegularizer : public ParameterRegularizer {
 public:
  /// The bounds may be infinite. Throws Error(kUsage) where no number is between them.
  BoxRegularizer(double lower, double upper, double mu = 0, double nu = 0);
  double Value(std::span<const double> theta) const override;
  void Gradient(std::span<const double> theta, std::span<double> gradient) const override;
  void Project(std::span<double> theta) const override;

 private:
  double lower_, upper_, mu_, nu_;
};

/// What LearnKernel takes besides kernel, regulariser and labels.
struct KernelOptions {
  double C = 1;                 ///< weight of the losses
  std::string method = "auto";  ///< projected-quasi-newton, spg, spg-max, pgd, pgd+n, pgd+s, pgd+n+s
  double gap = 1e-3;            ///< projected gradient to reach, relative to the objective
  long max_iterations = 0;      ///< steps from one start; 0: 2,000
  /// Where the search starts; empty: the projection of 1 for every parameter.
  std::vector<double> start = {};
};

/// A machine f(x) = sum_i beta_i k(x_i, x) + bias with two classes, f > 0 meaning +1.
struct LearnedKernel {
  Status status = Status::kConverged;  ///< why learning ended
  std::vector<double> theta;           ///< the parameters, inside the set of the regulariser
  std::vector<double> beta;            ///< of every training sample
  double bias = 0;
  double objective = 0;  ///< r(theta) + 1/2 beta' K beta + C sum_i hinge loss
  /// max_m |theta - P(theta - gradient / objective)|_m: 0 at a stationary point.
  double projected_gradient = 0;
  std::int64_t iterations = 0;  ///< steps of theta
  std::int64_t solves = 0;      ///< machines trained on the way
};

/// Learns theta, beta and bias for labels -1 and +1. Throws Error(kUsage) where sizes or labels do not fit.
LearnedKernel LearnKernel(const KernelFunction& kernel, const ParameterRegularizer& regularizer,
                          std::span<const double> labels, const KernelOptions& options,
                          const Context& context = {});

/// The largest difference between derivatives and central differences of a' K(theta) a for a random a,
/// relative to the larger of 1 and their size: about 1e-7 where all is right. theta must lie inside the set,
/// a little away from its border.
double CheckGradient(const KernelFunction& kernel, std::span<const double> theta, std::uint64_t seed = 0);
double CheckGradient(const ParameterRegularizer& regularizer, std::span<const double> theta);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_FUNCTION_H_
