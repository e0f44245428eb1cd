#include "loss/smooth_loss.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/constants.h"

namespace kweave {

namespace {

constexpr double kSlow = 0.1;  // the first derivative should shrink at least this much in a Newton step
// A search in outputs of about the size of 1 ends within ten steps. One that has not may be as far from its
// end as the largest of them, or as near as the unit of the loss: the order of the outputs tells sooner than
// doubling and halving.
constexpr int kStepsBeforeOrder = 12;

// Of the objective of a bias.
struct BiasSlope {
  double first = 0, magnitude = 0, second = 0;
  bool is_flat() const { return std::abs(first) <= kFewRoundings * magnitude; }
};

// What BestBias minimises.
struct BiasProblem {
  const SmoothLoss& loss;
  std::span<const double> f, y, C;
  double slope;

  BiasSlope SlopeAt(double b) const {
    BiasSlope sum{slope, std::abs(slope), 0};
    for (std::size_t i = 0; i < f.size(); ++i) {
      const LossDerivatives at = loss.DerivativesAt(f[i] + b, y[i]);
      sum.first += C[i] * at.first;
      sum.magnitude += C[i] * std::abs(at.first);
      sum.second += C[i] * at.second;
    }
    return sum;
  }
};

// Narrows the bracket to two neighbours among the biases that bring an output to 0; returns where to go on.
double NarrowByOrder(const BiasProblem& problem, Interval& bracket) {
  std::vector<double> zeros;
  for (const double f : problem.f) {
    if (-f > bracket.lower && -f < bracket.upper) zeros.push_back(-f);
  }
  std::ranges::sort(zeros);
  std::size_t low = 0, high = zeros.size();
  while (low < high) {
    const std::size_t middle = std::midpoint(low, high);
    const bool is_below = problem.SlopeAt(zeros[middle]).first < 0;
    (is_below ? bracket.lower : bracket.upper) = zeros[middle];
    (is_below ? low : high) = is_below ? middle + 1 : middle;
  }
  return std::isfinite(bracket.lower) ? bracket.lower : bracket.upper;
}

// A place inside the bracket: its middle, or one nearer to one of its ends in turn.
double Inside(const Interval& bracket, double reach, bool from_below) {
  const double width = bracket.upper - bracket.lower;
  if (!(reach < 0.5 * width)) return std::midpoint(bracket.lower, bracket.upper);
  return from_below ? bracket.lower + reach : bracket.upper - reach;
}

}  // namespace

double SmoothLoss::BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                            double slope) const {
  const BiasProblem problem{*this, f, y, C, slope};
  // The derivative is negative at its lower end, positive at its upper.
  Interval bracket{-kInfinity, kInfinity};
  double b = 0;
  double previous = kInfinity;  // first derivative before the last Newton step
  double reach = 1;             // of the next step from where the end is open or far
  for (int step = 0; step < kMostRootSteps; ++step) {
    if (step == kStepsBeforeOrder) {
      b = NarrowByOrder(problem, bracket);
      reach = 1;
    }
    const BiasSlope at = problem.SlopeAt(b);
    if (at.is_flat()) return b;
    (at.first < 0 ? bracket.lower : bracket.upper) = b;
    const double width = bracket.upper - bracket.lower;
    if (width <= kFewRoundings * std::abs(b)) return b;
    // Where the loss falls off exponentially, Newton steps are short however far there is to go.
    const bool is_slow = std::abs(at.first) > kSlow * std::abs(previous);
    previous = is_slow ? kInfinity : at.first;
    double next = is_slow ? kInfinity : b - at.first / at.second;  // not finite where the second is zero
    if (std::isinf(width) && !(std::abs(next - b) <= reach)) next = at.first < 0 ? b + reach : b - reach;
    if (!(next > bracket.lower && next < bracket.upper)) next = Inside(bracket, reach, step % 2 == 0);
    if (next == b || !std::isfinite(next)) return b;
    reach *= 2;
    b = next;
  }
  return b;
}

}  // namespace kweave
