#include "loss/joint_risk.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "loss/class_cycle.h"

namespace kweave {

namespace {

constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();

std::size_t Offset(Index i) { return static_cast<std::size_t>(i); }

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
      if (beta[At(i, u)] < Cap(i, u)) prices.Offer(i, u, gradient.data());
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
