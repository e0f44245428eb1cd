// The first ten steps of the methods that look at gradients and curvatures, against plain transcriptions, as
// in first_steps_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "loss/squared.h"
#include "tests/support/first_steps.h"
#include "weights/methods/gradient_methods.h"
#include "weights/methods/level.h"
#include "weights/methods/newton.h"

namespace kweave {
namespace {

using testing::Bench;
using testing::ExpectNear;
using testing::FindReferenceProblem;
using testing::HingeRisk;
using testing::kSteps;
using testing::MinimumOnLine;
using testing::ReferenceProblem;
using testing::TwoKernels;
using testing::Vector;

// Solves a dense system by elimination with pivots.
Vector SolveDense(std::vector<Vector> rows, Vector right) {
  const std::size_t n = right.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) pivot = std::abs(rows[i][k]) > std::abs(rows[pivot][k]) ? i : pivot;
    std::swap(rows[k], rows[pivot]);
    std::swap(right[k], right[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j < n; ++j) rows[i][j] -= factor * rows[k][j];
      right[i] -= factor * right[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) right[k] -= rows[k][j] * right[j];
    right[k] /= rows[k][k];
  }
  return right;
}

Vector OfLengthOne(Vector theta, double p) {
  double sum = 0;
  for (const double weight : theta) sum += std::pow(weight, p);
  for (double& weight : theta) weight /= std::pow(sum, 1 / p);
  return theta;
}

// Theta is on the way from the accepted point to the one tried, at neither end.
void ExpectBetween(const Vector& theta, const Vector& accepted, const Vector& tried, double p,
                   std::size_t step) {
  const auto at = [&](double share) {
    Vector between;
    for (std::size_t m = 0; m < tried.size(); ++m) {
      between.push_back(accepted[m] + share * (tried[m] - accepted[m]));
    }
    return OfLengthOne(between, p);
  };
  const auto distance = [&](double share) {
    const Vector between = at(share);
    double sum = 0;
    for (std::size_t m = 0; m < theta.size(); ++m) sum += std::pow(between[m] - theta[m], 2);
    return sum;
  };
  const double share = MinimumOnLine(distance, 0, 1);
  EXPECT_GT(share, 0.01) << "step " << step;
  EXPECT_LT(share, 0.99) << "step " << step;
  ExpectNear(theta, at(share), 1e-6, step);
}

// Chapelle and Rakotomamonjy (2008): gradient -q_m / 2 and second derivative beta' K_m P K_n beta, with P the
// inverse of the kernel matrix of the free samples bordered by the bias; the squared loss has all samples
// free. The next theta is the minimum of that quadratic over the ball; after a step that raised J it is on
// the way back.
TEST(FirstSteps, Newton) {
  const ReferenceProblem problem = TwoKernels();
  const SquaredLoss squared;
  const Risk risk{&squared, problem.y, problem.upper};
  const std::size_t n = problem.y.size();
  for (const double p : {1.0, 1.1, 2.0, 4.0}) {
    Bench bench(problem, risk, p);
    Newton method(bench.regularizer());
    const std::vector<Evaluation> steps = bench.Run(method);
    std::size_t accepted = 0;
    for (std::size_t t = 0; t < kSteps; ++t) {
      const Evaluation& at = steps[t];
      if (at.inner_dual > steps[accepted].primal) {
        ExpectBetween(steps[t + 1].theta, steps[accepted].theta, at.theta, p, t);
        continue;
      }
      accepted = t;
      std::vector<Vector> outputs(2, Vector(n, 0.0)), border(n + 1, Vector(n + 1, 1.0));
      border[n][n] = 0;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          border[i][j] =
              i == j ? squared.PieceAt(at.beta[i], 0, problem.y[i], problem.upper[i]).curvature : 0;
          for (std::size_t m = 0; m < 2; ++m) {
            outputs[m][i] += problem.matrices[m][i * n + j] * at.beta[j];
            border[i][j] += at.theta[m] * problem.matrices[m][i * n + j];
          }
        }
      }
      double H[2][2];
      for (std::size_t m = 0; m < 2; ++m) {
        Vector right = outputs[m];
        right.push_back(0);
        const Vector response = SolveDense(border, right);
        for (std::size_t k = 0; k < 2; ++k) {
          H[m][k] = std::inner_product(outputs[k].begin(), outputs[k].end(), response.begin(), 0.0);
        }
      }
      const auto second = [&](double x) {
        const double slope = -0.5 * at.quadratics[1] + H[1][0] * (x - at.theta[0]);
        const double most = std::pow(std::max(1 - std::pow(x, p), 0.0), 1 / p);
        return std::clamp(at.theta[1] - slope / H[1][1], 0.0, most);
      };
      const auto model = [&](double x) {
        const double a = x - at.theta[0], b = second(x) - at.theta[1];
        return -0.5 * (at.quadratics[0] * a + at.quadratics[1] * b) + 0.5 * H[0][0] * a * a +
               H[0][1] * a * b + 0.5 * H[1][1] * b * b;
      };
      Vector expected{MinimumOnLine(model, 0, 1), 0};
      expected[1] = second(expected[0]);
      ExpectNear(steps[t + 1].theta, OfLengthOne(expected, p), 1e-4, t);
    }
  }
}

// The nearest point of theta >= 0, ||theta||_p <= 1: x + price x^(p-1) = v for every weight, the price by
// bisection, and so x.
Vector NearestInBall(Vector v, double p) {
  for (double& value : v) value = std::max(value, 0.0);
  const auto at_price = [&](double price) {
    Vector x;
    for (const double value : v) {
      double low = 0, high = value;
      for (int k = 0; k < 200; ++k) {
        const double middle = 0.5 * (low + high);
        (middle + price * std::pow(middle, p - 1) > value ? high : low) = middle;
      }
      x.push_back(low);
    }
    return x;
  };
  const auto is_inside = [&](const Vector& x) {
    double sum = 0;
    for (const double value : x) sum += std::pow(value, p);
    return sum <= 1;
  };
  if (is_inside(v)) return v;
  double low = 0, high = 1;
  while (!is_inside(at_price(high))) high *= 2;
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    (is_inside(at_price(middle)) ? high : low) = middle;
  }
  return at_price(high);
}

double Product(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Vector Minus(Vector a, const Vector& b, double factor = 1) {
  for (std::size_t m = 0; m < a.size(); ++m) a[m] -= factor * b[m];
  return a;
}

// Jain, Vishwanathan and Varma (2012), algorithm 1: eq. (6) to (8) for the direction, (9) or (10) to (12) for
// the step, with the forgetting of eta by how well the quadratic model fits; plain projected gradients keep
// lambda and compare with the last value (5). Bounds on lambda are never met here.
TEST(FirstSteps, ProjectedGradients) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  for (const std::string name : {"spg", "spg-max", "pgd", "pgd+s", "pgd+n"}) {
    for (const double p : {1.0, 4.0 / 3, 2.0, 4.0}) {
      SCOPED_TRACE(name + ", norm " + std::to_string(p));
      Bench bench(problem, HingeRisk(problem), p);
      GradientMethod method(bench.regularizer(), FindGradientMethod(name)->make(bench.regularizer()), 0,
                            kPatience);
      const std::vector<Evaluation> steps = bench.Run(method);
      const auto slopes = [&](std::size_t t) {
        return Minus(Vector(steps[t].theta.size()), steps[t].quadratics, 0.5);
      };
      Vector d = steps[0].theta, gradient = slopes(0), direction;
      double W = steps[0].inner_dual, C = W, Q = 1, eta = 0.85, s = 1;
      double lambda = std::sqrt(Product(d, d) / Product(gradient, gradient));
      std::vector<double> values{W};
      for (std::size_t t = 0; t < kSteps; ++t) {
        const double value = steps[t].inner_dual;
        const bool compares_with_mean = name == "spg" || name == "pgd+n";
        const double highest = name == "spg-max"    ? *std::max_element(values.begin(), values.end())
                               : compares_with_mean ? C
                                                    : W;
        if (t > 0 && value > highest - 1e-4 * s * Product(gradient, direction)) {
          s /= 2;
        } else if (t > 0) {
          const double model =
              -s * Product(gradient, direction) + 0.5 * s * s * Product(direction, direction) / lambda;
          const double misfit = std::abs((value - W) / model - 1);
          if (misfit <= 0.25) eta = std::min(eta + 0.025, 1.0);
          if (misfit >= 0.75) eta = std::max(eta - 0.025, 0.1);
          C = (eta * Q * C + value) / (eta * Q + 1);
          Q = eta * Q + 1;
          const Vector way = Minus(steps[t].theta, d), change = Minus(slopes(t), gradient);
          if (name != "pgd" && name != "pgd+n") lambda = Product(way, way) / Product(way, change);
          d = steps[t].theta;
          gradient = slopes(t);
          W = value;
          values.push_back(W);
          s = 1;
        }
        if (s == 1) direction = Minus(d, NearestInBall(Minus(d, gradient, lambda), p));
        ExpectNear(steps[t + 1].theta, Minus(d, direction, s), 1e-8, t);
      }
    }
  }
}

// The model of a level bundle: the machine's own dual over mixtures of the betas found so far.
class PlainBundle {
 public:
  explicit PlainBundle(const ReferenceProblem& problem) : problem_(problem) {}

  void Add(const Evaluation& at) {
    betas_.push_back(at.beta);
    linear_.push_back(at.linear);
  }

  double Product(std::size_t m, const Vector& a, const Vector& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) sum += a[i] * problem_.matrices[m][i * a.size() + j] * b[j];
    }
    return sum;
  }

  // max over w >= 0, sum w = 1 of  sum_t w_t L_t - 1/2 sum_m theta_m ||sum_t w_t beta_t||^2: from the entry
  //                                with the smallest slope
  // to that with the largest, as far as it rises.
  double At(const Vector& theta) const {
    const std::size_t T = betas_.size();
    std::vector<Vector> B(T, Vector(T, 0.0));
    for (std::size_t s = 0; s < T; ++s) {
      for (std::size_t t = 0; t <= s; ++t) {
        for (std::size_t m = 0; m < theta.size(); ++m) {
          if (theta[m] > 0) B[s][t] += theta[m] * Product(m, betas_[s], betas_[t]);
        }
        B[t][s] = B[s][t];
      }
    }
    Vector w(T, 0.0), slopes = linear_;
    w[0] = 1;
    for (std::size_t t = 0; t < T; ++t) slopes[t] -= B[0][t];
    for (int k = 0; k < 200000; ++k) {
      const std::size_t up =
          static_cast<std::size_t>(std::max_element(slopes.begin(), slopes.end()) - slopes.begin());
      std::size_t down = up;
      for (std::size_t t = 0; t < T; ++t) down = w[t] > 0 && slopes[t] < slopes[down] ? t : down;
      const double rise = slopes[up] - slopes[down];
      if (rise < 1e-11 * std::abs(linear_[0])) break;
      const double step = std::min(rise / (B[up][up] + B[down][down] - 2 * B[up][down]), w[down]);
      w[up] += step;
      w[down] = step == w[down] ? 0 : w[down] - step;
      for (std::size_t t = 0; t < T; ++t) slopes[t] -= step * (B[up][t] - B[down][t]);
    }
    double value = 0;
    for (std::size_t t = 0; t < T; ++t) value += 0.5 * w[t] * (linear_[t] + slopes[t]);
    return value;
  }

 private:
  const ReferenceProblem& problem_;
  std::vector<Vector> betas_;
  Vector linear_;
};

// Lemarechal, Nemirovskii and Nesterov (1995): the minimum of the model is a bound, and the next theta is
// where the model is at a level between that bound and the best value so far. Off the simplex the level is
// met on the way from the best theta to the minimum.
TEST(FirstSteps, Level) {
  const ReferenceProblem& problem = FindReferenceProblem("mixed_10_large_c");
  for (const double p : {1.0, 1.1, 4.0 / 3, 2.0, 4.0}) {
    SCOPED_TRACE(p);
    Bench bench(problem, HingeRisk(problem), p);
    Level method(bench.regularizer());
    std::vector<Vector> mixtures;
    const std::vector<Evaluation> steps = bench.Run(method, &mixtures);
    PlainBundle bundle(problem);
    double best = kInfinity;
    Vector best_theta;
    for (std::size_t t = 0; t < kSteps; ++t) {
      bundle.Add(steps[t]);
      if (steps[t].primal < best) {
        best = steps[t].primal;
        best_theta = steps[t].theta;
      }
      // The mixture gives a bound; that the model is no higher at some theta shows that both are right.
      double linear = 0, length = 0;
      for (std::size_t i = 0; i < problem.y.size(); ++i) linear += problem.y[i] * mixtures[t][i];
      Vector q;
      for (std::size_t m = 0; m < best_theta.size(); ++m) {
        q.push_back(bundle.Product(m, mixtures[t], mixtures[t]));
        length = p == 1 ? std::max(length, q[m]) : length + std::pow(q[m], p / (p - 1));
      }
      if (p > 1) length = std::pow(length, 1 - 1 / p);
      const double lowest_value = linear - 0.5 * length;
      // A part of the mixture may give a better one.
      const double bound = length > linear ? 0.5 * linear * linear / length : lowest_value;
      const double gap = best - bound;
      if (gap < 1e-7 * best) break;  // rounding decides

      const double found = bundle.At(steps[t + 1].theta) - lowest_value;
      if (p == 1) {  // like kernels are merged, which may cost some of the gap
        EXPECT_LT(found, 0.9 * (best - lowest_value)) << "step " << t;
        EXPECT_GE(found, -0.05 * gap) << "step " << t;
        continue;
      }
      Vector lowest;
      for (const double value : q) lowest.push_back(std::pow(value, 1 / (p - 1)));
      lowest = OfLengthOne(lowest, p);
      EXPECT_NEAR(bundle.At(lowest), lowest_value, 1e-4 * gap + 5e-8 * best) << "step " << t;
      const auto towards = [&](double share) {
        Vector between;
        for (std::size_t m = 0; m < q.size(); ++m) {
          between.push_back(share * best_theta[m] + (1 - share) * lowest[m]);
        }
        return OfLengthOne(between, p);
      };
      const auto distance = [&](double share) {
        const Vector between = towards(share);
        double sum = 0;
        for (std::size_t m = 0; m < q.size(); ++m) sum += std::pow(between[m] - steps[t + 1].theta[m], 2);
        return sum;
      };
      const double share = MinimumOnLine(distance, 0, 1);
      const bool is_step = distance(0) > 1e-10 || distance(1) > 1e-10;
      if (is_step) {
        EXPECT_LT(share, 0.9) << "step " << t;  // not the best point again
      }
      ExpectNear(steps[t + 1].theta, towards(share), 1e-6, t);
    }
  }
}

}  // namespace
}  // namespace kweave
