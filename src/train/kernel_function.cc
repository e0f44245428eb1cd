#include "kweave/kernel_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/random.h"
#include "base/run_control.h"
#include "base/threads.h"
#include "gram/gram.h"
#include "gram/group.h"
#include "gram/unexpanded_vector.h"
#include "kweave/error.h"
#include "loss/hinge.h"
#include "weights/run/learn_parameters.h"

namespace kweave {
namespace {

constexpr Index kRowsAtATime =
    8;  // of a user's function, slow beside what a piece costs: small, so that all threads get some

/// A function of the user's behind the seam of kernels.
class FunctionGram final : public Gram {
 public:
  FunctionGram(const KernelFunction& kernel, ThreadPool& pool)
      : Gram({.left_count = kernel.samples(),
              .right_count = kernel.samples(),
              .kernels = kernel.parameters(),
              .is_sum = false}),
        kernel_(kernel),
        pool_(pool) {}

  std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) override {
    std::vector<VectorAnswer> answers(requests.size());
    for (std::size_t v = 0; v < requests.size(); ++v) {
      const VectorRequest& request = requests[v];
      if (request.keeps_expansion)
        answers[v].expansion = std::make_unique<UnexpandedVector>(*this, request.a);
      if (request.has_outputs()) answers[v].outputs = Multiply(request.theta, request.a);
      if (request.wants_quadratics && !request.theta.empty())
        answers[v].quadratics = Gradients(request.theta, request.a);
    }
    return answers;
  }

 protected:
  std::shared_ptr<const LearnedMatrix> MakeLearned(std::span<const double> theta) override {
    return std::make_shared<FunctionMatrix>(*this, theta);
  }

 private:
  class FunctionMatrix final : public LearnedMatrix {
   public:
    FunctionMatrix(FunctionGram& gram, std::span<const double> theta) : LearnedMatrix(theta), gram_(gram) {}

    void Rows(std::span<const Index> rows, float* out, Index stride) const override {
      gram_.CopyRows(theta(), rows, out, stride);
    }
    void Rows(std::span<const Index> rows, double* out, Index stride) const override {
      gram_.CopyRows(theta(), rows, out, stride);
    }
    void Diagonal(std::span<double> out) const override {
      const std::vector<Index> rows = MeanOf(gram_.left_count()).rows;
      gram_.ForRows(theta(), rows, [&](std::size_t r, std::span<const double> row) { out[r] = row[r]; });
    }

   private:
    FunctionGram& gram_;
  };

  template <class T>
  void CopyRows(std::span<const double> theta, std::span<const Index> rows, T* out, Index stride) {
    ForRows(theta, rows, [&](std::size_t r, std::span<const double> row) {
      std::copy(row.begin(), row.end(), out + r * stride);
    });
  }

  // K is symmetric: row i times a is output i.
  std::vector<double> Multiply(std::span<const double> theta, std::span<const double> a) {
    std::vector<double> out(a.size());
    const std::vector<Index> rows = MeanOf(left_count()).rows;
    ForRows(theta, rows, [&](std::size_t r, std::span<const double> row) {
      out[r] = std::inner_product(row.begin(), row.end(), a.begin(), 0.0);
    });
    return out;
  }

  // a' (dK / dtheta_m) a for every parameter.
  std::vector<double> Gradients(std::span<const double> theta, std::span<const double> a) {
    const SupportVector support = MakeSupport(a);
    const auto count = static_cast<Index>(support.rows.size());
    const std::size_t parameters = theta.size();
    std::vector<double> parts(((count + kRowsAtATime - 1) / kRowsAtATime) * parameters, 0.0);
    pool_.ParallelFor(count, kRowsAtATime, [&](Index begin, Index end, int) {
      const std::span part = std::span(parts).subspan(begin / kRowsAtATime * parameters, parameters);
      std::vector<double> weights(a.size());
      for (Index k = begin; k < end; ++k) {
        for (std::size_t j = 0; j < a.size(); ++j) weights[j] = support.factors[k] * a[j];
        kernel_.AddGradient(theta, support.rows[k], weights, part);
      }
    });
    std::vector<double> gradients(parameters, 0.0);
    for (std::size_t s = 0; s < parts.size(); ++s) gradients[s % parameters] += parts[s];
    return gradients;
  }

  template <class Use>
  void ForRows(std::span<const double> theta, std::span<const Index> rows, const Use& use) {
    CountRows(static_cast<std::int64_t>(rows.size()));
    pool_.ParallelFor(static_cast<Index>(rows.size()), kRowsAtATime, [&](Index begin, Index end, int) {
      std::vector<double> row(kernel_.samples());
      for (Index r = begin; r < end; ++r) {
        kernel_.Row(theta, rows[r], row);
        use(static_cast<std::size_t>(r), std::span<const double>(row));
      }
    });
  }

  const KernelFunction& kernel_;
  ThreadPool& pool_;
};

/// A regulariser of the user's behind the seam of ours. What only sums of kernels need is not there.
class UserRegularizer final : public Regularizer {
 public:
  UserRegularizer(const ParameterRegularizer& user, std::span<const double> start)
      : Regularizer({.name = "a regulariser of the caller", .is_dual_smooth = false, .has_projection = true}),
        user_(user),
        start_(start.begin(), start.end()) {}

  double Evaluate(std::span<const double> theta, std::span<double> gradient) const override {
    if (!gradient.empty()) user_.Gradient(theta, gradient);
    return user_.Value(theta);
  }
  double DualTerm(std::span<const double>) const override { return std::numeric_limits<double>::infinity(); }
  void BestResponse(std::span<const double>, std::span<double> theta) const override { Start(theta); }
  void Start(std::span<double> theta) const override {
    std::ranges::fill(theta, 1.0);
    if (!start_.empty()) std::ranges::copy(start_, theta.begin());
    Project(theta);
  }
  void MakeFeasible(std::span<double> theta) const override { Project(theta); }
  using Regularizer::Project;
  void Project(std::span<double> theta, std::span<const double>) const override { user_.Project(theta); }

 private:
  const ParameterRegularizer& user_;
  const std::vector<double> start_;
};

void CheckInput(const KernelFunction& kernel, std::span<const double> labels, const KernelOptions& options) {
  if (static_cast<Index>(labels.size()) != kernel.samples()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} labels for a kernel on {} samples", labels.size(), kernel.samples()));
  }
  const auto is_label = [](double y) { return y == 1 || y == -1; };
  if (!std::ranges::all_of(labels, is_label)) throw Error(ErrorKind::kUsage, "labels must be -1 or +1");
  if (!options.start.empty() && static_cast<Index>(options.start.size()) != kernel.parameters()) {
    throw Error(ErrorKind::kUsage, fmt::format("the start has {} values for {} parameters",
                                               options.start.size(), kernel.parameters()));
  }
  if (!(options.C > 0) || !(options.gap > 0)) throw Error(ErrorKind::kUsage, "C and gap must be above 0");
}

// The largest difference between `gradient` and central differences of `value`.
template <class Value>
double LargestDifference(std::span<const double> theta, std::span<const double> gradient, Value value) {
  double largest = 0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    const double h = 1e-5 * std::max(std::abs(theta[m]), 1e-1);
    std::vector<double> above(theta.begin(), theta.end()), below = above;
    above[m] += h;
    below[m] -= h;
    const double difference = (value(above) - value(below)) / (above[m] - below[m]);
    const double size = std::max({1.0, std::abs(difference), std::abs(gradient[m])});
    largest = std::max(largest, std::abs(gradient[m] - difference) / size);
  }
  return largest;
}

}  // namespace

BoxRegularizer::BoxRegularizer(double lower, double upper, double mu, double nu)
    : lower_(lower), upper_(upper), mu_(mu), nu_(nu) {
  if (!(lower <= upper))
    throw Error(ErrorKind::kUsage, fmt::format("no number is from {} to {}", lower, upper));
}

double BoxRegularizer::Value(std::span<const double> theta) const {
  double sum = 0;
  for (const double value : theta) sum += mu_ * value + 0.5 * nu_ * value * value;
  return sum;
}

void BoxRegularizer::Gradient(std::span<const double> theta, std::span<double> gradient) const {
  for (std::size_t m = 0; m < theta.size(); ++m) gradient[m] = mu_ + nu_ * theta[m];
}

void BoxRegularizer::Project(std::span<double> theta) const {
  for (double& value : theta) value = std::clamp(value, lower_, upper_);
}

LearnedKernel LearnKernel(const KernelFunction& kernel, const ParameterRegularizer& regularizer,
                          std::span<const double> labels, const KernelOptions& options,
                          const Context& context) {
  CheckInput(kernel, labels, options);
  RunControl control(context);
  ThreadPool pool(context.threads);
  FunctionGram gram(kernel, pool);
  const HingeLoss loss;
  const std::vector<double> costs(labels.size(), options.C);
  const LearningProblem problem{{&loss, labels, costs},
                                std::make_shared<UserRegularizer>(regularizer, options.start)};
  LearnOptions learn_options;
  learn_options.method = options.method;
  learn_options.target_gap = options.gap;
  learn_options.max_iterations = options.max_iterations;
  learn_options.pool = &pool;
  Learned learned =
      LearnParameters({&gram, false, [&]() -> Gram& { return gram; }}, problem, learn_options, {}, control);
  return {learned.status,
          std::move(learned.theta),
          std::move(learned.beta),
          learned.certificate.bias,
          learned.certificate.primal,
          learned.projected_gradient.value_or(0),
          learned.iterations,
          learned.solves};
}

double CheckGradient(const KernelFunction& kernel, std::span<const double> theta, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> a(kernel.samples());
  for (double& value : a) value = 2 * random.Uniform() - 1;
  ThreadPool pool(1);
  FunctionGram gram(kernel, pool);
  const std::vector<double> gradient =
      gram.Answer({.a = a, .theta = theta, .wants_outputs = false}).quadratics;
  return LargestDifference(theta, gradient, [&](std::span<const double> at) {
    const std::vector<double> out = gram.Answer({.a = a, .theta = at, .wants_quadratics = false}).outputs;
    return std::inner_product(a.begin(), a.end(), out.begin(), 0.0);
  });
}

double CheckGradient(const ParameterRegularizer& regularizer, std::span<const double> theta) {
  std::vector<double> gradient(theta.size());
  regularizer.Gradient(theta, gradient);
  return LargestDifference(theta, gradient,
                           [&](std::span<const double> at) { return regularizer.Value(at); });
}

}  // namespace kweave
