#ifndef KWEAVE_TESTS_SUPPORT_MATRIX_GRAM_H_
#define KWEAVE_TESTS_SUPPORT_MATRIX_GRAM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gram/gram.h"

namespace kweave::testing {

/// Dense n x n kernel matrices in memory behind the Gram seam: plain loops, so that tests judge everything
/// else by it. Errors can be planted into its values.
class MatrixGram : public Gram {
 public:
  /// `samples` where there are no matrices to say it.
  explicit MatrixGram(std::vector<std::vector<double>> matrices, Index samples = 0)
      : matrices_(std::move(matrices)), size_(matrices_.empty() ? samples : RootOf(matrices_[0].size())) {}

  Index left_count() const override { return size_; }
  Index right_count() const override { return size_; }
  Index kernels() const override { return static_cast<Index>(matrices_.size()); }

  void Rows(std::span<const double> theta, std::span<const Index> rows, float* out, Index stride) override {
    FillRows(theta, rows, out, stride);
  }
  void Rows(std::span<const double> theta, std::span<const Index> rows, double* out, Index stride) override {
    FillRows(theta, rows, out, stride);
  }
  double RowShift(std::span<const double> theta) const override {
    double shift = 0;
    for (const double weight : theta) shift += weight * row_shift_;
    return shift;
  }
  void Diagonal(std::span<const double> theta, std::span<double> out) override {
    for (Index i = 0; i < size_; ++i) out[static_cast<std::size_t>(i)] = Value(theta, i, i) - RowShift(theta);
  }
  std::unique_ptr<Expansion> Expand(std::span<const double> a) override {
    ++expansions_;
    return std::make_unique<MatrixExpansion>(*this, a);
  }
  void Update(Expansion& expansion, std::span<const double> a) override {
    static_cast<MatrixExpansion&>(expansion) = MatrixExpansion(*this, a);
  }
  double TableError() const override { return table_error_; }

  /// Adds a symmetric error, uniform in [-size, size], to every value; TableError() then says `claimed`.
  void PlantErrors(double size, double claimed, std::uint64_t seed = 1) {
    Random random(seed);
    for (std::vector<double>& matrix : matrices_) {
      for (Index i = 0; i < size_; ++i) {
        for (Index j = 0; j <= i; ++j) {
          const double error = size * (2 * random.Uniform() - 1);
          matrix[At(i, j)] += error;
          if (i != j) matrix[At(j, i)] += error;
        }
      }
    }
    table_error_ = claimed;
  }
  /// Leaves this constant of every kernel out of rows and diagonal.
  void set_row_shift(double shift) { row_shift_ = shift; }

  const std::vector<std::vector<double>>& matrices() const { return matrices_; }
  long expansions() const { return expansions_; }
  long rows_computed() const { return rows_computed_; }

 private:
  class MatrixExpansion : public Expansion {
   public:
    MatrixExpansion(const MatrixGram& gram, std::span<const double> a) : a_(a.begin(), a.end()) {
      for (const std::vector<double>& matrix : gram.matrices_) {
        std::vector<double>& product = products_.emplace_back(a_.size(), 0.0);
        for (std::size_t i = 0; i < a_.size(); ++i) {
          if (a_[i] == 0) continue;
          for (std::size_t j = 0; j < a_.size(); ++j) product[j] += a_[i] * matrix[i * a_.size() + j];
        }
      }
    }
    void Quadratics(std::span<double> q) const override { Products(a_, q); }
    void Products(std::span<const double> b, std::span<double> products) const override {
      for (std::size_t m = 0; m < products_.size(); ++m) {
        products[m] = 0;
        for (std::size_t i = 0; i < a_.size(); ++i) products[m] += b[i] * products_[m][i];
      }
    }
    void Outputs(std::span<const double> theta, std::span<double> out) const override {
      for (double& value : out) value = 0;
      for (std::size_t m = 0; m < products_.size(); ++m) {
        if (theta[m] == 0) continue;
        for (std::size_t i = 0; i < a_.size(); ++i) out[i] += theta[m] * products_[m][i];
      }
    }

   private:
    std::vector<double> a_;
    std::vector<std::vector<double>> products_;  // K_m a
  };

  static Index RootOf(std::size_t squared) {
    Index root = 0;
    while (static_cast<std::size_t>(root * root) < squared) ++root;
    return root;
  }
  std::size_t At(Index i, Index j) const { return static_cast<std::size_t>(i * size_ + j); }
  double Value(std::span<const double> theta, Index i, Index j) const {
    double sum = 0;
    for (std::size_t m = 0; m < matrices_.size(); ++m) sum += theta[m] * matrices_[m][At(i, j)];
    return sum;
  }
  template <class T>
  void FillRows(std::span<const double> theta, std::span<const Index> rows, T* out, Index stride) {
    const double shift = RowShift(theta);
    std::vector<double> row(static_cast<std::size_t>(size_));
    for (std::size_t r = 0; r < rows.size(); ++r, ++rows_computed_) {
      std::fill(row.begin(), row.end(), -shift);
      for (std::size_t m = 0; m < matrices_.size(); ++m) {
        if (theta[m] == 0) continue;
        const double* values = &matrices_[m][At(rows[r], 0)];
        for (std::size_t j = 0; j < row.size(); ++j) row[j] += theta[m] * values[j];
      }
      for (std::size_t j = 0; j < row.size(); ++j)
        out[r * static_cast<std::size_t>(stride) + j] = static_cast<T>(row[j]);
    }
  }

  std::vector<std::vector<double>> matrices_;
  Index size_ = 0;
  double table_error_ = 0;
  double row_shift_ = 0;
  long expansions_ = 0;
  long rows_computed_ = 0;
};

}  // namespace kweave::testing

#endif  // KWEAVE_TESTS_SUPPORT_MATRIX_GRAM_H_
