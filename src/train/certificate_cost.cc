#include "train/certificate_cost.h"

#include <algorithm>
#include <vector>

#include "base/constants.h"
#include "base/stopwatch.h"

namespace kweave {
namespace {

constexpr Index kFewRows = 8;                       // and what passes take at a time: two points of a line
constexpr Index kLeastSamples = 10 * kRowsPerCall;  // fewer are certified in no time
// After the limit the last solve is evaluated, then certified, at times for two vectors.
constexpr double kPasses = 2.5;

// What the kernels take to answer for a vector with so many entries.
double SecondsFor(Gram& gram, Index entries) {
  const Index samples = gram.left_count();
  std::vector<double> a(static_cast<std::size_t>(samples), 0.0);
  for (Index k = 0; k < entries; ++k)
    a[static_cast<std::size_t>(k * samples / entries)] = k % 2 == 0 ? 1 : -1;
  const std::vector<double> theta(static_cast<std::size_t>(gram.kernels()), 1.0);
  const Stopwatch watch;
  gram.Answer({.a = a, .theta = theta});
  return watch.Seconds();
}

}  // namespace

void MeasureCertificateCost(Gram& exact, double most_seconds, RunControl& control) {
  if (!control.has_time_limit() || exact.left_count() < kLeastSamples) return;
  SecondsFor(exact, kFewRows);  // also what is made when first asked for
  const double few = SecondsFor(exact, kFewRows), many = SecondsFor(exact, kRowsPerCall);
  const double per_row = std::max(many - few, 0.0) / static_cast<double>(kRowsPerCall - kFewRows);
  const double fixed = std::max(few - kFewRows * per_row, 0.0);
  if (most_seconds > 0) {
    const double all = fixed + per_row * static_cast<double>(exact.left_count());
    control.SetCertificateCost(std::min(kPasses * all, most_seconds), 0);
  } else {
    control.SetCertificateCost(kPasses * fixed, kPasses * per_row);
  }
  exact.ReleaseCopies();
}

}  // namespace kweave
