#include "kweave/kernel_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/random.h"
#include "base/run_control.h"
#include "base/threads.h"
#include "gram/group.h"
#include "gram/parametric_gram.h"
#include "kweave/error.h"
#include "loss/hinge.h"
#include "weights/learn_parameters.h"

namespace kweave {
namespace {

constexpr Index kRowsAtATime = 8;

/// A function of the user's behind the seam of kernels.
class FunctionGram final : public ParametricGram {
 public:
  FunctionGram(const KernelFunction& kernel, ThreadPool& pool) : kernel_(kernel), pool_(pool) {}

  Index left_count() const override { return kernel_.samples(); }
  Index right_count() const override { return kernel_.samples(); }
  Index kernels() const override { return kernel_.parameters(); }
  double RowShift(std::span<const double>) const override { return 0; }
  double TableError() const override { return 0; }

  void Rows(std::span<const double> theta, std::span<const Index> rows, float* out, Index stride) override {
    ForRows(theta, rows, [&](std::size_t r, std::span<const double> row) {
      std::copy(row.begin(), row.end(), out + r * stride);
    });
  }
  void Rows(std::span<const double> theta, std::span<const Index> rows, double* out, Index stride) override {
    ForRows(theta, rows, [&](std::size_t r, std::span<const double> row) {
      std::copy(row.begin(), row.end(), out + r * stride);
    });
  }

  void Diagonal(std::span<const double> theta, std::span<double> out) override {
    const std::vector<Index> rows = MeanOf(kernel_.samples()).rows;
    ForRows(theta, rows, [&](std::size_t r, std::span<const double> row) { out[r] = row[r]; });
  }

  std::unique_ptr<Expansion> Expand(std::span<const double> a) override {
    return std::make_unique<FunctionExpansion>(*this, a);
  }
  void Update(Expansion& expansion, std::span<const double> a) override {
    static_cast<FunctionExpansion&>(expansion).a.assign(a.begin(), a.end());
  }

  void Gradients(std::span<const double> theta, std::span<const double> a,
                 std::span<double> gradients) override {
    const SupportVector support = MakeSupport(a);
    const auto count = static_cast<Index>(support.rows.size());
    const std::size_t parameters = gradients.size();
    std::vector<double> parts(((count + kRowsAtATime - 1) / kRowsAtATime) * parameters, 0.0);
    pool_.ParallelFor(count, kRowsAtATime, [&](Index begin, Index end, int) {
      const std::span part = std::span(parts).subspan(begin / kRowsAtATime * parameters, parameters);
      std::vector<double> weights(a.size());
      for (Index k = begin; k < end; ++k) {
        for (std::size_t j = 0; j < a.size(); ++j) weights[j] = support.factors[k] * a[j];
        kernel_.AddGradient(theta, support.rows[k], weights, part);
      }
    });
    std::ranges::fill(gradients, 0.0);
    for (std::size_t s = 0; s < parts.size(); ++s) gradients[s % parameters] += parts[s];
  }

 private:
  struct FunctionExpansion : Expansion {
    FunctionExpansion(FunctionGram& the_gram, std::span<const double> vector)
        : gram(the_gram), a(vector.begin(), vector.end()) {}
    void Quadratics(std::span<double> q) const override { std::ranges::fill(q, 0.0); }
    void Products(std::span<const double>, std::span<double> products) const override {
      std::ranges::fill(products, 0.0);
    }
    // K is symmetric: row i times a is output i.
    void Outputs(std::span<const double> theta, std::span<double> out) const override {
      const std::vector<Index> rows = MeanOf(gram.kernel_.samples()).rows;
      gram.ForRows(theta, rows, [&](std::size_t r, std::span<const double> row) {
        out[r] = std::inner_product(row.begin(), row.end(), a.begin(), 0.0);
      });
    }
    FunctionGram& gram;
    std::vector<double> a;
  };

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
      : user_(user), start_(start.begin(), start.end()) {}

  std::string Name() const override { return "a regulariser of the caller"; }
  bool is_dual_smooth() const override { return false; }
  double Value(std::span<const double> theta) const override { return user_.Value(theta); }
  void Gradient(std::span<const double> theta, std::span<double> gradient) const override {
    user_.Gradient(theta, gradient);
  }
  double DualTerm(std::span<const double>) const override { return std::numeric_limits<double>::infinity(); }
  void BestResponse(std::span<const double>, std::span<double> theta) const override { Start(theta); }
  void Start(std::span<double> theta) const override {
    std::ranges::fill(theta, 1.0);
    if (!start_.empty()) std::ranges::copy(start_, theta.begin());
    Project(theta);
  }
  void MakeFeasible(std::span<double> theta) const override { Project(theta); }
  bool has_projection() const override { return true; }
  void Project(std::span<double> theta) const override { user_.Project(theta); }

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
  Learned learned = LearnParameters({&gram, false, [&]() -> ParametricGram& { return gram; }}, problem,
                                    learn_options, {}, control);
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
  std::vector<double> a(kernel.samples()), gradient(theta.size()), out(a.size());
  for (double& value : a) value = 2 * random.Uniform() - 1;
  ThreadPool pool(1);
  FunctionGram gram(kernel, pool);
  gram.Gradients(theta, a, gradient);
  const std::unique_ptr<Expansion> expansion = gram.Expand(a);
  return LargestDifference(theta, gradient, [&](std::span<const double> at) {
    expansion->Outputs(at, out);
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
