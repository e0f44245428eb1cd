#include "regularizer/nonnegative_qp.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "compute/cpu/cholesky.h"

namespace kweave {

namespace {

constexpr int kBlockTries = 3;        // without fewer broken signs, before entries change sides one by one
constexpr double kTolerance = 1e-13;  // relative, of a sign

// x where it is in `is_positive`, zero elsewhere.
std::vector<double> SolveOn(const std::vector<bool>& is_positive, std::span<const double> E,
                            std::span<const double> c) {
  std::vector<std::size_t> chosen;
  for (std::size_t m = 0; m < c.size(); ++m) {
    if (is_positive[m]) chosen.push_back(m);
  }
  const std::size_t k = chosen.size();
  std::vector<double> matrix(k * k), x(k);
  for (std::size_t i = 0; i < k; ++i) {
    x[i] = c[chosen[i]];
    for (std::size_t j = 0; j < k; ++j) matrix[i * k + j] = E[chosen[i] * c.size() + chosen[j]];
  }
  std::vector<double> all(c.size(), 0.0);
  if (k == 0 || !FactorCholesky(matrix, static_cast<int>(k))) return all;
  SolveLower(matrix, static_cast<int>(k), x, 1);
  SolveUpper(matrix, static_cast<int>(k), x, 1);
  for (std::size_t i = 0; i < k; ++i) all[chosen[i]] = x[i];
  return all;
}

// Positive entries below zero, and zero ones that the slope would have positive.
std::vector<std::size_t> BrokenSigns(const std::vector<bool>& is_positive, std::span<const double> E,
                                     std::span<const double> c, std::span<const double> x) {
  double scale = 0;
  for (const double value : c) scale = std::max(scale, std::abs(value));
  std::vector<std::size_t> broken;
  for (std::size_t m = 0; m < c.size(); ++m) {
    if (is_positive[m]) {
      if (x[m] < 0) broken.push_back(m);
      continue;
    }
    double slope = -c[m];
    for (std::size_t k = 0; k < c.size(); ++k) slope += E[m * c.size() + k] * x[k];
    if (slope < -kTolerance * scale) broken.push_back(m);
  }
  return broken;
}

}  // namespace

std::vector<double> SolveNonnegative(std::span<const double> E, std::span<const double> c) {
  std::vector<bool> is_positive(c.size());
  for (std::size_t m = 0; m < c.size(); ++m) is_positive[m] = c[m] > 0;
  std::size_t fewest = c.size() + 1;
  int tries = kBlockTries;
  const std::size_t most_rounds = 20 * c.size() + 20;
  std::vector<double> x;
  for (std::size_t round = 0; round < most_rounds; ++round) {
    x = SolveOn(is_positive, E, c);
    std::vector<std::size_t> broken = BrokenSigns(is_positive, E, c, x);
    if (broken.empty()) break;
    if (broken.size() < fewest) {
      fewest = broken.size();
      tries = kBlockTries;
    } else if (tries > 0) {
      --tries;
    } else {
      broken.erase(broken.begin(), broken.end() - 1);
    }
    for (const std::size_t m : broken) is_positive[m] = !is_positive[m];
  }
  for (double& value : x) value = std::max(value, 0.0);
  return x;
}

}  // namespace kweave
