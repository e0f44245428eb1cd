#include "weights/models/sparse_mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/dot.h"
#include "compute/cpu/cholesky.h"

namespace kweave {
namespace {

constexpr double kNoWeight = 1e-15;  // of weights of sum one: rounding
constexpr double kRidge = 1e-13;     // of the diagonal: columns may be alike

class ActiveSet {
 public:
  ActiveSet(std::span<const double> columns, std::span<const double> w)
      : columns_(columns), length_(columns.size() / w.size()), x_(w.size(), 0.0), residual_(length_, 0.0) {
    for (std::size_t k = 0; k < w.size(); ++k) {
      AddColumn(k, w[k]);
      lengths_.push_back(std::sqrt(Dot(Column(k), Column(k))));
    }
    target_ = residual_;
  }

  std::size_t size() const { return set_.size(); }
  double Error() const {
    double largest = 0;
    for (const double value : residual_) largest = std::max(largest, std::abs(value));
    return largest;
  }
  const std::vector<double>& x() const { return x_; }

  // Lets the best column enter; false when none would help.
  bool Grow() {
    std::size_t best = x_.size();
    double steepest = 0;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      if (x_[k] > 0 || k == barred_) continue;
      const double slope = Dot(Column(k), residual_) / lengths_[k];
      if (slope > steepest) steepest = slope, best = k;
    }
    if (best == x_.size()) return false;
    Enter(best);
    Settle();
    barred_ = x_[best] > 0 ? x_.size() : best;  // what left at once may not enter again at once
    return true;
  }

 private:
  std::span<const double> Column(std::size_t k) const { return columns_.subspan(k * length_, length_); }
  void AddColumn(std::size_t k, double factor) {
    const std::span<const double> column = Column(k);
    for (std::size_t e = 0; e < length_; ++e) residual_[e] += factor * column[e];
  }

  void Enter(std::size_t k) {
    set_.push_back(k);
    std::vector<double> products;
    for (const std::size_t other : set_) products.push_back(Dot(Column(k), Column(other)));
    products_.push_back(std::move(products));
    with_target_.push_back(Dot(Column(k), target_));
  }

  void Leave(std::size_t a) {
    const auto offset = static_cast<std::ptrdiff_t>(a);
    for (std::size_t b = a + 1; b < set_.size(); ++b) products_[b].erase(products_[b].begin() + offset);
    products_.erase(products_.begin() + offset);
    with_target_.erase(with_target_.begin() + offset);
    x_[set_[a]] = 0;
    set_.erase(set_.begin() + offset);
  }

  // Moves to the least squares of the set, dropping columns whose weight reaches zero on the way.
  void Settle() {
    while (!set_.empty()) {
      const std::vector<double> aim = LeastSquares();
      double step = 1;
      for (std::size_t a = 0; a < set_.size(); ++a) {
        const double x = x_[set_[a]];
        if (aim[a] <= 0) step = std::min(step, x / (x - aim[a]));
      }
      for (std::size_t a = 0; a < set_.size(); ++a) x_[set_[a]] += step * (aim[a] - x_[set_[a]]);
      if (step == 1) break;
      for (std::size_t a = set_.size(); a-- > 0;) {
        if (x_[set_[a]] <= kNoWeight) Leave(a);
      }
    }
    residual_ = target_;
    for (const std::size_t k : set_) AddColumn(k, -x_[k]);
  }

  std::vector<double> LeastSquares() const {
    const std::size_t size = set_.size();
    std::vector<double> normal(size * size), aim = with_target_;
    for (std::size_t a = 0; a < size; ++a) {
      std::ranges::copy(products_[a], normal.begin() + static_cast<std::ptrdiff_t>(a * size));
      normal[a * size + a] *= 1 + kRidge;
    }
    if (!FactorCholesky(normal, static_cast<int>(size))) return std::vector<double>(size, 0.0);
    SolveLower(normal, static_cast<int>(size), aim, 1);
    SolveUpper(normal, static_cast<int>(size), aim, 1);
    return aim;
  }

  std::span<const double> columns_;
  std::size_t length_;
  std::vector<double> x_;
  std::vector<double> residual_, target_;      // y - A x, and y
  std::vector<double> lengths_;                // of all columns
  std::vector<std::size_t> set_;               // columns in use
  std::vector<std::vector<double>> products_;  // of each with those before and itself
  std::vector<double> with_target_;            // of each with y
  std::size_t barred_ = static_cast<std::size_t>(-1);
};

}  // namespace

std::vector<double> SparseMixture(std::span<const double> columns, std::span<const double> w,
                                  double tolerance, std::size_t most) {
  const std::size_t count = w.size(), length = columns.size() / count;
  double largest = 0;
  for (const double value : columns) largest = std::max(largest, std::abs(value));
  if (!(largest > 0) || !std::isfinite(largest)) return {w.begin(), w.end()};
  // One more entry, the same in every column, keeps the sum.
  std::vector<double> extended;
  for (std::size_t k = 0; k < count; ++k) {
    extended.insert(extended.end(), columns.begin() + k * length, columns.begin() + (k + 1) * length);
    extended.push_back(largest);
  }
  ActiveSet set(extended, w);
  for (std::size_t step = 0; step < 2 * most && set.size() < most; ++step) {
    if (!set.Grow() || set.Error() <= 0.5 * tolerance) break;
  }
  if (!(set.Error() <= 0.5 * tolerance)) return {w.begin(), w.end()};
  std::vector<double> x = set.x();
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  for (double& value : x) value /= sum;
  return x;
}

}  // namespace kweave
