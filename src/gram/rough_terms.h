// Solves   for as few terms of a learned kernel as outputs need that may be wrong by a given error, found in
//          float.
// Method   terms at the end are left out as long as they, the rounding of the sum of what is left
//          (compute/cpu/chebyshev_rounding.h) and that of terms times factors and of the sums of kRoughRows
//          rows stay within the error, all at their worst.
// Takes    the terms in float64, the factors a_i and the error of sum_i a_i k(x_i, x); base values are mapped
//          (TableVariable). Returns terms in float, or none where floats are too coarse for that.
// Holds    for every base value, and for any factors and terms within the range of floats; beyond it none are
//          returned.
// Costs    a few operations for each term and factor.
#ifndef KWEAVE_GRAM_ROUGH_TERMS_H_
#define KWEAVE_GRAM_ROUGH_TERMS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace kweave {

/// How many rows are added up in float, where outputs may be rough.
inline constexpr std::size_t kRoughRows = 8;

std::vector<float> RoughTerms(std::span<const double> terms, std::span<const double> a, double error);

}  // namespace kweave

#endif  // KWEAVE_GRAM_ROUGH_TERMS_H_
