#include "gram/feature_rows.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/constants.h"
#include "compute/cpu/family_loops.h"
#include "gram/group.h"

namespace kweave {
namespace {

constexpr Index kMostTerms = 64;  // longer: the table of a family costs less
// All factors of one Gram: as much as a few thousand samples of some thousand features take, and small beside
// the caches.
constexpr std::size_t kMostFactorBytes = std::size_t{64} << 20;
constexpr Index kRowsPerPiece = 24;  // a multiple of the rows of a tile of the matrix product

// Of the learned kernel's variation, not in its rows.
template <class T>
constexpr double kCutOff = std::is_same_v<T, float> ? 3e-8 : 1e-16;  // half the rounding of a value

}  // namespace

bool FeatureRowsPlan::Take(const FeaturePlace& place, Index terms) {
  if (terms > kMostTerms) return false;
  const auto known = terms_of_.find(place);
  const Index before = known == terms_of_.end() ? 0 : known->second;
  const Index more = std::max<Index>(terms - before, 0);
  if (FactorBytes(terms_ + more) > kMostFactorBytes) return false;
  terms_of_[place] = before + more;
  terms_ += more;
  return true;
}

std::size_t FeatureRowsPlan::bytes() const {
  return FactorBytes(terms_) + terms_of_.size() * samples_ * sizeof(double);
}

template <class T>
void FeatureRows<T>::Add(const FeaturePlace& place, const FeatureTable& table,
                         std::span<const FamilyMember> members, std::span<const double> t) {
  const auto [number, is_new] = numbers_.try_emplace(place, features_.size());
  if (is_new) features_.push_back({0, {}, {t.begin(), t.end()}});
  Feature& feature = features_[number->second];
  feature.terms = std::max(feature.terms, table.terms);
  for (std::size_t m = 0; m < members.size(); ++m) {
    feature.members.push_back({members[m].kernel, members[m].scale, members[m].scale * table.shift,
                               table.members[m].terms, table.members[m].matrix});
  }
}

// Factors are made when rows or diagonal are first asked for.
template <class T>
class FeatureRows<T>::FeatureKernel final : public GroupKernel<T> {
 public:
  FeatureKernel(FeatureRows& rows, std::span<const double> theta)
      : features_(rows.features_), rows_(rows), theta_(theta.begin(), theta.end()) {
    for (const Feature& feature : features_) {
      for (const Member& member : feature.members) this->shift_ += theta[member.kernel] * member.shift;
    }
  }

  void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) const override;
  void AddDiagonal(std::span<double> out, ThreadPool& pool) const override;

 private:
  // The table of one feature.
  struct LearnedTable {
    Index terms = 0;               // 0: no weight
    std::vector<double> table;     // A, terms x terms
    std::vector<double> factor{};  // L, rank x terms, zero in its first column
    Index rank = 0;

    double variation() const;
    void Factor(double cut_off);
  };

  void MakeFactors(ThreadPool& pool) const;
  LearnedTable TableOf(const Feature& feature) const;
  void WriteFactors(const LearnedTable& learned, const PackedSamples<T>& polynomials, Index place) const;

  std::vector<Feature>& features_;
  const FeatureRows& rows_;
  const std::vector<double> theta_;
  mutable bool has_factors_ = false;
  mutable PackedSamples<T> factors_;    // F, then a column of ones, then a'u
  mutable std::vector<double> linear_;  // a'u
  mutable double constant_ = 0;         // A_00
};

template <class T>
std::unique_ptr<GroupKernel<T>> FeatureRows<T>::Learn(std::span<const double> theta) {
  return std::make_unique<FeatureKernel>(*this, theta);
}

template <class T>
void FeatureRows<T>::FeatureKernel::AddRows(std::span<const Index> rows, T* out, Index stride,
                                            ThreadPool& pool) const {
  MakeFactors(pool);
  if (factors_.features == 0) return;
  const Index width = factors_.features, count = static_cast<Index>(rows.size());
  AlignedVector<T> left(count * width);
  for (Index r = 0; r < count; ++r) {
    T* row = left.data() + r * width;
    factors_.CopySample(rows[r], row);
    row[width - 2] = static_cast<T>(linear_[rows[r]] + constant_);
    row[width - 1] = 1;
  }
  const Index pieces = (count + kRowsPerPiece - 1) / kRowsPerPiece;
  const Index blocks = (rows_.samples_ + kColumnBlock - 1) / kColumnBlock;
  pool.ParallelFor(pieces * blocks, 1, [&](Index piece, Index, int) {
    const Index first = piece % pieces * kRowsPerPiece, begin = piece / pieces * kColumnBlock;
    PackedProduct<T>(left.data() + first * width, std::min(kRowsPerPiece, count - first), factors_, begin,
                     std::min(begin + kColumnBlock, rows_.samples_), /*add=*/true,
                     out + first * stride + begin, stride);
  });
}

template <class T>
void FeatureRows<T>::FeatureKernel::AddDiagonal(std::span<double> out, ThreadPool& pool) const {
  MakeFactors(pool);
  if (factors_.features == 0) return;
  const Index rank = factors_.features - 2;
  for (Index i = 0; i < rows_.samples_; ++i) out[i] += 2 * linear_[i] + constant_;
  for (Index begin = 0; begin < rows_.samples_; begin += kPackedBlock) {
    const Index count = std::min(kPackedBlock, rows_.samples_ - begin);
    for (Index r = 0; r < rank; ++r) {
      const T* column = &factors_.at(begin, r);
      for (Index i = 0; i < count; ++i)
        out[begin + i] += static_cast<double>(column[i]) * static_cast<double>(column[i]);
    }
  }
}

template <class T>
void FeatureRows<T>::FeatureKernel::MakeFactors(ThreadPool& pool) const {
  if (has_factors_) return;
  has_factors_ = true;
  const auto count = static_cast<Index>(features_.size());
  std::vector<LearnedTable> learned(features_.size());
  pool.ParallelFor(count, 4, [&](Index begin, Index end, int) {
    for (Index f = begin; f < end; ++f) learned[f] = TableOf(features_[f]);
  });
  double variation = 0;
  Index active = 0;
  for (const LearnedTable& one : learned) {
    variation += one.variation();
    active += one.terms > 0 ? 1 : 0;
  }
  pool.ParallelFor(count, 4, [&](Index begin, Index end, int) {
    for (Index f = begin; f < end; ++f) {
      if (learned[f].terms == 0) continue;
      learned[f].Factor(kCutOff<T> * variation / static_cast<double>(active));
      rows_.FillPolynomials(features_[f]);
    }
  });
  Index rank = 0;
  std::vector<Index> places;
  constant_ = 0;
  linear_.assign(rows_.samples_, 0.0);
  for (std::size_t f = 0; f < learned.size(); ++f) {
    places.push_back(rank);
    if (learned[f].terms == 0) continue;
    rank += learned[f].rank;
    constant_ += learned[f].table[0];
    std::vector<double> slopes(learned[f].table.begin(), learned[f].table.begin() + learned[f].terms);
    slopes[0] = 0;
    AddChebyshev<double>(features_[f].t.data(), rows_.samples_, {}, slopes, linear_.data());
  }
  const Index width = active == 0 ? 0 : rank + 2;
  if (factors_.features != width) factors_ = PackedSamples<T>(rows_.samples_, width);
  if (width == 0) return;
  pool.ParallelFor(count, 4, [&](Index begin, Index end, int) {
    for (Index f = begin; f < end; ++f) WriteFactors(learned[f], features_[f].polynomials, places[f]);
  });
  for (Index i = 0; i < rows_.samples_; ++i) {
    factors_.at(i, rank) = 1;
    factors_.at(i, rank + 1) = static_cast<T>(linear_[i]);
  }
}

template <class T>
typename FeatureRows<T>::FeatureKernel::LearnedTable FeatureRows<T>::FeatureKernel::TableOf(
    const Feature& feature) const {
  LearnedTable learned;
  for (const Member& member : feature.members) {
    if (theta_[member.kernel] != 0) learned.terms = std::max(learned.terms, member.terms);
  }
  learned.table.assign(learned.terms * learned.terms, 0.0);
  for (const Member& member : feature.members) {
    const double weight = theta_[member.kernel] * member.scale;
    if (weight == 0) continue;
    for (Index k = 0; k < member.terms; ++k) {
      const double* from = member.matrix->data() + k * member.terms;
      double* to = learned.table.data() + k * learned.terms;
      for (Index l = 0; l < member.terms; ++l) to[l] += weight * from[l];
    }
  }
  return learned;
}

// The trace of B.
template <class T>
double FeatureRows<T>::FeatureKernel::LearnedTable::variation() const {
  double sum = 0;
  for (Index k = 1; k < terms; ++k) sum += table[k * terms + k];
  return sum;
}

// What is left is positive semidefinite, so no value of it is above the square of the sum of its diagonal's
// roots. Pivots no larger than rounding count as zero: products of errors, divided by a larger one, stay
// below rounding.
template <class T>
void FeatureRows<T>::FeatureKernel::LearnedTable::Factor(double cut_off) {
  double largest = 0;
  for (const double value : table) largest = std::max(largest, std::abs(value));
  std::vector<double> rest(terms, 0.0);
  for (Index k = 1; k < terms; ++k) rest[k] = table[k * terms + k];
  for (rank = 0; rank + 1 < terms; ++rank) {
    double roots = 0;
    for (const double value : rest) roots += std::sqrt(std::max(value, 0.0));
    const Index pivot = std::ranges::max_element(rest) - rest.begin();
    if (roots * roots <= cut_off || !(rest[pivot] > kFewRoundings * largest)) return;
    const double root = std::sqrt(rest[pivot]);
    factor.resize((rank + 1) * terms, 0.0);
    double* row = factor.data() + rank * terms;
    std::copy_n(table.data() + pivot * terms + 1, terms - 1, row + 1);
    for (Index r = 0; r < rank; ++r) {
      const double* before = factor.data() + r * terms;
      for (Index k = 1; k < terms; ++k) row[k] -= before[pivot] * before[k];
    }
    for (Index k = 1; k < terms; ++k) {
      row[k] = rest[k] == 0 ? 0 : row[k] / root;
      rest[k] -= row[k] * row[k];
    }
    rest[pivot] = 0;  // exactly, as for earlier pivots
  }
}

template <class T>
void FeatureRows<T>::FeatureKernel::WriteFactors(const LearnedTable& learned,
                                                 const PackedSamples<T>& polynomials, Index place) const {
  if (learned.rank == 0) return;
  const Index width = polynomials.features;
  AlignedVector<T> left(learned.rank * width, T{0}), products(learned.rank * rows_.samples_);
  for (Index r = 0; r < learned.rank; ++r) {
    for (Index k = 1; k < learned.terms; ++k)
      left[r * width + k] = static_cast<T>(learned.factor[r * learned.terms + k]);
  }
  PackedProduct<T>(left.data(), learned.rank, polynomials, 0, rows_.samples_, /*add=*/false, products.data(),
                   rows_.samples_);
  for (Index r = 0; r < learned.rank; ++r) {
    for (Index i = 0; i < rows_.samples_; i += kPackedBlock) {
      std::copy_n(&products[r * rows_.samples_ + i], std::min(kPackedBlock, rows_.samples_ - i),
                  &factors_.at(i, place + r));
    }
  }
}

template <class T>
void FeatureRows<T>::FillPolynomials(Feature& feature) const {
  if (feature.polynomials.features == feature.terms) return;
  feature.polynomials = PackedSamples<T>(samples_, feature.terms);
  std::vector<double> last(kPackedBlock), now(kPackedBlock);
  for (Index begin = 0; begin < samples_; begin += kPackedBlock) {
    const Index count = std::min(kPackedBlock, samples_ - begin);
    const double* t = feature.t.data() + begin;
    T* to = &feature.polynomials.at(begin, 0);
    std::copy_n(t, count, last.begin());  // T_{-1} = T_1
    std::fill_n(now.begin(), count, 1.0);
    for (Index k = 0; k < feature.terms; ++k, to += kPackedBlock) {
      for (Index i = 0; i < count; ++i) {
        to[i] = static_cast<T>(now[i]);
        const double next = 2 * t[i] * now[i] - last[i];
        last[i] = now[i];
        now[i] = next;
      }
    }
  }
}

template class FeatureRows<float>;
template class FeatureRows<double>;

}  // namespace kweave
