#include "weights/models/secant_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/dot.h"
#include "weights/models/mixture.h"

namespace kweave {

namespace {

// Pairs at most, and at least: Nocedal and Wright, section 7.2, have 3 to 20; gradients here cost a solve, so
// that more of them pay.
constexpr std::size_t kMostPairs = 30, kLeastPairs = 4;
constexpr double kLeastCosine = 1e-8;  // between step and change: below it noise is all there is
// Steps of one minimum: as many as a second or so of multiplications allows, within these.
constexpr std::size_t kMostSteps = 1000, kLeastSteps = 20, kMostWork = 1'000'000'000;
// Slope where the minimum counts as found, as a share of that where the search began: the model errs by more.
constexpr double kFlat = 1e-8;
constexpr double kLongest =
    1e6;  // step length, and its inverse the shortest, of the first: keeps it a number

std::size_t PairsFor(std::size_t size) {
  const std::size_t most = kMostModelBytes / (3 * sizeof(double) * std::max<std::size_t>(size, 1));
  return most < kLeastPairs ? 0 : std::min(most, kMostPairs);
}

}  // namespace

void SecantModel::Add(std::vector<double> step, std::vector<double> change) {
  const double curvature = Dot(step, change);
  if (!(curvature > kLeastCosine * std::sqrt(Dot(step, step) * Dot(change, change)))) return;
  const std::size_t most = PairsFor(step.size());
  pairs_.push_back({std::move(step), std::move(change), curvature, {}, 0});
  if (pairs_.size() > most) pairs_.pop_front();
}

// s's / s'y in the metric, or 0.
double SecantModel::SpectralLength(std::span<const double> step, std::span<const double> change) const {
  double ss = 0;
  double sy = 0;
  for (std::size_t m = 0; m < step.size(); ++m) {
    const double scaled = step[m] / scales_[m];
    ss += scaled * scaled;
    sy += scaled * change[m];
  }
  return sy > 0 ? ss / sy : 0;
}

void SecantModel::Update() {
  const Pair& latest = pairs_.back();
  length_ = SpectralLength(latest.step, latest.change);
  if (!(length_ > 0)) length_ = Dot(latest.step, latest.step) / latest.curvature;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    Pair& pair = pairs_[k];
    pair.image = Multiply(pair.step, k);
    pair.image_curvature = Dot(pair.step, pair.image);
  }
}

// With the first few updates.
std::vector<double> SecantModel::Multiply(std::span<const double> v, std::size_t updates) const {
  std::vector<double> product(v.size());
  for (std::size_t m = 0; m < v.size(); ++m) product[m] = v[m] / (length_ * scales_[m]);
  for (std::size_t k = 0; k < updates; ++k) {
    const Pair& pair = pairs_[k];
    const double added = Dot(pair.change, v) / pair.curvature;
    const double removed = Dot(pair.image, v) / pair.image_curvature;
    for (std::size_t m = 0; m < v.size(); ++m) product[m] += added * pair.change[m] - removed * pair.image[m];
  }
  return product;
}

std::vector<double> SecantModel::Minimize(std::span<const double> theta, std::span<const double> gradient,
                                          std::span<const double> scales, const Projection& project) {
  scales.empty() ? scales_.assign(theta.size(), 1.0) : scales_.assign(scales.begin(), scales.end());
  Update();
  const std::size_t M = theta.size();
  const std::size_t steps = std::clamp(kMostWork / (4 * pairs_.size() * M), kLeastSteps, kMostSteps);
  std::vector<double> x(theta.begin(), theta.end()), slopes(gradient.begin(), gradient.end());
  std::vector<double> target(M), d(M);
  double step_length = length_;
  double first_slope = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    for (std::size_t m = 0; m < M; ++m) target[m] = x[m] - step_length * scales_[m] * slopes[m];
    project(target, scales);
    for (std::size_t m = 0; m < M; ++m) d[m] = target[m] - x[m];
    const double slope = Dot(d, slopes);
    if (k == 0) first_slope = slope;
    if (!(slope < kFlat * first_slope)) break;
    const std::vector<double> image = Multiply(d, pairs_.size());
    const double curvature = Dot(d, image);
    if (!(curvature > 0)) break;  // rounding
    const double share = std::min(-slope / curvature, 1.0);
    for (std::size_t m = 0; m < M; ++m) {
      x[m] = share == 1 ? target[m] : x[m] + share * d[m];
      slopes[m] += share * image[m];
    }
    const double spectral = SpectralLength(d, image);
    step_length = spectral > 0 ? std::clamp(spectral, length_ / kLongest, length_ * kLongest) : length_;
  }
  return x;
}

}  // namespace kweave
