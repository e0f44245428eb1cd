#include "qp/joint_standing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/offset.h"
#include "compute/cpu/class_loops.h"

namespace kweave {

namespace {

constexpr Index kTile = 64;               // samples turned over at a time
constexpr Index kValuesPerPiece = 32768;  // some ten microseconds of work; 8,192 or 131,072 take as long
// Another factor is looked for now and then, the less often the less the last one found was worth.
constexpr int kLeastBetweenScales = 4, kMostBetweenScales = 32;
constexpr double kWorthwhile = 0.1;  // of the gap

}  // namespace

JointStanding::JointStanding(const JointRisk& risk, std::span<const double> beta, ThreadPool* pool)
    : risk_(risk),
      is_two_sided_(risk.IsTwoSided()),
      pool_(pool),
      beta_(beta.size()),
      gradient_(beta.size()),
      raise_(is_two_sided_ ? beta.size() : 0),
      lower_(raise_.size()),
      slopes_(risk.y.size()),
      duals_(risk.y.size()),
      raisable_(risk.y.size()),
      prices_(risk.classes),
      thread_prices_(pool != nullptr ? static_cast<std::size_t>(pool->size()) : 1, prices_),
      thread_largest_(thread_prices_.size(), 1.0),
      margins_(risk.y.size()),
      products_(risk.y.size()),
      violations_(risk.y.size()) {
  std::vector<double> row(Offset(risk.classes));
  for (Index i = 0; i < risk.samples(); ++i) {
    caps_.push_back(risk.Cap(i, risk.y[Offset(i)]));
    for (Index u = 0; u < risk.classes; ++u) row[Offset(u)] = beta[risk.At(i, u)];
    Assign(i, row);
  }
}

void JointStanding::Assign(Index sample, std::span<const double> beta) {
  std::copy(beta.begin(), beta.end(), beta_.begin() + sample * risk_.classes);
  std::vector<Index>& classes = raisable_[Offset(sample)];
  classes.clear();
  const Index own = risk_.y[Offset(sample)];
  for (Index u = 0; u < risk_.classes; ++u) {
    if (is_two_sided_ || beta[Offset(u)] < (u == own ? caps_[Offset(sample)] : 0)) classes.push_back(u);
  }
  slopes_[Offset(sample)] = risk_.OwnSlope(sample, beta[Offset(own)]);
  duals_[Offset(sample)] = risk_.DualOf(sample, beta[Offset(own)], risk_.OtherMagnitude(sample, beta));
}

// On all threads where there is enough to do.
template <class Body>
void JointStanding::ForSamples(const Body& body) {
  const Index grain = std::max(kTile, kValuesPerPiece / risk_.classes);
  pool_ != nullptr ? pool_->ParallelFor(risk_.samples(), grain, body) : body(0, risk_.samples(), 0);
}

void JointStanding::Measure(std::span<const double> outputs, std::span<const Index> changed) {
  FindGradients(outputs, changed);
  potentials_ = FindPotentials(prices_, potentials_.biases);
  if (!risk_.has_bias) std::fill(potentials_.biases.begin(), potentials_.biases.end(), 0.0);
  ForSamples([&](Index begin, Index end, int) {
    for (Index i = begin; i < end; ++i) FindBounds(i);
  });
  AddUp();
}

void JointStanding::Turn(std::span<const double> outputs, std::span<const Index> changed, Index begin,
                         Index end) {
  for (const Index u : changed) {
    for (Index i = begin; i < end; ++i) gradient_[Offset(i * risk_.classes + u)] = outputs[risk_.At(i, u)];
  }
  for (Index i = begin; i < end; ++i) {
    const Index own = risk_.y[Offset(i)];
    gradient_[Offset(i * risk_.classes + own)] = outputs[risk_.At(i, own)] - slopes_[Offset(i)];
    if (!is_two_sided_) continue;
    const std::size_t begin_of_row = Offset(i * risk_.classes), size = Offset(risk_.classes);
    risk_.FindSlopes(i, Beta(i), Gradient(i), std::span(raise_).subspan(begin_of_row, size),
                     std::span(lower_).subspan(begin_of_row, size));
  }
}

// And the prices that follow from them.
void JointStanding::FindGradients(std::span<const double> outputs, std::span<const Index> changed) {
  for (ClassPrices& prices : thread_prices_) prices.Clear(risk_.has_bias);
  ForSamples([&](Index begin, Index end, int thread) {
    ClassPrices& prices = thread_prices_[static_cast<std::size_t>(thread)];
    double& largest = thread_largest_[static_cast<std::size_t>(thread)];
    for (Index tile = begin; tile < end; tile += kTile) {
      const Index tile_end = std::min(tile + kTile, end);
      Turn(outputs, changed, tile, tile_end);
      for (Index i = tile; i < tile_end; ++i) {
        const double *raise = Raise(i).data(), *lower = Lower(i).data();
        for (const Index u : raisable_[Offset(i)]) {
          prices.Offer(u, raise[u], lower);
          largest = std::max(largest, std::abs(lower[u]));
        }
      }
    }
  });
  std::swap(prices_, thread_prices_.front());
  for (std::size_t thread = 1; thread < thread_prices_.size(); ++thread)
    prices_.Merge(thread_prices_[thread]);
  largest_output_ = *std::max_element(thread_largest_.begin(), thread_largest_.end());
}

// What the sample adds to both bounds, and how much the best step that it could take is worth to it.
void JointStanding::FindBounds(Index i) {
  const double* gradient = gradient_.data() + i * risk_.classes;
  const double* beta = beta_.data() + i * risk_.classes;
  const double* biases = potentials_.biases.data();
  const Index own = risk_.y[Offset(i)];
  const double own_output = gradient[own] + slopes_[Offset(i)];
  const double best_other =
      std::max(LargestSum(gradient, biases, own),
               LargestSum(gradient + own + 1, biases + own + 1, risk_.classes - own - 1));
  double product = beta[own] * own_output, lowest = std::numeric_limits<double>::infinity();
  for (const Index u : raisable_[Offset(i)]) {  // all others are zero
    if (u != own) product += beta[u] * gradient[u];
    lowest = std::min(lowest, gradient[u] + biases[u]);
  }
  const double own_value = own_output + biases[own];
  margins_[Offset(i)] = {own_value - best_other, own_value - best_other};
  products_[Offset(i)] = product;
  violations_[Offset(i)] = std::max(best_other, gradient[own] + biases[own]) - lowest;
  if (is_two_sided_) AddOtherSide(i, own_value);
}

// The margin over the class that is farthest behind, and what the sample would rather do at corners.
void JointStanding::AddOtherSide(Index i, double own_value) {
  const std::span<const double> gradient = Gradient(i), raise = Raise(i), lower = Lower(i);
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (Index u = 0; u < risk_.classes; ++u) {
    const double bias = potentials_.biases[Offset(u)];
    lowest = std::min(lowest, raise[Offset(u)] + bias);
    highest = std::max(highest, lower[Offset(u)] + bias);
    if (u == risk_.y[Offset(i)]) continue;
    margins_[Offset(i)].upper = std::max(margins_[Offset(i)].upper, own_value - gradient[Offset(u)] - bias);
  }
  violations_[Offset(i)] = highest - lowest;
}

void JointStanding::AddUp() {
  double product = 0, linear = 0;
  for (Index i = 0; i < risk_.samples(); ++i) {
    product += products_[Offset(i)];
    linear += duals_[Offset(i)];
  }
  const auto primal_at = [&](double scale) {
    return 0.5 * scale * scale * product + risk_.ValueAt(margins_, scale);
  };
  primal_ = primal_at(scale_);
  dual_ = linear - 0.5 * product;
  if (--measures_to_scale_ > 0 || !std::isfinite(product)) return;
  scale_ = risk_.BestScale(margins_, product);
  const double before = primal_;
  primal_ = primal_at(scale_);
  const bool was_worth_it = before - primal_ > kWorthwhile * gap();
  between_scales_ = was_worth_it ? kLeastBetweenScales : std::min(2 * between_scales_, kMostBetweenScales);
  measures_to_scale_ = between_scales_;
}

Index JointStanding::SampleFor(Index u, Index v) const {
  const double length = prices_.Length(u, v);
  if (length == ClassPrices::None(risk_.has_bias)) return -1;
  for (Index i = 0; i < risk_.samples(); ++i) {
    if (Raise(i)[Offset(u)] - Lower(i)[Offset(v)] != length) continue;
    const std::vector<Index>& classes = raisable_[Offset(i)];
    if (std::find(classes.begin(), classes.end(), u) != classes.end()) return i;
  }
  return -1;
}

}  // namespace kweave
