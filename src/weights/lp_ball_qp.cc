#include "weights/lp_ball_qp.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "compute/cpu/cholesky.h"
#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

constexpr int kMaxSteps = 80;
constexpr double kCentring = 0.1;      // factor on the barrier parameter, aimed at in every step
constexpr double kToBoundary = 0.995;  // fraction of the way to the boundary a step may take

double Dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The longest step, at most 1, that keeps x + step d positive.
double LongestStep(std::span<const double> x, std::span<const double> d) {
  double step = 1;
  for (std::size_t m = 0; m < x.size(); ++m) {
    if (d[m] < 0) step = std::min(step, -kToBoundary * x[m] / d[m]);
  }
  return step;
}

void Add(std::span<double> x, double step, std::span<const double> d) {
  for (std::size_t m = 0; m < x.size(); ++m) x[m] += step * d[m];
}

// Variables and multipliers: z of t >= 0, lambda of sum t^p + slack = 1.
class InteriorPoint {
 public:
  InteriorPoint(std::span<const double> c, std::span<const double> H, double p, std::span<const double> start)
      : c_(c), H_(H), p_(p), size_(static_cast<int>(c.size())), t_(start.begin(), start.end()) {
    // Well inside, with every weight able to grow.
    const double floor = 1e-3 * *std::max_element(t_.begin(), t_.end());
    for (double& value : t_) value = std::max(value, floor);
    LpNorm(p).Normalize(t_);
    for (double& value : t_) value *= 0.9;
    for (const double value : c) scale_ = std::max(scale_, std::abs(value));
    z_.assign(c.size(), 0.1 * scale_);
    lambda_ = scale_;
    slack_ = 1 - PowerSum();
    normal_.resize(c.size());
    dual_residual_.resize(c.size());
  }

  // False when the numbers broke down.
  bool Run() {
    for (int step = 0; step < kMaxSteps; ++step) {
      Residuals();
      if (IsSolved()) return true;
      if (!Step()) return false;
    }
    return barrier_ < 1e-6 * scale_ && std::abs(constraint_residual_) < 1e-6;
  }
  const std::vector<double>& t() const { return t_; }

 private:
  double PowerSum() const {
    double sum = 0;
    for (const double value : t_) sum += std::pow(value, p_);
    return sum;
  }

  void Residuals() {
    dual_residual_.assign(c_.begin(), c_.end());
    AddSymmetricProduct(H_, size_, t_, dual_residual_);
    for (std::size_t m = 0; m < t_.size(); ++m) {
      normal_[m] = p_ * std::pow(t_[m], p_ - 1);
      dual_residual_[m] += lambda_ * normal_[m] - z_[m];
    }
    constraint_residual_ = PowerSum() - 1 + slack_;
    barrier_ = (Dot(t_, z_) + lambda_ * slack_) / (size_ + 1);
  }

  bool IsSolved() const {
    double largest = 0;
    for (const double value : dual_residual_) largest = std::max(largest, std::abs(value));
    return barrier_ <= 1e-13 * scale_ && largest <= 1e-9 * scale_ && std::abs(constraint_residual_) <= 1e-11;
  }

  bool Step() {
    const double aim = kCentring * barrier_;
    std::vector<double> matrix(H_.begin(), H_.end());
    std::vector<double> right(2 * t_.size());  // two right sides side by side
    for (std::size_t m = 0; m < t_.size(); ++m) {
      matrix[m * t_.size() + m] += lambda_ * p_ * (p_ - 1) * std::pow(t_[m], p_ - 2) + z_[m] / t_[m];
      right[2 * m] = aim / t_[m] - z_[m] - dual_residual_[m];
      right[2 * m + 1] = normal_[m];
    }
    if (!FactorCholesky(matrix, size_)) return false;
    SolveLower(matrix, size_, right, 2);
    SolveUpper(matrix, size_, right, 2);
    double along_first = 0;
    double along_second = 0;
    for (std::size_t m = 0; m < t_.size(); ++m) {
      along_first += normal_[m] * right[2 * m];
      along_second += normal_[m] * right[2 * m + 1];
    }
    const double wanted = -constraint_residual_ - (aim - lambda_ * slack_) / lambda_;
    const double move_lambda = (along_first - wanted) / (along_second + slack_ / lambda_);
    const double move_slack = (aim - lambda_ * slack_ - slack_ * move_lambda) / lambda_;
    std::vector<double> move_t(t_.size()), move_z(t_.size());
    for (std::size_t m = 0; m < t_.size(); ++m) {
      move_t[m] = right[2 * m] - move_lambda * right[2 * m + 1];
      move_z[m] = aim / t_[m] - z_[m] - z_[m] / t_[m] * move_t[m];
    }
    const double primal = std::min(LongestStep(t_, move_t), LongestStep({&slack_, 1}, {&move_slack, 1}));
    const double dual = std::min(LongestStep(z_, move_z), LongestStep({&lambda_, 1}, {&move_lambda, 1}));
    Add(t_, primal, move_t);
    slack_ += primal * move_slack;
    Add(z_, dual, move_z);
    lambda_ += dual * move_lambda;
    return std::isfinite(lambda_) && std::isfinite(slack_) && std::isfinite(Dot(t_, z_));
  }

  std::span<const double> c_, H_;
  const double p_;
  const int size_;
  double scale_ = 0;  // of the gradient, for relative tolerances
  std::vector<double> t_, z_;
  double lambda_ = 0, slack_ = 0;
  std::vector<double> normal_, dual_residual_;  // of the power sum at t_; of the Lagrangian
  double constraint_residual_ = 0, barrier_ = 0;
};

}  // namespace

std::vector<double> MinimizeOverLpBall(std::span<const double> c, std::span<const double> H, double p,
                                       std::span<const double> start) {
  InteriorPoint solver(c, H, p, start);
  if (!solver.Run()) return {};
  return solver.t();
}

}  // namespace kweave
