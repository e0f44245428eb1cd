#include "kweave/kernel_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kweave/error.h"
#include "regularizer/entropy.h"
#include "regularizer/lp_projection.h"

namespace kweave {
namespace {

double InnerProduct(const double* x, const double* z, Index features) {
  double sum = 0;
  for (Index f = 0; f < features; ++f) sum += x[f] * z[f];
  return sum;
}

Index CountParameters(const std::vector<KernelFunctionPointer>& parts) {
  if (parts.empty()) throw Error(ErrorKind::kUsage, "a sum or product of kernels needs one at least");
  Index count = 0;
  for (const KernelFunctionPointer& part : parts) {
    if (part->samples() != parts[0]->samples()) {
      throw Error(ErrorKind::kUsage, fmt::format("a kernel on {} samples does not go with one on {}",
                                                 part->samples(), parts[0]->samples()));
    }
    count += part->parameters();
  }
  return count;
}

// use(k, the parameters of part k) for all parts; `theta` is values or derivatives.
template <class T, class Use>
void ForParts(const std::vector<KernelFunctionPointer>& parts, std::span<T> theta, const Use& use) {
  std::size_t first = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto count = static_cast<std::size_t>(parts[k]->parameters());
    use(k, theta.subspan(first, count));
    first += count;
  }
}

}  // namespace

SampleTable::SampleTable(std::vector<double> all_values, Index features_per_sample)
    : values(std::move(all_values)), features(features_per_sample) {
  const auto count = static_cast<Index>(values.size());
  if (features < 1 || count % features != 0) {
    throw Error(ErrorKind::kUsage, fmt::format("{} values are no samples of {} features", count, features));
  }
  samples = count / features;
}

void GaussianFunction::Row(std::span<const double> theta, Index i, std::span<double> out) const {
  const double* x = table_.row(i);
  for (Index j = 0; j < table_.samples; ++j) {
    const double* z = table_.row(j);
    double sum = 0;
    for (Index f = 0; f < table_.features; ++f) sum += theta[f] * (x[f] - z[f]) * (x[f] - z[f]);
    out[j] = std::exp(-sum);
  }
}

void GaussianFunction::AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                                   std::span<double> gradient) const {
  std::vector<double> values(weights.size());
  Row(theta, i, values);
  const double* x = table_.row(i);
  for (Index j = 0; j < table_.samples; ++j) {
    if (weights[j] == 0) continue;
    const double* z = table_.row(j);
    for (Index f = 0; f < table_.features; ++f) {
      gradient[f] -= weights[j] * values[j] * (x[f] - z[f]) * (x[f] - z[f]);
    }
  }
}

void PolynomialFunction::Row(std::span<const double> theta, Index i, std::span<double> out) const {
  for (Index j = 0; j < table_.samples; ++j) {
    const double product = InnerProduct(table_.row(i), table_.row(j), table_.features);
    out[j] = 0;
    for (int k = degree_; k >= 0; --k) out[j] = out[j] * product + theta[k];
  }
}

void PolynomialFunction::AddGradient(std::span<const double>, Index i, std::span<const double> weights,
                                     std::span<double> gradient) const {
  for (Index j = 0; j < table_.samples; ++j) {
    const double product = InnerProduct(table_.row(i), table_.row(j), table_.features);
    double power = weights[j];
    for (int k = 0; k <= degree_; ++k, power *= product) gradient[k] += power;
  }
}

void WeightedFunction::Row(std::span<const double> theta, Index i, std::span<double> out) const {
  part_->Row(theta.subspan(1), i, out);
  for (double& value : out) value *= theta[0];
}

void WeightedFunction::AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                                   std::span<double> gradient) const {
  std::vector<double> values(weights.size());
  part_->Row(theta.subspan(1), i, values);
  for (std::size_t j = 0; j < values.size(); ++j) gradient[0] += weights[j] * values[j];
  for (std::size_t j = 0; j < values.size(); ++j) values[j] = theta[0] * weights[j];
  part_->AddGradient(theta.subspan(1), i, values, gradient.subspan(1));
}

ComposedFunction::ComposedFunction(std::vector<KernelFunctionPointer> parts)
    : parts_(std::move(parts)), parameters_(CountParameters(parts_)) {}

void SumFunction::Row(std::span<const double> theta, Index i, std::span<double> out) const {
  std::vector<double> values(out.size());
  std::ranges::fill(out, 0.0);
  ForParts(parts(), theta, [&](std::size_t k, std::span<const double> own) {
    parts()[k]->Row(own, i, values);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += values[j];
  });
}

void SumFunction::AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                              std::span<double> gradient) const {
  std::size_t first = 0;
  ForParts(parts(), theta, [&](std::size_t k, std::span<const double> own) {
    parts()[k]->AddGradient(own, i, weights, gradient.subspan(first, own.size()));
    first += own.size();
  });
}

void ProductFunction::Row(std::span<const double> theta, Index i, std::span<double> out) const {
  std::vector<double> values(out.size());
  std::ranges::fill(out, 1.0);
  ForParts(parts(), theta, [&](std::size_t k, std::span<const double> own) {
    parts()[k]->Row(own, i, values);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] *= values[j];
  });
}

// Each part sees the weights times all other parts: products of those before it and those behind.
void ProductFunction::AddGradient(std::span<const double> theta, Index i, std::span<const double> weights,
                                  std::span<double> gradient) const {
  const std::size_t n = weights.size();
  std::vector<std::vector<double>> rows(parts().size(), std::vector<double>(n));
  ForParts(parts(), theta,
           [&](std::size_t k, std::span<const double> own) { parts()[k]->Row(own, i, rows[k]); });
  std::vector<std::vector<double>> behind(parts().size(), std::vector<double>(n, 1.0));
  for (std::size_t k = parts().size() - 1; k > 0; --k) {
    for (std::size_t j = 0; j < n; ++j) behind[k - 1][j] = behind[k][j] * rows[k][j];
  }
  std::vector<double> before(weights.begin(), weights.end()), others(n);
  std::size_t first = 0;
  ForParts(parts(), theta, [&](std::size_t k, std::span<const double> own) {
    for (std::size_t j = 0; j < n; ++j) others[j] = before[j] * behind[k][j];
    parts()[k]->AddGradient(own, i, others, gradient.subspan(first, own.size()));
    for (std::size_t j = 0; j < n; ++j) before[j] *= rows[k][j];
    first += own.size();
  });
}

SimplexRegularizer::SimplexRegularizer(double mu) : mu_(mu) {
  if (!(mu >= 0)) throw Error(ErrorKind::kUsage, fmt::format("mu is {}, expected 0 or more", mu));
}

double SimplexRegularizer::Value(std::span<const double> theta) const {
  return mu_ > 0 ? EntropyPenalty(mu_).Value(theta) : 0;
}

void SimplexRegularizer::Gradient(std::span<const double> theta, std::span<double> gradient) const {
  std::ranges::fill(gradient, 0.0);
  if (mu_ > 0) EntropyPenalty(mu_).Gradient(theta, gradient);
}

void SimplexRegularizer::Project(std::span<double> theta) const { ProjectOntoSimplex(theta); }

}  // namespace kweave
