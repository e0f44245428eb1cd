// Norms of the positive part of a vector, safe from overflow and underflow for every exponent.
#ifndef KWEAVE_REGULARIZER_NORMS_H_
#define KWEAVE_REGULARIZER_NORMS_H_

#include <span>
#include <vector>

namespace kweave {

/// The least share of the largest weight that gradient steps are in proportion to
/// (RegularizerTraits::least_step_share) where few weights stay above 0: measured on UCI sets at norm 1; 0.1
/// takes twice the steps.
inline constexpr double kSparseStepShare = 0.02;

/// The conjugate exponent r*, 1/r + 1/r* = 1, for 1 <= r <= infinity.
double ConjugateExponent(double r);

/// max over m of max(x_m, 0).
double LargestPositive(std::span<const double> x);

/// ||max(x, 0)||_r for 1 <= r <= infinity.
double PositiveNorm(std::span<const double> x, double r);

/// x = max(x, 0).
void DropNegative(std::span<double> x);

/// q_m + spread times the mean of all max(q, 0): a dual term of it has bounded slopes where single q_m
/// vanish. And what the best response to it becomes as one to q.
std::vector<double> Spread(std::span<const double> q, double spread);
void SpreadBack(double spread, std::span<double> theta);

}  // namespace kweave

#endif  // KWEAVE_REGULARIZER_NORMS_H_
