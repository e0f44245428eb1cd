#include "loss/logistic.h"

#include <algorithm>
#include <cmath>

namespace kweave {

namespace {

constexpr double kLeastShare = 1e-12;  // of C, that beta keeps from its ends where derivatives are asked for

double TimesLog(double s) { return s > 0 ? s * std::log(s) : 0; }

}  // namespace

double LogisticLoss::Value(double f, double y) const {
  const double t = sharpness_ * (margin_ - y * f);
  return (std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t)))) / sharpness_;
}

double LogisticLoss::Dual(double beta, double y, double C) const {
  const double alpha = y * beta;
  return margin_ * alpha - C / sharpness_ * (TimesLog(alpha / C) + TimesLog((C - alpha) / C));
}

Interval LogisticLoss::Feasible(double y, double C) const { return y > 0 ? Interval{0, C} : Interval{-C, 0}; }

DualPiece LogisticLoss::PieceAt(double beta, double f, double y, double C) const {
  const double s = std::max(y * beta / C, kLeastShare);
  const double rest = std::max((C - y * beta) / C, kLeastShare);
  return {Feasible(y, C), y * (margin_ + std::log(rest / s) / sharpness_), 1 / (sharpness_ * C * s * rest)};
}

LossDerivatives LogisticLoss::DerivativesAt(double f, double y) const {
  const double t = sharpness_ * (margin_ - y * f);
  const double small = std::exp(-std::abs(t));  // never overflows
  const double s = (t > 0 ? 1 : small) / (1 + small);
  return {-y * s, sharpness_ * small / ((1 + small) * (1 + small))};
}

}  // namespace kweave
