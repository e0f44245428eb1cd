#ifndef KWEAVE_GRAM_FAMILY_BASIS_H_
#define KWEAVE_GRAM_FAMILY_BASIS_H_

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/cpu/family_loops.h"
#include "gram/base_rows.h"
#include "gram/family_group.h"
#include "gram/family_table.h"

namespace kweave {

/// Where evaluating from a table begins to cost less than evaluating every member (measured by
/// bench/loops_bench).
inline constexpr std::size_t kDirectMembers = 5;

template <class T>
double TableRelativeError() {
  return std::is_same_v<T, float> ? 1e-7 : 1e-13;
}

/// The functions of the base quantity in which all members are expanded, less the shift of their shape: the
/// members themselves, or Chebyshev polynomials.
template <class T>
class FamilyBasis {
 public:
  FamilyBasis(const Shape& shape, std::span<const FamilyMember> members, const BaseRows<T>& base,
              FamilyEvaluation evaluation)
      : shape_(shape) {
    parameters_.reserve(members.size());
    for (const FamilyMember& member : members) parameters_.push_back(member.parameters);
    loops_ = MakeLoops<T>(shape, parameters_);
    if (shape.analyticity != nullptr) FitAnalytic(base.block().traits().upper_bound, evaluation);
    if (shape.degree != nullptr) FitPowers(base, evaluation);
    if (!table_) return;
    variable_ = {static_cast<T>(table_->stretch), static_cast<T>(table_->slope),
                 static_cast<T>(table_->offset), table_->is_of_root};
  }

  bool has_table() const { return table_.has_value(); }
  Index size() const { return table_ ? table_->terms : static_cast<Index>(parameters_.size()); }
  /// Left out of every member.
  double shift() const { return shape_.shift; }
  double Error(std::size_t m) const { return table_ ? table_->error[m] : 0; }

  /// coefficients = sum over members of weights[m] * (member m in this basis).
  std::vector<double> Combine(std::span<const double> weights) const {
    if (!table_) return {weights.begin(), weights.end()};
    std::vector<double> coefficients(table_->terms, 0.0);
    for (std::size_t m = 0; m < weights.size(); ++m) {
      if (weights[m] == 0) continue;
      const double* member = table_->coefficients.data() + m * table_->terms;
      for (Index k = 0; k < table_->terms; ++k) coefficients[k] += weights[m] * member[k];
    }
    return coefficients;
  }

  /// The member's value from the value of every basis function (the adjoint of Combine).
  double Apply(std::size_t m, std::span<const double> basis_values) const {
    if (!table_) return basis_values[m];
    const double* member = table_->coefficients.data() + m * table_->terms;
    double sum = 0;
    for (Index k = 0; k < table_->terms; ++k) sum += member[k] * basis_values[k];
    return sum;
  }

  /// Twice the variable of the table.
  double TwiceVariable(double base) const {
    const double v = table_->is_of_root ? std::sqrt(base) : base;
    const double u = table_->stretch > 0 ? std::log1p(table_->stretch * v) : v;
    return 2 * (table_->slope * u + table_->offset);
  }

  /// A combination of the basis functions of a table at one base value, by Clenshaw's recurrence.
  double TableValue(std::span<const double> coefficients, double base) const {
    const double t = TwiceVariable(base);
    double u = 0, v = 0;
    for (std::size_t k = coefficients.size(); k-- > 1;) {
      const double w = coefficients[k] + t * u - v;
      v = u;
      u = w;
    }
    return coefficients[0] + 0.5 * t * u - v;
  }

  /// The value of every basis function of a table at one base value.
  std::vector<double> TableValues(double base) const {
    const double t = 0.5 * TwiceVariable(base);
    std::vector<double> values(table_->terms, 1.0);
    for (Index k = 1; k < table_->terms; ++k) values[k] = k == 1 ? t : 2 * t * values[k - 1] - values[k - 2];
    return values;
  }

  /// `is_mapped`: the base values are twice the variable of the table.
  void AddMoments(const WeightedRows<T>& base, Index count, bool is_mapped, T* moments, Index stride) const {
    if (table_) {
      AddChebyshevMoments<T>(base, count, VariableOf(is_mapped), table_->terms, moments, stride);
    } else {
      loops_->AddMoments(base, count, moments, stride);
    }
  }

  std::span<const KernelParameters> parameters() const { return parameters_; }
  const TableVariable<T>& VariableOf(bool is_mapped) const {
    return is_mapped ? kMappedVariable<T> : variable_;
  }

 private:
  void FitAnalytic(double upper_bound, FamilyEvaluation evaluation) {
    const bool is_wanted = evaluation == FamilyEvaluation::kTable ||
                           (evaluation == FamilyEvaluation::kAuto && parameters_.size() > kDirectMembers);
    if (!is_wanted) return;
    const Index max_terms = evaluation == FamilyEvaluation::kTable
                                ? kMostTableTerms
                                : std::min<Index>(kMostTableTerms, 6 * parameters_.size());
    table_ = FitFamilyTable(shape_, parameters_, upper_bound, TableRelativeError<T>(), max_terms);
  }

  // Inner products are at most as large as the largest k(x,x). Rounding is relative to the values there, so
  // typical ones must not be much smaller.
  void FitPowers(const BaseRows<T>& base, FamilyEvaluation evaluation) {
    Index highest = 0;
    for (const KernelParameters& p : parameters_) highest = std::max(highest, shape_.degree(p));
    if (evaluation == FamilyEvaluation::kDirect || static_cast<Index>(parameters_.size()) <= highest + 1)
      return;
    double largest = 0, mean = 0;
    for (Index i = 0; i < base.left_count(); ++i) {
      largest = std::max(largest, base.block().LeftDiagonal(i));
      mean += base.block().LeftDiagonal(i) / static_cast<double>(base.left_count());
    }
    for (Index j = 0; j < base.right_count(); ++j) largest = std::max(largest, base.block().RightDiagonal(j));
    if (!(largest > 0) || highest >= kMostTableTerms || !KeepsDigits<T>(highest, mean, largest)) return;
    table_ = FitPowerTable(shape_, parameters_, largest);
  }

  const Shape& shape_;
  std::vector<KernelParameters> parameters_;
  std::unique_ptr<MemberLoops<T>> loops_;
  std::optional<FamilyTable> table_;
  TableVariable<T> variable_;
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_FAMILY_BASIS_H_
