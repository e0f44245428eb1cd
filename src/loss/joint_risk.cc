#include "loss/joint_risk.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/golden_sections.h"
#include "loss/class_cycle.h"

namespace kweave {

namespace {

constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();

std::size_t Offset(Index i) { return static_cast<std::size_t>(i); }

constexpr double kLargestScale = 2;
constexpr int kSections = 40;

// The factor at which a convex function of it is smallest; 1 where that is no worse.
template <class Function>
double BestFactor(double low, double high, const Function& function) {
  const double found = SmallestByGoldenSections(low, high, kSections, function);
  return function(1) <= function(found) ? 1 : found;
}

// Bounds of one sample, and its sum over the classes.
void FitSample(const JointRisk& risk, Index i, std::span<double> beta) {
  const Index own = risk.y[Offset(i)];
  const double cap = risk.Cap(i, own);
  double others = 0;
  for (Index u = 0; u < risk.classes; ++u) {
    if (u == own) continue;
    beta[risk.At(i, u)] = std::min(beta[risk.At(i, u)], 0.0);
    others -= beta[risk.At(i, u)];
  }
  const double factor = others > cap ? cap / others : 1;
  for (Index u = 0; u < risk.classes && factor < 1; ++u) beta[risk.At(i, u)] *= factor;
  beta[risk.At(i, own)] = std::min(others, cap);
}

// Raises class v and lowers class u by `amount` in all, over the samples that have room at v. There always is enough when the
// sum at v is below zero, or where classes without samples are left alone.
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
    if (std::abs(surplus[Offset(u)]) <= kRounding * magnitude[Offset(u)]) surplus[Offset(u)] = 0;
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

}  // namespace

double JointRisk::Margin(Index sample, std::span<const double> f, std::span<const double> biases,
                         double error) const {
  const Index own = y[Offset(sample)];
  double best_other = -std::numeric_limits<double>::infinity();
  for (Index u = 0; u < classes; ++u) {
    if (u != own) best_other = std::max(best_other, f[At(sample, u)] + biases[Offset(u)]);
  }
  return f[At(sample, own)] + biases[Offset(own)] - best_other - 2 * error;
}

std::vector<double> JointRisk::Margins(std::span<const double> f, std::span<const double> biases,
                                       double error) const {
  std::vector<double> margins;
  margins.reserve(y.size());
  for (Index i = 0; i < samples(); ++i) margins.push_back(Margin(i, f, biases, error));
  return margins;
}

double JointRisk::ValueAt(std::span<const double> margins, double scale) const {
  double sum = 0;
  for (std::size_t i = 0; i < margins.size(); ++i) sum += C[i] * loss->Value(scale * margins[i], 1);
  return sum;
}

double JointRisk::BestScale(std::span<const double> margins, double square) const {
  return BestFactor(1 / kLargestScale, kLargestScale,
                    [&](double scale) { return 0.5 * scale * scale * square + ValueAt(margins, scale); });
}

double JointRisk::BestDualScale(std::span<const double> beta, double square) const {
  double most = kLargestScale;
  for (Index i = 0; i < samples(); ++i) {
    const Index own = y[Offset(i)];
    if (beta[At(i, own)] > 0) most = std::min(most, Cap(i, own) / beta[At(i, own)]);
  }
  return BestFactor(0, std::max(most, 1.0), [&](double scale) {
    double sum = 0;
    for (Index i = 0; i < samples(); ++i) {
      const Index own = y[Offset(i)];
      sum += loss->Dual(std::min(scale * beta[At(i, own)], Cap(i, own)), 1, C[Offset(i)]);
    }
    return 0.5 * scale * scale * square - sum;
  });
}

double JointRisk::Value(std::span<const double> f, std::span<const double> biases) const {
  double sum = 0;
  for (Index i = 0; i < samples(); ++i) sum += C[Offset(i)] * loss->Value(Margin(i, f, biases), 1);
  return sum;
}

double JointRisk::Dual(std::span<const double> beta) const {
  double sum = 0;
  for (Index i = 0; i < samples(); ++i) sum += loss->Dual(beta[At(i, y[Offset(i)])], 1, C[Offset(i)]);
  return sum;
}

std::vector<double> JointRisk::BiasesFor(std::span<const double> beta, std::span<const double> f) const {
  if (!has_bias) return std::vector<double>(Offset(classes), 0.0);
  ClassPrices prices(classes);
  prices.Clear(has_bias);
  std::vector<double> gradient(Offset(classes));
  for (Index i = 0; i < samples(); ++i) {
    for (Index u = 0; u < classes; ++u) gradient[Offset(u)] = f[At(i, u)];
    const Index own = y[Offset(i)];
    const double at = beta[At(i, own)];
    gradient[Offset(own)] -= loss->PieceAt(at, gradient[Offset(own)], 1, C[Offset(i)]).slope;
    for (Index u = 0; u < classes; ++u) {
      if (beta[At(i, u)] < Cap(i, u)) prices.Offer(u, gradient.data());
    }
  }
  return FindPotentials(prices, {}).biases;
}

void JointRisk::MakeFeasible(std::span<double> beta) const {
  for (Index i = 0; i < samples(); ++i) FitSample(*this, i, beta);
  if (has_bias) FitSums(*this, beta);
}

bool ServesJoint(const Loss& loss) { return loss.Feasible(1, 1).lower >= 0; }

}  // namespace kweave
