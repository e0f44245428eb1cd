// Machines with one output: primal, dual and gap as docs/dev/notation.md states them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "verify/training_problem.h"

namespace kweave::verify {
namespace {

// One function with a loss of its own on some of the samples. Vectors are over all samples of training.
struct Machine {
  std::string name;
  std::vector<Index> rows;  // its samples
  Vector y, C;              // of all samples; 0 for those that are not its own
  Vector beta, dual, theta;
  double bias = 0;
  Vector q, dual_q, outputs;
};

class MachineJudge {
 public:
  explicit MachineJudge(TrainingProblem& at) : at_(at) {}

  void Run() {
    std::vector<Machine> machines = MakeMachines();
    Measure(machines);
    if (!at_.content.multiclass || at_.problem.has_common_weights) {
      return Judge(machines, at_.RegularizerFor(0, at_.kernels.size()), at_.WholeClaim());
    }
    double primal = 0, dual = 0, gap = 0;
    for (std::size_t k = 0; k < machines.size(); ++k) {
      const MachineReport& report = at_.content.summary.machines.at(k);
      primal += report.primal, dual += report.dual, gap = std::max(gap, report.relative_gap);
      Judge(std::span(machines).subspan(k, 1),
            at_.RegularizerFor(at_.problem.machines[k].exponent, at_.kernels.size()),
            {.name = machines[k].name,
             .claimed_primal = report.primal,
             .claimed_dual = report.dual,
             .claimed_gap = report.relative_gap});
    }
    const Summary& summary = at_.content.summary;
    const double slack = kFeasible * (std::abs(primal) + std::abs(dual));
    if (std::abs(summary.primal - primal) > slack || std::abs(summary.dual - dual) > slack ||
        summary.relative_gap < gap - kFeasible) {
      at_.found.failures.emplace_back("the bounds of the whole are not the sums of those of its machines");
    }
  }

  // Not convex: what is claimed are bounds at the widths as they are, where the product is one kernel.
  void RunProduct() {
    at_.found.unchecked.emplace_back(
        "a product of kernels is not convex, so there is no gap: its bounds are those at the widths it has; "
        "that these are a "
        "stationary point (projected_gradient) is not checked");
    std::vector<Machine> machines = MakeMachines();
    Measure(machines);
    const Machine& machine = machines[0];
    VerifiedClaim claim = at_.WholeClaim();
    Vector widths;
    for (const KernelReport& kernel : at_.content.summary.kernels) widths.push_back(kernel.weight);
    double value = 0;
    if (at_.problem.regularizer.form == "logdet") {
      Vector traces;
      value = -at_.problem.regularizer.penalty * Determinant(machine.theta, traces);
    } else {
      const Vector none(widths.size(), 0.0);
      value = PlainRegularizer(at_.problem.regularizer, widths.size()).Primal(widths, none);
    }
    const Found losses = Losses(machine);
    const double quadratic = 0.5 * Dot(machine.theta, machine.q);
    const double rounding =
        0.5 * Dot(machine.theta, at_.WithRounding(machine.q, Magnitude(machine.beta))) - quadratic;
    claim.primal = value + quadratic + losses.value;
    claim.primal_rounding = rounding + losses.rounding + kFeasible * std::abs(value);
    claim.dual = at_.kernels.size() == 0 ? value + LeastConstant(machines)
                                         : value + DualLosses(machine, 1) - quadratic;
    claim.dual_rounding =
        rounding + Imbalance(machine) + kFeasible * (std::abs(value) + std::abs(claim.dual));
    at_.Conclude(std::move(claim));
  }

 private:
  std::vector<Machine> MakeMachines() const {
    std::vector<Machine> machines;
    for (std::size_t k = 0; k < at_.content.machines.size(); ++k) {
      const ModelMachine& stored = at_.content.machines[k];
      const MachineProblem& own = at_.problem.machines[k];
      Machine machine;
      machine.y.assign(at_.n, 0.0), machine.C.assign(at_.n, 0.0);
      if (at_.content.multiclass) {
        machine.name = at_.content.classes[stored.output];
        if (stored.against >= 0) machine.name += " against " + at_.content.classes[stored.against];
      }
      for (Index i = 0; i < at_.n; ++i) {
        double y = !at_.content.multiclass ? at_.targets[i] : 0;
        if (at_.content.multiclass) {
          const bool is_in = std::ranges::find(at_.classes[i], stored.output) != at_.classes[i].end();
          if (!is_in && stored.against >= 0 && at_.classes[i][0] != stored.against) continue;
          y = is_in ? 1 : -1;
        }
        machine.rows.push_back(i);
        machine.y[i] = y;
        const bool is_positive = at_.content.multiclass && y > 0;
        machine.C[i] = at_.costs[i] * own.cost_factor * (is_positive ? own.positive_factor : 1);
      }
      machine.beta = at_.OverSamples(stored.beta);
      machine.dual = own.dual ? own.dual->ToDense(at_.n) : machine.beta;
      machine.theta = at_.OverKernels(stored.theta);
      machine.bias = at_.problem.has_bias ? stored.bias : 0;  // without one it only says where to decide
      machine.outputs.assign(at_.n, 0.0);
      machines.push_back(std::move(machine));
    }
    return machines;
  }

  // Outputs and quadratics of all of them in one pass.
  void Measure(std::vector<Machine>& machines) {
    std::vector<Vector> vectors;
    std::vector<std::pair<std::size_t, std::size_t>> places;  // of beta and dual
    for (Machine& machine : machines) {
      places.emplace_back(vectors.size(), vectors.size());
      vectors.push_back(machine.beta);
      if (machine.dual != machine.beta) {
        ++places.back().second;
        vectors.push_back(machine.dual);
      }
      machine.q.assign(at_.kernels.size(), 0.0), machine.dual_q = machine.q;
    }
    at_.magnitudes.assign(at_.kernels.size(), 0.0);
    at_.Multiply(vectors, [&](Index m, std::span<const Vector> products, double magnitude) {
      at_.magnitudes[m] = magnitude;
      for (std::size_t k = 0; k < machines.size(); ++k) {
        Machine& machine = machines[k];
        const auto [of_beta, of_dual] = places[k];
        machine.q[m] = Dot(machine.beta, products[of_beta]);
        machine.dual_q[m] = Dot(machine.dual, products[of_dual]);
        for (Index i = 0; i < at_.n; ++i) machine.outputs[i] += machine.theta[m] * products[of_beta][i];
      }
    });
  }

  double OutputRounding(const Machine& machine) const {
    return at_.rounding * Dot(machine.theta, at_.magnitudes) * Magnitude(machine.beta);
  }

  // Value and rounding.
  struct Found {
    double value = 0, rounding = 0;
  };

  Found Losses(const Machine& machine) const {
    Found losses{at_.bias_slope() * machine.bias, kEpsilon * std::abs(machine.bias)};
    const double error = OutputRounding(machine) + 4 * kEpsilon * std::abs(machine.bias);
    for (const Index i : machine.rows) {
      const double f = machine.outputs[i] + machine.bias, value = at_.loss.Value(f, machine.y[i]);
      const double worst =
          std::max(at_.loss.Value(f - error, machine.y[i]), at_.loss.Value(f + error, machine.y[i]));
      losses.value += machine.C[i] * value;
      losses.rounding += machine.C[i] * (worst - value + 4 * kEpsilon * value);
    }
    return losses;
  }

  // L(s dual), minus infinity where the dual point is not feasible.
  double DualLosses(const Machine& machine, double s) const {
    double sum = 0;
    for (const Index i : machine.rows)
      sum += at_.loss.Dual(s * machine.dual[i], machine.y[i], machine.C[i], kFeasible);
    return sum;
  }

  // What the sum of a dual point is off by, which should be nothing, at the most that a bias can make of it.
  double Imbalance(const Machine& machine) const {
    if (!at_.problem.has_bias) return 0;
    const double off = std::abs(Sum(machine.dual) - at_.bias_slope());
    if (off > kFeasible * (Magnitude(machine.dual) + at_.bias_slope())) return kInfinity;
    return off * (OutputUnit(machine) + std::abs(machine.bias) + Largest(machine.outputs));
  }

  // Half the spread of the targets; all are 1 where there is one class.
  static double OutputUnit(const Machine& machine) {
    double low = kInfinity, high = -kInfinity;
    for (const Index i : machine.rows) low = std::min(low, machine.y[i]), high = std::max(high, machine.y[i]);
    return 0.5 * (high - low);
  }

  // Machines that share their weights, or one by itself; `claimed_*` are what the summary says of them.
  void Judge(std::span<const Machine> machines, const PlainRegularizer& regularizer, VerifiedClaim claim) {
    const Machine& first = machines[0];
    Vector q(at_.kernels.size(), 0.0), worst = q, dual_q = q, dual_least = q;
    Found losses;
    double imbalance = 0, size = 0;
    for (const Machine& machine : machines) {
      const Vector rounded = at_.WithRounding(machine.q, Magnitude(machine.beta));
      const Vector dual_rounded = at_.WithRounding(machine.dual_q, Magnitude(machine.dual), -1);
      for (std::size_t m = 0; m < q.size(); ++m) {
        q[m] += machine.q[m], worst[m] += rounded[m];
        dual_q[m] += machine.dual_q[m], dual_least[m] += dual_rounded[m];
      }
      const Found own = Losses(machine);
      losses.value += own.value, losses.rounding += own.rounding;
      imbalance += Imbalance(machine);
      size += std::abs(DualLosses(machine, 1));
    }
    const auto dual_losses = [&](double s) {
      double sum = 0;
      for (const Machine& machine : machines) sum += DualLosses(machine, s);
      return sum;
    };
    const bool may_scale = at_.bias_slope() == 0;
    const double regularization = regularizer.Primal(first.theta, q);
    claim.primal = regularization + losses.value;
    claim.primal_rounding = losses.rounding + regularizer.Primal(first.theta, worst) - regularization;
    if (at_.problem.regularizer.form == "logdet") {
      AddDeterminant(first, dual_q, dual_losses, regularizer, claim);
    } else if (at_.kernels.size() == 0) {
      claim.dual = LeastConstant(machines);
    } else {
      const auto term = [&](std::span<const double> at) { return regularizer.DualTerm(at); };
      claim.dual = BestDual(may_scale, dual_losses, term, dual_q);
      claim.dual_rounding =
          BestDual(may_scale, dual_losses, term, dual_least) - claim.dual + kValueRounding * size;
    }
    if (at_.kernels.size() > 0) {
      if (std::isinf(imbalance)) claim.dual = -kInfinity;
      claim.dual_rounding += imbalance;
    }
    if (const double violation = regularizer.Violation(first.theta); violation > kFeasible) {
      claim.holds = false;
      at_.found.failures.push_back(
          fmt::format("{}the kernel weights are outside of their set, by {:.3g}", Of(claim.name), violation));
    }
    at_.Conclude(std::move(claim), LeastSize(regularizer));
  }

  // The objective of a one-class machine may be 0 at the optimum: gaps are then relative to a millionth of
  // what beta on a single sample costs.
  double LeastSize(const PlainRegularizer& regularizer) const {
    constexpr double kSmallObjective = 1e-6;  // the millionth
    const bool has_other_size = at_.problem.regularizer.form == "logdet" || at_.kernels.size() == 0;
    if (at_.bias_slope() == 0 || has_other_size) return kTiny;
    const double cost = regularizer.DualTerm(at_.diagonals);
    return std::isfinite(cost) ? std::max(kSmallObjective * std::abs(cost), kTiny) : kTiny;
  }

  // Without kernels the best constant is all there is: the smallest risk of a bias.
  double LeastConstant(std::span<const Machine> machines) const {
    double sum = 0;
    for (Machine machine : machines) {
      const auto [low, high] = std::ranges::minmax(machine.y);
      constexpr double kFar = 50;  // a probability of e^-50 is none
      sum -= LargestOnInterval(at_.problem.has_bias ? low - kFar : 0, at_.problem.has_bias ? high + kFar : 0,
                               [&](double bias) {
                                 machine.bias = bias;
                                 return -Losses(machine).value;
                               });
    }
    return sum;
  }

  // r = -mu log det(K(theta) + ridge I) is convex: a tangent at any theta gives an upper bound on the dual
  // term. Tangents are taken on the way to the theta that attains it, where theta_m^p is proportional to
  // theta_m times the derivative, until the claim is met.
  template <class DualLosses>
  void AddDeterminant(const Machine& machine, std::span<const double> q, const DualLosses& losses,
                      const PlainRegularizer& constraint, VerifiedClaim& claim) {
    constexpr int kMostTangents = 200;    // the first is enough but at norm 1, where some tens were needed
    constexpr double kLeastShare = 1e-3;  // of equal weights, so that none stays at 0
    const double mu = at_.problem.regularizer.penalty, p = at_.problem.regularizer.exponent;
    Vector theta = machine.theta;
    claim.dual = -kInfinity;
    for (int step = 0; step < kMostTangents; ++step) {
      Vector traces;
      const double value = -mu * Determinant(theta, traces);
      if (step == 0) {
        claim.primal += value;
        claim.primal_rounding += kFeasible * std::abs(value);
      }
      const auto term = [&](std::span<const double> at) {
        Vector shifted(at.begin(), at.end());
        for (std::size_t m = 0; m < shifted.size(); ++m)
          shifted[m] = std::max(at[m], 0.0) + 2 * mu * traces[m];
        return constraint.DualTerm(shifted) - value - mu * Dot(traces, theta);
      };
      claim.dual = std::max(claim.dual, BestDual(true, losses, term, q));
      claim.dual_rounding = kFeasible * (std::abs(value) + std::abs(claim.dual));
      if (claim.dual >= claim.claimed_dual - claim.dual_rounding || std::isinf(p)) return;
      for (std::size_t m = 0; m < theta.size(); ++m) {
        if (step == 0) theta[m] += kLeastShare / static_cast<double>(theta.size());
        theta[m] = std::pow(theta[m] * (0.5 * std::max(q[m], 0.0) + mu * traces[m]), 1 / p);
      }
      const double norm = PlainNorm(theta, p);
      for (double& weight : theta) weight /= norm;
    }
  }

  // log det(K(theta) + ridge I), and tr((K(theta) + ridge I)^-1 K_m).
  double Determinant(std::span<const double> theta, Vector& traces) {
    PlainKernels plain(at_.kernels, at_.views, at_.n);
    std::vector<PlainNormalization> fitted = plain.Fit(at_.content.normalization.sequence, 0, plain.size());
    for (Index m = 0; m < plain.size(); ++m) at_.CompareNormalization(m, fitted[m]);
    const auto n = static_cast<std::size_t>(at_.n);
    Vector matrix(n * n, 0.0), inverse(n * n, 0.0);
    plain.ForEachRow(fitted, 0, plain.size(), [&](Index m, Index i, std::span<const double> row) {
      for (Index j = 0; j <= i; ++j) matrix[i * n + j] += theta[m] * row[j];
    });
    double log_determinant = 0;
    for (std::size_t i = 0; i < n; ++i) {  // Cholesky's factor
      matrix[i * n + i] += at_.problem.regularizer.ridge;
      for (std::size_t j = 0; j <= i; ++j) {
        double rest = matrix[i * n + j];
        for (std::size_t k = 0; k < j; ++k) rest -= matrix[i * n + k] * matrix[j * n + k];
        matrix[i * n + j] = j == i ? std::sqrt(rest) : rest / matrix[j * n + j];
      }
      log_determinant += 2 * std::log(matrix[i * n + i]);
    }
    for (std::size_t k = 0; k < n; ++k) {  // column k of the inverse of the factor, by substitution
      for (std::size_t i = k; i < n; ++i) {
        double rest = i == k ? 1 : 0;
        for (std::size_t j = k; j < i; ++j) rest -= matrix[i * n + j] * inverse[j * n + k];
        inverse[i * n + k] = rest / matrix[i * n + i];
      }
    }
    traces.assign(theta.size(), 0.0);
    Vector product(n * n, 0.0);  // the inverse of the matrix
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        for (std::size_t k = i; k < n; ++k) product[i * n + j] += inverse[k * n + i] * inverse[k * n + j];
      }
    }
    plain.ForEachRow(fitted, 0, plain.size(), [&](Index m, Index i, std::span<const double> row) {
      for (Index j = 0; j <= i; ++j) traces[m] += (j == i ? 1 : 2) * product[i * n + j] * row[j];
    });
    return log_determinant;
  }

  TrainingProblem& at_;
};

}  // namespace

void JudgeMachines(TrainingProblem& at) { MachineJudge(at).Run(); }

void JudgeProduct(TrainingProblem& at) { MachineJudge(at).RunProduct(); }

}  // namespace kweave::verify
