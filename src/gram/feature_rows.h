// Rows of kernels on single features, of all features together.
//
// Solves   rows of K(theta) = sum over features f of V_f A_f V_f', V_f the Chebyshev polynomials of feature f
//          at the samples and A_f = sum_m theta_m A_m the tables of its kernels (gram/feature_table.h).
// Method   with v = (1, u): v'Av = u'Bu + 2 a'u + A_00. B is positive semidefinite, as the kernels are; a
//          Cholesky factor with pivots makes it L'L, so rows are products of F = (.., U_f L_f', ..), two
//          columns more for a'u on either side.
// Takes    tables and samples, once; weights; returns rows less what their shift leaves out.
// Holds    a factor ends where what is left over changes values by no more than rounding does (float32: 3e-8
//          of the learned kernel's variation), so features of little weight have few columns and those of
//          none have none. Weights are not negative.
// Costs    one multiplication per column of F and pair of samples, where one evaluation of the table of a
//          family takes some tens for every feature; with new weights O(n terms rank) for every feature.
//          Memory: a column for every feature, and V and F, bounded.
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

/// A view and one of its columns.
using FeaturePlace = std::pair<std::int32_t, std::int32_t>;

/// Which families of one Gram have their rows here, and what that takes.
class FeatureRowsPlan {
 public:
  FeatureRowsPlan(Index samples, std::size_t value_bytes) : samples_(samples), value_bytes_(value_bytes) {}

  /// Takes a table of so many terms on a feature. False, and nothing happens, where rows by the base quantity
  /// cost less or take less memory.
  bool Take(const FeaturePlace& place, Index terms);
  std::size_t bytes() const;

 private:
  std::size_t FactorBytes(Index terms) const { return 2 * samples_ * terms * value_bytes_; }

  Index samples_;
  std::size_t value_bytes_;
  Index terms_ = 0;  // of all features
  std::map<FeaturePlace, Index> terms_of_{};
};

/// T: float or double.
template <class T>
class FeatureRows {
 public:
  explicit FeatureRows(Index samples) : samples_(samples) {}

  /// Takes the kernels of a table on a feature that is `t` at the samples, on [-1,1].
  void Add(const FeaturePlace& place, const FeatureTable& table, std::span<const FamilyMember> members,
           std::span<const double> t);

  /// The share of these kernels in K(theta). This must outlive it.
  std::unique_ptr<GroupKernel<T>> Learn(std::span<const double> theta);

 private:
  class FeatureKernel;
  struct Member {
    Index kernel = 0;
    double scale = 1;
    double shift = 0;  // left out of its rows, times the scale
    Index terms = 0;
    std::shared_ptr<const FeatureTable::Matrix> matrix;
  };
  struct Feature {
    Index terms = 0;
    std::vector<Member> members;
    std::vector<double> t;
    PackedSamples<T> polynomials{};  // made when first needed
  };

  void FillPolynomials(Feature& feature) const;

  Index samples_;
  std::map<FeaturePlace, std::size_t> numbers_;
  std::vector<Feature> features_;
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_FEATURE_ROWS_H_
