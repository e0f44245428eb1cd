#include "qp/joint_dense.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "base/constants.h"
#include "base/dot.h"
#include "base/offset.h"
#include "compute/cpu/cholesky.h"

namespace kweave {

namespace {

// As in qp/dense.cc: interior points go on by a factor of two or more, so these only end what rounding keeps
// from ending.
constexpr int kMostSteps = 200, kStepsWithoutProgress = 30;
// A part is taken for one at its bound where its distance, of its size, is below this share of its price, of
// the unit of prices. Along the central path the product of the two goes to zero, and 1 tells which of them
// does; the smaller shares leave more parts alone, where sizes or prices are far from their units.
constexpr double kAtBound[] = {1, 1e-3, 1e-6};

// Of the gap wanted, that products of distances and prices may leave in all: where they go on to fall, the
// other conditions, which steps meet only by and by where the dual term is not quadratic, are lost in
// rounding. Less with every step that brings nothing.
constexpr double kShareOfGap = 1e-4, kFallOfShare = 0.3;

void Multiply(std::span<const double> matrix, std::span<const double> x, std::span<double> out) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) out[i] = Dot(matrix.subspan(i * n, n), x);
}

// Betas of every class sum to 0, and see nothing of constants added to whole rows and columns of a block of
// the kernel between two classes: without them no digits are lost where all values are close to each other.
void CentreBlocks(const JointRisk& risk, std::span<double> kernel) {
  const std::size_t n = risk.y.size(), size = n * Offset(risk.classes);
  std::vector<double> row_means(n), column_means(n);
  for (std::size_t top = 0; top < size; top += n) {
    for (std::size_t left = 0; left < size; left += n) {
      std::ranges::fill(row_means, 0.0);
      std::ranges::fill(column_means, 0.0);
      const auto at = [&](std::size_t i, std::size_t j) -> double& {
        return kernel[(top + i) * size + left + j];
      };
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          row_means[i] += at(i, j) / static_cast<double>(n);
          column_means[j] += at(i, j) / static_cast<double>(n);
        }
      }
      const double mean = Sum(row_means) / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) at(i, j) += mean - row_means[i] - column_means[j];
      }
    }
  }
}

// The beta with the smallest gap so far.
class BestJointPoint {
 public:
  BestJointPoint(const JointRisk& risk, std::span<const double> kernel, std::vector<double>& beta)
      : risk_(risk), kernel_(kernel), beta_(beta), outputs_(beta.size()) {
    gap_ = GapOf(beta_, primal_);
  }

  double gap() const { return gap_; }
  double primal() const { return primal_; }
  int steps_without_progress() const { return steps_without_progress_; }
  bool is_progressing() const { return steps_without_progress_ < kStepsWithoutProgress; }
  void CountStep() { ++steps_without_progress_; }
  void Offer(std::vector<double> beta) {
    risk_.MakeFeasible(beta);
    double primal = 0;
    const double gap = GapOf(beta, primal);
    if (!(gap < gap_)) return;
    gap_ = gap;
    primal_ = primal;
    beta_ = std::move(beta);
    steps_without_progress_ = 0;
  }

 private:
  double GapOf(std::span<const double> beta, double& primal) {
    Multiply(kernel_, beta, outputs_);
    const double square = Dot(beta, outputs_);
    const std::vector<Interval> margins = risk_.Margins(outputs_, risk_.BiasesFor(beta, outputs_));
    const double scale = risk_.BestScale(margins, square);
    primal = 0.5 * scale * scale * square + risk_.ValueAt(margins, scale);
    const double gap = (primal - risk_.Dual(beta) + 0.5 * square) / std::max(std::abs(primal), kTiny);
    return std::isfinite(gap) ? gap : kInfinity;
  }

  const JointRisk& risk_;
  std::span<const double> kernel_;
  std::vector<double>& beta_;
  std::vector<double> outputs_;
  double gap_ = 0, primal_ = 0;
  int steps_without_progress_ = 0;
};

// One of the variables of at least 0 whose signed sum is an a_iu.
struct Part {
  std::size_t pair = 0;
  double sign = 1;
  double x = 0, price = 0;
  double dx = 0, dprice = 0;
};

// The parts of one sample, their sum s and what bounds it.
struct Block {
  std::size_t first_pair = 0, pairs = 0, first_part = 0, parts = 0;
  double cap = kInfinity;
  double sum = 0, price = 0;
  double slope = 0, curvature = 0;  // of minus the dual term in the sum
  double linear = 0;                // slope of the dual term in the a_iu
  double dsum = 0, dprice = 0;
  // B^-1 = R R', R v = q (v - t q (q'v)): of the parts, the squares of q are x / price.
  std::vector<double> q;
  double t = 0;
  // Z R = (basis thin)' transposed, Z the signs: basis has orthonormal columns, parts x pairs.
  std::vector<double> basis, thin;

  double room() const { return cap - sum; }
  bool is_bounded() const { return std::isfinite(cap); }

  void Stiffen(double c) {
    const double square = Dot(q, q), root = std::sqrt(1 + c * square);
    t = std::isinf(c) ? 1 / std::max(square, kTiny) : c / (root * (root + 1));
  }
  void ApplyR(std::span<double> v) const {
    const double product = t * Dot(q, v);
    for (std::size_t p = 0; p < v.size(); ++p) v[p] = q[p] * (v[p] - product * q[p]);
  }
  void ApplyTransposedR(std::span<double> v) const {
    for (std::size_t p = 0; p < v.size(); ++p) v[p] *= q[p];
    const double product = t * Dot(q, v);
    for (std::size_t p = 0; p < v.size(); ++p) v[p] -= product * q[p];
  }
};

class JointInteriorPoint {
 public:
  JointInteriorPoint(const JointRisk& risk, std::span<const double> kernel)
      : risk_(risk), is_two_sided_(risk.IsTwoSided()) {
    MakeParts();
    MakeMatrix(kernel);
    Start();
  }

  // With parts that are at a bound, as far as their prices say, brought there, and sums kept by the others.
  std::vector<double> Beta(double at_bound) {
    std::vector<double> x(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) x[p] = parts_[p].x;
    std::vector<char> is_full(blocks_.size());
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      is_full[i] = block.is_bounded() && block.room() / block.cap < at_bound * block.price / price_unit_;
      const double size = block.is_bounded() ? block.cap : std::max(largest_, kTiny);
      for (std::size_t k = 0; k < block.parts; ++k) {
        const Part& part = parts_[block.first_part + k];
        const bool is_zero = part.x / size < at_bound * part.price / price_unit_;
        block.q[k] = is_zero ? 0 : part.x;
        if (is_zero) x[block.first_part + k] = 0;
      }
      block.Stiffen(is_full[i] != 0 ? kInfinity : 0);
      if (is_full[i] != 0) ScaleToCap(block, x);
    }
    Balance(x);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (is_full[i] != 0) ScaleToCap(blocks_[i], x);
    }
    return ToBeta(x);
  }

  std::vector<double> RawBeta() const {
    std::vector<double> x(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p) x[p] = parts_[p].x;
    return ToBeta(x);
  }

  // Products of distances and prices are made no smaller than `least_mu`.
  bool Step(double least_mu) {
    if (parts_.empty() || !Factor()) return false;
    const double mu = Complementarity(0);
    if (!FindStep(0, /*corrects=*/false)) return false;
    const double affine = std::min(1.0, LongestStep());
    const double ratio = Complementarity(affine) / mu;
    const double target = std::max(ratio * ratio * ratio * mu, std::min(mu, least_mu));
    if (!FindStep(target, /*corrects=*/true)) return false;
    const double length = std::min(1.0, kToBoundary * LongestStep());
    for (Part& part : parts_) {
      part.x += length * part.dx;
      part.price += length * part.dprice;
    }
    for (Block& block : blocks_) block.price += length * block.dprice;
    for (std::size_t u = 0; u < biases_.size(); ++u) biases_[u] += length * dbiases_[u];
    Refresh();
    return std::isfinite(largest_) && length > 0;
  }

 private:
  // A class without samples has no positive betas to balance negative ones: with biases its a_iu are 0.
  void MakeParts() {
    std::vector<char> has_samples(Offset(risk_.classes), 0);
    for (const Index own : risk_.y) has_samples[Offset(own)] = 1;
    const auto is_free = [&](Index u) {
      return has_samples[Offset(u)] != 0 || is_two_sided_ || !risk_.has_bias;
    };
    for (Index i = 0; i < risk_.samples(); ++i) {
      Block block;
      block.first_pair = classes_.size();
      block.first_part = parts_.size();
      for (Index u = 0; u < risk_.classes; ++u) {
        if (u == risk_.y[Offset(i)] || !is_free(u)) continue;
        parts_.push_back({.pair = classes_.size()});
        if (is_two_sided_) parts_.push_back({.pair = classes_.size(), .sign = -1});
        classes_.push_back(u);
        samples_.push_back(i);
      }
      block.pairs = classes_.size() - block.first_pair;
      block.parts = parts_.size() - block.first_part;
      if (!is_two_sided_) block.cap = risk_.Cap(i, risk_.y[Offset(i)]);
      if (is_two_sided_) block.linear = risk_.OwnSlope(i, 0);
      block.q.resize(block.parts);
      blocks_.push_back(std::move(block));
    }
    for (Index u = 0; u < risk_.classes && risk_.has_bias; ++u) {
      if (is_free(u)) balanced_.push_back(u);
    }
    if (!balanced_.empty()) balanced_.pop_back();  // where the others are balanced, so is this one
    biases_.assign(Offset(risk_.classes), 0.0);
    dbiases_ = biases_;
  }

  // H between a_iu and a_jv: of e_y(i) - e_u and e_y(j) - e_v.
  void MakeMatrix(std::span<const double> kernel) {
    const std::size_t N = classes_.size(), size = risk_.y.size() * Offset(risk_.classes);
    H_.resize(N * N);
    for (std::size_t k = 0; k < N; ++k) {
      const auto own = kernel.subspan(risk_.At(samples_[k], risk_.y[Offset(samples_[k])]) * size, size);
      const auto other = kernel.subspan(risk_.At(samples_[k], classes_[k]) * size, size);
      for (std::size_t l = 0; l < N; ++l) {
        const std::size_t up = risk_.At(samples_[l], risk_.y[Offset(samples_[l])]);
        const std::size_t down = risk_.At(samples_[l], classes_[l]);
        H_[k * N + l] = (own[up] - own[down]) - (other[up] - other[down]);
      }
    }
  }

  // Prices have the unit of outputs; a sum starts no farther than where one sample alone would be.
  void Start() {
    double mean_diagonal = 0;
    const auto N = static_cast<double>(classes_.size());
    for (std::size_t k = 0; k < classes_.size(); ++k) mean_diagonal += H_[k * classes_.size() + k] / N;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      block.sum = block.is_bounded() ? block.cap / 2 : std::numeric_limits<double>::min();
      FindSlope(i);
      price_unit_ =
          std::max(price_unit_, std::abs(block.slope) + std::abs(block.linear) + block.curvature * block.sum);
    }
    if (!(price_unit_ > 0)) price_unit_ = 1;
    const double alone = mean_diagonal > 0 ? price_unit_ / mean_diagonal : 1;
    for (Block& block : blocks_) {
      const double sum = std::min(block.cap / 2, alone);
      for (std::size_t k = 0; k < block.parts; ++k) {
        parts_[block.first_part + k].x = sum / static_cast<double>(block.parts);
        parts_[block.first_part + k].price = price_unit_;
      }
      block.price = block.is_bounded() ? price_unit_ : 0;
    }
    residuals_.resize(parts_.size());
    Refresh();
  }

  void FindSlope(std::size_t i) {
    Block& block = blocks_[i];
    if (is_two_sided_) {
      block.curvature = risk_.MagnitudeCurvature(static_cast<Index>(i));
      block.slope = block.curvature * block.sum;
      return;
    }
    const DualPiece piece = risk_.loss->PieceAt(block.sum, 0, 1, risk_.C[i]);
    block.slope = -piece.slope;
    block.curvature = piece.curvature;
  }

  // Sums, and what the conditions lack.
  void Refresh() {
    std::vector<double> a(classes_.size(), 0.0), margins(classes_.size());
    largest_ = 0;
    for (const Part& part : parts_) {
      a[part.pair] += part.sign * part.x;
      largest_ = std::max(largest_, part.x);
    }
    Multiply(H_, a, margins);
    imbalance_ = SumsOf(a);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      block.sum = 0;
      for (std::size_t k = 0; k < block.parts; ++k) block.sum += parts_[block.first_part + k].x;
      FindSlope(i);
      for (std::size_t k = 0; k < block.parts; ++k) {
        const Part& part = parts_[block.first_part + k];
        residuals_[block.first_part + k] =
            part.sign * (margins[part.pair] + BiasOf(part.pair, biases_) - block.linear) + block.slope -
            part.price + block.price;
      }
    }
  }

  double BiasOf(std::size_t pair, std::span<const double> biases) const {
    return biases[Offset(risk_.y[Offset(samples_[pair])])] - biases[Offset(classes_[pair])];
  }

  // Of the betas of each balanced class.
  std::vector<double> SumsOf(std::span<const double> a) const {
    std::vector<double> by_class(Offset(risk_.classes), 0.0), sums;
    for (std::size_t k = 0; k < a.size(); ++k) {
      by_class[Offset(risk_.y[Offset(samples_[k])])] += a[k];
      by_class[Offset(classes_[k])] -= a[k];
    }
    for (const Index u : balanced_) sums.push_back(by_class[Offset(u)]);
    return sums;
  }

  std::vector<double> Signed(std::span<const double> x) const {
    std::vector<double> a(classes_.size(), 0.0);
    for (std::size_t p = 0; p < parts_.size(); ++p) a[parts_[p].pair] += parts_[p].sign * x[p];
    return a;
  }

  std::vector<double> ToBeta(std::span<const double> x) const {
    std::vector<double> beta(risk_.y.size() * Offset(risk_.classes), 0.0);
    const std::vector<double> a = Signed(x);
    for (std::size_t k = 0; k < a.size(); ++k) {
      beta[risk_.At(samples_[k], classes_[k])] -= a[k];
      beta[risk_.At(samples_[k], risk_.y[Offset(samples_[k])])] += a[k];
    }
    return beta;
  }

  void ApplyR(std::span<double> v) const {
    for (const Block& block : blocks_) block.ApplyR(v.subspan(block.first_part, block.parts));
  }
  void ApplyTransposedR(std::span<double> v) const {
    for (const Block& block : blocks_) block.ApplyTransposedR(v.subspan(block.first_part, block.parts));
  }

  // R' Z' times what a unit bias of the class adds to the margins.
  std::vector<double> BiasColumn(Index u) const {
    std::vector<double> unit(Offset(risk_.classes), 0.0), column(parts_.size());
    unit[Offset(u)] = 1;
    for (std::size_t p = 0; p < parts_.size(); ++p) column[p] = parts_[p].sign * BiasOf(parts_[p].pair, unit);
    ApplyTransposedR(column);
    return column;
  }

  // The step R t that Q' Z R t = -sums asks of t = -sum over balanced classes of their columns.
  std::vector<double> SolveForBiases(const std::vector<std::vector<double>>& columns,
                                     std::vector<double> sums) const {
    const std::size_t count = balanced_.size();
    std::vector<double> system(count * count);
    for (std::size_t l = 0; l < count; ++l) {
      std::vector<double> step = columns[l];
      ApplyR(step);
      const std::vector<double> column = SumsOf(Signed(step));
      for (std::size_t k = 0; k < count; ++k) system[k * count + l] = column[k];
    }
    if (!FactorCholesky(system, static_cast<int>(count))) return {};
    SolveLower(system, static_cast<int>(count), sums, 1);
    SolveUpper(system, static_cast<int>(count), sums, 1);
    return sums;
  }

  // Brings all sums to 0 by the parts that are at no bound, each by about the same share of it.
  void Balance(std::span<double> x) const {
    if (balanced_.empty()) return;
    std::vector<std::vector<double>> columns;
    for (const Index u : balanced_) columns.push_back(BiasColumn(u));
    const std::vector<double> factors = SolveForBiases(columns, SumsOf(Signed(x)));
    if (factors.empty()) return;
    std::vector<double> step(x.size(), 0.0);
    for (std::size_t u = 0; u < factors.size(); ++u) {
      for (std::size_t p = 0; p < step.size(); ++p) step[p] -= factors[u] * columns[u][p];
    }
    ApplyR(step);
    for (std::size_t p = 0; p < step.size(); ++p) x[p] = std::max(x[p] + step[p], 0.0);
  }

  // A little beyond: MakeFeasible then leaves exactly the cap.
  void ScaleToCap(const Block& block, std::span<double> x) const {
    const auto of_block = x.subspan(block.first_part, block.parts);
    const double sum = Sum(of_block);
    for (double& value : of_block) value *= sum > 0 ? block.cap / sum * (1 + kFewRoundings) : 1;
  }

  // The mean product of distances and prices after a step of this length.
  double Complementarity(double length) const {
    double sum = 0, count = 0;
    for (const Part& part : parts_) {
      sum += (part.x + length * part.dx) * (part.price + length * part.dprice);
      ++count;
    }
    for (const Block& block : blocks_) {
      if (!block.is_bounded()) continue;
      sum += (block.room() - length * block.dsum) * (block.price + length * block.dprice);
      ++count;
    }
    return sum / count;
  }

  bool Factor() {
    for (Block& block : blocks_) {
      for (std::size_t k = 0; k < block.parts; ++k) {
        const Part& part = parts_[block.first_part + k];
        block.q[k] = std::sqrt(part.x / part.price);
      }
      block.Stiffen(block.curvature + (block.is_bounded() ? block.price / block.room() : 0));
      FindThinFactor(block);
    }
    const std::size_t N = classes_.size();
    FillScaled();
    if (!FactorCholesky(factor_, static_cast<int>(N))) return false;
    columns_.clear();
    for (const Index u : balanced_) {
      columns_.push_back(BiasColumn(u));
      SolveSystem(columns_.back());
    }
    return true;
  }

  // (Z R)' = basis thin by Gram and Schmidt, twice, thin upper triangular.
  void FindThinFactor(Block& block) const {
    const std::size_t rows = block.parts, columns = block.pairs;
    block.basis.assign(rows * columns, 0.0);
    block.thin.assign(columns * columns, 0.0);
    std::vector<double> v(rows);
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t p = 0; p < rows; ++p) {
        const Part& part = parts_[block.first_part + p];
        v[p] = part.pair == block.first_pair + c ? part.sign : 0;
      }
      block.ApplyTransposedR(v);
      for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t d = 0; d < c; ++d) {
          const std::span<const double> known(&block.basis[d * rows], rows);
          const double product = Dot(known, v);
          block.thin[d * columns + c] += product;
          for (std::size_t p = 0; p < rows; ++p) v[p] -= product * known[p];
        }
      }
      const double length = std::sqrt(Dot(v, v));
      block.thin[c * columns + c] = length;
      for (std::size_t p = 0; p < rows && length > 0; ++p) block.basis[c * rows + p] = v[p] / length;
    }
  }

  // factor_ = I + thin H thin'.
  void FillScaled() {
    const std::size_t N = classes_.size();
    half_.assign(N * N, 0.0);
    factor_.assign(N * N, 0.0);
    for (std::size_t k = 0; k < N; ++k) {
      for (const Block& block : blocks_) {
        for (std::size_t c = 0; c < block.pairs; ++c) {
          double sum = 0;
          for (std::size_t d = c; d < block.pairs; ++d)
            sum += block.thin[c * block.pairs + d] * H_[k * N + block.first_pair + d];
          half_[k * N + block.first_pair + c] = sum;
        }
      }
    }
    for (const Block& block : blocks_) {
      for (std::size_t c = 0; c < block.pairs; ++c) {
        double* row = &factor_[(block.first_pair + c) * N];
        for (std::size_t d = c; d < block.pairs; ++d) {
          const double share = block.thin[c * block.pairs + d];
          const double* from = &half_[(block.first_pair + d) * N];
          for (std::size_t l = 0; l <= block.first_pair + c; ++l) row[l] += share * from[l];
        }
        row[block.first_pair + c] += 1;
      }
    }
  }

  // (I + R' Z' H Z R)^-1 v: outside the span of the bases the identity.
  void SolveSystem(std::span<double> v) const {
    std::vector<double> inside(classes_.size());
    const auto basis_of = [](const Block& block, std::size_t c) {
      return std::span(block.basis).subspan(c * block.parts, block.parts);
    };
    for (const Block& block : blocks_) {
      for (std::size_t c = 0; c < block.pairs; ++c)
        inside[block.first_pair + c] = Dot(basis_of(block, c), v.subspan(block.first_part, block.parts));
    }
    std::vector<double> solved = inside;
    SolveLower(factor_, static_cast<int>(solved.size()), solved, 1);
    SolveUpper(factor_, static_cast<int>(solved.size()), solved, 1);
    for (const Block& block : blocks_) {
      for (std::size_t c = 0; c < block.pairs; ++c) {
        const double change = solved[block.first_pair + c] - inside[block.first_pair + c];
        const std::span<const double> basis = basis_of(block, c);
        for (std::size_t p = 0; p < block.parts; ++p) v[block.first_part + p] += change * basis[p];
      }
    }
  }

  // Towards products of distance and price of `mu`, the second time with what the first step left out.
  bool FindStep(double mu, bool corrects) {
    const auto part_mu = [&](const Part& part) { return mu - (corrects ? part.dx * part.dprice : 0); };
    const auto sum_mu = [&](const Block& block) { return mu + (corrects ? block.dsum * block.dprice : 0); };
    std::vector<double> step(parts_.size());
    for (const Block& block : blocks_) {
      const double of_sum = block.is_bounded() ? block.price - sum_mu(block) / block.room() : 0;
      for (std::size_t p = block.first_part; p < block.first_part + block.parts; ++p)
        step[p] = -(residuals_[p] + parts_[p].price - part_mu(parts_[p]) / parts_[p].x - of_sum);
    }
    ApplyTransposedR(step);
    SolveSystem(step);
    if (!AddBiases(step)) return false;
    ApplyR(step);
    for (Block& block : blocks_) {
      const double before = sum_mu(block);
      block.dsum = 0;
      for (std::size_t p = block.first_part; p < block.first_part + block.parts; ++p) {
        Part& part = parts_[p];
        const double wanted = part_mu(part);
        part.dx = step[p];
        part.dprice = wanted / part.x - part.price - part.price / part.x * part.dx;
        block.dsum += part.dx;
      }
      if (block.is_bounded())
        block.dprice = before / block.room() - block.price + block.price / block.room() * block.dsum;
    }
    return true;
  }

  // The change of biases that brings all sums to 0, and what it adds to the step.
  bool AddBiases(std::span<double> step) {
    if (balanced_.empty()) return true;
    std::vector<double> moved(step.begin(), step.end());
    ApplyR(moved);
    std::vector<double> sums = SumsOf(Signed(moved));
    for (std::size_t u = 0; u < sums.size(); ++u) sums[u] += imbalance_[u];
    const std::vector<double> changes = SolveForBiases(columns_, std::move(sums));
    if (changes.empty()) return false;
    for (std::size_t u = 0; u < changes.size(); ++u) {
      dbiases_[Offset(balanced_[u])] = changes[u];
      for (std::size_t p = 0; p < step.size(); ++p) step[p] -= changes[u] * columns_[u][p];
    }
    return true;
  }

  // The step at which the first distance or price would be zero.
  double LongestStep() const {
    double longest = 1 / kToBoundary;
    const auto limit = [&](double value, double change) {
      if (change < 0) longest = std::min(longest, -value / change);
    };
    for (const Part& part : parts_) {
      limit(part.x, part.dx);
      limit(part.price, part.dprice);
    }
    for (const Block& block : blocks_) {
      if (!block.is_bounded()) continue;
      limit(block.room(), -block.dsum);
      limit(block.price, block.dprice);
    }
    return longest;
  }

  const JointRisk& risk_;
  const bool is_two_sided_;
  std::vector<Index> samples_, classes_;  // of every a_iu
  std::vector<Part> parts_;               // those of a sample together
  std::vector<Block> blocks_;             // by sample
  std::vector<Index> balanced_;           // classes whose betas must sum to 0
  std::vector<double> H_, half_, factor_;
  std::vector<std::vector<double>> columns_;  // of the biases of balanced classes, solved for
  std::vector<double> residuals_, imbalance_;
  std::vector<double> biases_, dbiases_;
  double price_unit_ = 0, largest_ = 0;
};

}  // namespace

double SolveJointDense(const JointRisk& risk, std::vector<double> kernel, double relative_gap,
                       std::vector<double>& beta, const std::function<bool()>& proceed) {
  if (risk.has_bias) CentreBlocks(risk, kernel);
  BestJointPoint best(risk, kernel, beta);
  JointInteriorPoint interior(risk, kernel);
  for (int step = 0; step < kMostSteps && best.gap() > relative_gap && best.is_progressing(); ++step) {
    const double share = kShareOfGap * std::pow(kFallOfShare, best.steps_without_progress());
    const double least_mu = share * relative_gap * best.primal() / static_cast<double>(beta.size());
    if (!proceed() || !interior.Step(least_mu)) break;
    best.CountStep();
    best.Offer(interior.RawBeta());
    for (const double at_bound : kAtBound) best.Offer(interior.Beta(at_bound));
  }
  return best.gap();
}

}  // namespace kweave
