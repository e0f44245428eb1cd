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
      : Gram({}), matrices_(std::move(matrices)) {
    size_ = matrices_.empty() ? samples : RootOf(matrices_[0].size());
    shape_ = {.left_count = size_, .right_count = size_, .kernels = static_cast<Index>(matrices_.size())};
  }

  std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) override {
    std::vector<VectorAnswer> answers(requests.size());
    for (std::size_t v = 0; v < requests.size(); ++v) {
      ++expansions_;
      auto expansion = std::make_unique<MatrixExpansion>(*this, requests[v].a);
      answers[v].quadratics.resize(matrices_.size());
      expansion->Quadratics(answers[v].quadratics);
      if (requests[v].has_outputs()) {
        answers[v].outputs.resize(requests[v].a.size());
        expansion->Outputs(requests[v].theta, answers[v].outputs);
      }
      if (requests[v].keeps_expansion) answers[v].expansion = std::move(expansion);
    }
    return answers;
  }

  /// Adds a symmetric error, uniform in [-size, size], to every value; the shape then says `claimed`.
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
    shape_.table_error = claimed;
  }
  /// Leaves this constant of every kernel out of rows and diagonal.
  void set_row_shift(double shift) { row_shift_ = shift; }

  const std::vector<std::vector<double>>& matrices() const { return matrices_; }
  long expansions() const { return expansions_; }
  long rows_computed() const { return rows_computed_; }

 protected:
  std::shared_ptr<const LearnedMatrix> MakeLearned(std::span<const double> theta) override {
    return std::make_shared<Learned>(*this, theta);
  }

 private:
  class Learned : public LearnedMatrix {
   public:
    Learned(MatrixGram& gram, std::span<const double> theta) : LearnedMatrix(theta), gram_(gram) {
      for (const double weight : theta) shift_ += weight * gram.row_shift_;
    }
    void Rows(std::span<const Index> rows, float* out, Index stride) const override {
      gram_.FillRows(theta(), shift(), rows, out, stride);
    }
    void Rows(std::span<const Index> rows, double* out, Index stride) const override {
      gram_.FillRows(theta(), shift(), rows, out, stride);
    }
    void Diagonal(std::span<double> out) const override {
      for (Index i = 0; i < gram_.size_; ++i)
        out[static_cast<std::size_t>(i)] = gram_.Value(theta(), i, i) - shift();
    }

   private:
    MatrixGram& gram_;
  };

  class MatrixExpansion : public MovableExpansion {
   public:
    MatrixExpansion(const MatrixGram& gram, std::span<const double> a) : gram_(gram) { MoveTo(a); }
    void MoveTo(std::span<const double> a) override {
      a_.assign(a.begin(), a.end());
      products_.clear();
      for (const std::vector<double>& matrix : gram_.matrices_) {
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
    const MatrixGram& gram_;
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
  void FillRows(std::span<const double> theta, double shift, std::span<const Index> rows, T* out,
                Index stride) {
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
  double row_shift_ = 0;
  long expansions_ = 0;
  long rows_computed_ = 0;
};

}  // namespace kweave::testing

#endif  // KWEAVE_TESTS_SUPPORT_MATRIX_GRAM_H_
