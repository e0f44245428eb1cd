#include "gram/linear_features.h"

#include <algorithm>

#include "base/memory.h"
#include "compute/cpu/family_loops.h"
#include "compute/cpu/packed_product.h"
#include "gram/panel.h"

namespace kweave {
namespace {

template <class T>
class DenseLinearFeatures : public LinearFeatures<T> {
 public:
  DenseLinearFeatures(const View& left, const View& right, bool is_training, bool may_center) {
    center_.assign(ColumnCount(left.features), 0.0);
    if (may_center) center_ = ColumnMeans(left.features, {});
    left_ = PackSamples<T>(left.features, {}, center_).samples;
    if (!is_training) right_ = PackSamples<T>(right.features, {}, center_).samples;
    right_samples_ = is_training ? &left_ : &right_;
  }

  Index features() const override { return left_.features; }

  void AddProducts(std::span<const T> u, std::span<const Index> rows, Index begin, Index end, T* out,
                   Index stride) const override {
    thread_local AlignedVector<T> weighted;
    const Index d = features();
    weighted.resize(std::max<std::size_t>(weighted.size(), rows.size() * d));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      left_.CopySample(rows[r], weighted.data() + r * d);
      for (Index f = 0; f < d; ++f) weighted[r * d + f] *= u[f];
    }
    PackedProduct<T>(weighted.data(), static_cast<Index>(rows.size()), *right_samples_, begin, end,
                     /*add=*/true, out, stride);
  }

  void AddDiagonal(std::span<const double> u, std::span<double> out) const override {
    ForValues(left_, 0, left_.count, [&](Index i, Index f, double x) { out[i] += u[f] * x * x; });
  }

  std::vector<double> MeanSquares() const override {
    std::vector<double> means(features(), 0.0);
    ForValues(left_, 0, left_.count, [&](Index, Index f, double x) {
      means[f] += (x + center_[f]) * (x + center_[f]) / static_cast<double>(left_.count);
    });
    return means;
  }

  std::vector<double> Combine(const SupportVector& a) const override {
    std::vector<double> v(features(), 0.0);
    std::vector<T> x(features());
    for (std::size_t s = 0; s < a.rows.size(); ++s) {
      left_.CopySample(a.rows[s], x.data());
      for (Index f = 0; f < features(); ++f) v[f] += a.factors[s] * static_cast<double>(x[f]);
    }
    for (Index f = 0; f < features(); ++f) v[f] += a.sum * center_[f];
    return v;
  }

  void AddOutputs(std::span<const double> w, Index begin, Index end, double* out) const override {
    double offset = 0;
    for (Index f = 0; f < features(); ++f) offset += w[f] * center_[f];
    for (Index j = begin; j < end; ++j) out[j - begin] += offset;
    ForValues(*right_samples_, begin, end, [&](Index j, Index f, double z) { out[j - begin] += w[f] * z; });
  }

 private:
  // Calls use(sample, feature, value) for samples begin to end - 1, in the order they are stored; `begin` starts a block.
  template <class Use>
  static void ForValues(const PackedSamples<T>& samples, Index begin, Index end, Use use) {
    for (Index first = begin; first < end; first += kPackedBlock) {
      const Index count = std::min(kPackedBlock, end - first);
      const T* block = samples.values.data() + first * samples.features;
      for (Index f = 0; f < samples.features; ++f) {
        for (Index lane = 0; lane < count; ++lane)
          use(first + lane, f, static_cast<double>(block[f * kPackedBlock + lane]));
      }
    }
  }

  std::vector<double> center_;  // what the packed samples leave out
  PackedSamples<T> left_, right_;
  const PackedSamples<T>* right_samples_ = nullptr;
};

template <class T>
class SparseLinearFeatures : public LinearFeatures<T> {
 public:
  SparseLinearFeatures(const View& left, const View& right)
      : left_(std::get<SparseRows>(left.features)), right_(std::get<SparseRows>(right.features)) {}

  Index features() const override { return std::max(left_.cols, right_.cols); }

  void AddProducts(std::span<const T> u, std::span<const Index> rows, Index begin, Index end, T* out,
                   Index stride) const override {
    thread_local AlignedVector<T> spread, products;
    spread.assign(features() * kLanes, T{0});
    products.resize(std::max<std::size_t>(products.size(), kLanes * (end - begin)));
    for (std::size_t first = 0; first < rows.size(); first += kLanes) {
      const Index some = std::min<Index>(kLanes, static_cast<Index>(rows.size() - first));
      for (Index r = 0; r < some; ++r) Spread(rows[first + r], r, &u, spread);
      SparseDots<T>(right_.offsets, right_.columns, right_.values, begin, end, spread.data(), products.data(),
                    end - begin, some);
      for (Index r = 0; r < some; ++r) {
        AddScaled<T>(products.data() + r * (end - begin), end - begin, T{1}, out + (first + r) * stride);
        Spread(rows[first + r], r, nullptr, spread);
      }
    }
  }

  void AddDiagonal(std::span<const double> u, std::span<double> out) const override {
    for (Index i = 0; i < left_.rows; ++i) {
      for (Index e = left_.offsets[i]; e < left_.offsets[i + 1]; ++e) {
        out[i] += u[left_.columns[e]] * left_.values[e] * left_.values[e];
      }
    }
  }

  std::vector<double> MeanSquares() const override {
    std::vector<double> means(features(), 0.0);
    for (Index e = 0; e < left_.offsets[left_.rows]; ++e) {
      means[left_.columns[e]] += left_.values[e] * left_.values[e] / static_cast<double>(left_.rows);
    }
    return means;
  }

  std::vector<double> Combine(const SupportVector& a) const override {
    std::vector<double> v(features(), 0.0);
    for (std::size_t s = 0; s < a.rows.size(); ++s) {
      for (Index e = left_.offsets[a.rows[s]]; e < left_.offsets[a.rows[s] + 1]; ++e) {
        v[left_.columns[e]] += a.factors[s] * left_.values[e];
      }
    }
    return v;
  }

  void AddOutputs(std::span<const double> w, Index begin, Index end, double* out) const override {
    for (Index j = begin; j < end; ++j) {
      double sum = 0;
      for (Index e = right_.offsets[j]; e < right_.offsets[j + 1]; ++e)
        sum += w[right_.columns[e]] * right_.values[e];
      out[j - begin] += sum;
    }
  }

 private:
  static constexpr Index kLanes = 16;

  // Writes a left row, weighted, into one lane; zeros without weights.
  void Spread(Index row, Index lane, const std::span<const T>* u, AlignedVector<T>& spread) const {
    for (Index e = left_.offsets[row]; e < left_.offsets[row + 1]; ++e) {
      const std::int32_t f = left_.columns[e];
      spread[f * kLanes + lane] = u == nullptr ? T{0} : (*u)[f] * static_cast<T>(left_.values[e]);
    }
  }

  const SparseRows& left_;
  const SparseRows& right_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearFeatures<T>> MakeLinearFeatures(const View& left, const View& right, bool is_training,
                                                      bool may_center) {
  if (std::holds_alternative<SparseRows>(left.features) &&
      std::holds_alternative<SparseRows>(right.features)) {
    return std::make_unique<SparseLinearFeatures<T>>(left, right);
  }
  return std::make_unique<DenseLinearFeatures<T>>(left, right, is_training, may_center);
}

template std::unique_ptr<LinearFeatures<float>> MakeLinearFeatures(const View&, const View&, bool, bool);
template std::unique_ptr<LinearFeatures<double>> MakeLinearFeatures(const View&, const View&, bool, bool);

}  // namespace kweave
