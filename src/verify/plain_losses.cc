#include "verify/plain_losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kweave/error.h"

namespace kweave::verify {
namespace {

double SoftPlus(double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); }

double TimesLog(double s) { return s > 0 ? s * std::log(s) : 0; }

[[noreturn]] void Refuse(const std::string& name) {
  throw Error(ErrorKind::kData,
              fmt::format("loss '{}' cannot be verified: its formula is not known here", name));
}

}  // namespace

double PlainLoss::Value(double f, double y) const {
  if (name == "hinge") return std::max(0.0, 1 - y * f);
  if (name == "squared-hinge") return 0.5 * std::pow(std::max(0.0, 1 - y * f), 2);
  if (name == "smoothed-hinge") return SoftPlus(sharpness * (1 - y * f)) / sharpness;
  if (name == "logistic") return SoftPlus(-y * f);
  if (name == "least-squares" || name == "squared") return 0.5 * (f - y) * (f - y);
  if (name == "epsilon-insensitive") return std::max(0.0, std::abs(f - y) - epsilon);
  if (name == "one-class") return std::max(0.0, -f);
  Refuse(name);
}

double PlainLoss::Dual(double beta, double y, double C, double violation) const {
  const auto within = [&](double value, double lower, double upper) {
    const double inside = std::clamp(value, lower, upper);
    return std::abs(value - inside) <= violation * C ? inside : std::numeric_limits<double>::quiet_NaN();
  };
  const auto or_nothing = [](double value) { return std::isnan(value) ? -kInfinity : value; };
  if (name == "hinge") return or_nothing(within(y * beta, 0, C));
  if (name == "one-class") return or_nothing(0 * within(beta, 0, C));
  if (name == "squared-hinge") {
    const double alpha = within(y * beta, 0, kInfinity);
    return or_nothing(alpha - 0.5 * alpha * alpha / C);
  }
  if (name == "least-squares" || name == "squared") return beta * y - 0.5 * beta * beta / C;
  if (name == "epsilon-insensitive") {
    const double inside = within(beta, -C, C);
    return or_nothing(inside * y - epsilon * std::abs(inside));
  }
  if (name == "logistic" || name == "smoothed-hinge") {
    const bool is_hinge = name == "smoothed-hinge";
    const double alpha = within(y * beta, 0, C);
    if (std::isnan(alpha)) return -kInfinity;
    return (is_hinge ? alpha : 0) -
           C / (is_hinge ? sharpness : 1) * (TimesLog(alpha / C) + TimesLog((C - alpha) / C));
  }
  Refuse(name);
}

}  // namespace kweave::verify
