#include "qp/dense.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/constants.h"
#include "base/dot.h"
#include "compute/cpu/cholesky.h"
#include "loss/smooth_loss.h"
#include "qp/line_search.h"

namespace kweave {

namespace {

// Newton's method halves the gap in every step once its model is right, and interior points go on by a factor
// of two or more; both take far fewer steps than this, so it only ends what rounding keeps from ending.
constexpr int kMostSteps = 200;
// Steps without a smaller gap after which rounding is all that is left; the first steps from far away may
// need some.
constexpr int kStepsWithoutProgress = 30;

// Whether some beta has an end, or its dual term a corner.
bool HasBounds(const Risk& risk) {
  for (std::size_t i = 0; i < risk.y.size(); ++i) {
    const Interval range = risk.Feasible(i);
    if (std::isfinite(range.lower) || std::isfinite(range.upper)) return true;
  }
  return risk.loss->smooth() == nullptr;
}

// The beta with the smallest gap so far.
class BestPoint {
 public:
  BestPoint(const Risk& risk, const DenseMatrix& K, std::vector<double>& beta)
      : risk_(risk), K_(K), beta_(beta), f_(beta.size()) {
    K_.Multiply(beta_, f_);
    gap_ = GapOf(beta_);
  }

  double gap() const { return gap_; }
  bool is_progressing() const { return steps_without_progress_ < kStepsWithoutProgress; }

  void CountStep() { ++steps_without_progress_; }
  void Offer(std::vector<double> beta) {
    risk_.MakeFeasible(beta);
    const double gap = GapOf(beta);
    if (!(gap < gap_)) return;
    gap_ = gap;
    beta_ = std::move(beta);
    steps_without_progress_ = 0;
  }

 private:
  double GapOf(std::span<const double> beta) {
    K_.Multiply(beta, f_);
    const double gap = risk_.BoundsAt(beta, f_).relative_gap();
    return std::isnan(gap) ? kInfinity : gap;
  }

  const Risk& risk_;
  const DenseMatrix& K_;
  std::vector<double>& beta_;
  std::vector<double> f_;
  double gap_;
  int steps_without_progress_ = 0;
};

// The Cholesky factor of I + S K S, S = E^1/2 diagonal, by which (K + E^-1)^-1 = S (I + S K S)^-1 S, also
// where E has zeros.
class ScaledFactor {
 public:
  // False where rounding leaves no positive definite matrix.
  bool Build(const DenseMatrix& K, std::span<const double> E) {
    const auto n = static_cast<std::size_t>(K.size);
    root_.resize(n);
    factor_.resize(n * n);
    for (std::size_t i = 0; i < n; ++i) root_[i] = std::sqrt(E[i]);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) factor_[i * n + j] = root_[i] * root_[j] * K.values[i * n + j];
      factor_[i * n + i] += 1;
    }
    return FactorCholesky(factor_, static_cast<int>(n));
  }

  // (K + E^-1)^-1 x.
  std::vector<double> Solve(std::span<const double> x) const {
    std::vector<double> y(x.begin(), x.end());
    const auto n = static_cast<int>(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= root_[i];
    SolveLower(factor_, n, y, 1);
    SolveUpper(factor_, n, y, 1);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= root_[i];
    return y;
  }

 private:
  std::vector<double> root_, factor_;
};

class DenseNewton {
 public:
  DenseNewton(const Risk& risk, const DenseMatrix& K, std::vector<double> beta)
      : risk_(risk), loss_(*risk.loss->smooth()), K_(K), beta_(std::move(beta)), f_(beta_.size()) {
    K_.Multiply(beta_, f_);
    Linearize();
  }

  const std::vector<double>& beta() const { return beta_; }
  // What the derivatives of the loss say beta should be: feasible, and at the solution beta itself. Better
  // than that while the model is wrong, worse where large costs magnify the rounding of outputs.
  std::vector<double> DualPoint() const {
    std::vector<double> dual = g_;
    for (double& value : dual) value = -value;
    return dual;
  }

  // False when there is nowhere left to go.
  bool Step() {
    if (!factor_.Build(K_, W_)) return false;
    // The new beta solves beta = -g - W (K beta - f + db): (K + W^-1) beta + db = f - g / W for samples with
    // curvature, the others at -g.
    std::vector<double> flat(f_.size()), right(f_.size());
    for (std::size_t i = 0; i < flat.size(); ++i) flat[i] = W_[i] > 0 ? 0 : -g_[i];
    K_.Multiply(flat, right);
    for (std::size_t i = 0; i < right.size(); ++i)
      right[i] = W_[i] > 0 ? f_[i] - g_[i] / W_[i] - right[i] : 0;
    std::vector<double> target = factor_.Solve(right);
    for (std::size_t i = 0; i < target.size(); ++i) target[i] += flat[i];
    if (risk_.has_bias) {
      const std::vector<double> by_bias = factor_.Solve(std::vector<double>(f_.size(), 1.0));
      const double sum = Sum(by_bias);
      const double change = sum > 0 ? (Sum(target) - risk_.bias_slope) / sum : 0;
      for (std::size_t i = 0; i < target.size(); ++i) target[i] -= change * by_bias[i];
    }
    std::vector<double> outputs(f_.size());
    K_.Multiply(target, outputs);
    const double step = LineSearch(target, outputs);
    if (!(step > 0)) return false;
    for (std::size_t i = 0; i < f_.size(); ++i) {
      beta_[i] += step * (target[i] - beta_[i]);
      f_[i] += step * (outputs[i] - f_[i]);
    }
    Linearize();
    return true;
  }

 private:
  // g = C l' and W = C l'' at the outputs with the best bias.
  void Linearize() {
    const double bias = risk_.BestBias(f_);
    g_.resize(f_.size());
    W_.resize(f_.size());
    for (std::size_t i = 0; i < f_.size(); ++i) {
      const LossDerivatives at = loss_.DerivativesAt(f_[i] + bias, risk_.y[i]);
      g_[i] = risk_.C[i] * at.first;
      W_[i] = risk_.C[i] * (at.second > kweave::kTiny ? at.second : 0);
    }
  }

  // The share of the way at which the objective, convex along it, is lowest; 0 where it does not fall.
  double LineSearch(std::span<const double> target, std::span<const double> outputs) const {
    double linear = 0, square = 0;
    for (std::size_t i = 0; i < f_.size(); ++i) {
      linear += (target[i] - beta_[i]) * f_[i];
      square += (target[i] - beta_[i]) * (outputs[i] - f_[i]);
    }
    std::vector<double> between(f_.size());
    const auto slope_at = [&](double t) {
      for (std::size_t i = 0; i < f_.size(); ++i) between[i] = f_[i] + t * (outputs[i] - f_[i]);
      const double bias = risk_.BestBias(between);
      double slope = linear + t * square;
      for (std::size_t i = 0; i < f_.size(); ++i) {
        slope += risk_.C[i] * loss_.DerivativesAt(between[i] + bias, risk_.y[i]).first * (outputs[i] - f_[i]);
      }
      return slope;
    };
    const double first = slope_at(0), last = slope_at(1);
    if (!(first < 0)) return 0;
    if (last <= -kFlatSlope * first) return 1;
    const auto is_flat = [&](double slope) { return std::abs(slope) <= -kFlatSlope * first; };
    return FindFlat(slope_at, {0, 1, first, last}, is_flat);
  }

  const Risk& risk_;
  const SmoothLoss& loss_;
  const DenseMatrix& K_;
  std::vector<double> beta_, f_;  // f = K beta
  std::vector<double> g_, W_;
  ScaledFactor factor_;
};

// One of the variables whose signed sum is a beta.
struct Part {
  std::size_t sample = 0;
  double sign = 1;
  double upper = 0;  // may be infinite
  double x = 0, lower_price = 0, upper_price = 0;
  double stiffness = 0;  // what a price of x would have to change by for a unit of it
  double dx = 0, dlower = 0, dupper = 0;

  double room() const { return upper - x; }
  bool is_bounded() const { return std::isfinite(upper); }
};

class InteriorPoint {
 public:
  InteriorPoint(const Risk& risk, const DenseMatrix& K) : risk_(risk), K_(K) {
    const auto n = static_cast<std::size_t>(K.size);
    double mean_diagonal = 0;
    for (std::size_t i = 0; i < n; ++i) {
      mean_diagonal += K.values[i * n + i] / static_cast<double>(n);
      const Interval range = risk.Feasible(i);
      for (const double sign : {1.0, -1.0}) {
        const double upper = sign > 0 ? range.upper : -range.lower;
        if (!(upper > 0)) continue;
        const double x = std::isfinite(upper) ? upper / 2 : std::numeric_limits<double>::min();
        parts_.push_back({.sample = i, .sign = sign, .upper = upper, .x = x});
        const DualPiece piece = PieceOf(parts_.back());
        price_unit_ = std::max(price_unit_, std::abs(piece.slope) + piece.curvature * x);
      }
    }
    // Prices have the unit of outputs; a variable starts no farther than where one sample alone would be.
    if (!(price_unit_ > 0)) price_unit_ = std::sqrt(mean_diagonal);
    if (!(price_unit_ > 0)) price_unit_ = 1;
    const double alone = mean_diagonal > 0 ? price_unit_ / mean_diagonal : 1;
    for (Part& part : parts_) {
      part.x = std::min(part.upper / 2, alone);
      part.lower_price = price_unit_;
      part.upper_price = part.is_bounded() ? price_unit_ : 0;
    }
    beta_.resize(n), outputs_.resize(n), residuals_.resize(parts_.size()), E_.resize(n), e_.resize(n);
    Refresh();
  }

  // With the parts that are at a bound, as far as their prices say, brought there.
  std::vector<double> Beta() const {
    std::vector<double> beta(beta_.size(), 0.0);
    for (const Part& part : parts_) {
      // Along the central path the product of a distance and its price goes to zero, either of them slower
      // than the other.
      const bool is_zero = part.x / Size(part) < kTiny * part.lower_price / price_unit_;
      const bool is_full =
          part.is_bounded() && part.room() / Size(part) < kTiny * part.upper_price / price_unit_;
      beta[part.sample] += part.sign * (is_zero ? 0 : is_full ? part.upper : part.x);
    }
    return beta;
  }
  const std::vector<double>& raw_beta() const { return beta_; }

  bool Step() {
    if (!Factor()) return false;
    const double mu = Complementarity(0);
    FindStep(0, /*corrects=*/false);
    const double affine = std::min(1.0, LongestStep());
    const double ratio = Complementarity(affine) / mu;
    FindStep(ratio * ratio * ratio * mu, /*corrects=*/true);
    const double length = std::min(1.0, kToBoundary * LongestStep());
    for (Part& part : parts_) {
      part.x += length * part.dx;
      part.lower_price += length * part.dlower;
      part.upper_price += length * part.dupper;
    }
    price_ += length * dprice_;
    Refresh();
    return std::isfinite(price_) && length > 0;
  }

 private:
  static constexpr double kTiny = 1e-6;  // both sides are of order 1 where a part is not at its bound

  // Of the dual term of the loss, on the side of zero that is the part's.
  DualPiece PieceOf(const Part& part) const {
    const double beta = part.sign * part.x;
    return risk_.PieceAt(part.sample, beta, -beta);
  }
  double Size(const Part& part) const { return part.is_bounded() ? part.upper : std::max(largest_, part.x); }

  // beta, its outputs and what the conditions lack.
  void Refresh() {
    std::ranges::fill(beta_, 0.0);
    largest_ = 0;
    for (const Part& part : parts_) {
      beta_[part.sample] += part.sign * part.x;
      largest_ = std::max(largest_, part.x);
    }
    K_.Multiply(beta_, outputs_);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      Part& part = parts_[k];
      const DualPiece piece = PieceOf(part);
      residuals_[k] =
          part.sign * (outputs_[part.sample] + price_ - piece.slope) - part.lower_price + part.upper_price;
      part.stiffness = piece.curvature + part.lower_price / part.x +
                       (part.is_bounded() ? part.upper_price / part.room() : 0);
    }
  }

  // The mean product of distances and prices after a step of this length.
  double Complementarity(double length) const {
    double sum = 0, count = 0;
    for (const Part& part : parts_) {
      sum += (part.x + length * part.dx) * (part.lower_price + length * part.dlower);
      ++count;
      if (!part.is_bounded()) continue;
      sum += (part.room() - length * part.dx) * (part.upper_price + length * part.dupper);
      ++count;
    }
    return sum / count;
  }

  // Both parts of a sample make one diagonal entry of the system.
  bool Factor() {
    std::ranges::fill(E_, 0.0);
    for (const Part& part : parts_) E_[part.sample] += 1 / part.stiffness;
    if (!factor_.Build(K_, E_)) return false;
    by_price_ = factor_.Solve(std::vector<double>(E_.size(), 1.0));
    return true;
  }

  // Towards products of distance and price of `mu`, the second time with what the first step left out.
  void FindStep(double mu, bool corrects) {
    std::vector<double> folded(parts_.size());
    std::ranges::fill(e_, 0.0);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const Part& part = parts_[k];
      const double lower = mu - (corrects ? part.dx * part.dlower : 0);
      const double upper = mu + (corrects ? part.dx * part.dupper : 0);
      folded[k] = residuals_[k] + part.lower_price - lower / part.x -
                  (part.is_bounded() ? part.upper_price - upper / part.room() : 0);
      e_[part.sample] += part.sign * folded[k] / part.stiffness;
    }
    std::vector<double> right(E_.size());
    for (std::size_t i = 0; i < E_.size(); ++i) right[i] = E_[i] > 0 ? -e_[i] / E_[i] : 0;
    std::vector<double> dbeta = factor_.Solve(right);
    dprice_ = 0;
    if (risk_.has_bias) {
      dprice_ = (Sum(dbeta) - (risk_.bias_slope - Sum(beta_))) / Sum(by_price_);
      for (std::size_t i = 0; i < dbeta.size(); ++i) dbeta[i] -= dprice_ * by_price_[i];
    }
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      Part& part = parts_[k];
      const std::size_t i = part.sample;
      const double lower = mu - (corrects ? part.dx * part.dlower : 0);
      const double upper = mu + (corrects ? part.dx * part.dupper : 0);
      const double gradient = -(dbeta[i] + e_[i]) / E_[i];  // what K and the price change it by
      part.dx = -(part.sign * gradient + folded[k]) / part.stiffness;
      part.dlower = lower / part.x - part.lower_price - part.lower_price / part.x * part.dx;
      if (part.is_bounded())
        part.dupper = upper / part.room() - part.upper_price + part.upper_price / part.room() * part.dx;
    }
  }

  // The step at which the first distance or price would be zero.
  double LongestStep() const {
    double longest = 1 / kToBoundary;
    const auto limit = [&](double value, double change) {
      if (change < 0) longest = std::min(longest, -value / change);
    };
    for (const Part& part : parts_) {
      limit(part.x, part.dx);
      limit(part.lower_price, part.dlower);
      if (!part.is_bounded()) continue;
      limit(part.room(), -part.dx);
      limit(part.upper_price, part.dupper);
    }
    return longest;
  }

  const Risk& risk_;
  const DenseMatrix& K_;
  double price_unit_ = 0, largest_ = 0;
  std::vector<Part> parts_;
  std::vector<double> beta_, outputs_, residuals_;
  std::vector<double> E_, e_, by_price_;
  double price_ = 0, dprice_ = 0;  // of the sum of beta: the bias
  ScaledFactor factor_;
};

}  // namespace

void DenseMatrix::Multiply(std::span<const double> x, std::span<double> out) const {
  const auto n = static_cast<std::size_t>(size);
  for (std::size_t i = 0; i < n; ++i) out[i] = Dot(std::span(values).subspan(i * n, n), x);
}

DenseMatrix MakeDenseMatrix(std::vector<double> rows, Index size, double shift, bool sums_to_zero) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<double> means(n, 0.0);
  if (sums_to_zero) {
    for (std::size_t i = 0; i < n; ++i)
      means[i] = Sum(std::span(rows).subspan(i * n, n)) / static_cast<double>(n);
    shift = Sum(means) / static_cast<double>(n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) rows[i * n + j] += shift - means[i] - means[j];
  }
  return {std::move(rows), size};
}

double SolveDense(const Risk& risk, const DenseMatrix& K, double relative_gap, std::vector<double>& beta,
                  const std::function<bool()>& proceed) {
  BestPoint best(risk, K, beta);
  const auto run = [&](auto& method, auto offer) {
    for (int step = 0; step < kMostSteps && best.gap() > relative_gap && best.is_progressing(); ++step) {
      if (!proceed() || !method.Step()) return;
      best.CountStep();
      offer();
    }
  };
  if (HasBounds(risk)) {
    InteriorPoint interior(risk, K);
    run(interior, [&] {
      best.Offer(interior.raw_beta());
      best.Offer(interior.Beta());
    });
  } else {
    DenseNewton newton(risk, K, beta);
    run(newton, [&] {
      best.Offer(newton.DualPoint());
      best.Offer(newton.beta());
    });
  }
  return best.gap();
}

}  // namespace kweave
