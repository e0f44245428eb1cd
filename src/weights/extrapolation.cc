#include "weights/extrapolation.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "compute/cpu/cholesky.h"

namespace kweave {

namespace {

constexpr std::size_t kMemory = 12;
constexpr double kRidge = 1e-6;  // of the trace

}  // namespace

std::vector<double> Extrapolation::Next(std::span<const double> u, std::span<const double> image,
                                        std::span<const double> weights) {
  Remember(u, image);
  const Pair& now = pairs_.back();
  const std::size_t count = pairs_.size() - 1;
  std::vector<double> next = now.image;
  if (count > 0) {
    const auto product = [&](std::span<const double> a, std::span<const double> b) {
      double sum = 0;
      for (std::size_t m = 0; m < a.size(); ++m) sum += weights[m] * a[m] * b[m];
      return sum;
    };
    std::vector<std::vector<double>> changes;
    for (std::size_t a = 0; a < count; ++a) {
      std::vector<double>& change = changes.emplace_back(now.residual);
      for (std::size_t m = 0; m < change.size(); ++m) change[m] -= pairs_[a].residual[m];
    }
    std::vector<double> matrix(count * count), side(count);
    double trace = 0;
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) matrix[a * count + b] = product(changes[a], changes[b]);
      side[a] = product(changes[a], now.residual);
      trace += matrix[a * count + a];
    }
    for (std::size_t a = 0; a < count; ++a) matrix[a * count + a] += kRidge * trace;
    if (trace > 0 && FactorCholesky(matrix, static_cast<int>(count))) {
      SolveLower(matrix, static_cast<int>(count), side, 1);
      SolveUpper(matrix, static_cast<int>(count), side, 1);
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t m = 0; m < next.size(); ++m)
          next[m] -= side[a] * (now.image[m] - pairs_[a].image[m]);
      }
    }
  }
  return next;
}

void Extrapolation::Remember(std::span<const double> u, std::span<const double> image) {
  Pair pair{{image.begin(), image.end()}, std::vector<double>(u.size())};
  for (std::size_t m = 0; m < u.size(); ++m) pair.residual[m] = image[m] - u[m];
  pairs_.push_back(std::move(pair));
  if (pairs_.size() > kMemory + 1) pairs_.pop_front();
}

}  // namespace kweave
