#ifndef KWEAVE_WEIGHTS_GRAM_ROWS_H_
#define KWEAVE_WEIGHTS_GRAM_ROWS_H_

#include <span>

#include "gram/gram.h"
#include "qp/dual_problem.h"

namespace kweave {

/// The learned kernel at one theta, as the solvers see it. Gram and theta must outlive it. T: float or double.
template <class T>
class GramRows : public RowSource<T> {
 public:
  GramRows(Gram& gram, std::span<const double> theta) : gram_(gram), theta_(theta) {}

  Index size() const override { return gram_.left_count(); }
  void Diagonal(std::span<double> out) override { gram_.Diagonal(theta_, out); }
  void Rows(std::span<const Index> rows, T* out, Index stride) override {
    gram_.Rows(theta_, rows, out, stride);
  }
  void Multiply(std::span<const double> beta, std::span<double> out) override {
    gram_.Expand(beta)->Outputs(theta_, out);
  }
  double Shift() override { return gram_.RowShift(theta_); }

 private:
  Gram& gram_;
  std::span<const double> theta_;
};

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_GRAM_ROWS_H_
