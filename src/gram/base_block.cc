#include "gram/base_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "compute/cpu/family_loops.h"
#include "data/matrix_file.h"
#include "gram/panel.h"
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
constexpr Index kCheapEntries = 16, kCheapSummedFeatures = 16;

// From this share of zeros on, sums over the other features of the left sample take less time.
constexpr double kMostlyZero = 0.5;

// The largest distance two samples of these norms can have, squared; for other quantities no bound is needed.
double NormBound(const BaseQuantity& quantity, double left_norm, double right_norm) {
  if (!quantity.is_translation_invariant) return std::numeric_limits<double>::infinity();
  return (left_norm + right_norm) * (left_norm + right_norm) * (1 + 1e-5);
}

// Inner products of dense features by matrix products.
template <class T>
class DenseProducts : public BaseBlock<T> {
 public:
  explicit DenseProducts(const BaseRequest& request)
      : quantity_(*request.quantity),
        left_view_(*request.left),
        subset_(*request.subset),
        features_(SubsetSize(request.left->features, subset_)) {
    if (quantity_.is_translation_invariant) center_ = ColumnMeans(left_view_.features, subset_);
    left_ = PackSamples<T>(left_view_.features, subset_, center_);
    if (!request.is_training) right_ = PackSamples<T>(request.right->features, subset_, center_);
    right_panel_ = request.is_training ? &left_ : &right_;
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
  }
  double LeftDiagonal(Index i) const override { return FinishDiagonal(quantity_, left_.squared_norms[i]); }
  double RightDiagonal(Index j) const override {
    return FinishDiagonal(quantity_, right_panel_->squared_norms[j]);
  }
  double UpperBound() const override {
    return NormBound(quantity_, LargestNorm<T>(left_.squared_norms),
                     LargestNorm<T>(right_panel_->squared_norms));
  }
  bool IsCheap() const override { return features_ <= kCheapFeatures; }

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
  explicit SparseProducts(const BaseRequest& request)
      : SparseProducts(*request.quantity, std::get<SparseRows>(request.left->features),
                       std::get<SparseRows>(request.right->features)) {}

  void GatherLeft(std::span<const Index>, AlignedVector<T>&) const override {}
  void Compute(std::span<const Index> rows, const AlignedVector<T>&, Index begin, Index end, T* out,
               Index stride) const override {
    right_.Products(left_, rows, {}, columns_.size(), begin, end, out, stride);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Finish(quantity_, out + r * stride, end - begin, left_norms_[rows[r]], right_norms_.data() + begin);
    }
  }
  double LeftDiagonal(Index i) const override { return FinishDiagonal(quantity_, left_norms_[i]); }
  double RightDiagonal(Index j) const override { return FinishDiagonal(quantity_, right_norms_[j]); }
  double UpperBound() const override {
    return NormBound(quantity_, LargestNorm<T>(left_norms_), LargestNorm<T>(right_norms_));
  }
  bool IsCheap() const override { return right_.entries() <= kCheapEntries * right_.count(); }

 private:
  // Columns that no left row has add nothing to a product; they count in the norms of the right rows.
  SparseProducts(const BaseQuantity& quantity, const SparseRows& left, const SparseRows& right)
      : quantity_(quantity),
        columns_(left),
        left_(left, columns_),
        right_(right, columns_),
        left_norms_(SquaredNorms(left)),
        right_norms_(SquaredNorms(right)) {}

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
  OccurringColumns columns_;
  SparseSamples<T> left_, right_;
  std::vector<T> left_norms_, right_norms_;
};

// Sums over features, and products of few features.
template <class T>
class FeatureSums : public BaseBlock<T> {
 public:
  explicit FeatureSums(const BaseRequest& request)
      : quantity_(*request.quantity),
        features_(SubsetSize(request.left->features, *request.subset)),
        left_count_(RowCount(request.left->features)),
        right_count_(RowCount(request.right->features)) {
    left_ = PackFeatures<T>(request.left->features, *request.subset, {});
    const auto zeros = static_cast<double>(std::ranges::count(left_, T{0}));
    const bool is_mostly_zero = zeros > kMostlyZero * static_cast<double>(left_.size());
    std::vector<double> center;
    if (quantity_.is_translation_invariant && !is_mostly_zero) {
      center = ColumnMeans(request.left->features, *request.subset);
      left_ = PackFeatures<T>(request.left->features, *request.subset, center);
    }
    if (!request.is_training) right_ = PackFeatures<T>(request.right->features, *request.subset, center);
    right_values_ = request.is_training ? left_.data() : right_.data();
    if (is_mostly_zero) {
      at_zero_.resize(right_count_);
      const std::vector<T> zero(features_, T{0});
      Row(zero.data(), right_values_, features_, right_count_, nullptr, at_zero_.data());
    }
    const ColumnRange left = ColumnRanges(request.left->features, *request.subset);
    const ColumnRange right = ColumnRanges(request.right->features, *request.subset);
    std::vector<double> low(features_), high(features_);
    for (Index f = 0; f < features_; ++f) {
      low[f] = std::min(left.low[f], right.low[f]);
      high[f] = std::max(left.high[f], right.high[f]);
    }
    // Every term grows with the distance of its two values, so the corners of the box bound the sum.
    if (left_count_ > 0 && right_count_ > 0) upper_bound_ = quantity_.plain(high, low) * (1 + 1e-5);
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
  double UpperBound() const override { return upper_bound_; }
  bool IsCheap() const override { return features_ <= kCheapSummedFeatures; }

 private:
  void Row(const float* x, const float* right, Index features, Index count,
           const ListedFeatures<float>* listed, float* out) const {
    quantity_.row_f32(x, right, features, right_count_, count, listed, out);
  }
  void Row(const double* x, const double* right, Index features, Index count,
           const ListedFeatures<double>* listed, double* out) const {
    quantity_.row_f64(x, right, features, right_count_, count, listed, out);
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
  double Plain(const T* x, Index stride) const {
    std::vector<double> values(features_);
    for (Index f = 0; f < features_; ++f) values[f] = x[f * stride];
    return quantity_.plain(values, values);
  }

  const BaseQuantity& quantity_;
  Index features_;
  Index left_count_;
  Index right_count_;
  AlignedVector<T> left_, right_;  // feature after feature
  const T* right_values_ = nullptr;
  AlignedVector<T> at_zero_;  // what a left sample of zeros would give; empty: few features are zero
  double upper_bound_ = std::numeric_limits<double>::infinity();
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
  std::size_t ResidentBytes() const override {
    return file_.is_mapped()
               ? file_.rows() * file_.cols() * (file_.is_float32() ? sizeof(float) : sizeof(double))
               : 0;
  }
  void StayResident() override { is_resident_ = true; }
  double LeftDiagonal(Index i) const override {
    if (diagonal_.empty()) {
      diagonal_.resize(file_.rows());
      for (Index k = 0; k < file_.rows(); ++k) file_.RowPart(k, k, k + 1, &diagonal_[k]);
      if (!is_resident_) file_.Release(0, file_.rows());
    }
    return diagonal_[i];
  }
  double RightDiagonal(Index j) const override { return LeftDiagonal(j); }
  double UpperBound() const override { return std::numeric_limits<double>::infinity(); }
  bool IsCheap() const override { return true; }

 private:
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
  double UpperBound() const override { return std::numeric_limits<double>::infinity(); }
  bool IsCheap() const override { return true; }

 private:
  static void CheckRow(const MatrixFile& file, std::span<const double> row, Index j) {
    const auto bad = std::ranges::find_if_not(row, [](double value) { return std::isfinite(value); });
    if (bad == row.end()) return;
    throw Error(ErrorKind::kData, fmt::format("{}: row {}, column {}: value {}, expected a finite number",
                                              file.name(), j + 1, bad - row.begin() + 1, *bad));
  }

  Index right_count_;
  AlignedVector<T> values_;  // left samples x right samples
  std::vector<double> diagonal_;
};

enum class BlockKind { kFile, kFeatureSums, kSparseProducts, kDenseProducts };

BlockKind KindOf(const BaseQuantity& quantity, const FeatureSubset& subset, const Features& left,
                 const Features& right) {
  if (quantity.source == BaseQuantity::Source::kFile) return BlockKind::kFile;
  const bool has_rows = quantity.row_f32 != nullptr;
  if (quantity.source == BaseQuantity::Source::kFeatures ||
      (has_rows && SubsetSize(left, subset) <= kFewFeatures)) {
    return BlockKind::kFeatureSums;
  }
  const bool is_sparse =
      std::holds_alternative<SparseRows>(left) && std::holds_alternative<SparseRows>(right);
  return is_sparse && subset.empty() ? BlockKind::kSparseProducts : BlockKind::kDenseProducts;
}

}  // namespace

template <class T>
std::unique_ptr<BaseBlock<T>> MakeBaseBlock(const BaseRequest& request) {
  switch (KindOf(*request.quantity, *request.subset, request.left->features, request.right->features)) {
    case BlockKind::kFile:
      if (request.is_training) return std::make_unique<TrainingFile<T>>(request);
      return std::make_unique<NewSamplesFile<T>>(request);
    case BlockKind::kFeatureSums:
      return std::make_unique<FeatureSums<T>>(request);
    case BlockKind::kSparseProducts:
      return std::make_unique<SparseProducts<T>>(request);
    case BlockKind::kDenseProducts:
      return std::make_unique<DenseProducts<T>>(request);
  }
  return nullptr;
}

bool IsCheapInTraining(const BaseQuantity& quantity, const Features& features, const FeatureSubset& subset) {
  switch (KindOf(quantity, subset, features, features)) {
    case BlockKind::kFile:
      return true;
    case BlockKind::kFeatureSums:
      return SubsetSize(features, subset) <= kCheapSummedFeatures;
    case BlockKind::kSparseProducts: {
      const auto& rows = std::get<SparseRows>(features);
      return rows.offsets[rows.rows] - rows.offsets[0] <= kCheapEntries * rows.rows;
    }
    case BlockKind::kDenseProducts:
      return SubsetSize(features, subset) <= kCheapFeatures;
  }
  return false;
}

template std::unique_ptr<BaseBlock<float>> MakeBaseBlock<float>(const BaseRequest&);
template std::unique_ptr<BaseBlock<double>> MakeBaseBlock<double>(const BaseRequest&);

}  // namespace kweave
