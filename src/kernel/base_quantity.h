#ifndef KWEAVE_KERNEL_BASE_QUANTITY_H_
#define KWEAVE_KERNEL_BASE_QUANTITY_H_

#include <limits>
#include <span>
#include <string_view>

#include "compute/cpu/listed_features.h"
#include "kweave/dataset.h"

namespace kweave {

struct SequenceKernel;

/// The one number of two samples that a kernel is a function of. Kernels that share it (all Gaussians on one
/// view share squared distances) share its computation and its cache.
struct BaseQuantity {
  enum class Source {
    kInnerProduct,  ///< follows from <x,z>, ||x||^2 and ||z||^2: a matrix product and `finish`
    kFeatures,      ///< a sum over features: `row`
    kFile,          ///< read from a matrix on disk
    kSequences,     ///< of two sequences: `sequences`
  };

  std::string_view name;
  Source source = Source::kInnerProduct;
  /// The same when a constant is added to a feature: features may be centred first, which keeps digits.
  bool is_translation_invariant = false;
  /// Defined for features >= 0 only; readers of data check it.
  bool needs_nonnegative_features = false;
  /// 0 for every sample with itself.
  bool is_zero_on_diagonal = false;
  /// kFeatures: the term of a feature grows as its two values move apart, so the corners of the data's box
  /// bound the sum.
  bool grows_with_difference = false;
  /// kFeatures: the largest term a feature can have, whatever its values.
  double most_per_feature = std::numeric_limits<double>::infinity();

  /// kInnerProduct: turns values[j] = <x,z_j> into the quantity in place. Null: <x,z> itself.
  void (*finish_f32)(float* values, Index count, float squared_norm, const float* squared_norms) = nullptr;
  void (*finish_f64)(double* values, Index count, double squared_norm, const double* squared_norms) = nullptr;

  /// kFeatures, and kInnerProduct where few features make it faster: out[j] = quantity(x, z_j) for j < count,
  /// where feature f of z_j is right[f * stride + j]. With a list, x holds the values of the features listed,
  /// and is zero elsewhere; null: all features. `parameter` is that of KernelKind::base_parameter.
  void (*row_f32)(const float* x, const float* right, Index features, Index stride, Index count,
                  const ListedFeatures<float>* listed, double parameter, float* out) = nullptr;
  void (*row_f64)(const double* x, const double* right, Index features, Index stride, Index count,
                  const ListedFeatures<double>* listed, double parameter, double* out) = nullptr;

  /// kSequences: its values (kernel/sequence_kernel.h). They depend on all parameters of the kernel.
  const SequenceKernel* sequences = nullptr;

  /// One pair by a plain loop: what the tests compare with, and what rare paths may use.
  double (*plain)(std::span<const double> x, std::span<const double> z, double parameter) = nullptr;
};

}  // namespace kweave

#endif  // KWEAVE_KERNEL_BASE_QUANTITY_H_
