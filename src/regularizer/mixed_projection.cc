#include "regularizer/mixed_projection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/constants.h"
#include "regularizer/find_root.h"
#include "regularizer/lp_projection.h"
#include "regularizer/norms.h"
#include "regularizer/shrinkage.h"

namespace kweave {

namespace {

constexpr double kMostSize = 1e280;        // products with it are numbers
constexpr double kPrecision = 1e-13;       // of logarithms of norms
constexpr double kOuterPrecision = 1e-12;  // likewise

// The positive values of a group as they shrink.
class ShrinkingGroup {
 public:
  ShrinkingGroup(double p, double q) : p_(p), q_(q), shrinkage_(q) {}

  void Add(std::size_t m, double value, double scale) {
    members_.push_back(m);
    values_.push_back(value);
    scales_.push_back(scale);
    x_.push_back(value);
    roots_.push_back(0);
  }

  /// The logarithm of the norm of what is left at this lambda, given by its own.
  double ShrinkBy(double log_lambda) {
    if (values_.empty()) return -kInfinity;
    if (std::isinf(log_pressure_to_zero_)) log_pressure_to_zero_ = std::log(PressureToZero());
    if (p_ == 1 && log_lambda >= log_pressure_to_zero_) {
      std::fill(x_.begin(), x_.end(), 0.0);
      return -kInfinity;
    }
    const auto excess = [&](double place) {
      ShrinkTo(place);
      return log_pressure_ - (p_ > 1 ? (p_ - 1) * log_norm_ : 0) - log_lambda;
    };
    place_ = FindRoot(excess, place_, kPrecision);
    return log_norm_;
  }

  void WriteTo(std::span<double> theta) const {
    for (std::size_t k = 0; k < members_.size(); ++k) theta[members_[k]] = x_[k];
  }

 private:
  // ||v / s||_q*.
  double PressureToZero() const {
    std::vector<double> ratios(values_);
    for (std::size_t k = 0; k < ratios.size(); ++k) ratios[k] /= scales_[k];
    return PositiveNorm(ratios, ConjugateExponent(q_));
  }

  // `place` is log kappa up to q = 2. Above, where kappa would leave the range of numbers, it is log kappa /
  // (q - 1), minus the logarithm of the level for q = infinity: with y = x exp(place) the equation is y + s
  // exp(place) y^(q-1) = v exp(place).
  void ShrinkTo(double place) {
    const double size = std::exp(std::isinf(q_) ? -place : place);
    double pressure = 0;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      if (std::isinf(q_)) {
        x_[k] = std::min(values_[k], size);
        pressure += (values_[k] - x_[k]) / scales_[k];
      } else if (q_ == 1) {
        x_[k] = std::max(values_[k] - size * scales_[k], 0.0);
      } else if (size > kMostSize || size < 1 / kMostSize) {
        x_[k] = size > 1 ? 0 : values_[k];
      } else if (q_ <= 2) {
        x_[k] = shrinkage_.Solve(size * scales_[k], values_[k], roots_[k]).x;
      } else {
        x_[k] = shrinkage_.Solve(size * scales_[k], size * values_[k], roots_[k]).x / size;
      }
    }
    log_norm_ = std::log(PositiveNorm(x_, q_));
    if (std::isinf(q_)) {
      log_pressure_ = std::log(pressure);
    } else if (q_ > 1 && std::isinf(log_norm_)) {  // too little for numbers
      log_pressure_ = log_pressure_to_zero_;
    } else {
      log_pressure_ = (q_ <= 2 ? place : (q_ - 1) * place) + (q_ == 1 ? 0 : (q_ - 1) * log_norm_);
    }
  }

  const double p_, q_;
  const Shrinkage shrinkage_;
  std::vector<std::size_t> members_;
  std::vector<double> values_, scales_, x_, roots_;
  double place_ = 0;
  double log_norm_ = 0;      // of x
  double log_pressure_ = 0;  // log of kappa N^(q-1)
  double log_pressure_to_zero_ = -kInfinity;
};

std::size_t GroupCount(std::span<const int> groups) {
  return static_cast<std::size_t>(*std::max_element(groups.begin(), groups.end())) + 1;
}

void ProjectGroupsAlone(double q, std::span<const int> groups, std::span<double> theta,
                        std::span<const double> scales) {
  std::vector<std::vector<std::size_t>> places(GroupCount(groups));
  for (std::size_t m = 0; m < theta.size(); ++m) places[static_cast<std::size_t>(groups[m])].push_back(m);
  std::vector<double> values, of_values;
  for (const std::vector<std::size_t>& places_of_group : places) {
    values.clear();
    of_values.clear();
    for (const std::size_t m : places_of_group) {
      values.push_back(theta[m]);
      if (!scales.empty()) of_values.push_back(scales[m]);
    }
    ProjectOntoLpBall(q, values, of_values);
    for (std::size_t k = 0; k < values.size(); ++k) theta[places_of_group[k]] = values[k];
  }
}

}  // namespace

void ProjectOntoMixedBall(double p, double q, std::span<const int> groups, std::span<double> theta,
                          std::span<const double> scales) {
  if (p == q) return ProjectOntoLpBall(p, theta, scales);
  if (std::isinf(p)) return ProjectGroupsAlone(q, groups, theta, scales);
  DropNegative(theta);
  std::vector<ShrinkingGroup> shrinking(GroupCount(groups), ShrinkingGroup(p, q));
  std::vector<std::vector<double>> parts(shrinking.size());
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const auto g = static_cast<std::size_t>(groups[m]);
    if (!(theta[m] > 0)) continue;
    parts[g].push_back(theta[m]);
    shrinking[g].Add(m, theta[m], scales.empty() ? 1 : scales[m]);
  }
  std::vector<double> norms;
  for (const std::vector<double>& part : parts) norms.push_back(PositiveNorm(part, q));
  if (!(PositiveNorm(norms, p) > 1)) return;

  const auto shortfall = [&](double log_lambda) {
    for (std::size_t g = 0; g < norms.size(); ++g) norms[g] = std::exp(shrinking[g].ShrinkBy(log_lambda));
    return -std::log(PositiveNorm(norms, p));
  };
  FindRoot(shortfall, 0, kOuterPrecision);
  for (const ShrinkingGroup& group : shrinking) group.WriteTo(theta);
}

}  // namespace kweave
