#include "gram/feature_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "compute/cpu/family_loops.h"
#include "gram/family_table.h"
#include "gram/group.h"

namespace kweave {
namespace {

constexpr Index kMostTerms = 64;  // longer: the table of a family costs less
constexpr Index kRowsPerPiece = 24;
constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();

// Of the learned kernel's variation, not in its rows.
template <class T>
constexpr double kCutOff = std::is_same_v<T, float> ? 3e-8 : 1e-16;

// Of the squares of a feature's values.
struct Squares {
  Squares(const FeatureTable& table, std::span<const double> t) {
    for (const double value : t) {
      const double x = table.center + value / table.slope;
      largest = std::max(largest, x * x);
      mean += x * x / static_cast<double>(t.size());
    }
  }
  double largest = 0, mean = 0;
};

}  // namespace

template <class T>
bool FeatureRows<T>::Add(const FeaturePlace& place, Shape shape, const FeatureTable& table,
                         std::span<const FamilyMember> members, std::span<const double> t) {
  if (table.terms > kMostTerms) return false;
  const Squares squares(table, t);
  for (const FamilyMember& member : members) {
    const KernelParameters& p = member.parameters;
    if (!(p.gamma > 0)) return false;
    if (shape != Shape::kPower) continue;
    if (!(p.coef0 >= 0) || !KeepsDigits<T>(p.degree, squares.mean, squares.largest)) return false;
  }
  const auto known = numbers_.find(place);
  const Index before = known == numbers_.end() ? 0 : features_[known->second].terms;
  const Index more = std::max<Index>(table.terms - before, 0);
  const std::size_t bytes = 2 * static_cast<std::size_t>(samples_ * more) * sizeof(T);
  if (bytes_ + bytes > kMostFeatureRowBytes) return false;
  bytes_ += bytes;
  if (known == numbers_.end()) {
    numbers_[place] = features_.size();
    features_.push_back({0, {}, {t.begin(), t.end()}});
  }
  Feature& feature = features_[numbers_[place]];
  feature.terms = before + more;
  for (std::size_t m = 0; m < members.size(); ++m) {
    feature.members.push_back(
        {members[m].kernel, members[m].scale, table.members[m].terms, table.members[m].matrix});
  }
  return true;
}

template <class T>
void FeatureRows<T>::SetWeights(std::span<const double> theta) {
  theta_.assign(theta.begin(), theta.end());
  has_factors_ = false;
}

template <class T>
void FeatureRows<T>::AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) {
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
  const Index blocks = (samples_ + kColumnBlock - 1) / kColumnBlock;
  pool.ParallelFor(pieces * blocks, 1, [&](Index piece, Index, int) {
    const Index first = piece % pieces * kRowsPerPiece, begin = piece / pieces * kColumnBlock;
    PackedProduct<T>(left.data() + first * width, std::min(kRowsPerPiece, count - first), factors_, begin,
                     std::min(begin + kColumnBlock, samples_), /*add=*/true, out + first * stride + begin,
                     stride);
  });
}

template <class T>
void FeatureRows<T>::AddDiagonal(std::span<double> out, ThreadPool& pool) {
  MakeFactors(pool);
  if (factors_.features == 0) return;
  const Index rank = factors_.features - 2;
  for (Index i = 0; i < samples_; ++i) out[i] += 2 * linear_[i] + constant_;
  for (Index begin = 0; begin < samples_; begin += kPackedBlock) {
    const Index count = std::min(kPackedBlock, samples_ - begin);
    for (Index r = 0; r < rank; ++r) {
      const T* column = &factors_.at(begin, r);
      for (Index i = 0; i < count; ++i)
        out[begin + i] += static_cast<double>(column[i]) * static_cast<double>(column[i]);
    }
  }
}

template <class T>
void FeatureRows<T>::MakeFactors(ThreadPool& pool) {
  if (has_factors_) return;
  has_factors_ = true;
  const auto count = static_cast<Index>(features_.size());
  std::vector<Learned> learned(features_.size());
  pool.ParallelFor(count, 4, [&](Index begin, Index end, int) {
    for (Index f = begin; f < end; ++f) learned[f] = LearnedTable(features_[f]);
  });
  double variation = 0;
  Index active = 0;
  for (const Learned& one : learned) {
    variation += one.variation();
    active += one.terms > 0 ? 1 : 0;
  }
  pool.ParallelFor(count, 4, [&](Index begin, Index end, int) {
    for (Index f = begin; f < end; ++f) {
      if (learned[f].terms == 0) continue;
      learned[f].Factor(kCutOff<T> * variation / static_cast<double>(active));
      FillPolynomials(features_[f]);
    }
  });
  Index rank = 0;
  std::vector<Index> places;
  constant_ = 0;
  linear_.assign(samples_, 0.0);
  for (std::size_t f = 0; f < learned.size(); ++f) {
    places.push_back(rank);
    if (learned[f].terms == 0) continue;
    rank += learned[f].rank;
    constant_ += learned[f].table[0];
    std::vector<double> slopes(learned[f].table.begin(), learned[f].table.begin() + learned[f].terms);
    slopes[0] = 0;
    AddChebyshev<double>(features_[f].t.data(), samples_, {}, slopes, linear_.data());
  }
  const Index width = active == 0 ? 0 : rank + 2;
  if (factors_.features != width) factors_ = PackedSamples<T>(samples_, width);
  if (width == 0) return;
  pool.ParallelFor(count, 4, [&](Index begin, Index end, int) {
    for (Index f = begin; f < end; ++f) WriteFactors(learned[f], features_[f].polynomials, places[f]);
  });
  for (Index i = 0; i < samples_; ++i) {
    factors_.at(i, rank) = 1;
    factors_.at(i, rank + 1) = static_cast<T>(linear_[i]);
  }
}

template <class T>
typename FeatureRows<T>::Learned FeatureRows<T>::LearnedTable(const Feature& feature) const {
  Learned learned;
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
double FeatureRows<T>::Learned::variation() const {
  double sum = 0;
  for (Index k = 1; k < terms; ++k) sum += table[k * terms + k];
  return sum;
}

// What is left is positive semidefinite, so no value of it is above the square of the sum of its diagonal's roots. Pivots that
// are no more than rounding are none: products of errors, divided by a larger one, stay below rounding.
template <class T>
void FeatureRows<T>::Learned::Factor(double cut_off) {
  double largest = 0;
  for (const double value : table) largest = std::max(largest, std::abs(value));
  std::vector<double> rest(terms, 0.0);
  for (Index k = 1; k < terms; ++k) rest[k] = table[k * terms + k];
  for (rank = 0; rank + 1 < terms; ++rank) {
    double roots = 0;
    for (const double value : rest) roots += std::sqrt(std::max(value, 0.0));
    const Index pivot = std::ranges::max_element(rest) - rest.begin();
    if (roots * roots <= cut_off || !(rest[pivot] > kRounding * largest)) return;
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

template <class T>
void FeatureRows<T>::WriteFactors(const Learned& learned, const PackedSamples<T>& polynomials, Index place) {
  if (learned.rank == 0) return;
  const Index width = polynomials.features;
  AlignedVector<T> left(learned.rank * width, T{0}), products(learned.rank * samples_);
  for (Index r = 0; r < learned.rank; ++r) {
    for (Index k = 1; k < learned.terms; ++k)
      left[r * width + k] = static_cast<T>(learned.factor[r * learned.terms + k]);
  }
  PackedProduct<T>(left.data(), learned.rank, polynomials, 0, samples_, /*add=*/false, products.data(),
                   samples_);
  for (Index r = 0; r < learned.rank; ++r) {
    for (Index i = 0; i < samples_; i += kPackedBlock) {
      std::copy_n(&products[r * samples_ + i], std::min(kPackedBlock, samples_ - i),
                  &factors_.at(i, place + r));
    }
  }
}

template class FeatureRows<float>;
template class FeatureRows<double>;

}  // namespace kweave
