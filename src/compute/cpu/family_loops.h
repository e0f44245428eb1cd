// The loops over pairs of samples in which kernel learning spends its time: kernels as functions of a base
// quantity, for one row of base values at a time (sums) or several (moments). T is float or double.
//
// Sums answer "rows of the learned kernel", moments are their adjoint and answer "the quadratics of all
// kernels".
#ifndef KWEAVE_COMPUTE_CPU_FAMILY_LOOPS_H_
#define KWEAVE_COMPUTE_CPU_FAMILY_LOOPS_H_

#include <cstdint>
#include <span>

#include "kweave/index.h"

namespace kweave {

/// Several rows of base values and the factor of each: what a moment loop reads.
template <class T>
struct WeightedRows {
  std::span<const T* const> rows;
  std::span<const T> factors;
};

/// out[j] += sum_m weights[m] (exp(-gammas[m] base[j]) - 1).
template <class T>
void AddExponentials(const T* base, Index count, std::span<const T> gammas, std::span<const T> weights,
                     T* out);

/// moments[m * stride + j] += sum_r factors[r] (exp(-gammas[m] rows[r][j]) - 1).
template <class T>
void AddExponentialMoments(const WeightedRows<T>& base, Index count, std::span<const T> gammas, T* moments,
                           Index stride);

/// (gamma b + coef0)^degree.
template <class T>
struct PowerTerm {
  T gamma = 1;
  T coef0 = 0;
  int degree = 1;
};

/// out[j] += sum_m weights[m] term_m(base[j]).
template <class T>
void AddPowers(const T* base, Index count, std::span<const PowerTerm<T>> terms, std::span<const T> weights,
               T* out);

/// moments[m * stride + j] += sum_r factors[r] term_m(rows[r][j]).
template <class T>
void AddPowerMoments(const WeightedRows<T>& base, Index count, std::span<const PowerTerm<T>> terms,
                     T* moments, Index stride);

/// The variable of an expansion: t = slope log(1 + stretch v) + offset, where v = b or sqrt(b), or slope b +
/// offset when stretch is 0.
template <class T>
struct TableVariable {
  T stretch = 0;
  T slope = 1;
  T offset = 0;
  bool is_of_root = false;  ///< v = sqrt(b)
};

/// Of base values that are twice the variable already.
template <class T>
inline constexpr TableVariable<T> kMappedVariable{T{0}, T{0.5}, T{0}};

/// values[j] = twice the variable at base value values[j].
template <class T>
void MapToVariable(const TableVariable<T>& variable, Index count, T* values);

/// The most terms of an expansion; a multiple of four.
inline constexpr Index kMostTableTerms = 256;

/// out[j] += sum_k coefficients[k] T_k(t(base[j])), T_k the Chebyshev polynomials.
template <class T>
void AddChebyshev(const T* base, Index count, const TableVariable<T>& variable,
                  std::span<const T> coefficients, T* out);

/// moments[k * stride + j] += sum_r factors[r] T_k(t(rows[r][j])) for k < terms.
template <class T>
void AddChebyshevMoments(const WeightedRows<T>& base, Index count, const TableVariable<T>& variable,
                         Index terms, T* moments, Index stride);

/// out[j] += factor * values[j].
template <class T>
void AddScaled(const T* values, Index count, T factor, T* out);

/// sums[j] += values[j]; values[j] = 0: float blocks flow into float64 sums.
template <class T>
void Flush(T* values, Index count, double* sums);

/// out[j] = values[j], rounded.
void Shorten(const double* values, Index count, float* out);

/// out[r * out_stride + j] = sum over the entries e of sparse row j of values[e] left[columns[e] * 16 + r], r
/// < 16.
template <class T>
void SparseDots(const Index* offsets, const std::int32_t* columns, const T* values, Index begin, Index end,
                const T* left, T* out, Index out_stride, Index rows);

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_FAMILY_LOOPS_H_
