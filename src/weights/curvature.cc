#include "weights/curvature.h"

#include <algorithm>
#include <cmath>

#include "compute/cpu/cholesky.h"

namespace kweave {

namespace {

constexpr Index kRowsPerCall = 64;

// Ascending; those strictly between their bounds.
std::vector<Index> FreeSamples(const Evaluation& at, std::span<const double> upper) {
  std::vector<Index> free;
  for (std::size_t i = 0; i < at.beta.size(); ++i) {
    const double alpha = std::abs(at.beta[i]);
    if (alpha > 1e-9 * upper[i] && alpha < (1 - 1e-9) * upper[i]) free.push_back(static_cast<Index>(i));
  }
  if (free.size() <= kMostFreeSamples) return free;
  std::vector<Index> chosen(kMostFreeSamples);
  for (std::size_t k = 0; k < chosen.size(); ++k) chosen[k] = free[k * free.size() / chosen.size()];
  return chosen;
}

// K(theta) between the free samples but the last, relative to the last: k_ij - k_il - k_lj + k_ll.
std::vector<double> ReducedKernel(Gram& gram, std::span<const double> theta, std::span<const Index> free) {
  const std::size_t size = free.size() - 1;
  const Index n = gram.left_count();
  std::vector<double> kernel(size * size), block(static_cast<std::size_t>(kRowsPerCall * n));
  std::vector<double> last(static_cast<std::size_t>(n));
  gram.Rows(theta, free.last(1), last.data(), n);
  const auto to_last = [&](std::size_t j) { return last[static_cast<std::size_t>(free[j])]; };
  for (std::size_t begin = 0; begin < size; begin += kRowsPerCall) {
    const std::size_t count = std::min<std::size_t>(kRowsPerCall, size - begin);
    gram.Rows(theta, free.subspan(begin, count), block.data(), n);
    for (std::size_t r = 0; r < count; ++r) {
      const double* row = &block[r * static_cast<std::size_t>(n)];
      double* out = &kernel[(begin + r) * size];
      const double constant = to_last(size) - to_last(begin + r);
      for (std::size_t j = 0; j < size; ++j) out[j] = row[free[j]] - to_last(j) + constant;
    }
  }
  return kernel;
}

// Factors kernel + ridge, the smallest ridge that makes it positive definite in floating point.
bool FactorWithRidge(std::vector<double>& kernel, int size) {
  double trace = 0;
  for (int i = 0; i < size; ++i) trace += kernel[static_cast<std::size_t>(i) * (size + 1)];
  if (!(trace > 0)) return false;
  const std::vector<double> plain = kernel;
  for (const double ridge : {1e-10, 1e-8, 1e-6, 1e-4}) {
    for (int i = 0; i < size; ++i) kernel[static_cast<std::size_t>(i) * (size + 1)] += ridge * trace / size;
    if (FactorCholesky(kernel, size)) return true;
    kernel = plain;
  }
  return false;
}

}  // namespace

std::optional<std::vector<double>> Curvature(const Evaluation& at, const Machine& machine,
                                             std::span<const Direction> directions) {
  const std::vector<Index> free = FreeSamples(at, machine.problem().upper);
  const std::size_t count = directions.size();
  std::vector<double> hessian(count * count, 0.0);
  if (free.size() < 2) return hessian;
  const std::size_t size = free.size() - 1;

  std::vector<double> kernel = ReducedKernel(machine.gram(), at.theta, free);
  if (!FactorWithRidge(kernel, static_cast<int>(size))) return std::nullopt;

  std::vector<double> derivatives(size * count), theta(at.theta.size(), 0.0), outputs(at.beta.size());
  for (std::size_t k = 0; k < count; ++k) {
    const Direction& direction = directions[k];
    for (std::size_t j = 0; j < direction.kernels.size(); ++j) {
      theta[static_cast<std::size_t>(direction.kernels[j])] = direction.weights[j];
    }
    machine.expansion().Outputs(theta, outputs);
    for (const Index m : direction.kernels) theta[static_cast<std::size_t>(m)] = 0;
    const double last = outputs[static_cast<std::size_t>(free[size])];
    for (std::size_t i = 0; i < size; ++i) {
      derivatives[i * count + k] = outputs[static_cast<std::size_t>(free[i])] - last;
    }
  }
  SolveLower(kernel, static_cast<int>(size), derivatives, static_cast<int>(count));
  MultiplyTransposed(derivatives, static_cast<int>(size), static_cast<int>(count), hessian);
  return hessian;
}

}  // namespace kweave
