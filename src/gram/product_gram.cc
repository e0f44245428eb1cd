#include "gram/product_gram.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/memory.h"
#include "base/offset.h"
#include "compute/cpu/family_loops.h"
#include "compute/cpu/packed_product.h"
#include "compute/cpu/smo_loops.h"
#include "gram/group.h"
#include "gram/unexpanded_vector.h"
#include "kernel/rbf.h"
#include "kweave/error.h"

namespace kweave {
namespace {

// The features that a parameter's distance is made of.
struct Part {
  std::vector<Index> columns;
  double gamma = 1;
};

// Samples by features, row after row, of several views side by side.
struct SideBySide {
  Index rows = 0, columns = 0;
  std::vector<double> values;
  double* row(Index i) { return values.data() + i * columns; }
};

// Distances do not depend on the mean, rounding does.
SideBySide CenteredFeatures(std::span<const View> views) {
  SideBySide all;
  all.rows = RowCount(views[0].features);
  for (const View& view : views) all.columns += ColumnCount(view.features);
  all.values.assign(all.rows * all.columns, 0.0);
  for (Index i = 0; i < all.rows; ++i) {
    double* row = all.row(i);
    for (const View& view : views) {
      const Index columns = ColumnCount(view.features);
      CopyRow(view.features, i, {row, static_cast<std::size_t>(columns)});
      row += columns;
    }
  }
  std::vector<double> means(all.columns, 0.0);
  for (Index i = 0; i < all.rows; ++i) {
    for (Index f = 0; f < all.columns; ++f) means[f] += all.row(i)[f] / static_cast<double>(all.rows);
  }
  for (Index i = 0; i < all.rows; ++i) {
    for (Index f = 0; f < all.columns; ++f) all.row(i)[f] -= means[f];
  }
  return all;
}

std::vector<Part> PartsOf(const KernelSet& kernels, std::span<const View> views) {
  std::vector<Index> first(views.size() + 1, 0);
  for (std::size_t v = 0; v < views.size(); ++v) first[v + 1] = first[v] + ColumnCount(views[v].features);
  std::vector<Part> parts;
  for (Index m = 0; m < kernels.size(); ++m) {
    if (kernels.IsComposite(m) || kernels.Term(m).kind != &kRbf) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("a learned product is one of rbf kernels, but {} is none", kernels.Name(m)));
    }
    const KernelTerm term = kernels.Term(m);
    Part& part = parts.emplace_back();
    part.gamma = term.parameters[kRbfGamma];
    const FeatureSubset& subset = kernels.subsets[term.subset];
    if (subset.empty()) {
      part.columns.resize(first[term.view + 1] - first[term.view]);
      std::iota(part.columns.begin(), part.columns.end(), first[term.view]);
    }
    for (std::int32_t column : subset) part.columns.push_back(first[term.view] + column);
  }
  return parts;
}

void FinishDistances(float* values, Index count, float norm, const float* norms) {
  kSquaredDistanceQuantity.finish_f32(values, count, norm, norms);
}
void FinishDistances(double* values, Index count, double norm, const double* norms) {
  kSquaredDistanceQuantity.finish_f64(values, count, norm, norms);
}

// Distances of samples come from differences of squared norms. Where norms are so large that rounding moves
// an exponent by more than this, those that are not lost in it are found anew, feature by feature: losses
// count an error of outputs C times.
template <class T>
constexpr T kMostNoise = std::is_same_v<T, float> ? 1e-4 : 1e-12;

// Samples with their features scaled, ready for products.
template <class T>
struct ScaledSamples {
  PackedSamples<T> packed;
  AlignedVector<T> squared_norms;
  Index count() const { return packed.count; }

  /// out[r * stride + (j - begin)] = exp(-||x_r - x_j||^2) - 1 between samples `rows` of `left` and begin <=
  /// j < end of these; `begin` is a multiple of kPackedBlock.
  void KernelValues(const ScaledSamples& left, std::span<const Index> rows, Index begin, Index end, T* out,
                    Index stride) const {
    thread_local AlignedVector<T> gathered, distances;
    const Index features = packed.features, width = end - begin;
    gathered.resize(rows.size() * features);
    distances.resize(rows.size() * width);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      left.packed.CopySample(rows[r], gathered.data() + r * features);
    }
    PackedProduct<T>(gathered.data(), static_cast<Index>(rows.size()), packed, begin, end, false,
                     distances.data(), width);
    constexpr T kOne[] = {1};
    for (std::size_t r = 0; r < rows.size(); ++r) {
      T* row = distances.data() + r * width;
      FinishDistances(row, width, left.squared_norms[rows[r]], squared_norms.data() + begin);
      RefineDistances(gathered.data() + r * features, left.squared_norms[rows[r]], begin,
                      {row, Offset(width)});
      std::fill_n(out + r * stride, width, T{0});
      AddExponentials<T>(row, width, kOne, kOne, out + r * stride);
    }
  }

  /// From one sample to those from `begin` on.
  void RefineDistances(const T* sample, T norm, Index begin, std::span<T> distances) const {
    const T features = static_cast<T>(packed.features), least = std::log(std::numeric_limits<T>::min());
    for (std::size_t k = 0; k < distances.size(); ++k) {
      const Index j = begin + static_cast<Index>(k);
      const T noise = features * std::numeric_limits<T>::epsilon() * (norm + squared_norms[Offset(j)]);
      if (!(noise > kMostNoise<T>) || distances[k] > noise - least) continue;
      distances[k] = 0;
      for (Index f = 0; f < packed.features; ++f) {
        const T difference = sample[f] - packed.at(j, f);
        distances[k] += difference * difference;
      }
    }
  }
};

template <class T>
class ProductGram final : public Gram {
 public:
  ProductGram(std::vector<Part> parts, SideBySide features, ThreadPool& pool)
      : Gram({.left_count = features.rows,
              .right_count = features.rows,
              .kernels = static_cast<Index>(parts.size()),
              .is_sum = false}),
        parts_(std::move(parts)),
        features_(std::move(features)),
        pool_(pool) {}

  std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) override {
    std::vector<VectorAnswer> answers(requests.size());
    for (std::size_t v = 0; v < requests.size(); ++v) {
      if (requests[v].keeps_expansion) {
        answers[v].expansion = std::make_unique<UnexpandedVector>(*this, requests[v].a);
      }
      if (requests[v].theta.empty()) continue;
      const std::shared_ptr<const LearnedMatrix> at = Learn(requests[v].theta);
      const auto& learned = static_cast<const ProductKernel&>(*at);
      if (requests[v].has_outputs()) answers[v].outputs = learned.Multiply(requests[v].a);
      if (requests[v].wants_quadratics) answers[v].quadratics = Gradients(learned, requests[v].a);
    }
    return answers;
  }

 protected:
  std::shared_ptr<const LearnedMatrix> MakeLearned(std::span<const double> theta) override {
    return std::make_shared<ProductKernel>(*this, theta);
  }

 private:
  // The features in use, each times the root of its weight.
  class ProductKernel final : public LearnedMatrix {
   public:
    ProductKernel(ProductGram& gram, std::span<const double> theta)
        : LearnedMatrix(theta, /*shift=*/1), gram_(gram) {
      std::vector<double> weights(gram.features_.columns, 0.0);
      for (std::size_t m = 0; m < gram.parts_.size(); ++m) {
        for (Index f : gram.parts_[m].columns) weights[f] += theta[m] * gram.parts_[m].gamma;
      }
      for (Index f = 0; f < gram.features_.columns; ++f) {
        if (!(weights[f] > 0)) continue;
        active_.push_back(f);
        factors_.push_back(std::sqrt(weights[f]));
      }
      std::vector<Index> everyone(gram.features_.rows);
      std::iota(everyone.begin(), everyone.end(), Index{0});
      all_ = Scale(everyone);
    }

    void Rows(std::span<const Index> rows, float* out, Index stride) const override {
      FillRows(rows, out, stride);
    }
    void Rows(std::span<const Index> rows, double* out, Index stride) const override {
      FillRows(rows, out, stride);
    }
    void Diagonal(std::span<double> out) const override { std::fill(out.begin(), out.end(), 0.0); }

    ScaledSamples<T> Scale(std::span<const Index> samples) const {
      const auto count = static_cast<Index>(samples.size());
      ScaledSamples<T> scaled{PackedSamples<T>(count, static_cast<Index>(active_.size())),
                              AlignedVector<T>(count, T{0})};
      for (Index i = 0; i < count; ++i) {
        const double* x = gram_.features_.row(samples[i]);
        double sum = 0;
        for (std::size_t k = 0; k < active_.size(); ++k) {
          const T value = static_cast<T>(x[active_[k]] * factors_[k]);
          scaled.packed.at(i, static_cast<Index>(k)) = value;
          sum += static_cast<double>(value) * static_cast<double>(value);
        }
        scaled.squared_norms[i] = static_cast<T>(sum);
      }
      return scaled;
    }

    // K a.
    std::vector<double> Multiply(std::span<const double> a) const {
      const SupportVector support = MakeSupport(a);
      gram_.CountRows(static_cast<std::int64_t>(support.rows.size()));
      std::vector<double> out(gram_.features_.rows, support.sum);
      gram_.pool_.ParallelFor(gram_.features_.rows, kColumnBlock, [&](Index begin, Index end, int) {
        const Index width = end - begin;
        AlignedVector<T> values(kRowsPerCall * width);
        std::vector<const T*> pointers;
        for (std::size_t first = 0; first < support.rows.size(); first += kRowsPerCall) {
          const std::size_t count = std::min<std::size_t>(kRowsPerCall, support.rows.size() - first);
          all_.KernelValues(all_, std::span(support.rows).subspan(first, count), begin, end, values.data(),
                            width);
          pointers.clear();
          for (std::size_t r = 0; r < count; ++r) pointers.push_back(values.data() + r * width);
          AddScaledRows<T>(support.factors.data() + first, pointers.data(), static_cast<Index>(count), 0,
                           out.data() + begin, width);
        }
      });
      return out;
    }

   private:
    template <class Out>
    void FillRows(std::span<const Index> rows, Out* out, Index stride) const {
      gram_.CountRows(static_cast<std::int64_t>(rows.size()));
      for (std::size_t first = 0; first < rows.size(); first += kRowsPerCall) {
        const auto batch = rows.subspan(first, std::min<std::size_t>(kRowsPerCall, rows.size() - first));
        gram_.pool_.ParallelFor(gram_.features_.rows, kColumnBlock, [&](Index begin, Index end, int) {
          if constexpr (std::is_same_v<T, Out>) {
            all_.KernelValues(all_, batch, begin, end, out + first * stride + begin, stride);
          } else {
            const Index width = end - begin;
            AlignedVector<T> values(batch.size() * width);
            all_.KernelValues(all_, batch, begin, end, values.data(), width);
            for (std::size_t r = 0; r < batch.size(); ++r) {
              std::copy_n(values.data() + r * width, width, out + (first + r) * stride + begin);
            }
          }
        });
      }
    }

    ProductGram& gram_;
    std::vector<Index> active_;    // features with a weight
    std::vector<double> factors_;  // its root
    ScaledSamples<T> all_;
  };

  // a' (dK / dtheta_m) a for every parameter.
  std::vector<double> Gradients(const ProductKernel& learned, std::span<const double> a) {
    const std::vector<double> by_feature = FeatureDerivatives(learned, a);
    std::vector<double> gradients;
    for (const Part& part : parts_) {
      double sum = 0;
      for (Index f : part.columns) sum += by_feature[f];
      gradients.push_back(-part.gamma * sum);
    }
    return gradients;
  }

  // sum_ij a_i a_j K_ij (x_if - x_jf)^2 for every feature f.
  std::vector<double> FeatureDerivatives(const ProductKernel& learned, std::span<const double> a) {
    const SupportVector support = MakeSupport(a);
    const auto count = static_cast<Index>(support.rows.size());
    const Index columns = features_.columns, blocks = (count + kRowsPerCall - 1) / kRowsPerCall;
    const ScaledSamples<T> scaled = learned.Scale(support.rows);
    PackedSamples<T> by_feature(columns, count);  // the features are what it has rows of
    for (Index i = 0; i < count; ++i) {
      for (Index f = 0; f < columns; ++f)
        by_feature.at(f, i) = static_cast<T>(features_.row(support.rows[i])[f]);
    }
    CountRows(count);
    std::vector<double> sums(blocks * columns, 0.0);
    pool_.ParallelFor(blocks, 1, [&](Index block, Index, int) {
      std::vector<Index> rows(std::min(kRowsPerCall, count - block * kRowsPerCall));
      std::iota(rows.begin(), rows.end(), block * kRowsPerCall);
      AddDerivatives(support, scaled, by_feature, rows, sums.data() + block * columns);
    });
    std::vector<double> totals(columns, 0.0);
    for (std::size_t s = 0; s < sums.size(); ++s) totals[s % columns] += sums[s];
    return totals;
  }

  // The share of some rows of the support.
  void AddDerivatives(const SupportVector& support, const ScaledSamples<T>& scaled,
                      const PackedSamples<T>& by_feature, std::span<const Index> rows, double* sums) {
    const Index count = scaled.count(), columns = by_feature.count;
    AlignedVector<T> values(rows.size() * count), products(rows.size() * columns);
    scaled.KernelValues(scaled, rows, 0, count, values.data(), count);
    std::vector<double> row_sums(rows.size(), 0.0);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      T* row = values.data() + r * count;
      for (Index j = 0; j < count; ++j) {
        row[j] =
            static_cast<T>((1 + static_cast<double>(row[j])) * support.factors[rows[r]] * support.factors[j]);
        row_sums[r] += static_cast<double>(row[j]);
      }
    }
    PackedProduct<T>(values.data(), static_cast<Index>(rows.size()), by_feature, 0, columns, false,
                     products.data(), columns);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double* x = features_.row(support.rows[rows[r]]);
      for (Index f = 0; f < columns; ++f) {
        sums[f] += 2 * x[f] * (row_sums[r] * x[f] - static_cast<double>(products[r * columns + f]));
      }
    }
  }

  const std::vector<Part> parts_;
  SideBySide features_;
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<Gram> MakeProductGram(const KernelSet& kernels, std::span<const View> views, bool use_float,
                                      ThreadPool& pool) {
  std::vector<Part> parts = PartsOf(kernels, views);
  if (use_float) return std::make_unique<ProductGram<float>>(std::move(parts), CenteredFeatures(views), pool);
  return std::make_unique<ProductGram<double>>(std::move(parts), CenteredFeatures(views), pool);
}

}  // namespace kweave
