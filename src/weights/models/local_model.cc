#include "weights/models/local_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/constants.h"
#include "compute/cpu/cholesky.h"
#include "gram/block_source.h"

namespace kweave {

namespace {

constexpr double kRidge =
    1e-10;  // relative to the mean diagonal: makes kernels of low rank invertible, below every gap asked for
constexpr double kUnbounded = 1e3;  // of the largest beta, or of an interval: no Newton step goes that far

std::size_t Size(Index i) { return static_cast<std::size_t>(i); }

// The bounded ones are those closest to a change: bound samples close to their margin, free ones close to a
// bound. Without a bias, one sample more that is zero in every kernel takes up the sum of x.
MovingSamples ChooseSamples(std::span<const double> beta, std::span<const DualPiece> pieces,
                            std::span<const double> residuals, bool has_bias, std::size_t most_bounded) {
  double largest = 0;
  for (const double value : beta) largest = std::max(largest, std::abs(value));
  std::vector<Index> free, bound;
  std::vector<double> distance(beta.size());
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const Interval& range = pieces[i].range;
    const double room = std::min(beta[i] - range.lower, range.upper - beta[i]);
    const double width = std::isinf(range.upper - range.lower) ? largest : range.upper - range.lower;
    const double share = width > 0 ? std::min(room / width, 1.0) : 0;
    const bool is_free = share > 1e-9;
    distance[i] = is_free ? share : std::abs(residuals[i]);
    (is_free ? free : bound).push_back(static_cast<Index>(i));
  }
  const auto closer = [&](Index a, Index b) { return distance[Size(a)] < distance[Size(b)]; };
  std::sort(free.begin(), free.end(), closer);
  std::sort(bound.begin(), bound.end(), closer);
  const std::size_t half = most_bounded / 2;
  const std::size_t bound_count = std::min(bound.size(), most_bounded - std::min(free.size(), half));
  const std::size_t free_count = std::min(free.size(), most_bounded - bound_count);
  MovingSamples moving;
  moving.bounded.assign(bound.begin(), bound.begin() + static_cast<std::ptrdiff_t>(bound_count));
  moving.bounded.insert(moving.bounded.end(), free.begin(),
                        free.begin() + static_cast<std::ptrdiff_t>(free_count));
  const std::size_t rest = free.size() - free_count;
  const std::size_t chosen = std::min(rest, kMostFreeSamples);
  moving.has_all_free = chosen == rest;
  if (!has_bias) moving.free.push_back(static_cast<Index>(beta.size()));
  if (has_bias && chosen < 2) return moving;
  // From the one farthest from its bounds on.
  for (std::size_t k = 0; k < chosen; ++k) moving.free.push_back(free[free.size() - 1 - k * rest / chosen]);
  moving.bounded.push_back(moving.free[0]);
  return moving;
}

// K(theta) less its shift between the samples; those after the last are taken for the last.
std::vector<double> KernelBetween(const LearnedMatrix& learned, Index n, std::vector<Index> samples) {
  const std::size_t size = samples.size();
  for (Index& sample : samples) sample = std::min(sample, n - 1);
  std::vector<double> kernel(size * size);
  if (const auto* blocks = dynamic_cast<const BlockSource*>(&learned)) {
    blocks->Block(samples, kernel);
    return kernel;
  }
  std::vector<double> block(Size(kRowsPerCall * n));
  for (std::size_t begin = 0; begin < size; begin += kRowsPerCall) {
    const std::size_t count = std::min<std::size_t>(kRowsPerCall, size - begin);
    learned.Rows(std::span(samples).subspan(begin, count), block.data(), n);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t j = 0; j < size; ++j)
        kernel[(begin + r) * size + j] = block[r * Size(n) + Size(samples[j])];
    }
  }
  return kernel;
}

// K(theta) between the samples, centred: on the plane sum x = 0 a constant makes no difference. A sample
// after the last is zero in every kernel.
std::vector<double> CentredKernel(Gram& gram, std::span<const double> theta, std::span<const Index> samples,
                                  std::span<const DualPiece> pieces) {
  const std::size_t size = samples.size();
  const Index n = gram.left_count();
  const std::shared_ptr<const LearnedMatrix> learned = gram.Learn(theta);
  const double shift = learned->shift();
  std::vector<double> kernel = KernelBetween(*learned, n, {samples.begin(), samples.end()});
  std::vector<double> means(size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      if (samples[i] == n || samples[j] == n) kernel[i * size + j] = -shift;
      means[i] += kernel[i * size + j] / static_cast<double>(size);
    }
  }
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(size);
  double trace = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) kernel[i * size + j] += mean - means[i] - means[j];
    trace += kernel[i * size + i];
  }
  for (std::size_t i = 0; i < size; ++i) {
    kernel[i * size + i] += kRidge * trace / static_cast<double>(size) + pieces[Size(samples[i])].curvature;
  }
  return kernel;
}

// Factors matrix + ridge, the smallest ridge that makes it positive definite in floating point.
bool FactorWithRidge(std::vector<double>& matrix, std::size_t size) {
  double trace = 0;
  for (std::size_t i = 0; i < size; ++i) trace += matrix[i * size + i];
  const std::vector<double> plain = matrix;
  for (const double ridge : {0.0, 1e-8, 1e-6, 1e-4}) {
    for (std::size_t i = 0; i < size; ++i) matrix[i * size + i] += ridge * trace / static_cast<double>(size);
    if (FactorCholesky(matrix, static_cast<int>(size))) return true;
    matrix = plain;
  }
  return false;
}

}  // namespace

LocalModel::LocalModel(const Evaluation& at, const Machine& machine, std::span<const Direction> directions,
                       std::size_t most_bounded)
    : at_(at), risk_(*machine.risk()), output_unit_(risk_.OutputUnit() > 0 ? risk_.OutputUnit() : 1) {
  std::vector<double> outputs(at.beta.size()), residuals(at.beta.size());
  machine.expansion().Outputs(at.theta, outputs);
  const double bias = risk_.BestBias(outputs);
  std::vector<DualPiece> pieces;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    pieces.push_back(risk_.PieceAt(i, at.beta[i], outputs[i] + bias));
    residuals[i] = pieces[i].slope - outputs[i] - bias;
  }

  moving_ = ChooseSamples(at.beta, pieces, residuals, risk_.has_bias, most_bounded);
  if (!risk_.has_bias) {
    pieces.push_back({{-kInfinity, kInfinity}, 0, 0});
    residuals.push_back(0);
  }
  samples_ = moving_.bounded;
  if (!moving_.free.empty()) samples_.insert(samples_.end(), moving_.free.begin() + 1, moving_.free.end());
  double widest = 0;  // stands for a range without end
  for (const double value : at.beta) widest = std::max(widest, kUnbounded * std::abs(value));
  for (const Index i : moving_.bounded) {
    const Interval& range = pieces[Size(i)].range;
    const double beta = Size(i) < at.beta.size() ? at.beta[Size(i)] : 0;
    problem_.lower.push_back(std::clamp(range.lower - beta, -widest, 0.0));
    problem_.upper.push_back(std::clamp(range.upper - beta, 0.0, widest));
  }
  if (!moving_.free.empty()) {
    problem_.lower.back() *= kUnbounded;
    problem_.upper.back() *= kUnbounded;
  }
  FillLinearTerms(machine, directions, residuals);
  Eliminate(CentredKernel(machine.gram(), at.theta, samples_, pieces));
  MeasureInUnits();
}

void LocalModel::MeasureInUnits() {
  for (double& value : problem_.r) value /= output_unit_;
  for (double& value : problem_.G) value /= output_unit_;
  for (double& value : problem_.A) value /= output_unit_ * output_unit_;
  for (double& value : problem_.lower) value *= output_unit_;
  for (double& value : problem_.upper) value *= output_unit_;
}

void LocalModel::FillLinearTerms(const Machine& machine, std::span<const Direction> directions,
                                 std::span<const double> residuals) {
  for (const Index i : samples_) residuals_.push_back(residuals[Size(i)]);
  outputs_.resize(samples_.size() * directions.size());
  std::vector<double> theta(at_.theta.size(), 0.0), outputs(at_.beta.size());
  for (std::size_t k = 0; k < directions.size(); ++k) {
    const Direction& direction = directions[k];
    double slope = 0;
    for (std::size_t j = 0; j < direction.kernels.size(); ++j) {
      theta[Size(direction.kernels[j])] = direction.weights[j];
      slope -= 0.5 * direction.weights[j] * at_.quadratics[Size(direction.kernels[j])];
    }
    machine.expansion().Outputs(theta, outputs);
    for (const Index m : direction.kernels) theta[Size(m)] = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const bool is_zero = Size(samples_[i]) == outputs.size();
      outputs_[i * directions.size() + k] = is_zero ? 0 : outputs[Size(samples_[i])];
    }
    problem_.c.push_back(slope);
    problem_.s.push_back(at_.theta[Size(direction.kernels[0])] / direction.weights[0]);
  }
}

// Each free sample moves against the first of them, which is the last of the bounded: u (e_i - e_first). The
// maximum over u of its quadratic is 1/2 (r - K x - G d)' K^-1 (r - K x - G d), over the free samples.
void LocalModel::Eliminate(std::span<const double> kernel) {
  const std::size_t all = samples_.size(), bounded = moving_.bounded.size(), count = problem_.c.size();
  const std::size_t free = all - bounded, first = bounded - 1, columns = bounded + count + 1;
  factor_.resize(free * free);
  reduced_.resize(free * columns);
  const auto against_first = [&](std::size_t i, std::size_t j) {
    return kernel[i * all + j] - kernel[first * all + j];
  };
  for (std::size_t f = 0; f < free; ++f) {
    const std::size_t i = bounded + f;
    for (std::size_t g = 0; g < free; ++g) {
      factor_[f * free + g] = against_first(i, bounded + g) - against_first(i, first);
    }
    double* row = &reduced_[f * columns];
    for (std::size_t j = 0; j < bounded; ++j) row[j] = against_first(i, j);
    for (std::size_t k = 0; k < count; ++k) {
      row[bounded + k] = outputs_[i * count + k] - outputs_[first * count + k];
    }
    row[bounded + count] = residuals_[i] - residuals_[first];
  }
  std::vector<double> products(columns * columns, 0.0);
  if (free > 0) {
    is_valid_ = FactorWithRidge(factor_, free);
    if (!is_valid_) return;
    SolveLower(factor_, static_cast<int>(free), reduced_, static_cast<int>(columns));
    MultiplyTransposed(reduced_, static_cast<int>(free), static_cast<int>(columns), products);
  }
  const auto product = [&](std::size_t a, std::size_t b) { return products[a * columns + b]; };
  const std::size_t right = bounded + count;
  for (std::size_t i = 0; i < bounded; ++i) {
    for (std::size_t j = 0; j < bounded; ++j) problem_.A.push_back(kernel[i * all + j] - product(i, j));
    for (std::size_t k = 0; k < count; ++k) {
      problem_.G.push_back(outputs_[i * count + k] - product(i, bounded + k));
    }
    problem_.r.push_back(residuals_[i] - product(i, right));
  }
  for (std::size_t k = 0; k < count; ++k) {
    problem_.c[k] -= product(bounded + k, right);
    for (std::size_t l = 0; l < count; ++l) problem_.H.push_back(product(bounded + k, bounded + l));
  }
}

std::vector<double> LocalModel::Beta(const SaddlePoint& point) const {
  const std::size_t bounded = moving_.bounded.size(), count = problem_.c.size();
  const std::size_t free = samples_.size() - bounded, columns = bounded + count + 1;
  std::vector<double> u(free), move = point.x;
  for (double& value : move) value /= output_unit_;
  for (std::size_t f = 0; f < free; ++f) {
    const double* row = &reduced_[f * columns];
    u[f] = row[bounded + count];
    for (std::size_t j = 0; j < bounded; ++j) u[f] -= row[j] * move[j];
    for (std::size_t k = 0; k < count; ++k) u[f] -= row[bounded + k] * (point.t[k] - problem_.s[k]);
  }
  if (free > 0) SolveUpper(factor_, static_cast<int>(free), u, 1);
  for (const double value : u) move[bounded - 1] -= value;
  move.insert(move.end(), u.begin(), u.end());

  std::vector<double> beta = at_.beta;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (Size(samples_[i]) < beta.size()) beta[Size(samples_[i])] += move[i];
  }
  risk_.MakeFeasible(beta);
  return beta;
}

}  // namespace kweave
