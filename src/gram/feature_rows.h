// Rows of kernels on single features, of all features together.
//
// Solves   rows of K(theta) = sum over features f of V_f A_f V_f', V_f the Chebyshev polynomials of feature f at the samples and
//          A_f = sum_m theta_m A_m the tables of its kernels (gram/feature_table.h).
// Method   with v = (1, u): v'Av = u'Bu + 2 a'u + A_00. B is positive semidefinite, as the kernels are; a Cholesky factor
//          with pivots makes it L'L, so rows are products of F = (.., U_f L_f', ..), two columns more for a'u on either side.
// Takes    tables and samples, once; weights; returns rows less what their shift leaves out.
// Holds    a factor ends where what is left over changes values by no more than rounding does (float32: 3e-8 of the learned
//          kernel's variation), so features of little weight have few columns and those of none have none. Weights are not
//          negative.
// Costs    one multiplication per column of F and pair of samples, where one evaluation of the table of a family takes some
//          tens for every feature; with new weights O(n terms rank) for every feature. Memory: a column for every feature, and V and
//          F, bounded.
#ifndef KWEAVE_GRAM_FEATURE_ROWS_H_
#define KWEAVE_GRAM_FEATURE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "compute/cpu/packed_product.h"
#include "gram/family_group.h"
#include "gram/feature_table.h"

namespace kweave {

/// The most that all factors of rows of one Gram take.
inline constexpr std::size_t kMostFeatureRowBytes = std::size_t{64} << 20;

/// A view and one of its columns.
using FeaturePlace = std::pair<std::int32_t, std::int32_t>;

/// T: float or double.
template <class T>
class FeatureRows {
 public:
  explicit FeatureRows(Index samples) : samples_(samples) {}

  /// Takes the kernels of a table on a feature that is `t` at the samples, on [-1,1]. False, and nothing happens, where
  /// rows by the base quantity cost less, take less memory or keep more digits.
  bool Add(const FeaturePlace& place, Shape shape, const FeatureTable& table,
           std::span<const FamilyMember> members, std::span<const double> t);

  /// Takes the weights that AddRows and AddDiagonal use until the next call.
  void SetWeights(std::span<const double> theta);
  /// out[r * stride + j] += K(theta)_rj - shift of row rows[r].
  void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool);
  void AddDiagonal(std::span<double> out, ThreadPool& pool);

 private:
  struct Member {
    Index kernel = 0;
    double scale = 1;
    Index terms = 0;
    std::shared_ptr<const FeatureTable::Matrix> matrix;
  };
  struct Feature {
    Index terms = 0;
    std::vector<Member> members;
    std::vector<double> t;
    PackedSamples<T> polynomials{};  // made when first needed
  };
  // The table of one feature at the present weights.
  struct Learned {
    Index terms = 0;               // 0: no weight
    std::vector<double> table;     // A, terms x terms
    std::vector<double> factor{};  // L, rank x terms, zero in its first column
    Index rank = 0;

    double variation() const;
    void Factor(double cut_off);
  };

  void MakeFactors(ThreadPool& pool);
  Learned LearnedTable(const Feature& feature) const;
  void FillPolynomials(Feature& feature) const;
  void WriteFactors(const Learned& learned, const PackedSamples<T>& polynomials, Index place);

  Index samples_;
  std::size_t bytes_ = 0;
  std::map<FeaturePlace, std::size_t> numbers_;
  std::vector<Feature> features_;
  std::vector<double> theta_;
  bool has_factors_ = false;    // of the present weights
  PackedSamples<T> factors_;    // F, then a column of ones, then a'u
  std::vector<double> linear_;  // a'u
  double constant_ = 0;         // A_00
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_FEATURE_ROWS_H_
