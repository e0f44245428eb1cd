/// Ready-made kernels with learned parameters, and sums and products of them.
///
/// Every part has its own parameters; those of a sum or product are the ones of its parts, one after the
/// other. A weighted sum of a Gaussian with a width per feature and a mixture of polynomials up to degree 2
/// has 1 + d + 1 + 3 parameters:
///
///     using namespace kweave;
///     const SampleTable table(values, d);
///     const auto gaussian = std::make_shared<WeightedFunction>(std::make_shared<GaussianFunction>(table));
///     const auto mixture = std::make_shared<WeightedFunction>(std::make_shared<PolynomialFunction>(table, 2));
///     const SumFunction kernel({gaussian, mixture});
#ifndef KWEAVE_KERNEL_FUNCTIONS_H_
#define KWEAVE_KERNEL_FUNCTIONS_H_

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kweave/kernel_function.h"

namespace kweave {

/// Parts are shared, so that one may occur in several sums and products.
using KernelFunctionPointer = std::shared_ptr<const KernelFunction>;

/// A dense table of samples by features, row after row.
struct SampleTable {
  /// Throws Error(kUsage) unless the number of values is a multiple of the features per sample.
  SampleTable(std::vector<double> all_values, Index features_per_sample);
  /// The features of sample i.
  const double* row(Index i) const { return values.data() + i * features; }

  std::vector<double> values;  ///< samples * features of them
  Index samples = 0;           ///< rows
  Index features = 0;          ///< columns
};

/// exp(-sum_f theta_f (x_f - z_f)^2): one width per feature (automatic relevance determination).
///
/// Positive semidefinite for theta >= 0, so use a regulariser that keeps theta there. A feature whose theta
/// is 0 does not count: sparse widths select features.
class GaussianFunction : public KernelFunction {
 public:
  /// Copies or takes over the samples.
  explicit GaussianFunction(SampleTable table) : table_(std::move(table)) {}
  Index samples() const override { return table_.samples; }
  /// One for each feature.
  Index parameters() const override { return table_.features; }
  /// O(samples * features).
  void Row(std::span<const double> theta, Index i, std::span<double> out) const override;
  /// O(samples * features): all derivatives share one exponential per pair.
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override;

 private:
  SampleTable table_;
};

/// sum_k theta_k <x, z>^k, k = 0 to the degree: a mixture of polynomials.
///
/// Positive semidefinite for theta >= 0. Scale the samples to about unit length, or the powers differ by
/// orders of magnitude.
class PolynomialFunction : public KernelFunction {
 public:
  /// `degree` is the highest power, 0 or more.
  PolynomialFunction(SampleTable table, int degree) : table_(std::move(table)), degree_(degree) {}
  Index samples() const override { return table_.samples; }
  /// One for each power, the constant included.
  Index parameters() const override { return degree_ + 1; }
  void Row(std::span<const double> theta, Index i, std::span<double> out) const override;
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override;

 private:
  SampleTable table_;
  int degree_;
};

/// theta_0 times another kernel, whose parameters follow theta_0.
///
/// Gives a part of a sum a weight of its own; without it all parts have the weight 1.
class WeightedFunction : public KernelFunction {
 public:
  /// `part` must not be null.
  explicit WeightedFunction(KernelFunctionPointer part) : part_(std::move(part)) {}
  Index samples() const override { return part_->samples(); }
  /// The weight, then those of the part.
  Index parameters() const override { return 1 + part_->parameters(); }
  void Row(std::span<const double> theta, Index i, std::span<double> out) const override;
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override;

 private:
  KernelFunctionPointer part_;
};

/// The base of sums and products: several kernels on the same samples, whose parameters are concatenated.
class ComposedFunction : public KernelFunction {
 public:
  /// Throws Error(kUsage) on an empty list, and on parts with different numbers of samples.
  explicit ComposedFunction(std::vector<KernelFunctionPointer> parts);
  Index samples() const override { return parts_[0]->samples(); }
  /// Those of all parts, in their order.
  Index parameters() const override { return parameters_; }

 protected:
  /// In the order given.
  const std::vector<KernelFunctionPointer>& parts() const { return parts_; }

 private:
  std::vector<KernelFunctionPointer> parts_;
  Index parameters_ = 0;
};

/// The sum K = sum_k K_k(theta_k), theta_k being the parameters of part k. Its derivatives are those of the
/// parts.
class SumFunction : public ComposedFunction {
 public:
  explicit SumFunction(std::vector<KernelFunctionPointer> parts) : ComposedFunction(std::move(parts)) {}
  void Row(std::span<const double> theta, Index i, std::span<double> out) const override;
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override;
};

/// The entrywise (Hadamard) product K_ij = prod_k K_k,ij(theta_k).
///
/// Positive semidefinite where all parts are (Schur's product theorem). Its derivative by a parameter of one
/// part is that part's derivative times the values of the others.
class ProductFunction : public ComposedFunction {
 public:
  explicit ProductFunction(std::vector<KernelFunctionPointer> parts) : ComposedFunction(std::move(parts)) {}
  void Row(std::span<const double> theta, Index i, std::span<double> out) const override;
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override;
};

/// Keeps the parameters on the simplex, theta >= 0 and sum theta = 1, and adds mu times their relative
/// entropy to equal weights: mu sum_m theta_m log(M theta_m).
///
/// A large mu keeps all M parameters near 1 / M; with a small one few of them may take everything.
class SimplexRegularizer : public ParameterRegularizer {
 public:
  /// mu = 0: the constraint alone.
  explicit SimplexRegularizer(double mu = 0);
  double Value(std::span<const double> theta) const override;
  void Gradient(std::span<const double> theta, std::span<double> gradient) const override;
  void Project(std::span<double> theta) const override;

 private:
  double mu_;
};

}  // namespace kweave

#endif  // KWEAVE_KERNEL_FUNCTIONS_H_
