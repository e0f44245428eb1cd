#ifndef KWEAVE_GRAM_LINEAR_FEATURES_H_
#define KWEAVE_GRAM_LINEAR_FEATURES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gram/group.h"
#include "kweave/dataset.h"

namespace kweave {

/// The features of left and right samples as the linear kernels of one view use them: weighted inner products
/// sum_f u_f x_f z_f never form a matrix of all pairs.
template <class T>
class LinearFeatures {
 public:
  virtual ~LinearFeatures() = default;
  /// How many features there are, numbered from 0; of sparse samples only those that occur on the left.
  virtual Index features() const = 0;
  /// The number of a column of the view, or -1.
  virtual Index NumberOf(std::int32_t column) const = 0;
  /// out[r * stride + j] += sum_f u_f x_f z_f over left rows[r] and right begin <= j < end; `out` is at
  /// `begin`.
  virtual void AddProducts(std::span<const T> u, std::span<const Index> rows, Index begin, Index end, T* out,
                           Index stride) const = 0;
  /// out[i] += sum_f u_f x_f^2 over the left samples.
  virtual void AddDiagonal(std::span<const double> u, std::span<double> out) const = 0;
  /// Writes the features of left sample i that are not zero and their values, ascending, centred if products
  /// are.
  virtual void CopyRow(Index i, std::vector<std::int32_t>& numbers, std::vector<double>& values) const = 0;
  /// The mean of x_f^2 over the left samples, for every feature.
  virtual std::vector<double> MeanSquares() const = 0;
  /// The variance of every feature over the left samples; 0 where it is not more than rounding.
  virtual std::vector<double> Variances() const = 0;
  /// v[f] = sum_i a_i x_if over the left samples.
  virtual std::vector<double> Combine(const SupportVector& a) const = 0;
  /// out[j] += sum_f w_f z_jf over right samples begin <= j < end; `out` is at `begin`.
  virtual void AddOutputs(std::span<const double> w, Index begin, Index end, double* out) const = 0;
};

/// With `may_center`, products and diagonal are those of centred features: the same wherever factors sum to
/// zero, and float32 keeps its digits when means are large.
template <class T>
std::unique_ptr<LinearFeatures<T>> MakeLinearFeatures(const View& left, const View& right, bool is_training,
                                                      bool may_center);

/// What those take, with values of so many bytes.
std::size_t LinearFeatureBytes(const View& left, const View& right, bool is_training,
                               std::size_t value_bytes);

}  // namespace kweave

#endif  // KWEAVE_GRAM_LINEAR_FEATURES_H_
