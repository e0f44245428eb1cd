#include "gram/linear_features.h"

#include <algorithm>
#include <cmath>

#include "base/memory.h"
#include "compute/cpu/family_loops.h"
#include "compute/cpu/packed_product.h"
#include "gram/panel.h"
#include "gram/sparse_samples.h"

namespace kweave {
namespace {

// A spread of a few units in the last place of the mean is that of a constant feature.
void DropRounding(double mean, double& variance) {
  const double rounding = 1e-15 * mean;
  if (std::isfinite(variance) && variance <= rounding * rounding) variance = 0;
}

// Mean and variance of one feature in two passes over what its values exceed `origin`, one of them, by: for a
// constant feature every term is exactly 0, whatever the number of samples. The second pass corrects for the
// rounding of the mean.
struct Spread {
  double origin = 0, mean = 0;  // the mean is that of the excess
  double deviations = 0, squares = 0;

  void AddToMean(double x, double weight) { mean += weight * (x - origin); }
  void AddToVariance(double x, double weight) {
    const double deviation = x - origin - mean;
    deviations += weight * deviation;
    squares += weight * deviation * deviation;
  }
  // `offset` was taken off every value before.
  double Variance(double offset) const {
    double variance = squares - deviations * deviations;
    DropRounding(offset + origin + mean, variance);
    return variance;
  }
};

template <class T>
class DenseLinearFeatures : public LinearFeatures<T> {
 public:
  DenseLinearFeatures(const View& left, const View& right, bool is_training, bool may_center) {
    center_.assign(ColumnCount(left.features), 0.0);
    if (may_center) center_ = ColumnCenters(left.features, {});
    left_ = PackSamples<T>(left.features, {}, center_).samples;
    if (!is_training) right_ = PackSamples<T>(right.features, {}, center_).samples;
    right_samples_ = is_training ? &left_ : &right_;
  }

  Index features() const override { return left_.features; }
  Index NumberOf(std::int32_t column) const override { return column; }

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

  void CopyRow(Index i, std::vector<std::int32_t>& numbers, std::vector<double>& values) const override {
    numbers.clear();
    values.clear();
    for (Index f = 0; f < features(); ++f) {
      const T value = left_.at(i, f);
      if (value == 0) continue;
      numbers.push_back(static_cast<std::int32_t>(f));
      values.push_back(value);
    }
  }

  std::vector<double> MeanSquares() const override {
    std::vector<double> means(features(), 0.0);
    ForValues(left_, 0, left_.count, [&](Index, Index f, double x) {
      means[f] += (x + center_[f]) * (x + center_[f]) / static_cast<double>(left_.count);
    });
    return means;
  }

  std::vector<double> Variances() const override {
    const double weight = 1 / static_cast<double>(left_.count);
    std::vector<Spread> spreads(features());
    for (Index f = 0; f < features(); ++f) spreads[f].origin = static_cast<double>(left_.at(0, f));
    ForValues(left_, 0, left_.count, [&](Index, Index f, double x) { spreads[f].AddToMean(x, weight); });
    ForValues(left_, 0, left_.count, [&](Index, Index f, double x) { spreads[f].AddToVariance(x, weight); });
    std::vector<double> variances(features());
    for (Index f = 0; f < features(); ++f) variances[f] = spreads[f].Variance(center_[f]);
    return variances;
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
  // Calls use(sample, feature, value) for samples begin to end - 1, in the order they are stored; `begin`
  // starts a block.
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
  SparseLinearFeatures(const View& left, const View& right, bool is_training)
      : sides_(left, right, is_training) {}

  Index features() const override { return sides_.columns().size(); }
  Index NumberOf(std::int32_t column) const override { return sides_.columns().NumberOf(column); }

  void AddProducts(std::span<const T> u, std::span<const Index> rows, Index begin, Index end, T* out,
                   Index stride) const override {
    thread_local AlignedVector<T> products;
    const Index width = end - begin;
    products.resize(std::max<std::size_t>(products.size(), rows.size() * width));
    sides_.Products(rows, u, begin, end, products.data(), width);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      AddScaled<T>(products.data() + r * width, width, T{1}, out + r * stride);
    }
  }

  void AddDiagonal(std::span<const double> u, std::span<double> out) const override {
    for (Index i = 0; i < left_.count(); ++i) {
      left_.ForEntries(i, [&](Index f, double x) { out[i] += u[f] * x * x; });
    }
  }

  void CopyRow(Index i, std::vector<std::int32_t>& numbers, std::vector<double>& values) const override {
    numbers.clear();
    values.clear();
    left_.ForEntries(i, [&](Index f, double x) {
      numbers.push_back(static_cast<std::int32_t>(f));
      values.push_back(x);
    });
  }

  std::vector<double> MeanSquares() const override {
    std::vector<double> means(features(), 0.0);
    const double weight = 1 / static_cast<double>(left_.count());
    for (Index i = 0; i < left_.count(); ++i) {
      left_.ForEntries(i, [&](Index f, double x) { means[f] += weight * x * x; });
    }
    return means;
  }

  std::vector<double> Variances() const override {
    const double weight = 1 / static_cast<double>(left_.count());
    std::vector<Index> entries(features(), 0);
    std::vector<Spread> spreads(features());
    for (Index i = 0; i < left_.count(); ++i) {
      left_.ForEntries(i, [&](Index f, double x) {
        ++entries[f];
        spreads[f].origin = x;
      });
    }
    // A feature that some samples lack is zero there.
    std::vector<double> zeros(features());
    for (Index f = 0; f < features(); ++f) {
      zeros[f] = weight * static_cast<double>(left_.count() - entries[f]);
      if (zeros[f] > 0) spreads[f].origin = 0;
    }
    for (Index i = 0; i < left_.count(); ++i) {
      left_.ForEntries(i, [&](Index f, double x) { spreads[f].AddToMean(x, weight); });
    }
    for (Index i = 0; i < left_.count(); ++i) {
      left_.ForEntries(i, [&](Index f, double x) { spreads[f].AddToVariance(x, weight); });
    }
    std::vector<double> variances(features());
    for (Index f = 0; f < features(); ++f) {
      spreads[f].AddToVariance(0, zeros[f]);
      variances[f] = spreads[f].Variance(0);
    }
    return variances;
  }

  std::vector<double> Combine(const SupportVector& a) const override {
    std::vector<double> v(features(), 0.0);
    for (std::size_t s = 0; s < a.rows.size(); ++s) {
      left_.ForEntries(a.rows[s], [&](Index f, double x) { v[f] += a.factors[s] * x; });
    }
    return v;
  }

  void AddOutputs(std::span<const double> w, Index begin, Index end, double* out) const override {
    for (Index j = begin; j < end; ++j) {
      sides_.right().ForEntries(j, [&](Index f, double z) { out[j - begin] += w[f] * z; });
    }
  }

 private:
  SparseSides<T> sides_;
  const SparseSamples<T>& left_ = sides_.left();
};

bool AreSparse(const View& left, const View& right) {
  return std::holds_alternative<SparseRows>(left.features) &&
         std::holds_alternative<SparseRows>(right.features);
}

}  // namespace

template <class T>
std::unique_ptr<LinearFeatures<T>> MakeLinearFeatures(const View& left, const View& right, bool is_training,
                                                      bool may_center) {
  if (AreSparse(left, right)) {
    return std::make_unique<SparseLinearFeatures<T>>(left, right, is_training);
  }
  return std::make_unique<DenseLinearFeatures<T>>(left, right, is_training, may_center);
}

std::size_t LinearFeatureBytes(const View& left, const View& right, bool is_training,
                               std::size_t value_bytes) {
  const auto bytes = [&](const Features& side) {
    if (AreSparse(left, right)) return SparseSampleBytes(std::get<SparseRows>(side), value_bytes);
    return PackedBytes(RowCount(side), ColumnCount(left.features), value_bytes);
  };
  return bytes(left.features) + (is_training ? 0 : bytes(right.features));
}

template std::unique_ptr<LinearFeatures<float>> MakeLinearFeatures(const View&, const View&, bool, bool);
template std::unique_ptr<LinearFeatures<double>> MakeLinearFeatures(const View&, const View&, bool, bool);

}  // namespace kweave
