#include "loss/joint_risk.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/constants.h"
#include "base/golden_sections.h"
#include "base/offset.h"
#include "loss/class_cycle.h"

namespace kweave {

namespace {

// Any scale of an answer gives a bound, and at the optimum the best one is 1: far from it there is no use in
// looking further.
constexpr double kLargestScale = 2;
constexpr int kSections =
    40;  // 0.618^40 is below 1e-8, the root of rounding: a smooth minimum is flat so near

// Of the size of betas, below which they are what a solver has left and not what the machine wants: their
// prices would decide on biases that cost the others much more. The first share keeps every price that is
// exact.
constexpr double kNegligible[] = {0, 1e-12, 1e-9, 1e-6, 1e-3};

// The factor at which a convex function of it is smallest; 1 where that is no worse.
template <class Function>
double BestFactor(double low, double high, const Function& function) {
  const double found = SmallestByGoldenSections(low, high, kSections, function);
  return function(1) <= function(found) ? 1 : found;
}

// Of the betas of each sample at the classes that are not its own; 0 where they are not asked for.
std::vector<double> OtherMagnitudes(const JointRisk& risk, std::span<const double> beta) {
  std::vector<double> sums(risk.y.size());
  if (!risk.IsTwoSided()) return sums;
  for (Index u = 0; u < risk.classes; ++u) {
    for (Index i = 0; i < risk.samples(); ++i) {
      if (u != risk.y[Offset(i)]) sums[Offset(i)] += std::abs(beta[risk.At(i, u)]);
    }
  }
  return sums;
}

// Bounds of one sample, and its sum over the classes.
void FitSample(const JointRisk& risk, Index i, std::span<double> beta) {
  const Index own = risk.y[Offset(i)];
  const double cap = risk.Cap(i, own);
  double others = 0;
  for (Index u = 0; u < risk.classes; ++u) {
    if (u == own) continue;
    beta[risk.At(i, u)] = std::min(beta[risk.At(i, u)], risk.Cap(i, u));
    others -= beta[risk.At(i, u)];
  }
  const double factor = others > cap ? cap / others : 1;
  for (Index u = 0; u < risk.classes && factor < 1; ++u) beta[risk.At(i, u)] *= factor;
  beta[risk.At(i, own)] = std::min(others, cap);
}

// Raises class v and lowers class u by `amount` in all, over the samples that have room at v. There always is
// enough when the sum at v is below zero, or where classes without samples are left alone.
void MoveSum(const JointRisk& risk, Index u, Index v, double amount, std::span<double> beta) {
  for (Index i = 0; i < risk.samples() && amount > 0; ++i) {
    double& raised = beta[risk.At(i, v)];
    const double step = std::min(amount, risk.Cap(i, v) - raised);
    if (!(step > 0)) continue;
    raised += step;
    beta[risk.At(i, u)] -= step;
    amount -= step;
  }
}

void FitSums(const JointRisk& risk, std::span<double> beta) {
  std::vector<double> surplus(Offset(risk.classes)), magnitude(Offset(risk.classes));
  for (Index u = 0; u < risk.classes; ++u) {
    for (Index i = 0; i < risk.samples(); ++i) {
      surplus[Offset(u)] += beta[risk.At(i, u)];
      magnitude[Offset(u)] += std::abs(beta[risk.At(i, u)]);
    }
    if (std::abs(surplus[Offset(u)]) <= kSumRounding * magnitude[Offset(u)]) surplus[Offset(u)] = 0;
  }
  Index u = 0;
  for (Index v = 0; v < risk.classes; ++v) {
    while (surplus[Offset(v)] < 0) {
      while (u < risk.classes && !(surplus[Offset(u)] > 0)) ++u;
      if (u == risk.classes) return;
      const double amount = std::min(surplus[Offset(u)], -surplus[Offset(v)]);
      MoveSum(risk, u, v, amount, beta);
      surplus[Offset(u)] -= amount;
      surplus[Offset(v)] += amount;
    }
  }
}

// What raising each class at the cost of each other one is worth at these betas, to samples for which it is
// more than a rest: betas within a share of their size from a bound or corner count as there.
ClassPrices PricesOf(const JointRisk& risk, std::span<const double> beta, std::span<const double> f,
                     double share, double largest) {
  ClassPrices prices(risk.classes);
  prices.Clear(risk.has_bias);
  const bool is_two_sided = risk.IsTwoSided();
  std::vector<double> at(Offset(risk.classes)), gradient(at.size()), raise(at.size()), lower(at.size());
  for (Index i = 0; i < risk.samples(); ++i) {
    const auto own = Offset(risk.y[Offset(i)]);
    const double cap = risk.Cap(i, risk.y[Offset(i)]);
    const double rest = share * (std::isfinite(cap) ? cap : largest);
    for (Index u = 0; u < risk.classes; ++u) {
      at[Offset(u)] = beta[risk.At(i, u)];
      if (Offset(u) != own && std::abs(at[Offset(u)]) < rest) at[Offset(u)] = 0;
      gradient[Offset(u)] = f[risk.At(i, u)];
    }
    gradient[own] -= risk.OwnSlope(i, at[own]);
    raise = lower = gradient;
    if (is_two_sided) risk.FindSlopes(i, at, gradient, raise, lower);
    for (Index u = 0; u < risk.classes; ++u) {
      const bool is_at_cap = Offset(u) == own ? at[own] >= cap - rest : at[Offset(u)] >= risk.Cap(i, u);
      if (!is_at_cap) prices.Offer(u, raise[Offset(u)], lower.data());
    }
  }
  return prices;
}

}  // namespace

double JointRisk::Cap(Index sample, Index output) const {
  const Interval feasible = loss->Feasible(1, C[Offset(sample)]);
  return y[Offset(sample)] == output ? feasible.upper : std::max(0.0, -feasible.lower);
}

Interval JointRisk::Margin(Index sample, std::span<const double> f, std::span<const double> biases,
                           double error) const {
  const Index own = y[Offset(sample)];
  double largest = -std::numeric_limits<double>::infinity(), smallest = -largest;
  for (Index u = 0; u < classes; ++u) {
    if (u == own) continue;
    const double other = f[At(sample, u)] + biases[Offset(u)];
    largest = std::max(largest, other);
    smallest = std::min(smallest, other);
  }
  const double value = f[At(sample, own)] + biases[Offset(own)];
  const double lowest = value - largest - 2 * error;
  return {lowest, IsTwoSided() ? value - smallest + 2 * error : lowest};
}

double JointRisk::LossOf(Index sample, Interval margins) const {
  double worst = loss->Value(margins.lower, 1);
  if (margins.upper != margins.lower) worst = std::max(worst, loss->Value(margins.upper, 1));
  return C[Offset(sample)] * worst;
}

double JointRisk::OtherMagnitude(Index sample, std::span<const double> beta) const {
  const auto own = Offset(y[Offset(sample)]);
  double sum = 0;
  for (std::size_t u = 0; u < beta.size(); ++u) sum += u == own ? 0 : std::abs(beta[u]);
  return sum;
}

double JointRisk::DualOf(Index sample, double own_beta, double magnitude) const {
  if (!IsTwoSided()) return loss->Dual(own_beta, 1, C[Offset(sample)]);
  return OwnSlope(sample, own_beta) * own_beta - 0.5 * MagnitudeCurvature(sample) * magnitude * magnitude;
}

double JointRisk::OwnSlope(Index sample, double own_beta) const {
  return loss->PieceAt(IsTwoSided() ? 0 : own_beta, 0, 1, C[Offset(sample)]).slope;
}

double JointRisk::MagnitudeCurvature(Index sample) const {
  return loss->PieceAt(0, 0, 1, C[Offset(sample)]).curvature;
}

void JointRisk::FindSlopes(Index sample, std::span<const double> beta, std::span<const double> gradient,
                           std::span<double> raise, std::span<double> lower) const {
  const auto own = Offset(y[Offset(sample)]);
  const double corner = MagnitudeCurvature(sample) * OtherMagnitude(sample, beta);
  for (std::size_t u = 0; u < beta.size(); ++u) {
    raise[u] = gradient[u] + (u == own ? 0 : beta[u] >= 0 ? corner : -corner);
    lower[u] = gradient[u] + (u == own ? 0 : beta[u] > 0 ? corner : -corner);
  }
}

std::vector<Interval> JointRisk::Margins(std::span<const double> f, std::span<const double> biases,
                                         double error) const {
  std::vector<Interval> margins;
  margins.reserve(y.size());
  for (Index i = 0; i < samples(); ++i) margins.push_back(Margin(i, f, biases, error));
  return margins;
}

double JointRisk::ValueAt(std::span<const Interval> margins, double scale) const {
  double sum = 0;
  for (Index i = 0; i < samples(); ++i) {
    const Interval at = margins[Offset(i)];
    sum += LossOf(i, {scale * at.lower, scale * at.upper});
  }
  return sum;
}

double JointRisk::BestScale(std::span<const Interval> margins, double square) const {
  return BestFactor(1 / kLargestScale, kLargestScale,
                    [&](double scale) { return 0.5 * scale * scale * square + ValueAt(margins, scale); });
}

double JointRisk::BestDualScale(std::span<const double> beta, double square) const {
  const std::vector<double> magnitudes = OtherMagnitudes(*this, beta);
  double most = kLargestScale;
  for (Index i = 0; i < samples(); ++i) {
    const Index own = y[Offset(i)];
    if (beta[At(i, own)] > 0) most = std::min(most, Cap(i, own) / beta[At(i, own)]);
  }
  return BestFactor(0, std::max(most, 1.0), [&](double scale) {
    double sum = 0;
    for (Index i = 0; i < samples(); ++i) {
      const Index own = y[Offset(i)];
      sum += DualOf(i, std::min(scale * beta[At(i, own)], Cap(i, own)), scale * magnitudes[Offset(i)]);
    }
    return 0.5 * scale * scale * square - sum;
  });
}

double JointRisk::Value(std::span<const double> f, std::span<const double> biases) const {
  double sum = 0;
  for (Index i = 0; i < samples(); ++i) sum += LossOf(i, Margin(i, f, biases));
  return sum;
}

double JointRisk::Dual(std::span<const double> beta) const {
  double sum = 0;
  const std::vector<double> magnitudes = OtherMagnitudes(*this, beta);
  for (Index i = 0; i < samples(); ++i) sum += DualOf(i, beta[At(i, y[Offset(i)])], magnitudes[Offset(i)]);
  return sum;
}

std::vector<double> JointRisk::BiasesFor(std::span<const double> beta, std::span<const double> f) const {
  std::vector<double> best(Offset(classes), 0.0);
  if (!has_bias) return best;
  double largest = 0, least_value = std::numeric_limits<double>::infinity();
  for (const double value : beta) largest = std::max(largest, std::abs(value));
  for (const double share : kNegligible) {
    std::vector<double> biases = FindPotentials(PricesOf(*this, beta, f, share, largest), {}).biases;
    const double value = Value(f, biases);
    if (!(value < least_value)) continue;
    least_value = value;
    best = std::move(biases);
  }
  return best;
}

void JointRisk::MakeFeasible(std::span<double> beta) const {
  for (Index i = 0; i < samples(); ++i) FitSample(*this, i, beta);
  if (has_bias) FitSums(*this, beta);
}

bool ServesJoint(const Loss& loss) {
  const Interval piece = loss.PieceAt(0, 0, 1, 1).range;
  const bool is_quadratic = std::isinf(piece.lower) && std::isinf(piece.upper);
  return is_quadratic || loss.Feasible(1, 1).lower >= 0;
}

}  // namespace kweave
