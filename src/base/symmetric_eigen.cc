#include "base/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kweave {

namespace {

constexpr int kMostSweeps = 60;

// Rotates rows and columns p and q so that the entry between them vanishes.
void Rotate(std::vector<double>& a, std::vector<double>& vectors, std::size_t n, std::size_t p,
            std::size_t q) {
  const double between = a[p * n + q];
  if (between == 0) return;
  const double ratio = 0.5 * (a[q * n + q] - a[p * n + p]) / between;
  const double tangent = (ratio >= 0 ? 1 : -1) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1));
  const double cosine = 1 / std::sqrt(tangent * tangent + 1), sine = tangent * cosine;
  const auto turn = [&](double& x, double& y) {
    const double old = x;
    x = cosine * old - sine * y;
    y = sine * old + cosine * y;
  };
  for (std::size_t k = 0; k < n; ++k) turn(a[k * n + p], a[k * n + q]);
  for (std::size_t k = 0; k < n; ++k) turn(a[p * n + k], a[q * n + k]);
  for (std::size_t k = 0; k < n; ++k) turn(vectors[k * n + p], vectors[k * n + q]);
  a[p * n + q] = a[q * n + p] = 0;
}

}  // namespace

SymmetricEigen::SymmetricEigen(std::span<const double> matrix, std::size_t size) {
  std::vector<double> a(matrix.begin(), matrix.end()), turned(size * size, 0.0);
  double total = 0;
  for (std::size_t i = 0; i < size; ++i) turned[i * size + i] = 1;
  for (const double value : a) total += value * value;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = p + 1; q < size; ++q) off += a[p * size + q] * a[p * size + q];
    }
    if (!(off > 1e-30 * total)) break;
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = p + 1; q < size; ++q) Rotate(a, turned, size, p, q);
    }
  }
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a[i * size + i] > a[j * size + j]; });
  for (const std::size_t k : order) {
    values.push_back(a[k * size + k]);
    std::vector<double>& vector = vectors.emplace_back();
    for (std::size_t i = 0; i < size; ++i) vector.push_back(turned[i * size + k]);
    const auto largest = std::max_element(vector.begin(), vector.end(),
                                          [](double x, double y) { return std::abs(x) < std::abs(y); });
    if (largest == vector.end() || !(*largest < 0)) continue;
    for (double& value : vector) value = -value;
  }
}

}  // namespace kweave
