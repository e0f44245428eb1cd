#ifndef KWEAVE_GRAM_UNEXPANDED_VECTOR_H_
#define KWEAVE_GRAM_UNEXPANDED_VECTOR_H_

#include <algorithm>
#include <span>
#include <vector>

#include "gram/gram.h"

namespace kweave {

/// The expansion of a vector where K(theta) is no sum of kernels (GramShape::is_sum): the vector is all it
/// knows, and outputs at any theta are a pass of their own.
class UnexpandedVector final : public MovableExpansion {
 public:
  UnexpandedVector(Gram& gram, std::span<const double> a) : gram_(gram), a_(a.begin(), a.end()) {}

  void Quadratics(std::span<double> q) const override { std::ranges::fill(q, 0.0); }
  void Products(std::span<const double>, std::span<double> products) const override {
    std::ranges::fill(products, 0.0);
  }
  void Outputs(std::span<const double> theta, std::span<double> out) const override {
    std::ranges::copy(gram_.Answer({.a = a_, .theta = theta, .wants_quadratics = false}).outputs,
                      out.begin());
  }
  void MoveTo(std::span<const double> a) override { a_.assign(a.begin(), a.end()); }

 private:
  Gram& gram_;
  std::vector<double> a_;
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_UNEXPANDED_VECTOR_H_
