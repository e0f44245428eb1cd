#include "model/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/golden_sections.h"

namespace kweave {
namespace {

// A slope of e^12 is a step for values of any size; rounding hides more sections than that.
constexpr double kMostLogSlope = 12;
constexpr int kSections = 40;
// A machine is never surer than that, so that the equations of the coupling can be solved.
constexpr double kLeastProbability = 1e-7;

template <class LossOf>
double BestSlope(const LossOf& loss) {
  return std::exp(SmallestByGoldenSections(-kMostLogSlope, kMostLogSlope, kSections,
                                           [&](double log_slope) { return loss(std::exp(log_slope)); }));
}

double Sigmoid(double t) { return t >= 0 ? 1 / (1 + std::exp(-t)) : std::exp(t) / (1 + std::exp(t)); }
// log(1 + e^t)
double SoftPlus(double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); }

// A value of known sign with the probability that its sample should have of that side.
struct TargetValue {
  double size = 0, target = 0, weight = 0;
};

double SlopeOf(std::span<const TargetValue> values) {
  return BestSlope([&](double slope) {
    double loss = 0;
    for (const TargetValue& value : values)
      loss += value.weight * (SoftPlus(slope * value.size) - value.target * slope * value.size);
    return loss;
  });
}

// The slope on one side of 0, with Platt's targets: what is expected of a new sample after seeing these.
double OneSidedSlope(std::span<const double> values, const std::vector<bool>& is_positive,
                     std::span<const double> weights, bool is_upper) {
  std::vector<std::pair<TargetValue, bool>> own;
  double hits = 0, misses = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((values[i] > 0) != is_upper) continue;
    const bool is_right = is_positive[i] == is_upper;
    (is_right ? hits : misses) += weights[i];
    own.push_back({{std::abs(values[i]), 0, weights[i]}, is_right});
  }
  if (own.empty()) return 1;
  std::vector<TargetValue> targets;
  for (auto& [value, is_right] : own) {
    value.target = is_right ? (hits + 1) / (hits + 2) : 1 / (misses + 2);
    targets.push_back(value);
  }
  return SlopeOf(targets);
}

std::vector<double> LogSoftmax(std::span<const double> values, double slope) {
  const double largest = std::ranges::max(values);
  double sum = 0;
  for (const double value : values) sum += std::exp(slope * (value - largest));
  std::vector<double> logarithms;
  for (const double value : values) logarithms.push_back(slope * (value - largest) - std::log(sum));
  return logarithms;
}

// Of values row after row. One more sample belongs to every class a little: the slope stays finite where all
// is separable.
double SoftmaxSlope(std::span<const double> values, const CalibrationSamples& samples, std::size_t classes) {
  const double prior = 1 / static_cast<double>(classes);
  return BestSlope([&](double slope) {
    double loss = 0;
    for (std::size_t i = 0; i < samples.classes.size(); ++i) {
      const std::vector<double> logarithms = LogSoftmax(values.subspan(i * classes, classes), slope);
      loss -= samples.weights[i] * logarithms[static_cast<std::size_t>(samples.classes[i])];
      loss -= prior * std::accumulate(logarithms.begin(), logarithms.end(), 0.0) /
              static_cast<double>(samples.classes.size());
    }
    return loss;
  });
}

// Solves A x = b of n equations by elimination with pivots. A (row after row) and b are overwritten.
std::vector<double> SolveEquations(std::vector<double>& a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    if (a[pivot * n + k] == 0) continue;  // of a matrix without full rank; the value stays what it is
    for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
    if (a[k * n + k] != 0) b[k] /= a[k * n + k];
  }
  return std::move(b);
}

// p that minimises sum_uv (r_vu p_u - r_uv p_v)^2 and sums to one, from the values of machines for pairs.
std::vector<double> Couple(const ModelContent& content, std::span<const double> values, double slope) {
  const std::size_t classes = content.classes.size(), n = classes + 1;
  std::vector<double> r(classes * classes, 0.5);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto u = static_cast<std::size_t>(content.machines[k].output);
    const auto v = static_cast<std::size_t>(content.machines[k].against);
    r[u * classes + v] = std::clamp(Sigmoid(slope * values[k]), kLeastProbability, 1 - kLeastProbability);
    r[v * classes + u] = 1 - r[u * classes + v];
  }
  std::vector<double> a(n * n, 1.0), b(n, 0.0);
  a[n * n - 1] = 0;
  b[n - 1] = 1;
  for (std::size_t u = 0; u < classes; ++u) {
    double squares = 0;
    for (std::size_t v = 0; v < classes; ++v) {
      a[u * n + v] = -r[v * classes + u] * r[u * classes + v];
      if (v != u) squares += r[v * classes + u] * r[v * classes + u];
    }
    a[u * n + u] = squares;
  }
  std::vector<double> p = SolveEquations(a, b);
  p.pop_back();
  double sum = 0;
  for (double& value : p) sum += value = std::max(value, std::numeric_limits<double>::min());
  for (double& value : p) value /= sum;
  return p;
}

std::vector<double> FitPairs(const ModelContent& content, const CalibrationSamples& samples) {
  const std::size_t machines = content.machines.size(), classes = content.classes.size();
  std::vector<double> totals(classes, 0.0);
  for (std::size_t i = 0; i < samples.classes.size(); ++i)
    totals[static_cast<std::size_t>(samples.classes[i])] += samples.weights[i];
  std::vector<TargetValue> margins;
  for (std::size_t i = 0; i < samples.classes.size(); ++i) {
    const Index own = samples.classes[i];
    const double total = totals[static_cast<std::size_t>(own)];
    for (std::size_t k = 0; k < machines; ++k) {
      const ModelMachine& machine = content.machines[k];
      if (machine.output != own && machine.against != own) continue;
      const double value = samples.values[i * machines + k];
      margins.push_back(
          {machine.output == own ? value : -value, (total + 1) / (total + 2), samples.weights[i]});
    }
  }
  const double slope = SlopeOf(margins);
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < samples.classes.size(); ++i) {
    for (const double p : Couple(content, std::span(samples.values).subspan(i * machines, machines), slope))
      logarithms.push_back(std::log(p));
  }
  return {slope, SoftmaxSlope(logarithms, samples, classes)};
}

// The largest where the decision is: the two exchange their probabilities, and where they are equal a last
// digit tells them apart.
void Agree(std::span<const double> decision, std::vector<double>& probabilities) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(decision) - decision.begin());
  const auto largest =
      static_cast<std::size_t>(std::ranges::max_element(probabilities) - probabilities.begin());
  std::swap(probabilities[best], probabilities[largest]);
  if (std::ranges::max_element(probabilities) - probabilities.begin() != static_cast<Index>(best))
    probabilities[best] = std::nextafter(probabilities[best], 2.0);
}

}  // namespace

std::size_t CalibrationSize(const ModelContent& content) {
  return !content.multiclass || CalibratesMachines(content) ? 2 : 1;
}

std::vector<double> FitCalibration(const ModelContent& content, const CalibrationSamples& samples) {
  if (CalibratesMachines(content)) return FitPairs(content, samples);
  if (content.multiclass) return {SoftmaxSlope(samples.values, samples, content.classes.size())};
  std::vector<bool> is_positive;
  for (const Index u : samples.classes) is_positive.push_back(u == 1);
  return {OneSidedSlope(samples.values, is_positive, samples.weights, /*is_upper=*/false),
          OneSidedSlope(samples.values, is_positive, samples.weights, /*is_upper=*/true)};
}

std::vector<double> CalibratedProbabilities(const ModelContent& content, std::span<const double> decision,
                                            std::span<const double> values) {
  const std::vector<double>& slopes = content.calibration;
  std::vector<double> probabilities;
  if (!content.multiclass) return {Sigmoid(slopes[values[0] > 0 ? 1 : 0] * values[0])};
  std::vector<double> scores(values.begin(), values.end());
  if (CalibratesMachines(content)) {
    scores = Couple(content, values, slopes[0]);
    for (double& score : scores) score = std::log(score);
  }
  for (const double logarithm : LogSoftmax(scores, slopes.back()))
    probabilities.push_back(std::exp(logarithm));
  Agree(decision, probabilities);
  return probabilities;
}

}  // namespace kweave
