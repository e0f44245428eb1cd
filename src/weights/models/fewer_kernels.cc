#include "weights/models/fewer_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "weights/models/sparse_mixture.h"

namespace kweave {
namespace {

// Kernels that others are compared with, and that may stand for all: more than ever stay active, and few
// enough that comparing every kernel with each of them costs less than a solve.
constexpr std::size_t kAnchors = 64;

std::vector<std::size_t> Active(std::span<const double> theta) {
  std::vector<std::size_t> active;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    if (theta[m] > 0) active.push_back(m);
  }
  return active;
}

// The most that a plane changes by when weight 1 moves from one kernel to the other.
double Difference(std::span<const std::span<const double>> planes, std::size_t a, std::size_t b) {
  double difference = 0;
  for (const std::span<const double> q : planes)
    difference = std::max(difference, 0.5 * std::abs(q[a] - q[b]));
  return difference;
}

}  // namespace

void MergeWeights(std::span<const std::span<const double>> planes, double tolerance,
                  std::span<double> theta) {
  std::vector<std::size_t> order = Active(theta);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return theta[a] > theta[b]; });
  const double small = 1 / static_cast<double>(order.size());
  const double sum = std::accumulate(theta.begin(), theta.end(), 0.0);
  std::vector<std::size_t> anchors;
  for (const std::size_t m : order) {
    std::size_t nearest = m;
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t anchor : anchors) {
      const double difference = Difference(planes, m, anchor);
      if (difference < least) {
        least = difference;
        nearest = anchor;
      }
    }
    if (theta[m] * least <= tolerance * std::max(theta[m] / sum, small)) {
      theta[nearest] += theta[m];
      theta[m] = 0;
    } else if (anchors.size() < kAnchors) {
      anchors.push_back(m);
    }
  }
}

void ThinWeights(std::span<const std::span<const double>> products, double tolerance,
                 std::span<double> theta) {
  const std::vector<std::size_t> active = Active(theta);
  if (active.size() <= 1) return;
  const double sum = std::accumulate(theta.begin(), theta.end(), 0.0);
  std::vector<double> columns, weights;
  for (const std::size_t m : active) {
    weights.push_back(theta[m] / sum);
    for (const std::span<const double> of_pair : products) columns.push_back(of_pair[m]);
  }
  const std::vector<double> few = SparseMixture(columns, weights, 2 * tolerance / sum, kAnchors);
  for (std::size_t k = 0; k < active.size(); ++k) theta[active[k]] = sum * few[k];
}

void TrimWeights(std::span<const std::span<const double>> planes, const LinearWeights& bounds,
                 double tolerance, std::span<double> theta) {
  double largest = std::numeric_limits<double>::min();
  for (const std::span<const double> plane : planes) {
    for (const double q : plane) largest = std::max(largest, std::abs(q));
  }
  const double small = tolerance / (largest * static_cast<double>(theta.size()));
  double freed = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const double above = theta[m] - bounds.lower[m];
    if (above > small) continue;
    freed += above;
    theta[m] = bounds.lower[m];
  }
  GiveOut(bounds, freed, theta);
}

}  // namespace kweave
