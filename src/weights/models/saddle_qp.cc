#include "weights/models/saddle_qp.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/constants.h"
#include "base/dot.h"
#include "compute/cpu/cholesky.h"
#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

constexpr double kCentring = 0.1;       // factor on the barrier parameter, aimed at after a full step
constexpr double kMostCentring = 0.7;   // after a short one
constexpr double kLeastOfError = 1e-3;  // of the residual, that complementarity waits for
constexpr double kMostError = 1e-8;     // relative residual of a solution
constexpr double kAcceptable = 1e-5;    // gap and residual of a point worth returning
constexpr double kSpoilt = 1e3;  // factor on the least error so far above which rounding has taken over
// Larger powers of t leave the range of double: there the ball is ||t||_p <= 1.
constexpr double kLargestPower = 128;
constexpr double kSmallPower = 8;  // up to which powers never fail

double LargestMagnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

void Add(std::span<double> x, double step, std::span<const double> d) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += step * d[i];
}

// Something positive, its multiplier, and how both move in the present step.
struct Pairs {
  std::vector<double> value, multiplier, value_move, multiplier_move;

  Pairs(std::vector<double> values, double product) : value(std::move(values)) {
    for (const double v : value) multiplier.push_back(product / v);
    value_move.resize(value.size());
    multiplier_move.resize(value.size());
  }
  double Complementarity() const { return Dot(value, multiplier); }
  // What a move of the value, still unknown, asks of the multiplier: pull - stiffness * move.
  double Pull(std::size_t i, double aim) const { return aim / value[i] - multiplier[i]; }
  double Stiffness(std::size_t i) const { return multiplier[i] / value[i]; }
  void SetMove(std::size_t i, double move, double aim) {
    value_move[i] = move;
    multiplier_move[i] = Pull(i, aim) - Stiffness(i) * move;
  }
  // The longest step, at most 1, that keeps all positive.
  double LongestStep() const {
    double step = 1;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value_move[i] < 0) step = std::min(step, -kToBoundary * value[i] / value_move[i]);
      if (multiplier_move[i] < 0) step = std::min(step, -kToBoundary * multiplier[i] / multiplier_move[i]);
    }
    return step;
  }
  void Advance(double step) {
    Add(value, step, value_move);
    Add(multiplier, step, multiplier_move);
  }
};

std::vector<double> Interior(const SaddleProblem& problem, double p) {
  std::vector<double> t = problem.s;
  const double floor = 1e-3 * *std::max_element(t.begin(), t.end());
  for (double& value : t) value = std::max(value, floor);
  LpNorm(p).Normalize(t);
  for (double& value : t) value *= 0.9;
  return t;
}

class InteriorPoint {
 public:
  InteriorPoint(const SaddleProblem& problem, double p, bool is_power_form)
      : problem_(problem),
        p_(p),
        is_power_form_(is_power_form),
        weights_(problem.c.size()),
        samples_(problem.r.size()),
        unit_(LargestMagnitude(problem.c)),
        t_(Interior(problem, p), 0.1 * unit_ / static_cast<double>(weights_)),
        slack_({1 - BallSide()}, 0.1 * unit_),
        above_(Distances(-1), 0.1 * unit_ / static_cast<double>(samples_)),
        below_(Distances(1), 0.1 * unit_ / static_cast<double>(samples_)),
        normal_(weights_) {}

  // The solution, or else the best point met: close to a degenerate solution rounding may spoil the last
  // steps. Empty when rounding prevented even that.
  SaddlePoint Run(double precision) {
    SaddlePoint best;
    double least = kAcceptable;
    for (int step = 0; step < kMostNewtonSteps; ++step) {
      Residuals();
      if (gap_ <= precision && error_ <= kMostError) return solution();
      const double wrong = std::max(gap_ / unit_, error_);
      if (wrong < least) {
        least = wrong;
        best = solution();
      }
      const bool is_spoilt = !best.t.empty() && wrong > kSpoilt * least;
      if (is_spoilt || !Step()) break;
    }
    return best;
  }

 private:
  SaddlePoint solution() const {
    SaddlePoint point{t_.value, x_};
    for (std::size_t m = 0; m < weights_; ++m) {
      if (p_ == 1 && t_.value[m] < t_.multiplier[m] / unit_) point.t[m] = 0;
    }
    return point;
  }

  // From the start, which is close to 0 and well inside, to the bounds on one side.
  std::vector<double> Distances(int side) {
    x_.resize(samples_);
    std::vector<double> distances(samples_);
    const double typical = unit_ / static_cast<double>(samples_);
    for (std::size_t i = 0; i < samples_; ++i) {
      const double inset = std::min(0.1 * (problem_.upper[i] - problem_.lower[i]), typical);
      x_[i] = std::clamp(0.0, problem_.lower[i] + inset, problem_.upper[i] - inset);
      distances[i] = side < 0 ? x_[i] - problem_.lower[i] : problem_.upper[i] - x_[i];
    }
    return distances;
  }

  // The sum of the powers of t, or its norm: at most 1.
  double BallSide() const {
    if (!is_power_form_) return LpNorm(p_).Norm(t_.value);
    double sum = 0;
    for (const double value : t_.value) sum += std::pow(value, p_);
    return sum;
  }

  void Residuals() {
    // Of t: c + H (t - s) - G' x + lambda p t^(p-1) - zeta.
    t_residual_ = problem_.c;
    x_residual_.assign(samples_, bias_);
    AddSymmetricProduct(problem_.A, static_cast<int>(samples_), x_, x_residual_);
    std::vector<double> moved = t_.value;
    Add(moved, -1, problem_.s);
    AddSymmetricProduct(problem_.H, static_cast<int>(weights_), moved, t_residual_);
    for (std::size_t i = 0; i < samples_; ++i) {
      const std::span<const double> row(&problem_.G[i * weights_], weights_);
      Add(t_residual_, -x_[i], row);
      // Of x, as a minimisation: A x + G (t - s) - r + bias - multipliers below + above.
      x_residual_[i] += Dot(row, moved) - problem_.r[i] - above_.multiplier[i] + below_.multiplier[i];
    }
    const double side = BallSide();
    for (std::size_t m = 0; m < weights_; ++m) {
      normal_[m] = is_power_form_ ? p_ * std::pow(t_.value[m], p_ - 1) : std::pow(t_.value[m] / side, p_ - 1);
      t_residual_[m] += slack_.multiplier[0] * normal_[m] - t_.multiplier[m];
    }
    sum_residual_ = std::accumulate(x_.begin(), x_.end(), 0.0);
    ball_residual_ = side - 1 + slack_.value[0];
    gap_ =
        t_.Complementarity() + slack_.Complementarity() + above_.Complementarity() + below_.Complementarity();
    double effect = 0;
    for (std::size_t m = 0; m < weights_; ++m) effect += std::abs(t_residual_[m]) * Reach(m);
    error_ = std::max({effect / unit_, LargestMagnitude(x_residual_), std::abs(sum_residual_) / unit_,
                       std::abs(ball_residual_)});
  }

  // How far weight m would move if its residual were its slope. With p close to 1 a weight near zero follows
  // t^(p-1) only in many steps, none of which matters.
  double Reach(std::size_t m) const {
    const double t = t_.value[m];
    if (t_residual_[m] > 0) return t;
    const double power = (normal_[m] - t_residual_[m] / slack_.multiplier[0]) / (is_power_form_ ? p_ : 1);
    return p_ == 1 || power >= 1 ? 1 : std::max(t, std::pow(power, 1 / (p_ - 1)));
  }

  bool Step() {
    // A short step ran into the boundary: back to the middle first. Balls with p < 2 have corners where that
    // happens.
    const double short_by = p_ < 2 ? 1 - last_step_ : 0;
    const bool runs_ahead = gap_ < kLeastOfError * error_ * unit_;
    const double centring = runs_ahead ? 1 : std::clamp(short_by * short_by, kCentring, kMostCentring);
    const double aim = centring * gap_ / static_cast<double>(weights_ + 1 + 2 * samples_);
    const std::size_t columns = weights_ + 2;  // G, ones, right side
    std::vector<double> factor = problem_.A, system(samples_ * columns);
    for (std::size_t i = 0; i < samples_; ++i) {
      factor[i * samples_ + i] += above_.Stiffness(i) + below_.Stiffness(i);
      std::copy_n(&problem_.G[i * weights_], weights_, &system[i * columns]);
      system[i * columns + weights_] = 1;
      system[i * columns + weights_ + 1] = above_.Pull(i, aim) - below_.Pull(i, aim) - x_residual_[i];
    }
    const int samples = static_cast<int>(samples_);
    if (!FactorCholesky(factor, samples)) return false;
    SolveLower(factor, samples, system, static_cast<int>(columns));
    std::vector<double> products(columns * columns);
    MultiplyTransposed(system, samples, static_cast<int>(columns), products);

    std::vector<double> weights_move;
    double bias_move = 0;
    if (!SolveReduced(products, aim, weights_move, bias_move)) return false;
    std::vector<double> x_move(samples_);
    for (std::size_t i = 0; i < samples_; ++i) {
      const double* row = &system[i * columns];
      x_move[i] = row[weights_ + 1] - bias_move * row[weights_] - Dot({row, weights_}, weights_move);
    }
    SolveUpper(factor, samples, x_move, 1);
    return Advance(aim, weights_move, bias_move, x_move);
  }

  // On the diagonal, times lambda.
  double BallCurvature(std::size_t m) const {
    if (is_power_form_) return slack_.multiplier[0] * p_ * (p_ - 1) * std::pow(t_.value[m], p_ - 2);
    const double norm = BallSide();
    return slack_.multiplier[0] * (p_ - 1) / norm * std::pow(t_.value[m] / norm, p_ - 2);
  }

  // What is left after x: the moves of t and of the bias from the products of (G, 1, right side) in the
  // metric of the inverse of A + D.
  bool SolveReduced(std::span<const double> products, double aim, std::vector<double>& weights_move,
                    double& bias_move) {
    const std::size_t columns = weights_ + 2;
    const auto product = [&](std::size_t a, std::size_t b) { return products[a * columns + b]; };
    const std::size_t one = weights_, right = weights_ + 1;
    const double ones = product(one, one);
    const double from_sum = (product(one, right) + sum_residual_) / ones;
    std::vector<double> matrix(weights_ * weights_), sides(2 * weights_);
    // The second derivative of a norm has a part -bend normal normal' beside its diagonal.
    const double bend = is_power_form_ ? 0 : slack_.multiplier[0] * (p_ - 1) / BallSide();
    for (std::size_t m = 0; m < weights_; ++m) {
      for (std::size_t k = 0; k <= m; ++k) {
        matrix[m * weights_ + k] =
            problem_.H[m * weights_ + k] + product(m, k) - product(m, one) * product(k, one) / ones;
      }
      matrix[m * weights_ + m] += BallCurvature(m) + t_.Stiffness(m);
      sides[2 * m] = t_.Pull(m, aim) - t_residual_[m] + product(m, right) - product(m, one) * from_sum;
      sides[2 * m + 1] = normal_[m];
    }
    const int size = static_cast<int>(weights_);
    if (!FactorCholesky(matrix, size)) return false;
    SolveLower(matrix, size, sides, 2);
    SolveUpper(matrix, size, sides, 2);
    double along_first = 0;
    double along_second = 0;
    for (std::size_t m = 0; m < weights_; ++m) {
      along_first += normal_[m] * sides[2 * m];
      along_second += normal_[m] * sides[2 * m + 1];
    }
    // Ball: normal' move + slack move = -residual, with the slack's move expressed by its multiplier's.
    // Without the part of the norm that is left out above the matrix is definite; the same row takes its
    // place.
    const double stiffness = slack_.Stiffness(0);
    const double pull = slack_.Pull(0, aim) / stiffness;
    const double left_out = bend * along_second;
    const double lambda_move = (along_first + ball_residual_ + pull - left_out * (ball_residual_ + pull)) /
                               (along_second + (1 - left_out) / stiffness);
    const double along_normal = lambda_move * (1 - bend / stiffness) + bend * (ball_residual_ + pull);
    weights_move.resize(weights_);
    bias_move = from_sum;
    for (std::size_t m = 0; m < weights_; ++m) {
      weights_move[m] = sides[2 * m] - along_normal * sides[2 * m + 1];
      bias_move -= product(one, m) * weights_move[m] / ones;
    }
    return true;
  }

  bool Advance(double aim, std::span<const double> weights_move, double bias_move,
               std::span<const double> x_move) {
    for (std::size_t m = 0; m < weights_; ++m) t_.SetMove(m, weights_move[m], aim);
    slack_.SetMove(0, -ball_residual_ - Dot(normal_, weights_move), aim);
    for (std::size_t i = 0; i < samples_; ++i) {
      above_.SetMove(i, x_move[i], aim);
      below_.SetMove(i, -x_move[i], aim);
    }
    const double step =
        std::min({t_.LongestStep(), slack_.LongestStep(), above_.LongestStep(), below_.LongestStep()});
    if (!std::isfinite(step) || !std::isfinite(Dot(x_move, x_move)) || !std::isfinite(bias_move))
      return false;
    last_step_ = step;
    t_.Advance(step);
    slack_.Advance(step);
    above_.Advance(step);
    below_.Advance(step);
    Add(x_, step, x_move);
    bias_ += step * bias_move;
    return true;
  }

  const SaddleProblem& problem_;
  const double p_;
  const bool is_power_form_;  // of the ball: sum t^p <= 1; else ||t||_p <= 1
  const std::size_t weights_, samples_;
  const double unit_;  // of t's slopes, for relative tolerances
  std::vector<double> x_;
  Pairs t_, slack_;             // t >= 0; the ball, whose multiplier is lambda
  Pairs above_, below_;         // x above its lower and below its upper bound
  double last_step_ = 1;        // its length, of the way to the solution of its equations
  double bias_ = 0;             // multiplier of sum x = 0
  std::vector<double> normal_;  // gradient of the ball's side
  std::vector<double> t_residual_, x_residual_;
  double sum_residual_ = 0, ball_residual_ = 0;
  double gap_ = 0, error_ = 0;  // complementarity; largest residual
};

}  // namespace

SaddlePoint SolveSaddle(const SaddleProblem& problem, double p, double precision) {
  const bool is_power_form = p <= kLargestPower;
  SaddlePoint point = InteriorPoint(problem, p, is_power_form).Run(precision);
  if (point.t.empty() && p > kSmallPower) point = InteriorPoint(problem, p, !is_power_form).Run(precision);
  return point;
}

}  // namespace kweave
