// Primal, dual and gap as docs/dev/notation.md states them, of every kind of machine.
//
// Whatever is learned as one is a block: functions f_u that share kernel weights. A machine with one output
// is a block of one function, machines with common weights are one block, and so is a machine for all
// classes, whose kernels are products k_x(x_i, x_j) A_y[u][v] with kernels on the classes, or given on pairs
// of sample and class. Only the loss tells the last from the others: of margins between functions, or of
// every function by itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "kweave/error.h"
#include "verify/training_problem.h"

namespace kweave::verify {
namespace {

struct Function {
  std::vector<Index> rows;  // its samples
  Vector y, C;              // of all samples of training; 0 for those that are not its own
  Vector beta, dual;        // of all samples
  double bias = 0;
  Vector outputs;                              // without the bias
  std::size_t beta_place = 0, dual_place = 0;  // among the vectors that kernel matrices are multiplied with
};

struct Block {
  std::string name = {};
  std::vector<Function> functions = {};
  Vector theta = {}, q = {}, dual_q = {};  // of kernel x |Y| + y, then of kernels on pairs
};

// The value of a sum and what rounding may have added to it.
struct Rounded {
  double value = 0, rounding = 0;
};

// What the kernel weights add to the primal and subtract in the dual, as functions of q.
struct Terms {
  std::function<double(std::span<const double>)> primal, dual;
};

class Judge {
 public:
  explicit Judge(TrainingProblem& at)
      : at_(at), is_joint_(at.content.multiclass == Multiclass::kJoint && at.problem.machines.empty()) {
    const std::size_t classes = at_.content.classes.size();
    for (const SparseVector& matrix : at_.problem.joint.class_kernels)
      class_kernels_.push_back(matrix.ToDense(classes * classes));
    class_kernel_count_ = std::max<std::size_t>(class_kernels_.size(), 1);
    products_ = static_cast<std::size_t>(at_.kernels.size()) * class_kernel_count_;
  }

  void Run() {
    std::vector<Block> blocks = is_joint_ ? JointBlock() : MachineBlocks();
    Measure(blocks);
    if (at_.problem.is_product) return ConcludeProduct(blocks[0]);
    if (is_joint_ || !at_.content.multiclass || at_.problem.has_common_weights) {
      return ConcludeSum(blocks[0], at_.RegularizerFor(0, blocks[0].theta.size()), at_.WholeClaim());
    }
    double primal = 0, dual = 0, gap = 0;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const MachineReport& report = at_.content.summary.machines.at(k);
      primal += report.primal, dual += report.dual, gap = std::max(gap, report.relative_gap);
      ConcludeSum(blocks[k], at_.RegularizerFor(at_.problem.machines[k].exponent, blocks[k].theta.size()),
                  {.name = blocks[k].name,
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

 private:
  // --- what the model holds, as blocks

  std::vector<Block> MachineBlocks() const {
    std::vector<Block> blocks;
    for (std::size_t k = 0; k < at_.content.machines.size(); ++k) {
      const ModelMachine& stored = at_.content.machines[k];
      const MachineProblem& own = at_.problem.machines[k];
      Function function;
      function.y.assign(at_.n, 0.0), function.C.assign(at_.n, 0.0);
      for (Index i = 0; i < at_.n; ++i) {
        double y = 0;
        if (!at_.content.multiclass) {
          y = at_.targets[i];
        } else {
          const bool is_in = std::ranges::find(at_.classes[i], stored.output) != at_.classes[i].end();
          if (!is_in && stored.against >= 0 && at_.classes[i][0] != stored.against) continue;
          y = is_in ? 1 : -1;
        }
        function.rows.push_back(i);
        function.y[i] = y;
        const bool is_positive = at_.content.multiclass && y > 0;
        function.C[i] = at_.costs[i] * own.cost_factor * (is_positive ? own.positive_factor : 1);
      }
      function.beta = at_.OverSamples(stored.beta);
      function.dual = own.dual ? own.dual->ToDense(at_.n) : function.beta;
      function.bias = at_.problem.has_bias ? stored.bias : 0;  // without one it only says where to decide
      if (blocks.empty() || !at_.problem.has_common_weights)
        blocks.push_back({.theta = at_.OverKernels(stored.theta)});
      blocks.back().functions.push_back(std::move(function));
      if (!at_.content.multiclass || at_.problem.has_common_weights) continue;
      blocks.back().name = at_.content.classes[stored.output];
      if (stored.against >= 0) blocks.back().name += " against " + at_.content.classes[stored.against];
    }
    return blocks;
  }

  std::vector<Block> JointBlock() const {
    const JointProblem& joint = at_.problem.joint;
    const std::size_t classes = at_.content.classes.size();
    Block block{.functions = std::vector<Function>(classes), .theta = joint.theta};
    std::vector<Vector> beta(classes, Vector(at_.n, 0.0));
    for (const ModelMachine& machine : at_.content.machines) {
      block.functions[machine.output].bias += machine.bias;
      if (!class_kernels_.empty()) continue;
      beta[machine.output] = at_.OverSamples(machine.beta);
      block.theta = at_.OverKernels(machine.theta);
    }
    if (!class_kernels_.empty()) {
      beta = ByClass(joint.beta);
    } else {
      for (const Index m : at_.pair_kernels) {
        const auto at = std::ranges::find(at_.content.pairs.kernels, at_.all.Name(m), &ModelPairKernel::name);
        block.theta.push_back(at == at_.content.pairs.kernels.end() ? 0 : at->weight);
      }
    }
    if (block.theta.size() != products_ + at_.pair_kernels.size())
      throw Error(ErrorKind::kData, "the model is damaged: kernels and weights differ in number");
    const std::vector<Vector> dual = joint.dual ? ByClass(*joint.dual) : beta;
    for (std::size_t u = 0; u < classes; ++u) {
      Function& function = block.functions[u];
      function.beta = beta[u], function.dual = dual[u];
      function.C = at_.costs;
      for (Index i = 0; i < at_.n; ++i) {
        function.rows.push_back(i);
        function.y.push_back(static_cast<std::size_t>(at_.classes[i][0]) == u ? 1 : -1);
      }
    }
    return {std::move(block)};
  }

  // beta[i][u] of all classes as one vector per class.
  std::vector<Vector> ByClass(const SparseVector& pairs) const {
    const std::size_t classes = at_.content.classes.size();
    const Vector dense = pairs.ToDense(classes * static_cast<std::size_t>(at_.n));
    std::vector<Vector> parts;
    for (std::size_t u = 0; u < classes; ++u)
      parts.emplace_back(dense.begin() + u * at_.n, dense.begin() + (u + 1) * at_.n);
    return parts;
  }

  // --- outputs and quadratics, in one pass over all kernels

  void Measure(std::vector<Block>& blocks) {
    const std::size_t count = products_ + at_.pair_kernels.size();
    at_.magnitudes.assign(count, 0.0);
    std::vector<Vector> vectors;
    for (Block& block : blocks) {
      block.q.assign(count, 0.0), block.dual_q.assign(count, 0.0);
      for (Function& function : block.functions) {
        function.outputs.assign(at_.n, 0.0);
        function.beta_place = vectors.size();
        vectors.push_back(function.beta);
        if (function.dual != function.beta) vectors.push_back(function.dual);
        function.dual_place = vectors.size() - 1;
      }
    }
    // With kernels on classes the model stores its functions as mixtures of others: those as they are, too.
    const std::size_t own = vectors.size();
    std::vector<Vector> predicted(at_.content.classes.size(), Vector(at_.n, 0.0));
    for (const ModelMachine& machine : at_.content.machines) {
      if (!class_kernels_.empty()) vectors.push_back(at_.OverSamples(machine.beta));
    }
    at_.Multiply(vectors, [&](Index m, std::span<const Vector> products, double magnitude) {
      for (std::size_t y = 0; y < class_kernel_count_; ++y) {
        at_.magnitudes[m * class_kernel_count_ + y] =
            magnitude * (class_kernels_.empty() ? 1 : Largest(class_kernels_[y]));
      }
      for (Block& block : blocks) AddKernel(m, products, block);
      for (std::size_t k = 0; own + k < products.size(); ++k) {
        const ModelMachine& machine = at_.content.machines[k];
        AddTo(predicted[machine.output], at_.OverKernels(machine.theta)[m], products[own + k]);
      }
    });
    if (!class_kernels_.empty()) ComparePredictions(predicted, blocks[0]);
    for (std::size_t k = 0; k < at_.pair_kernels.size(); ++k) AddPairKernel(k, blocks[0]);
  }

  static void AddTo(Vector& sum, double factor, std::span<const double> x) {
    for (std::size_t i = 0; i < sum.size() && factor != 0; ++i) sum[i] += factor * x[i];
  }

  // f_u = sum over x, y and v of theta_xy A_y[u][v] K_x beta_v, and q_xy = sum over u and v of A_y[u][v]
  // beta_u' K_x beta_v.
  void AddKernel(Index m, std::span<const Vector> products, Block& block) const {
    const std::size_t count = block.functions.size();
    for (std::size_t u = 0; u < count; ++u) {
      Function& row = block.functions[u];
      for (std::size_t v = 0; v < count; ++v) {
        if (class_kernels_.empty() && u != v) continue;
        const Function& column = block.functions[v];
        const double form = Dot(row.beta, products[column.beta_place]);
        const double dual_form = Dot(row.dual, products[column.dual_place]);
        double weight = 0;
        for (std::size_t y = 0; y < class_kernel_count_; ++y) {
          const double shared = class_kernels_.empty() ? 1 : class_kernels_[y][u * count + v];
          const std::size_t k = m * class_kernel_count_ + y;
          block.q[k] += shared * form;
          block.dual_q[k] += shared * dual_form;
          weight += block.theta[k] * shared;
        }
        AddTo(row.outputs, weight, products[column.beta_place]);
      }
    }
  }

  // Kernels given on pairs: entry (i m + u, j m + v) of a matrix.
  void AddPairKernel(std::size_t number, Block& block) {
    const std::size_t classes = block.functions.size(), at = products_ + number;
    const Index m = at_.pair_kernels[number];
    const MatrixFile file = at_.all.files[at_.all.Term(m).file].Open();
    const double scale = at_.scale[static_cast<std::size_t>(at_.kernels.size()) + number];
    Vector row(static_cast<std::size_t>(at_.n) * classes);
    double diagonal = 0, means = 0;
    for (Index i = 0; i < at_.n; ++i) {
      for (std::size_t u = 0; u < classes; ++u) {
        file.RowPart(i * static_cast<Index>(classes) + static_cast<Index>(u), 0, std::ssize(row), row.data());
        double sum = 0, dual_sum = 0;
        for (Index j = 0; j < at_.n; ++j) {
          means += row[j * classes + u] / static_cast<double>(at_.n);
          for (std::size_t v = 0; v < classes; ++v) {
            sum += row[j * classes + v] * block.functions[v].beta[j];
            dual_sum += row[j * classes + v] * block.functions[v].dual[j];
          }
        }
        Function& function = block.functions[u];
        diagonal += row[i * classes + u];
        at_.magnitudes[at] = std::max(at_.magnitudes[at], scale * Largest(row));
        function.outputs[i] += block.theta[at] * scale * sum;
        block.q[at] += scale * function.beta[i] * sum;
        block.dual_q[at] += scale * function.dual[i] * dual_sum;
      }
    }
    const auto& sequence = at_.content.normalization.sequence;
    if (sequence.empty()) return;
    const double variance = sequence.back() == Normalizer::kTrace ? diagonal : diagonal - means;
    const double factor = static_cast<double>(at_.n) * static_cast<double>(classes) / variance;
    if (!(std::abs(factor - scale) <= kFeasible * factor))
      at_.NameWrongNormalization(at_.all.Name(m), factor, scale);
  }

  void ComparePredictions(std::span<const Vector> predicted, const Block& block) {
    const double error = kFeasible * Dot(block.theta, at_.magnitudes) * Size(block, &Function::beta);
    for (std::size_t u = 0; u < predicted.size(); ++u) {
      const Vector& outputs = block.functions[u].outputs;
      for (Index i = 0; i < at_.n; ++i) {
        if (std::abs(predicted[u][i] - outputs[i]) <= error) continue;
        return at_.found.failures.push_back(fmt::format(
            "for class '{}' the model predicts {} at sample {}, but its betas and weights say {}",
            at_.content.classes[u], predicted[u][i], at_.numbering.Sample(at_.indices[i]), outputs[i]));
      }
    }
  }

  // --- sums over samples

  static double Size(const Block& block, Vector Function::*vector) {
    double sum = 0;
    for (const Function& function : block.functions) sum += Magnitude(function.*vector);
    return sum;
  }

  // q at its largest, with the sign -1 at its smallest, given the rounding of the kernels.
  Vector WithRounding(const Block& block, std::span<const double> q, Vector Function::*vector,
                      int sign) const {
    double squares = std::pow(Size(block, vector), 2);
    if (!is_joint_) {  // functions do not meet
      squares = 0;
      for (const Function& function : block.functions) squares += std::pow(Magnitude(function.*vector), 2);
    }
    Vector worst(q.begin(), q.end());
    for (std::size_t m = 0; m < worst.size(); ++m)
      worst[m] += sign * at_.rounding * at_.magnitudes[m] * squares;
    return worst;
  }

  double OutputRounding(const Block& block, const Function& function) const {
    const double magnitude = is_joint_ ? Size(block, &Function::beta) : Magnitude(function.beta);
    return at_.rounding * Dot(block.theta, at_.magnitudes) * magnitude +
           4 * kEpsilon * std::abs(function.bias);
  }

  // The loss at t, and at the worst of t - error and t + error.
  void AddLoss(double C, double t, double y, double error, Rounded& sum) const {
    const double value = at_.loss.Value(t, y);
    const double worst = std::max(at_.loss.Value(t - error, y), at_.loss.Value(t + error, y));
    sum.value += C * value;
    sum.rounding += C * (worst - value + 4 * kEpsilon * value);
  }

  Rounded Losses(const Block& block) const {
    if (is_joint_) return JointLosses(block);
    Rounded sum;
    for (const Function& function : block.functions) {
      const double error = OutputRounding(block, function);
      sum.value += at_.bias_slope() * function.bias;
      sum.rounding += kEpsilon * std::abs(function.bias);
      for (const Index i : function.rows)
        AddLoss(function.C[i], function.outputs[i] + function.bias, function.y[i], error, sum);
    }
    return sum;
  }

  // Of the margin with the largest loss, in every sample.
  Rounded JointLosses(const Block& block) const {
    Rounded sum;
    std::vector<double> errors;
    for (const Function& function : block.functions) errors.push_back(OutputRounding(block, function));
    for (Index i = 0; i < at_.n; ++i) {
      const auto own = static_cast<std::size_t>(at_.classes[i][0]);
      const auto output = [&](std::size_t u) {
        return block.functions[u].outputs[i] + block.functions[u].bias;
      };
      double worst = 0, error = 0, largest = -kInfinity;
      for (std::size_t u = 0; u < block.functions.size(); ++u) {
        if (u == own) continue;
        const double margin = output(own) - output(u), value = at_.loss.Value(margin, 1);
        error = std::max(error, errors[own] + errors[u]);
        if (!(value <= largest)) largest = value, worst = margin;
        if (std::isnan(margin)) break;
      }
      AddLoss(at_.costs[i], worst, 1, error, sum);
    }
    return sum;
  }

  // L(s dual), minus infinity where the dual point is not feasible.
  double DualLosses(const Block& block, double s) const {
    double sum = 0;
    for (const Function& function : block.functions) {
      if (is_joint_) break;
      for (const Index i : function.rows)
        sum += at_.loss.Dual(s * function.dual[i], function.y[i], function.C[i], kFeasible);
    }
    for (Index i = 0; is_joint_ && i < at_.n; ++i) {
      const auto own = static_cast<std::size_t>(at_.classes[i][0]);
      const double beta = s * block.functions[own].dual[i], C = at_.costs[i];
      double others = 0;
      for (std::size_t u = 0; u < block.functions.size(); ++u) {
        if (u == own) continue;
        const double other = block.functions[u].dual[i];
        others += s * std::abs(other);
        if (!at_.loss.IsTwoSided() && other > kFeasible * C) return -kInfinity;
      }
      sum += at_.loss.IsTwoSided() ? beta - 0.5 * others * others / C : at_.loss.Dual(beta, 1, C, kFeasible);
    }
    return sum;
  }

  // What the sums of a dual point are off by, which should be nothing, at the most that biases can make of
  // it.
  double Imbalance(const Block& block) const {
    double off = 0, unit = 0;
    const double slope = at_.bias_slope();
    Vector of_sample(at_.n, 0.0);
    for (const Function& function : block.functions) {
      if (at_.problem.has_bias) off += std::abs(Sum(function.dual) - slope);
      AddTo(of_sample, 1, function.dual);
      double low = kInfinity, high = -kInfinity;
      for (const Index i : function.rows)
        low = std::min(low, function.y[i]), high = std::max(high, function.y[i]);
      unit = std::max(unit, 0.5 * (high - low) + std::abs(function.bias) + Largest(function.outputs));
    }
    if (is_joint_) off += Magnitude(of_sample);
    return off > kFeasible * (Size(block, &Function::dual) + slope) ? kInfinity : off * unit;
  }

  // --- bounds

  // Both bounds; those of the dual are the best along the ray to 0, where that is feasible.
  void Bound(const Block& block, const Terms& terms, VerifiedClaim& claim) const {
    const Rounded losses = Losses(block);
    const double regularization = terms.primal(block.q);
    claim.primal = regularization + losses.value;
    claim.primal_rounding =
        losses.rounding + terms.primal(WithRounding(block, block.q, &Function::beta, 1)) - regularization;
    // An entropy is what is left of terms of the order of the penalty.
    const auto& described = at_.problem.regularizer;
    if (described.form == "entropy") claim.primal_rounding += 4 * kEpsilon * described.penalty;
    if (block.theta.empty() && !is_joint_) {
      const Vector none;
      claim.dual = LeastConstant(block) - terms.dual(none);
      for (const Function& function : block.functions)
        claim.dual_rounding += kValueRounding * Sum(function.C);
      return;
    }
    const auto losses_at = [&](double s) { return DualLosses(block, s); };
    const bool may_scale = at_.bias_slope() == 0;
    claim.dual = BestDual(may_scale, losses_at, terms.dual, block.dual_q);
    const Vector least = WithRounding(block, block.dual_q, &Function::dual, -1);
    claim.dual_rounding = BestDual(may_scale, losses_at, terms.dual, least) - claim.dual +
                          kValueRounding * std::abs(DualLosses(block, 1));
    const double imbalance = Imbalance(block);
    if (std::isinf(imbalance)) claim.dual = -kInfinity;
    claim.dual_rounding += imbalance;
  }

  // A weighted sum of kernels; `claim` holds what the summary says of the block.
  void ConcludeSum(const Block& block, const PlainRegularizer& regularizer, VerifiedClaim claim) {
    const bool is_logdet = at_.problem.regularizer.form == "logdet";
    const Terms terms{[&](std::span<const double> q) { return regularizer.Primal(block.theta, q); },
                      [&](std::span<const double> q) { return regularizer.DualTerm(q); }};
    if (is_logdet) {
      BoundWithDeterminant(block, regularizer, claim);
    } else {
      Bound(block, terms, claim);
      CheckIntervals(block, terms, claim);
    }
    if (const double violation = regularizer.Violation(block.theta); violation > kFeasible) {
      claim.holds = false;
      at_.found.failures.push_back(
          fmt::format("{}the kernel weights are outside of their set, by {:.3g}", Of(claim.name), violation));
    }
    // The objective of a one-class machine may be 0 at the optimum: gaps are then relative to a millionth of
    // what beta on a single sample costs.
    constexpr double kSmallObjective = 1e-6;  // the millionth
    double least_size = kTiny;
    if (at_.bias_slope() != 0 && !is_logdet && !block.theta.empty()) {
      const double cost = regularizer.DualTerm(at_.diagonals);
      if (std::isfinite(cost)) least_size = std::max(kSmallObjective * std::abs(cost), kTiny);
    }
    at_.Conclude(std::move(claim), least_size);
  }

  // Every optimal weight lies between (term(q - 2 t e_m) - L + P) / -t and (term(q + 2 t e_m) - L + P) / t,
  // for every t (docs/dev/notation.md). The interval that is claimed must meet that of the stored dual point,
  // and hold the weight found, which is as good as P. Weights of single machines are not looked at.
  void CheckIntervals(const Block& block, const Terms& terms, const VerifiedClaim& claim) {
    constexpr std::size_t kMostKernels = 200;  // each asks for dual terms of all
    constexpr int kScales = 80;                // t from the largest q down to 2^-40 of it, and up to 2^10
    std::map<std::string, std::size_t> numbers;
    for (Index m = 0; m < at_.kernels.size(); ++m) numbers[at_.kernels.Name(m)] = static_cast<std::size_t>(m);
    const double floor = DualLosses(block, 1) - claim.primal - claim.primal_rounding - claim.dual_rounding;
    const double slack = kFeasible * (std::abs(claim.primal) + std::abs(floor));
    for (const KernelReport& kernel : at_.content.summary.kernels) {
      const auto found = numbers.find(kernel.name);
      if (!kernel.weight_interval || !claim.name.empty() || found == numbers.end()) continue;
      if (!class_kernels_.empty() || numbers.size() > kMostKernels || !std::isfinite(floor)) return;
      const std::size_t m = found->second;
      double lower = 0, upper = kInfinity;
      for (int k = -20; k < kScales; ++k) {
        const double t = Largest(block.dual_q) * std::exp2(-0.5 * k);
        const auto excess = [&](double sign) {
          Vector q = WithRounding(block, block.dual_q, &Function::dual, 1);
          q[m] += sign * 2 * t;
          return (terms.dual(q) - floor + slack) / t;
        };
        if (!(t > 0)) break;
        upper = std::min(upper, excess(1)), lower = std::max(lower, -excess(-1));
      }
      const auto [low, high] = *kernel.weight_interval;
      const double small = kFeasible * (1 + block.theta[m]);
      if (low <= upper && high >= lower && low <= block.theta[m] + small && high >= block.theta[m] - small)
        continue;
      return at_.found.failures.push_back(
          fmt::format("kernel '{}' is claimed to weigh {} to {} at every optimum, but its weight is {} and "
                      "the dual point "
                      "says {} to {}",
                      kernel.name, low, high, block.theta[m], lower, upper));
    }
  }

  // Not convex: what is claimed are bounds at the widths as they are, where the product is one kernel.
  void ConcludeProduct(const Block& block) {
    at_.found.unchecked.emplace_back(
        "a product of kernels is not convex, so there is no gap: its bounds are those at the widths it has; "
        "that these are a stationary point (projected_gradient) is not checked");
    Vector widths, traces;
    for (const KernelReport& kernel : at_.content.summary.kernels) widths.push_back(kernel.weight);
    const Vector none(widths.size(), 0.0);
    double rounding = 0;  // of the determinant
    const double value =
        at_.problem.regularizer.form == "logdet"
            ? -at_.problem.regularizer.penalty * LogDeterminant(at_, block.theta, traces, rounding)
            : PlainRegularizer(at_.problem.regularizer, widths.size()).Primal(widths, none);
    VerifiedClaim claim = at_.WholeClaim();
    Bound(block,
          {[&](std::span<const double> q) { return value + 0.5 * Dot(block.theta, q); },
           [&](std::span<const double> q) { return 0.5 * Dot(block.theta, q) - value; }},
          claim);
    rounding *= at_.problem.regularizer.penalty;
    claim.primal_rounding += kFeasible * std::abs(value) + rounding;
    claim.dual_rounding += kFeasible * (std::abs(value) + std::abs(claim.dual)) + rounding;
    at_.Conclude(std::move(claim));
  }

  // Without kernels the best constant is all there is: the smallest risk of a bias.
  double LeastConstant(const Block& block) const {
    constexpr double kFar = 50;  // beyond the targets: a probability of e^-50 is none
    double sum = 0;
    for (const Function& function : block.functions) {
      const auto [low, high] = std::ranges::minmax(function.y);
      Block alone{.functions = {function}};
      sum -= LargestOnInterval(at_.problem.has_bias ? low - kFar : 0, at_.problem.has_bias ? high + kFar : 0,
                               [&](double bias) {
                                 alone.functions[0].bias = bias;
                                 return -Losses(alone).value;
                               });
    }
    return sum;
  }

  // r = -mu log det(K(theta) + ridge I) is convex: a tangent at any theta gives an upper bound on the dual
  // term. Tangents are taken on the way to the theta that attains it, where theta_m^p is proportional to
  // theta_m times the derivative, until the claim is met.
  void BoundWithDeterminant(const Block& block, const PlainRegularizer& constraint, VerifiedClaim& claim) {
    constexpr int kMostTangents = 200;    // the first is enough but at norm 1, where some tens were needed
    constexpr double kLeastShare = 1e-3;  // of equal weights, so that none stays at 0
    const double mu = at_.problem.regularizer.penalty, p = at_.problem.regularizer.exponent;
    Vector theta = block.theta, traces;
    double rounding = 0;  // of the determinant
    const double value = -mu * LogDeterminant(at_, theta, traces, rounding);
    for (int step = 0; step < kMostTangents; ++step) {
      const double here = step == 0 ? value : -mu * LogDeterminant(at_, theta, traces, rounding);
      const auto dual_term = [&](std::span<const double> q) {
        Vector shifted;
        for (std::size_t m = 0; m < q.size(); ++m)
          shifted.push_back(std::max(q[m], 0.0) + 2 * mu * traces[m]);
        return constraint.DualTerm(shifted) - here - mu * Dot(traces, theta);
      };
      VerifiedClaim found = claim;
      Bound(block,
            {[&](std::span<const double> q) { return value + constraint.Primal(block.theta, q); }, dual_term},
            found);
      if (step > 0 && claim.dual > found.dual) found.dual = claim.dual;
      claim = found;
      claim.primal_rounding += kFeasible * std::abs(value) + mu * rounding;
      claim.dual_rounding += kFeasible * (std::abs(here) + std::abs(claim.dual)) + mu * rounding;
      if (!(claim.dual < claim.claimed_dual - claim.dual_rounding) || std::isinf(p)) return;
      for (std::size_t m = 0; m < theta.size(); ++m) {
        if (step == 0) theta[m] += kLeastShare / static_cast<double>(theta.size());
        theta[m] = std::pow(theta[m] * (0.5 * std::max(block.dual_q[m], 0.0) + mu * traces[m]), 1 / p);
      }
      const double norm = PlainNorm(theta, p);
      for (double& weight : theta) weight /= norm;
    }
  }

  TrainingProblem& at_;
  bool is_joint_;
  std::vector<Vector> class_kernels_;   // A_y, row after row; none: the identity
  std::size_t class_kernel_count_ = 1;  // with the identity, |Y|
  std::size_t products_ = 0;            // kernels on samples times those on classes
};

}  // namespace

void JudgeModel(TrainingProblem& at) { Judge(at).Run(); }

}  // namespace kweave::verify
