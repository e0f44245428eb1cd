#include "weights/strategies/sample_screening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "kweave/context.h"
#include "loss/hinge.h"
#include "regularizer/lp_norm.h"

namespace kweave {
namespace {

constexpr Index kEnoughToScreen = 4000;  // below, nothing is learned on a part first
constexpr std::size_t kKernels = 3;

using Point = std::array<double, 2>;

// exp(-gamma |x - z|^2) for gamma = 1, 4 and 16.
std::array<double, kKernels> Gaussians(const Point& x, const Point& z) {
  const double wide = std::exp(-(x[0] - z[0]) * (x[0] - z[0]) - (x[1] - z[1]) * (x[1] - z[1]));
  const double medium = wide * wide * wide * wide;
  return {wide, medium, medium * medium * medium * medium};
}

// Those kernels between points, computed when asked for: for more samples than whole matrices allow.
class GaussianGram : public Gram {
 public:
  explicit GaussianGram(std::vector<Point> points)
      : Gram({.left_count = static_cast<Index>(points.size()),
              .right_count = static_cast<Index>(points.size()),
              .kernels = kKernels}),
        points_(std::move(points)) {}

  std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) override {
    std::vector<VectorAnswer> answers(requests.size());
    for (std::size_t v = 0; v < requests.size(); ++v) {
      auto products = std::make_unique<AllProducts>(points_, requests[v].a);
      answers[v].quadratics.resize(kKernels);
      products->Quadratics(answers[v].quadratics);
      answers[v].outputs.resize(requests[v].has_outputs() ? points_.size() : 0);
      if (requests[v].has_outputs()) products->Outputs(requests[v].theta, answers[v].outputs);
      if (requests[v].keeps_expansion) answers[v].expansion = std::move(products);
    }
    return answers;
  }

  GaussianGram Part(std::span<const Index> rows) const {
    std::vector<Point> points;
    for (const Index i : rows) points.push_back(points_[static_cast<std::size_t>(i)]);
    return GaussianGram(std::move(points));
  }

 protected:
  std::shared_ptr<const LearnedMatrix> MakeLearned(std::span<const double> theta) override {
    return std::make_shared<GaussianMatrix>(*this, theta);
  }

 private:
  class GaussianMatrix : public LearnedMatrix {
   public:
    GaussianMatrix(const GaussianGram& gram, std::span<const double> theta)
        : LearnedMatrix(theta), gram_(gram) {}
    void Rows(std::span<const Index> rows, float* out, Index stride) const override {
      gram_.FillRows(theta(), rows, out, stride);
    }
    void Rows(std::span<const Index> rows, double* out, Index stride) const override {
      gram_.FillRows(theta(), rows, out, stride);
    }
    void Diagonal(std::span<double> out) const override {
      std::ranges::fill(out, theta()[0] + theta()[1] + theta()[2]);
    }

   private:
    const GaussianGram& gram_;
  };

  // K_m a of every kernel.
  class AllProducts : public MovableExpansion {
   public:
    AllProducts(const std::vector<Point>& points, std::span<const double> a) : points_(points) { MoveTo(a); }
    void MoveTo(std::span<const double> a) override {
      a_.assign(a.begin(), a.end());
      products_.fill(std::vector<double>(a.size(), 0.0));
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == 0) continue;
        for (std::size_t j = 0; j < a.size(); ++j) {
          const std::array<double, kKernels> values = Gaussians(points_[i], points_[j]);
          for (std::size_t m = 0; m < kKernels; ++m) products_[m][j] += a[i] * values[m];
        }
      }
    }
    void Quadratics(std::span<double> q) const override { Products(a_, q); }
    void Products(std::span<const double> b, std::span<double> products) const override {
      for (std::size_t m = 0; m < kKernels; ++m) {
        products[m] = 0;
        for (std::size_t j = 0; j < b.size(); ++j) products[m] += b[j] * products_[m][j];
      }
    }
    void Outputs(std::span<const double> theta, std::span<double> out) const override {
      for (std::size_t j = 0; j < out.size(); ++j) {
        out[j] = 0;
        for (std::size_t m = 0; m < kKernels; ++m) out[j] += theta[m] * products_[m][j];
      }
    }

   private:
    const std::vector<Point>& points_;
    std::vector<double> a_;
    std::array<std::vector<double>, kKernels> products_;
  };

  template <class T>
  void FillRows(std::span<const double> theta, std::span<const Index> rows, T* out, Index stride) const {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Point& x = points_[static_cast<std::size_t>(rows[r])];
      T* const row = out + static_cast<Index>(r) * stride;
      for (std::size_t j = 0; j < points_.size(); ++j) {
        const std::array<double, kKernels> values = Gaussians(x, points_[j]);
        row[j] = static_cast<T>(theta[0] * values[0] + theta[1] * values[1] + theta[2] * values[2]);
      }
    }
  }

  std::vector<Point> points_;
};

class Samples : public GramSample {
 public:
  explicit Samples(GaussianGram gram) : gram_(std::move(gram)) {}
  GramPair Pair() override {
    GramPair pair{&gram_, /*working_is_float=*/true, [this]() -> Gram& { return gram_; }};
    pair.sample = [this](std::span<const Index> rows) { return std::make_shared<Samples>(gram_.Part(rows)); };
    return pair;
  }

 private:
  GaussianGram gram_;
};

// Two classes in a square; those of a small disc differ from all others, and most samples are far from its
// border. Labels are wrong with the given probability.
struct Disc {
  Disc(Index count, double C, double wrong) : cost(static_cast<std::size_t>(count), C) {
    Random random(7);
    for (Index i = 0; i < count; ++i) {
      const Point& x = points.emplace_back(Point{2 * random.Uniform() - 1, 2 * random.Uniform() - 1});
      const bool is_inside = std::hypot(x[0] - 0.3, x[1]) < 0.4;
      y.push_back((random.Uniform() < wrong) != is_inside ? 1 : -1);
    }
    samples = std::make_unique<Samples>(GaussianGram(points));
  }

  LearningProblem Learning() const { return {{&hinge, y, cost}, LpConstraint(2)}; }
  Learned Screened(const LearnOptions& options) const { return Run(LearnScreened, options); }
  Learned OnAll(const LearnOptions& options) const { return Run(LearnWeights, options); }
  // sum_m theta_m K_m beta.
  std::vector<double> Outputs(std::span<const double> theta, std::span<const double> beta) const {
    std::vector<double> outputs(points.size(), 0.0);
    for (std::size_t i = 0; i < beta.size(); ++i) {
      if (beta[i] == 0) continue;
      for (std::size_t j = 0; j < outputs.size(); ++j) {
        const std::array<double, kKernels> values = Gaussians(points[i], points[j]);
        for (std::size_t m = 0; m < kKernels; ++m) outputs[j] += beta[i] * theta[m] * values[m];
      }
    }
    return outputs;
  }

  HingeLoss hinge;
  std::vector<Point> points;
  std::vector<double> y, cost;
  std::unique_ptr<Samples> samples;

 private:
  template <class Learner>
  Learned Run(Learner learn, const LearnOptions& options) const {
    const Context context;
    RunControl control(context);
    return learn(samples->Pair(), Learning(), options, control);
  }
};

LearnOptions ToGap(double gap) {
  LearnOptions options;
  options.target_gap = gap;
  return options;
}

std::vector<Index> Support(std::span<const double> beta) {
  std::vector<Index> support;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    if (beta[i] != 0) support.push_back(static_cast<Index>(i));
  }
  return support;
}

// Both optima lie between the bounds of each.
void ExpectSameOptimum(const Learned& a, const Learned& b, double gap) {
  for (const Learned* one : {&a, &b}) {
    EXPECT_EQ(one->status, Status::kConverged);
    EXPECT_LE(one->certificate.relative_gap, gap);
  }
  EXPECT_LE(a.certificate.dual, b.certificate.primal);
  EXPECT_LE(b.certificate.dual, a.certificate.primal);
}

// A problem that screening is for, and what it finds.
struct MostAreFar {
  Disc disc{kEnoughToScreen, /*C=*/1, /*wrong=*/0.005};
  Learned screened = disc.Screened(ToGap(1e-3));
};
const MostAreFar& Far() {
  static const MostAreFar far;
  return far;
}

TEST(LearnScreened, MeetsTheOptimumOfAllSamples) {
  const auto& [disc, screened] = Far();
  ExpectSameOptimum(screened, disc.OnAll(ToGap(1e-3)), 1e-3);
}

TEST(LearnScreened, CertifiesTheMachineOnAllSamples) {
  const auto& [disc, screened] = Far();
  const std::vector<double> outputs = disc.Outputs(screened.theta, screened.beta);
  double primal = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double loss = std::max(0.0, 1 - disc.y[i] * (outputs[i] + screened.certificate.bias));
    primal += screened.beta[i] * outputs[i] / 2 + disc.cost[i] * loss;
  }
  EXPECT_THAT(screened.certificate.outputs, testing::Pointwise(testing::DoubleNear(1e-9), outputs));
  EXPECT_NEAR(screened.certificate.primal, primal, 1e-9 * primal);
  EXPECT_LE(RelativeGap(primal, screened.certificate.dual, 0), 1e-3);
}

TEST(LearnScreened, SaysWhichSamplesCounted) {
  const auto& [disc, screened] = Far();
  ASSERT_FALSE(screened.counted.empty());
  EXPECT_LT(screened.counted.size(), disc.y.size() / 2);
  EXPECT_TRUE(std::ranges::is_sorted(screened.counted, std::ranges::less_equal()));  // no sample twice
  EXPECT_TRUE(std::ranges::includes(screened.counted, Support(screened.beta)));
  EXPECT_TRUE(std::ranges::includes(screened.counted, Support(screened.dual_beta)));
}

// Some of the samples that count are missing from the start, and what it says of all is not quite right.
TEST(LearnScreened, AStartWithOutputsLeadsToTheSameOptimum) {
  const auto& [disc, screened] = Far();
  WarmStart start{screened.theta, screened.beta};
  for (std::size_t i = 0; i < start.beta.size(); i += 8) start.beta[i] = 0;
  disc.Learning().risk.MakeFeasible(start.beta);
  start.outputs = disc.Outputs(start.theta, start.beta);
  Random random(1);
  for (double& output : start.outputs) output += 0.04 * random.Uniform() - 0.02;
  LearnOptions options = ToGap(1e-3);
  options.start = &start;
  const Learned resumed = disc.Screened(options);
  ExpectSameOptimum(resumed, screened, 1e-3);
  EXPECT_FALSE(resumed.counted.empty());
}

TEST(LearnScreened, LearnsOnAllWhereASampleSaysThatMostCount) {
  const Disc disc(kEnoughToScreen, /*C=*/0.01, /*wrong=*/0.4);
  const Learned learned = disc.Screened(ToGap(0.019));
  EXPECT_TRUE(learned.counted.empty());
  EXPECT_EQ(learned.status, Status::kConverged);
  EXPECT_LE(learned.certificate.relative_gap, 0.019);
  EXPECT_GT(Support(learned.beta).size(), disc.y.size() / 2);
}

TEST(LearnScreened, LearnsOnAllWhereAStartSaysThatMostCount) {
  const Disc disc(200, /*C=*/1, /*wrong=*/0.2);
  const Learned all = disc.OnAll(ToGap(1e-4));
  const WarmStart start{all.theta, all.beta, std::vector<double>(all.beta.size(), 0.0)};
  LearnOptions options = ToGap(1e-4);
  options.start = &start;
  const Learned learned = disc.Screened(options);
  EXPECT_TRUE(learned.counted.empty());
  ExpectSameOptimum(learned, all, 1e-4);
}

// The solves aim at 0.9 of a gap, and one move leads to where it leads: for some of many gaps in between.
TEST(LearnScreened, AGapThatTheCertificateShowsIsReached) {
  const Disc disc(200, /*C=*/1, /*wrong=*/0);
  const Learned rough = disc.OnAll(ToGap(0.1));
  const WarmStart start{rough.theta, rough.beta, disc.Outputs(rough.theta, rough.beta)};
  int in_between = 0;
  for (double gap = 1e-4; gap > 1e-6; gap *= 0.97) {
    LearnOptions options = ToGap(gap);
    options.start = &start;
    options.max_iterations = 1;
    const Learned learned = disc.Screened(options);
    const double shown = learned.certificate.relative_gap;
    EXPECT_EQ(learned.status == Status::kConverged, shown <= gap) << gap;
    in_between += !learned.counted.empty() && shown <= gap && shown > 0.93 * gap;
  }
  EXPECT_GT(in_between, 0);
}

}  // namespace
}  // namespace kweave
