// One machine for all classes, with kernels on classes and on pairs of sample and class:
// docs/dev/notation.md, "Many classes".
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kweave/error.h"
#include "verify/training_problem.h"

namespace kweave::verify {
namespace {

class JointJudge {
 public:
  explicit JointJudge(TrainingProblem& at) : at_(at) {}

  void Run() {
    const JointProblem& joint = at_.problem.joint;
    const std::size_t classes = at_.content.classes.size();
    Vector identity(classes * classes, 0.0), biases(classes, 0.0);
    for (std::size_t u = 0; u < classes; ++u) identity[u * classes + u] = 1;
    for (const SparseVector& matrix : joint.class_kernels)
      class_kernels_.push_back(matrix.ToDense(classes * classes));
    if (class_kernels_.empty()) class_kernels_ = {identity};
    const std::size_t products = static_cast<std::size_t>(at_.kernels.size()) * class_kernels_.size();
    const std::size_t count = products + at_.pair_kernels.size();

    JointSide primal, dual;
    std::vector<Vector>
        vectors;  // the functions of the model, then the betas behind them, then the dual point
    primal.beta.assign(classes, Vector(at_.n, 0.0));
    Vector theta = joint.theta;
    const bool has_class_kernels = !joint.class_kernels.empty();
    for (const ModelMachine& machine : at_.content.machines) {
      vectors.push_back(at_.OverSamples(machine.beta));
      biases[machine.output] += machine.bias;
      if (has_class_kernels) continue;
      primal.beta[machine.output] = vectors.back();
      theta = at_.OverKernels(machine.theta);
    }
    if (has_class_kernels) {
      primal.beta = ByClass(joint.beta, classes);
    } else {
      for (const Index m : at_.pair_kernels) {
        const auto at = std::ranges::find(at_.content.pairs.kernels, at_.all.Name(m), &ModelPairKernel::name);
        theta.push_back(at == at_.content.pairs.kernels.end() ? 0 : at->weight);
      }
    }
    if (theta.size() != count)
      throw Error(ErrorKind::kData, "the model is damaged: kernels and weights differ in number");
    dual.beta = joint.dual ? ByClass(*joint.dual, classes) : primal.beta;
    for (JointSide* side : {&primal, &dual}) {
      side->outputs.assign(classes, Vector(at_.n, 0.0));
      side->q.assign(count, 0.0);
      vectors.insert(vectors.end(), side->beta.begin(), side->beta.end());
    }

    // What the model predicts is what its functions say.
    std::vector<Vector> predicted(classes, Vector(at_.n, 0.0));
    at_.magnitudes.assign(count, 0.0);
    const std::size_t machines = at_.content.machines.size();
    at_.Multiply(vectors, [&](Index m, std::span<const Vector> all, double magnitude) {
      const auto x = static_cast<std::size_t>(m);
      for (std::size_t y = 0; y < class_kernels_.size(); ++y) {
        at_.magnitudes[x * class_kernels_.size() + y] = magnitude * Largest(class_kernels_[y]);
      }
      for (std::size_t k = 0; k < machines; ++k) {
        const double weight = at_.OverKernels(at_.content.machines[k].theta)[x];
        for (Index i = 0; i < at_.n && weight != 0; ++i)
          predicted[at_.content.machines[k].output][i] += weight * all[k][i];
      }
      AddKernel(all.subspan(machines, classes), x, theta, primal);
      AddKernel(all.subspan(machines + classes, classes), x, theta, dual);
    });
    for (std::size_t k = 0; k < at_.pair_kernels.size(); ++k) {
      const std::vector<Vector> before = primal.outputs;
      AddPairKernel(k, products + k, theta[products + k], primal);
      AddPairKernel(k, products + k, theta[products + k], dual);
      for (std::size_t u = 0; u < classes; ++u) {
        for (Index i = 0; i < at_.n; ++i) predicted[u][i] += primal.outputs[u][i] - before[u][i];
      }
    }
    ComparePredictions(predicted, primal, theta);
    JudgeJoint(primal, dual, theta, biases);
  }

 private:
  // beta[i][u] of all classes as one vector per class.
  std::vector<Vector> ByClass(const SparseVector& pairs, std::size_t classes) const {
    const Vector dense = pairs.ToDense(classes * static_cast<std::size_t>(at_.n));
    std::vector<Vector> parts;
    for (std::size_t u = 0; u < classes; ++u)
      parts.emplace_back(dense.begin() + u * at_.n, dense.begin() + (u + 1) * at_.n);
    return parts;
  }

  // What products of the kernel matrices with the betas of all classes say: f_u = sum over x, y and v of
  // theta_xy A_y[u][v] K_x beta_v, and q_xy = sum over u and v of A_y[u][v] beta_u' K_x beta_v.
  struct JointSide {
    std::vector<Vector> beta, outputs;  // one per class
    Vector q;
  };

  void AddKernel(std::span<const Vector> products, std::size_t x, std::span<const double> theta,
                 JointSide& side) const {
    const std::size_t classes = side.beta.size(), count = class_kernels_.size();
    for (std::size_t u = 0; u < classes; ++u) {
      for (std::size_t v = 0; v < classes; ++v) {
        const double form = Dot(side.beta[u], products[v]);
        double weight = 0;
        for (std::size_t y = 0; y < count; ++y) {
          const double shared = class_kernels_[y][u * classes + v];
          side.q[x * count + y] += shared * form;
          weight += theta[x * count + y] * shared;
        }
        for (Index i = 0; i < at_.n && weight != 0; ++i) side.outputs[u][i] += weight * products[v][i];
      }
    }
  }

  // Kernels given on pairs: entry (i m + u, j m + v) of a matrix.
  void AddPairKernel(std::size_t number, std::size_t at, double theta, JointSide& side) {
    const KernelTerm term = at_.all.Term(at_.pair_kernels[number]);
    const MatrixFile file = at_.all.files[term.file].Open();
    const std::size_t classes = side.beta.size();
    const double scale = at_.scale[static_cast<std::size_t>(at_.kernels.size()) + number];
    Vector row(static_cast<std::size_t>(at_.n) * classes);
    double diagonal = 0, means = 0;
    for (Index i = 0; i < at_.n; ++i) {
      for (std::size_t u = 0; u < classes; ++u) {
        file.RowPart(i * static_cast<Index>(classes) + static_cast<Index>(u), 0, std::ssize(row), row.data());
        double sum = 0;
        for (Index j = 0; j < at_.n; ++j) {
          means += row[j * classes + u] / static_cast<double>(at_.n);
          for (std::size_t v = 0; v < classes; ++v) sum += row[j * classes + v] * side.beta[v][j];
        }
        diagonal += row[i * classes + u];
        at_.magnitudes[at] = std::max(at_.magnitudes[at], scale * Largest(row));
        side.outputs[u][i] += theta * scale * sum;
        side.q[at] += scale * side.beta[u][i] * sum;
      }
    }
    const auto& sequence = at_.content.normalization.sequence;
    if (sequence.empty()) return;
    const double variance = sequence.back() == Normalizer::kTrace ? diagonal : diagonal - means;
    const double factor = static_cast<double>(at_.n) * static_cast<double>(classes) / variance;
    if (!(std::abs(factor - scale) <= kFeasible * factor)) {
      at_.found.failures.push_back(
          fmt::format("the normalisation of kernel '{}' is {}, but the model says {}",
                      at_.all.Name(at_.pair_kernels[number]), factor, scale));
    }
  }

  // Margins of sample i: the smallest, and where the loss grows on either side the largest.
  double JointLoss(Index i, std::span<const Vector> outputs, std::span<const double> biases,
                   double error) const {
    const auto own = static_cast<std::size_t>(at_.classes[i][0]);
    double worst = 0;
    bool is_first = true;
    for (std::size_t u = 0; u < biases.size(); ++u) {
      if (u == own) continue;
      const double margin = outputs[own][i] + biases[own] - outputs[u][i] - biases[u];
      const double value = std::max(at_.loss.Value(margin - error, 1), at_.loss.Value(margin + error, 1));
      worst = is_first ? value : std::max(worst, value);
      is_first = false;
    }
    return at_.costs[i] * worst;
  }

  double JointDualLosses(std::span<const Vector> beta, double s) const {
    double sum = 0;
    for (Index i = 0; i < at_.n; ++i) {
      const auto own = static_cast<std::size_t>(at_.classes[i][0]);
      double others = 0;
      for (std::size_t u = 0; u < beta.size(); ++u) {
        if (u == own) continue;
        others += std::abs(beta[u][i]);
        if (!at_.loss.IsTwoSided() && beta[u][i] > kFeasible * at_.costs[i]) return -kInfinity;
      }
      sum += at_.loss.IsTwoSided() ? s * beta[own][i] - 0.5 * s * s * others * others / at_.costs[i]
                                   : at_.loss.Dual(s * beta[own][i], 1, at_.costs[i], kFeasible);
    }
    return sum;
  }

  // What the sums over samples and over classes are off by.
  double JointImbalance(const JointSide& side, std::span<const double> biases) const {
    double off = 0, size = 0, largest = 0;
    Vector of_sample(at_.n, 0.0);
    for (std::size_t u = 0; u < side.beta.size(); ++u) {
      if (at_.problem.has_bias) off += std::abs(Sum(side.beta[u]));
      size += Magnitude(side.beta[u]);
      largest = std::max(largest, Largest(side.outputs[u]));
      for (Index i = 0; i < at_.n; ++i) of_sample[i] += side.beta[u][i];
    }
    off += Magnitude(of_sample);
    return off > kFeasible * size ? kInfinity : off * (1 + Largest(biases) + largest);
  }

  double JointMagnitude(std::span<const Vector> beta) const {
    double sum = 0;
    for (const Vector& part : beta) sum += Magnitude(part);
    return sum;
  }

  void ComparePredictions(std::span<const Vector> predicted, const JointSide& side,
                          std::span<const double> theta) {
    const double error = kFeasible * Dot(theta, at_.magnitudes) * JointMagnitude(side.beta);
    for (std::size_t u = 0; u < predicted.size(); ++u) {
      for (Index i = 0; i < at_.n; ++i) {
        if (std::abs(predicted[u][i] - side.outputs[u][i]) <= error) continue;
        at_.found.failures.push_back(
            fmt::format("for class '{}' the model predicts {} at sample {}, but its betas and weights say {}",
                        at_.content.classes[u], predicted[u][i], at_.numbering.Sample(at_.indices[i]),
                        side.outputs[u][i]));
        return;
      }
    }
  }

  void JudgeJoint(const JointSide& primal, const JointSide& dual, std::span<const double> theta,
                  std::span<const double> biases) {
    const PlainRegularizer regularizer = at_.RegularizerFor(0, theta.size());
    VerifiedClaim claim = at_.WholeClaim();
    const double magnitude = JointMagnitude(primal.beta), dual_magnitude = JointMagnitude(dual.beta);
    const double error = 2 * at_.rounding * (Dot(theta, at_.magnitudes) * magnitude + Largest(biases));
    const double regularization = regularizer.Primal(theta, primal.q);
    claim.primal = regularization;
    claim.primal_rounding = regularizer.Primal(theta, at_.WithRounding(primal.q, magnitude)) - regularization;
    for (Index i = 0; i < at_.n; ++i) {
      const double value = JointLoss(i, primal.outputs, biases, 0);
      claim.primal += value;
      claim.primal_rounding += JointLoss(i, primal.outputs, biases, error) - value;
    }
    const auto losses = [&](double s) { return JointDualLosses(dual.beta, s); };
    const auto term = [&](std::span<const double> at) { return regularizer.DualTerm(at); };
    claim.dual = BestDual(true, losses, term, dual.q);
    claim.dual_rounding =
        BestDual(true, losses, term, at_.WithRounding(dual.q, dual_magnitude, -1)) - claim.dual;
    const double imbalance = JointImbalance(dual, biases);
    if (std::isinf(imbalance)) claim.dual = -kInfinity;
    claim.dual_rounding += std::isinf(imbalance) ? 0 : imbalance;
    if (const double violation = regularizer.Violation(theta); violation > kFeasible) {
      at_.found.failures.push_back(
          fmt::format("the kernel weights are outside of their set, by {:.3g}", violation));
    }
    at_.Conclude(std::move(claim));
  }

  TrainingProblem& at_;
  std::vector<Vector> class_kernels_;
};

}  // namespace

void JudgeJointMachine(TrainingProblem& at) { JointJudge(at).Run(); }

}  // namespace kweave::verify
