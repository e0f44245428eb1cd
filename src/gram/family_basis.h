#ifndef KWEAVE_GRAM_FAMILY_BASIS_H_
#define KWEAVE_GRAM_FAMILY_BASIS_H_

#include <algorithm>
#include <cmath>
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

/// The functions of the base quantity in which all members are expanded: the members themselves, or Chebyshev
/// polynomials. Exponentials are expanded less 1, so that kernels close to 1 keep their digits.
template <class T>
class FamilyBasis {
 public:
  FamilyBasis(Shape shape, std::span<const FamilyMember> members, const BaseRows<T>& base,
              FamilyEvaluation evaluation)
      : shape_(shape) {
    for (const FamilyMember& member : members) {
      const KernelParameters& p = member.parameters;
      gammas_.push_back(static_cast<T>(p.gamma));
      const bool is_identity = shape == Shape::kIdentity;
      powers_.push_back({static_cast<T>(is_identity ? 1 : p.gamma), static_cast<T>(is_identity ? 0 : p.coef0),
                         is_identity ? 1 : static_cast<int>(p.degree)});
    }
    if (shape == Shape::kExponential) FitExponentials(members, base.block().UpperBound(), evaluation);
    if (shape == Shape::kPower) FitPowers(members, base, evaluation);
    if (!table_) return;
    variable_ = {static_cast<T>(table_->stretch), static_cast<T>(table_->slope),
                 static_cast<T>(table_->offset)};
  }

  bool has_table() const { return table_.has_value(); }
  Index size() const { return table_ ? table_->terms : static_cast<Index>(gammas_.size()); }
  /// Left out of every member.
  double shift() const { return shape_ == Shape::kExponential ? 1 : 0; }
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
    const double u = table_->stretch > 0 ? std::log1p(table_->stretch * base) : base;
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
    } else if (shape_ == Shape::kExponential) {
      AddExponentialMoments<T>(base, count, gammas_, moments, stride);
    } else {
      AddPowerMoments<T>(base, count, powers_, moments, stride);
    }
  }

  const std::vector<T>& gammas() const { return gammas_; }
  const std::vector<PowerTerm<T>>& powers() const { return powers_; }
  const TableVariable<T>& VariableOf(bool is_mapped) const {
    return is_mapped ? kMappedVariable<T> : variable_;
  }

 private:
  void FitExponentials(std::span<const FamilyMember> members, double upper_bound,
                       FamilyEvaluation evaluation) {
    const bool is_wanted = evaluation == FamilyEvaluation::kTable ||
                           (evaluation == FamilyEvaluation::kAuto && members.size() > kDirectMembers);
    if (!is_wanted) return;
    std::vector<double> gammas;
    for (const FamilyMember& member : members) gammas.push_back(member.parameters.gamma);
    const Index max_terms = evaluation == FamilyEvaluation::kTable
                                ? kMostTableTerms
                                : std::min<Index>(kMostTableTerms, 6 * members.size());
    table_ = FitFamilyTable(gammas, upper_bound, TableRelativeError<T>(), max_terms);
  }

  // Inner products are at most as large as the largest k(x,x). Rounding is relative to the values there, so typical ones
  // must not be much smaller.
  void FitPowers(std::span<const FamilyMember> members, const BaseRows<T>& base,
                 FamilyEvaluation evaluation) {
    double highest = 0;
    std::vector<KernelParameters> parameters;
    for (const FamilyMember& member : members) {
      parameters.push_back(member.parameters);
      highest = std::max(highest, member.parameters.degree);
    }
    if (evaluation == FamilyEvaluation::kDirect || static_cast<double>(members.size()) <= highest + 1) return;
    double largest = 0, mean = 0;
    for (Index i = 0; i < base.left_count(); ++i) {
      largest = std::max(largest, base.block().LeftDiagonal(i));
      mean += base.block().LeftDiagonal(i) / static_cast<double>(base.left_count());
    }
    for (Index j = 0; j < base.right_count(); ++j) largest = std::max(largest, base.block().RightDiagonal(j));
    if (!(largest > 0) || highest >= kMostTableTerms || !KeepsDigits<T>(highest, mean, largest)) return;
    table_ = FitPowerTable(parameters, largest);
  }

  Shape shape_;
  std::vector<T> gammas_;
  std::vector<PowerTerm<T>> powers_;
  std::optional<FamilyTable> table_;
  TableVariable<T> variable_;
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_FAMILY_BASIS_H_
