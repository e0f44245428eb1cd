#include "gram/base_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "compute/cpu/family_loops.h"
#include "data/matrix_file.h"
#include "gram/panel.h"
#include "gram/sequence_block.h"
#include "gram/sparse_samples.h"
#include "kweave/error.h"

namespace kweave {
namespace {

// Up to this many features a sum over them beats a matrix product, and loses no digits.
constexpr Index kFewFeatures = 8;

void Finish(const BaseQuantity& quantity, float* values, Index count, float norm, const float* norms) {
  if (quantity.finish_f32 != nullptr) quantity.finish_f32(values, count, norm, norms);
}
void Finish(const BaseQuantity& quantity, double* values, Index count, double norm, const double* norms) {
  if (quantity.finish_f64 != nullptr) quantity.finish_f64(values, count, norm, norms);
}

// The quantity of x with itself, from its squared norm.
double FinishDiagonal(const BaseQuantity& quantity, double squared_norm) {
  double value = squared_norm;
  Finish(quantity, &value, 1, squared_norm, &squared_norm);
  return value;
}

template <class T>
double LargestNorm(std::span<const T> squared_norms) {
  T largest = 0;
  for (T value : squared_norms) largest = std::max(largest, value);
  return std::sqrt(static_cast<double>(largest));
}

// The same for sparse products, and for sums over features.
constexpr Index kCheapTerms = 16;

// From this share of zeros on, sums over the other features of the left sample take less time.
constexpr double kMostlyZero = 0.5;

// Differences of so few samples are summed up in no time, and kernels much narrower than the distances
// between samples need their digits.
constexpr Index kFewSamples = 512;

// Sums of float32 values may exceed an exact bound by their rounding: some units of 6e-8 for every run of
// features.
constexpr double kRoundedSums = 1 + 1e-5;

// The largest distance two samples of these norms can have, squared; for other quantities no bound is needed.
double NormBound(const BaseQuantity& quantity, double left_norm, double right_norm) {
  if (!quantity.is_translation_invariant) return std::numeric_limits<double>::infinity();
  return (left_norm + right_norm) * (left_norm + right_norm) * kRoundedSums;
}

// Of squared distances as ||x||^2 + ||z||^2 - 2 <x,z>, each a sum of `terms` products: the error follows the
// norms, and samples of different norms have a distance. Where norms are sorted, neighbours are the worst
// pairs.
template <class T>
std::vector<BaseRounding> RoundingOfDistances(const BaseQuantity& quantity, std::span<const T> left,
                                              std::span<const T> right, Index terms) {
  std::vector<BaseRounding> rounding;
  if (!quantity.is_translation_invariant || !std::is_same_v<T, double>) return rounding;
  std::vector<double> norms(left.begin(), left.end());
  if (right.data() != left.data()) norms.insert(norms.end(), right.begin(), right.end());
  for (double& norm : norms) norm = std::sqrt(norm);
  std::ranges::sort(norms, std::greater{});
  // (terms + 3) u (||x|| + ||z||)^2 for the sums and what is done with them, u being half of epsilon.
  const double unit = 0.5 * std::numeric_limits<double>::epsilon() * static_cast<double>(terms + 3);
  for (std::size_t i = 1; i < norms.size(); ++i) {
    const double sum = norms[i - 1] + norms[i], difference = norms[i - 1] - norms[i];
    const double least = std::isfinite(difference) ? difference * difference : 0;
    if (!rounding.empty() && least >= rounding.back().least) continue;
    rounding.push_back({unit * sum * sum, least});
    if (least == 0) break;
  }
  return rounding;
}

// Whether samples that may be close to each other are so far from the rest that products lose the digits of
// their distance. `squared_norms` are those of all samples.
bool LosesDigits(std::span<const BaseRounding> rounding, std::vector<double> squared_norms) {
  constexpr double kLostShare = 1e-8;  // of a usual squared distance: half of the digits are left
  if (rounding.empty()) return false;
  // That of a tenth of the samples, as most may have a huge value; of samples that are not all in one place.
  std::erase(squared_norms, 0.0);
  if (squared_norms.empty()) return false;
  const auto tenth = squared_norms.begin() + static_cast<std::ptrdiff_t>(squared_norms.size() / 10);
  std::ranges::nth_element(squared_norms, tenth);
  const double typical = 4 * *tenth;
  return std::ranges::any_of(rounding, [&](const BaseRounding& at) {
    return at.least <= typical && !(at.error <= kLostShare * typical);
  });
}

// The distance of a training sample to itself, of which products leave some units in the last place of its
// norm: the bounds on their rounding are for pairs of different samples.
template <class T>
void ClearDiagonal(const BaseQuantity& quantity, std::span<const Index> rows, Index begin, Index end, T* out,
                   Index stride) {
  if (!quantity.is_translation_invariant) return;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r] >= begin && rows[r] < end) out[static_cast<Index>(r) * stride + rows[r] - begin] = 0;
  }
}

// Inner products of dense features by matrix products.
template <class T>
class DenseProducts : public BaseBlock<T> {
 public:
  DenseProducts(const BaseRequest& request, const BasePlan& plan)
      : quantity_(*request.quantity),
        left_view_(*request.left),
        subset_(*request.subset),
        features_(SubsetSize(request.left->features, subset_)) {
    if (quantity_.is_translation_invariant) center_ = ColumnCenters(left_view_.features, subset_);
    left_ = PackSamples<T>(left_view_.features, subset_, center_);
    if (!request.is_training) right_ = PackSamples<T>(request.right->features, subset_, center_);
    right_panel_ = request.is_training ? &left_ : &right_;
    this->traits_.is_cheap = plan.is_cheap;
    this->traits_.upper_bound = NormBound(quantity_, LargestNorm<T>(left_.squared_norms),
                                          LargestNorm<T>(right_panel_->squared_norms));
    this->traits_.rounding =
        RoundingOfDistances<T>(quantity_, left_.squared_norms, right_panel_->squared_norms, features_);
  }

  bool LosesDigits() const {
    return kweave::LosesDigits(this->traits_.rounding,
                               {left_.squared_norms.begin(), left_.squared_norms.end()});
  }

  void DropCopies() override {
    left_.samples = {};
    has_copy_ = false;
  }
  void GatherLeft(std::span<const Index> rows, AlignedVector<T>& left) const override {
    if (!has_copy_ && !rows.empty()) {
      left_ = PackSamples<T>(left_view_.features, subset_, center_);
      has_copy_ = true;
    }
    const Index d = features_;
    left.resize(rows.size() * d);
    for (std::size_t r = 0; r < rows.size(); ++r) left_.samples.CopySample(rows[r], left.data() + r * d);
  }
  void Compute(std::span<const Index> rows, const AlignedVector<T>& left, Index begin, Index end, T* out,
               Index stride) const override {
    PackedProduct<T>(left.data(), static_cast<Index>(rows.size()), right_panel_->samples, begin, end,
                     /*add=*/false, out, stride);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Finish(quantity_, out + r * stride, end - begin, left_.squared_norms[rows[r]],
             right_panel_->squared_norms.data() + begin);
    }
    if (right_panel_ == &left_) ClearDiagonal(quantity_, rows, begin, end, out, stride);
  }
  double LeftDiagonal(Index i) const override { return FinishDiagonal(quantity_, left_.squared_norms[i]); }
  double RightDiagonal(Index j) const override {
    return FinishDiagonal(quantity_, right_panel_->squared_norms[j]);
  }

 private:
  const BaseQuantity& quantity_;
  const View& left_view_;
  const FeatureSubset& subset_;
  const Index features_;
  std::vector<double> center_;
  mutable Panel<T> left_;  // the samples may be dropped, their norms stay
  mutable bool has_copy_ = true;
  Panel<T> right_;
  const Panel<T>* right_panel_ = nullptr;
};

// Inner products of sparse rows.
template <class T>
class SparseProducts : public BaseBlock<T> {
 public:
  // Columns that no left row has add nothing to a product; they count in the norms of the right rows.
  SparseProducts(const BaseRequest& request, const BasePlan& plan)
      : quantity_(*request.quantity), sides_(*request.left, *request.right, request.is_training) {
    left_norms_ = SquaredNorms(std::get<SparseRows>(request.left->features));
    if (!request.is_training) own_right_norms_ = SquaredNorms(std::get<SparseRows>(request.right->features));
    right_norms_ = request.is_training ? left_norms_ : own_right_norms_;
    this->traits_.is_cheap = plan.is_cheap;
    this->traits_.upper_bound =
        NormBound(quantity_, LargestNorm<T>(left_norms_), LargestNorm<T>(right_norms_));
    this->traits_.rounding = RoundingOfDistances<T>(
        quantity_, left_norms_, right_norms_, MostEntries(std::get<SparseRows>(request.left->features)));
  }

  void GatherLeft(std::span<const Index>, AlignedVector<T>&) const override {}
  void Compute(std::span<const Index> rows, const AlignedVector<T>&, Index begin, Index end, T* out,
               Index stride) const override {
    sides_.Products(rows, {}, begin, end, out, stride);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Finish(quantity_, out + r * stride, end - begin, left_norms_[rows[r]], right_norms_.data() + begin);
    }
    if (right_norms_.data() == left_norms_.data()) ClearDiagonal(quantity_, rows, begin, end, out, stride);
  }
  double LeftDiagonal(Index i) const override { return FinishDiagonal(quantity_, left_norms_[i]); }
  double RightDiagonal(Index j) const override { return FinishDiagonal(quantity_, right_norms_[j]); }

 private:
  static Index MostEntries(const SparseRows& rows) {
    Index most = 0;
    for (Index i = 0; i < rows.rows; ++i) most = std::max(most, rows.offsets[i + 1] - rows.offsets[i]);
    return most;
  }

  static std::vector<T> SquaredNorms(const SparseRows& rows) {
    std::vector<T> norms(rows.rows);
    for (Index i = 0; i < rows.rows; ++i) {
      double sum = 0;
      for (Index e = rows.offsets[i]; e < rows.offsets[i + 1]; ++e) {
        const double value = static_cast<T>(rows.values[e]);
        sum += value * value;
      }
      norms[i] = static_cast<T>(sum);
    }
    return norms;
  }

  const BaseQuantity& quantity_;
  SparseSides<T> sides_;
  std::vector<T> left_norms_, own_right_norms_;
  std::span<const T> right_norms_;
};

// Sums over features, and products of few features.
template <class T>
class FeatureSums : public BaseBlock<T> {
 public:
  FeatureSums(const BaseRequest& request, const BasePlan& plan)
      : quantity_(*request.quantity),
        parameter_(request.parameter),
        features_(SubsetSize(request.left->features, *request.subset)),
        left_count_(RowCount(request.left->features)),
        right_count_(RowCount(request.right->features)) {
    left_ = PackFeatures<T>(request.left->features, *request.subset, {});
    const auto zeros = static_cast<double>(std::ranges::count(left_, T{0}));
    const bool is_mostly_zero = zeros > kMostlyZero * static_cast<double>(left_.size());
    std::vector<double> center;  // differences of double values are as precise without
    if (quantity_.is_translation_invariant && !is_mostly_zero && std::is_same_v<T, float>) {
      center = ColumnCenters(request.left->features, *request.subset);
      left_ = PackFeatures<T>(request.left->features, *request.subset, center);
    }
    if (!request.is_training) right_ = PackFeatures<T>(request.right->features, *request.subset, center);
    right_values_ = request.is_training ? left_.data() : right_.data();
    if (is_mostly_zero) {
      at_zero_.resize(right_count_);
      const std::vector<T> zero(features_, T{0});
      Row(zero.data(), right_values_, features_, right_count_, nullptr, at_zero_.data());
      if (std::is_same_v<T, double> && HasOutliers(at_zero_)) at_zero_ = {};
    }
    const ColumnRange left = ColumnRanges(request.left->features, *request.subset);
    const ColumnRange right = ColumnRanges(request.right->features, *request.subset);
    std::vector<double> low(features_), high(features_);
    for (Index f = 0; f < features_; ++f) {
      low[f] = std::min(left.low[f], right.low[f]);
      high[f] = std::max(left.high[f], right.high[f]);
    }
    this->traits_.is_cheap = plan.is_cheap;
    if (left_count_ == 0 || right_count_ == 0) return;
    const double box = quantity_.grows_with_difference ? quantity_.plain(high, low, parameter_)
                                                       : std::numeric_limits<double>::infinity();
    this->traits_.upper_bound =
        std::min(box, static_cast<double>(features_) * quantity_.most_per_feature) * kRoundedSums;
  }

  void GatherLeft(std::span<const Index> rows, AlignedVector<T>& left) const override {
    left.resize(rows.size() * features_);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (Index f = 0; f < features_; ++f) left[r * features_ + f] = left_[f * left_count_ + rows[r]];
    }
  }
  void Compute(std::span<const Index> rows, const AlignedVector<T>& left, Index begin, Index end, T* out,
               Index stride) const override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const T* x = left.data() + r * features_;
      if (at_zero_.empty()) {
        Row(x, right_values_ + begin, features_, end - begin, nullptr, out + r * stride);
      } else {
        RowOfFewFeatures(x, begin, end - begin, out + r * stride);
      }
    }
  }
  double LeftDiagonal(Index i) const override { return Plain(left_.data() + i, left_count_); }
  double RightDiagonal(Index j) const override { return Plain(right_values_ + j, right_count_); }

 private:
  void Row(const float* x, const float* right, Index features, Index count,
           const ListedFeatures<float>* listed, float* out) const {
    quantity_.row_f32(x, right, features, right_count_, count, listed, parameter_, out);
  }
  void Row(const double* x, const double* right, Index features, Index count,
           const ListedFeatures<double>* listed, double* out) const {
    quantity_.row_f64(x, right, features, right_count_, count, listed, parameter_, out);
  }
  void RowOfFewFeatures(const T* x, Index begin, Index count, T* out) const {
    thread_local std::vector<T> values;
    thread_local std::vector<Index> columns;
    values.clear(), columns.clear();
    for (Index f = 0; f < features_; ++f) {
      if (x[f] == 0) continue;
      values.push_back(x[f]);
      columns.push_back(f);
    }
    const ListedFeatures<T> listed = {columns.data(), at_zero_.data() + begin};
    Row(values.data(), right_values_ + begin, static_cast<Index>(values.size()), count, &listed, out);
  }
  // What zeros give is taken off again where the features of a sample differ, and would take the digits of
  // others with it.
  static bool HasOutliers(std::span<const T> at_zero) {
    constexpr double kLargeShare = 1e6;  // leaves ten digits to the others
    std::vector<double> sizes(at_zero.begin(), at_zero.end());
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    if (sizes.empty()) return false;
    std::ranges::nth_element(sizes, middle);
    return !(*std::ranges::max_element(sizes) <= kLargeShare * *middle) && *middle > 0;
  }
  double Plain(const T* x, Index stride) const {
    std::vector<double> values(features_);
    for (Index f = 0; f < features_; ++f) values[f] = x[f * stride];
    return quantity_.plain(values, values, parameter_);
  }

  const BaseQuantity& quantity_;
  const double parameter_;
  Index features_;
  Index left_count_;
  Index right_count_;
  AlignedVector<T> left_, right_;  // feature after feature
  const T* right_values_ = nullptr;
  AlignedVector<T> at_zero_;  // what a left sample of zeros would give; empty: few features are zero
};

// A matrix on disk whose rows and columns are the training samples.
template <class T>
class TrainingFile : public BaseBlock<T> {
 public:
  explicit TrainingFile(const BaseRequest& request) : file_(request.file->Open()) {
    const Index n = request.left_count;
    if (file_.rows() != n || file_.cols() != n) {
      throw Error(
          ErrorKind::kData,
          fmt::format(
              "{}: holds a {} x {} matrix, expected {} x {}, one row and one column per training sample",
              request.file->name, file_.rows(), file_.cols(), n, n));
    }
    this->traits_.is_cheap = true;
    const std::size_t value_bytes = file_.is_float32() ? sizeof(float) : sizeof(double);
    if (file_.is_mapped()) this->traits_.resident_bytes = file_.rows() * file_.cols() * value_bytes;
    if (!std::is_same_v<T, double>) return;
    for (Index i = 0; i < n; ++i) {
      this->traits_.largest_stored = std::max(this->traits_.largest_stored, std::abs(FileDiagonal(i)));
    }
  }

  void GatherLeft(std::span<const Index>, AlignedVector<T>&) const override {}
  // Values were checked when the kernels were prepared (kernel/matrix_check.h).
  void Compute(std::span<const Index> rows, const AlignedVector<T>&, Index begin, Index end, T* out,
               Index stride) const override {
    for (std::size_t r = 0; r < rows.size(); ++r) file_.RowPart(rows[r], begin, end, out + r * stride);
  }
  void Release(std::span<const Index> rows) const override {
    if (!rows.empty() && !is_resident_) file_.Release(0, file_.rows());
  }
  void StayResident() override { is_resident_ = true; }
  double LeftDiagonal(Index i) const override { return FileDiagonal(i); }
  double RightDiagonal(Index j) const override { return FileDiagonal(j); }

 private:
  double FileDiagonal(Index i) const {
    if (diagonal_.empty()) {
      diagonal_.resize(file_.rows());
      for (Index k = 0; k < file_.rows(); ++k) file_.RowPart(k, k, k + 1, &diagonal_[k]);
      if (!is_resident_) file_.Release(0, file_.rows());
    }
    return diagonal_[i];
  }

  MatrixFile file_;
  bool is_resident_ = false;
  mutable std::vector<double> diagonal_;  // read when first asked for
};

// A matrix on disk with one row per new sample and one column per training sample or per left sample, then
// perhaps one more with k(x,x) of the new samples. Kept transposed: blocks are asked for by left sample.
template <class T>
class NewSamplesFile : public BaseBlock<T> {
 public:
  explicit NewSamplesFile(const BaseRequest& request) : right_count_(request.right_count) {
    const MatrixFile file = request.file->Open();
    const Index left = request.left_count, extra = request.needs_right_diagonal ? 1 : 0;
    std::vector<Index> columns(request.left_columns.begin(), request.left_columns.end());
    if (columns.empty() || file.cols() == left + extra) {  // the columns are the left samples themselves
      columns.resize(left);
      std::iota(columns.begin(), columns.end(), Index{0});
    }
    const Index needed = columns.empty() ? 0 : *std::ranges::max_element(columns) + 1;
    if (file.rows() != right_count_ || file.cols() < needed + extra) {
      throw Error(
          ErrorKind::kData,
          fmt::format("{}: holds a {} x {} matrix, expected {} rows, one per new sample, and one column per "
                      "training sample or per support vector{}",
                      request.file->name, file.rows(), file.cols(), right_count_,
                      extra == 1 ? ", then one with k(x,x) of the new samples" : ""));
    }
    this->traits_.is_cheap = true;
    std::vector<double> row(file.cols());
    values_.resize(left * right_count_);
    for (Index j = 0; j < right_count_; ++j) {
      file.RowPart(j, 0, file.cols(), row.data());
      CheckRow(file, row, j);
      for (Index i = 0; i < left; ++i) values_[i * right_count_ + j] = static_cast<T>(row[columns[i]]);
      if (extra == 1) diagonal_.push_back(row.back());
    }
  }

  void GatherLeft(std::span<const Index>, AlignedVector<T>&) const override {}
  void Compute(std::span<const Index> rows, const AlignedVector<T>& left, Index begin, Index end, T* out,
               Index stride) const override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::copy_n(values_.data() + rows[r] * right_count_ + begin, end - begin, out + r * stride);
    }
  }
  double LeftDiagonal(Index) const override { return 0; }  // nothing asks for it: the normalisation is fitted
  double RightDiagonal(Index j) const override { return diagonal_.empty() ? 0 : diagonal_[j]; }

 private:
  static void CheckRow(const MatrixFile& file, std::span<const double> row, Index j) {
    const auto bad = std::ranges::find_if_not(row, [](double value) { return std::isfinite(value); });
    if (bad == row.end()) return;
    throw Error(ErrorKind::kData,
                fmt::format("{}: row {}, column {}: value {}, expected a finite number", file.name(),
                            file.RowNumber(j), file.ColumnNumber(bad - row.begin()), *bad));
  }

  Index right_count_;
  AlignedVector<T> values_;  // left samples x right samples
  std::vector<double> diagonal_;
};

BlockKind KindOf(const BaseRequest& request) {
  const BaseQuantity& quantity = *request.quantity;
  if (quantity.source == BaseQuantity::Source::kFile) return BlockKind::kFile;
  if (quantity.source == BaseQuantity::Source::kSequences) return BlockKind::kSequences;
  const Features &left = request.left->features, &right = request.right->features;
  const bool has_rows = quantity.row_f32 != nullptr;
  if (quantity.source == BaseQuantity::Source::kFeatures ||
      (has_rows && SubsetSize(left, *request.subset) <= kFewFeatures)) {
    return BlockKind::kFeatureSums;
  }
  const bool is_sparse =
      std::holds_alternative<SparseRows>(left) && std::holds_alternative<SparseRows>(right);
  return is_sparse && request.subset->empty() ? BlockKind::kSparseProducts : BlockKind::kDenseProducts;
}

}  // namespace

BasePlan PlanBase(const BaseRequest& request, std::size_t value_bytes) {
  BasePlan plan{KindOf(request)};
  const auto of_both_sides = [&](auto bytes) {
    return bytes(request.left->features) + (request.is_training ? 0 : bytes(request.right->features));
  };
  const FeatureSubset& subset = *request.subset;
  switch (plan.kind) {
    case BlockKind::kFile:
      plan.is_cheap = true;
      // That of the training samples is mapped.
      if (!request.is_training) plan.bytes = request.left_count * request.right_count * value_bytes;
      break;
    case BlockKind::kSequences:
      plan.bytes = request.quantity->sequences->bytes(SequencesOf(request));
      break;
    case BlockKind::kFeatureSums: {
      const Index features = SubsetSize(request.left->features, subset);
      plan.is_cheap = features <= kCheapTerms;
      plan.bytes =
          of_both_sides([&](const Features& side) { return RowCount(side) * features * value_bytes; });
      plan.bytes += RowCount(request.right->features) * value_bytes;  // where most values are zero
      break;
    }
    case BlockKind::kSparseProducts: {
      const auto& right = std::get<SparseRows>(request.right->features);
      plan.is_cheap = right.offsets[right.rows] - right.offsets[0] <= kCheapTerms * right.rows;
      plan.bytes = of_both_sides([&](const Features& side) {
        const auto& rows = std::get<SparseRows>(side);
        return SparseSampleBytes(rows, value_bytes) + rows.rows * value_bytes;
      });
      break;
    }
    case BlockKind::kDenseProducts: {
      const Index features = SubsetSize(request.left->features, subset);
      plan.is_cheap = features <= kCheapFeatures;
      plan.bytes = of_both_sides([&](const Features& side) {
        return PackedBytes(RowCount(side), features, value_bytes) + RowCount(side) * value_bytes;
      });
      break;
    }
  }
  return plan;
}

template <class T>
std::unique_ptr<BaseBlock<T>> MakeBaseBlock(const BaseRequest& request) {
  const BasePlan plan = PlanBase(request, sizeof(T));
  switch (plan.kind) {
    case BlockKind::kFile:
      if (request.is_training) return std::make_unique<TrainingFile<T>>(request);
      return std::make_unique<NewSamplesFile<T>>(request);
    case BlockKind::kSequences:
      return MakeSequenceBlock<T>(request);
    case BlockKind::kFeatureSums:
      return std::make_unique<FeatureSums<T>>(request, plan);
    case BlockKind::kSparseProducts:
      return std::make_unique<SparseProducts<T>>(request, plan);
    case BlockKind::kDenseProducts: {
      auto products = std::make_unique<DenseProducts<T>>(request, plan);
      const bool is_exact_cheap =
          std::is_same_v<T, double> && request.is_training && RowCount(request.left->features) <= kFewSamples;
      const bool needs_sums =
          products->LosesDigits() || (is_exact_cheap && request.quantity->is_translation_invariant);
      if (request.quantity->row_f64 == nullptr || !needs_sums) return products;
      products.reset();
      return std::make_unique<FeatureSums<T>>(request, plan);
    }
  }
  return nullptr;
}

template std::unique_ptr<BaseBlock<float>> MakeBaseBlock<float>(const BaseRequest&);
template std::unique_ptr<BaseBlock<double>> MakeBaseBlock<double>(const BaseRequest&);

}  // namespace kweave
