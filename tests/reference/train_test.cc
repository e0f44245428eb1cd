// Train() on the problems of lp_norm.json: its certificate must hold for optima of an independent solver.
//
// The file's kernels carry a scale. With --normalize none it is written into the kernel; with multiplicative
// normalization, whose factors the scales are, rounded to six digits, kernels stay plain and form families.
#include "kweave/train.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/reference_problem.h"
#include "tests/support/verified_train.h"

namespace kweave {
namespace {

using testing::ReferenceOptimum;
using testing::ReferenceProblem;
using testing::ReferenceProblems;

/// How far, relatively, the optimum can move when every scale is rounded to six digits.
constexpr double kRoundedScales = 1e-5;

/// A kernel of the file in the kernel language, with its scale or without.
std::string Spec(const nlohmann::json& kernel, bool is_scaled) {
  const std::string kind = kernel.at("kind");
  const double scale = is_scaled ? kernel.at("scale").get<double>() : 1.0;
  std::vector<int> columns = kernel.at("columns");
  for (int& column : columns) ++column;
  const std::string features = fmt::format("@data[{}]", fmt::join(columns, ","));
  if (kind == "linear") return fmt::format("poly(degree=1,gamma={},coef0=0)", scale) + features;
  if (kind == "poly") {
    const int degree = kernel.at("degree");
    const double root = std::pow(scale, 1.0 / degree);
    return fmt::format("poly(degree={},gamma={},coef0={})", degree, root * kernel.at("gamma").get<double>(),
                       root * kernel.at("coef0").get<double>()) +
           features;
  }
  const std::string gaussian = fmt::format("rbf(gamma={})", kernel.at("gamma").get<double>()) + features;
  // A polynomial with hardly any slope is a constant: its coef0.
  return is_scaled ? fmt::format("{}*poly(degree=1,gamma=1e-300,coef0={})@data[1]", gaussian, scale)
                   : gaussian;
}

Dataset MakeDataset(const ReferenceProblem& problem) {
  Dataset data;
  data.size = static_cast<Index>(problem.y.size());
  std::vector<double> values;
  for (const std::vector<double>& row : problem.features) values.insert(values.end(), row.begin(), row.end());
  const auto columns = static_cast<Index>(problem.features.front().size());
  data.views.push_back(
      {.name = "data", .features = MakeDense(values, data.size, columns), .feature_names = {}});
  for (const double y : problem.y) {
    data.labels.text.push_back(y > 0 ? "1" : "-1");
    data.labels.number.push_back(y);
  }
  return data;
}

TrainOptions Options(const ReferenceProblem& problem, double norm, double gap, const std::string& normalize) {
  TrainOptions options;
  for (const nlohmann::json& kernel : problem.kernels) {
    options.kernels.push_back(Spec(kernel, normalize == "none"));
  }
  options.norm = norm;
  options.gap = gap;
  options.normalize = normalize;
  options.sample_weights = problem.upper;
  return options;
}

/// `slack` is how far, relatively, the problem solved may lie from the stored one.
void ExpectOptimum(const Summary& summary, const ReferenceOptimum& optimum, double gap, double slack) {
  EXPECT_EQ(summary.status, Status::kConverged);
  EXPECT_LE(summary.relative_gap, gap);
  const double allowed = slack * optimum.upper;
  EXPECT_GE(summary.primal, optimum.lower - allowed);
  EXPECT_LE(summary.dual, optimum.upper + allowed);
  EXPECT_GE(summary.gap, summary.primal - optimum.upper - allowed);
  EXPECT_LE(summary.primal, optimum.upper * (1 + 1.01 * gap) + allowed);
  if (gap <= 1e-6) {
    EXPECT_NEAR(summary.primal, optimum.upper, 1e-5 * optimum.upper);
  }
}

Summary TrainToOptimum(const TrainOptions& options, const Dataset& data, const ReferenceOptimum& optimum,
                       double slack, int threads) {
  Context context;
  context.threads = threads;
  const Model model = TrainVerified(data, options, context);
  ExpectOptimum(model.summary(), optimum, options.gap, slack);
  return model.summary();
}

TEST(TrainReference, EveryScaledKernelFindsTheOptimum) {
  for (const ReferenceProblem& problem : ReferenceProblems()) {
    const Dataset data = MakeDataset(problem);
    for (const ReferenceOptimum& optimum : problem.optima) {
      for (const double gap : {1e-3, 1e-6}) {
        SCOPED_TRACE(fmt::format("{}, norm {}, gap {}", problem.name, optimum.norm, gap));
        TrainToOptimum(Options(problem, optimum.norm, gap, "none"), data, optimum, 1e-10, /*threads=*/1);
      }
    }
  }
}

TEST(TrainReference, EveryFamilyFindsTheOptimumWithEveryCertificate) {
  for (const ReferenceProblem& problem : ReferenceProblems()) {
    const Dataset data = MakeDataset(problem);
    for (const ReferenceOptimum& optimum : problem.optima) {
      for (const KernelEvaluation certificate : {KernelEvaluation::kTable, KernelEvaluation::kDirect}) {
        for (const double gap : {1e-3, 1e-6}) {
          const int threads = certificate == KernelEvaluation::kTable ? 1 : 2;
          SCOPED_TRACE(
              fmt::format("{}, norm {}, gap {}, {}", problem.name, optimum.norm, gap, ToString(certificate)));
          TrainOptions options = Options(problem, optimum.norm, gap, "multiplicative");
          options.certificate = certificate;
          TrainToOptimum(options, data, optimum, kRoundedScales, threads);
        }
      }
    }
  }
}

TEST(TrainReference, ThreadsAndCertificatesAgree) {
  const ReferenceProblem& problem = testing::FindReferenceProblem("widths_20_small_c_unbalanced");
  const Dataset data = MakeDataset(problem);
  for (const ReferenceOptimum& optimum : problem.optima) {
    for (const std::string normalize : {"none", "multiplicative"}) {
      for (const KernelEvaluation certificate : {KernelEvaluation::kTable, KernelEvaluation::kDirect}) {
        for (const int threads : {1, 2}) {
          SCOPED_TRACE(fmt::format("norm {}, {}, {}, {} threads", optimum.norm, normalize,
                                   ToString(certificate), threads));
          TrainOptions options = Options(problem, optimum.norm, 1e-6, normalize);
          options.certificate = certificate;
          const double slack = normalize == "none" ? 1e-10 : kRoundedScales;
          const Summary summary = TrainToOptimum(options, data, optimum, slack, threads);
          EXPECT_EQ(summary.certificate, normalize == "none" ? KernelEvaluation::kDirect : certificate);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kweave
