/// Kernels with learned parameters to start from, and sums and products of any of them.
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

/// Samples by features, row after row. Throws Error(kUsage) unless `values` holds whole samples.
struct SampleTable {
  SampleTable(std::vector<double> all_values, Index features_per_sample);
  /// The features of sample i.
  const double* row(Index i) const { return values.data() + i * features; }

  std::vector<double> values;  ///< samples * features of them
  Index samples = 0;
  Index features = 0;  ///< of each sample
};

/// exp(-sum_f theta_f (x_f - z_f)^2): one width per feature. Positive semidefinite for theta >= 0, so use a
/// regulariser that keeps it there. A feature whose theta is 0 does not count, which makes this kernel one
/// that selects features.
class GaussianFunction : public KernelFunction {
 public:
  explicit GaussianFunction(SampleTable table) : table_(std::move(table)) {}
  Index samples() const override { return table_.samples; }
  Index parameters() const override { return table_.features; }
  void Row(std::span<const double> theta, Index i, std::span<double> out) const override;
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override;

 private:
  SampleTable table_;
};

/// sum_k theta_k <x, z>^k, k = 0 to the degree: a mixture of polynomials, positive semidefinite for theta >=
/// 0. Scale the features to about unit length, or the powers differ by orders of magnitude.
class PolynomialFunction : public KernelFunction {
 public:
  PolynomialFunction(SampleTable table, int degree) : table_(std::move(table)), degree_(degree) {}
  Index samples() const override { return table_.samples; }
  Index parameters() const override { return degree_ + 1; }
  void Row(std::span<const double> theta, Index i, std::span<double> out) const override;
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override;

 private:
  SampleTable table_;
  int degree_;
};

/// theta_0 times another kernel, whose parameters follow: a weight within a sum. Without it the parts of a
/// sum count alike.
class WeightedFunction : public KernelFunction {
 public:
  explicit WeightedFunction(KernelFunctionPointer part) : part_(std::move(part)) {}
  Index samples() const override { return part_->samples(); }
  Index parameters() const override { return 1 + part_->parameters(); }
  void Row(std::span<const double> theta, Index i, std::span<double> out) const override;
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override;

 private:
  KernelFunctionPointer part_;
};

/// Made of other kernels, whose parameters stand one after the other. Throws Error(kUsage) unless there are
/// some, on as many samples each.
class ComposedFunction : public KernelFunction {
 public:
  explicit ComposedFunction(std::vector<KernelFunctionPointer> parts);
  Index samples() const override { return parts_[0]->samples(); }
  Index parameters() const override { return parameters_; }

 protected:
  const std::vector<KernelFunctionPointer>& parts() const { return parts_; }

 private:
  std::vector<KernelFunctionPointer> parts_;
  Index parameters_ = 0;
};

/// Their sum: K = sum_k K_k(theta_k). Its derivatives are those of its parts.
class SumFunction : public ComposedFunction {
 public:
  explicit SumFunction(std::vector<KernelFunctionPointer> parts) : ComposedFunction(std::move(parts)) {}
  void Row(std::span<const double> theta, Index i, std::span<double> out) const override;
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override;
};

/// Their product, value by value: K_ij = prod_k K_k,ij(theta_k), positive semidefinite where all parts are
/// (Schur). A derivative is that of one part times the values of all others.
class ProductFunction : public ComposedFunction {
 public:
  explicit ProductFunction(std::vector<KernelFunctionPointer> parts) : ComposedFunction(std::move(parts)) {}
  void Row(std::span<const double> theta, Index i, std::span<double> out) const override;
  void AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                   std::span<double> gradient) const override;
};

/// theta >= 0, sum theta = 1, with mu times the distance from equal weights: mu sum theta_m log(M theta_m),
/// the relative entropy. Large mu keep all M parameters near 1 / M, small ones let few of them have all.
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
