// Linear kernels trained on their features against the same problem trained on rows of their matrix.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "kweave/error.h"
#include "kweave/train.h"
#include "loss/loss.h"
#include "tests/support/verified_train.h"

namespace kweave {
namespace {

struct SparseOwner {
  std::vector<Index> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

/// Two views of the same samples, the second one sparse; features have means, and few of them matter.
Dataset MakeDataset(Index size) {
  constexpr Index kDense = 6, kSparse = 20;
  Random random(11);
  Dataset data;
  data.size = size;
  std::vector<double> dense;
  auto sparse = std::make_shared<SparseOwner>();
  for (Index i = 0; i < size; ++i) {
    for (Index f = 0; f < kDense; ++f) dense.push_back(2 * random.Uniform() + 0.5);
    double from_sparse = 0;
    for (Index f = 0; f < kSparse; ++f) {
      if (random.Uniform() > 0.15) continue;
      sparse->columns.push_back(static_cast<std::int32_t>(f));
      sparse->values.push_back(random.Uniform() + 0.1);
      if (f < 3) from_sparse += sparse->values.back();
    }
    sparse->offsets.push_back(static_cast<Index>(sparse->columns.size()));
    const double* x = dense.data() + dense.size() - kDense;
    const double target = x[0] - 2 * x[1] + 2 * from_sparse + 0.7 * random.Uniform();
    data.labels.number.push_back(target > 0 ? 1 : -1);
    data.labels.text.push_back(target > 0 ? "1" : "-1");
  }
  data.views.push_back({"a", MakeDense(dense, size, kDense), {}});
  data.views.push_back({"b",
                        SparseRows{sparse->offsets.data(), sparse->columns.data(), sparse->values.data(),
                                   size, kSparse, sparse},
                        {}});
  return data;
}

Summary TrainWith(const Dataset& data, const TrainOptions& options, SolverKind solver) {
  TrainOptions with = options;
  with.solver = solver;
  Context context;
  context.threads = 2;
  return TrainVerified(data, with, context).summary();
}

std::string SolverOf(const Summary& summary) {
  for (const auto& [name, value] : summary.options) {
    if (name == "solver") return value;
  }
  return "";
}

TEST(LinearReference, FeaturesAndRowsGiveTheSameOptimum) {
  const Dataset data = MakeDataset(250);
  for (const LossRecord& record : LossTable()) {
    for (const bool bias : {true, false}) {
      for (const double norm : {1.0, 2.0, std::numeric_limits<double>::infinity()}) {
        for (const DriverKind driver : {DriverKind::kWrapper, DriverKind::kInterleaved}) {
          for (const double gap : {1e-3, 1e-6}) {
            SCOPED_TRACE(
                fmt::format("{} {} norm {} {} gap {}", record.name, bias, norm, ToString(driver), gap));
            TrainOptions options;
            options.task = record.task;
            if (record.task != Task::kOneClass) options.loss = record.name;
            options.bias = bias;
            options.norm = norm;
            options.driver = driver;
            options.gap = gap;
            options.normalize = record.task == Task::kOneClass ? "trace" : "multiplicative";
            options.kernels = {"linear@a", "each(linear)@a", "linear@b", "linear@b[1..4]"};
            const Summary by_features = TrainWith(data, options, SolverKind::kAuto);
            const Summary by_rows = TrainWith(data, options, SolverKind::kSmo);
            EXPECT_EQ(SolverOf(by_features), "\"linear\"");
            EXPECT_NE(SolverOf(by_rows), "\"linear\"");
            EXPECT_EQ(by_features.status, Status::kConverged);
            EXPECT_LE(by_features.relative_gap, gap);
            EXPECT_LE(by_features.dual, by_rows.primal * (1 + 1e-9));
            EXPECT_LE(by_rows.dual, by_features.primal * (1 + 1e-9));
          }
        }
      }
    }
  }
}

TEST(LinearReference, OtherKernelsRefuse) {
  const Dataset data = MakeDataset(40);
  TrainOptions options;
  for (const std::string kernel : {"rbf(gamma=1)@a", "linear@a*linear@a"}) {
    options.kernels = {"linear@a", kernel};
    EXPECT_THROW(TrainWith(data, options, SolverKind::kLinear), Error);
    EXPECT_EQ(SolverOf(TrainWith(data, options, SolverKind::kAuto)), "\"smo\"");
  }
}

TEST(LinearReference, MoreFeaturesThanSamplesGoThroughRows) {
  const Dataset data = MakeDataset(20);
  TrainOptions options;
  options.kernels = {"linear@a", "linear@b"};
  EXPECT_EQ(SolverOf(TrainWith(data, options, SolverKind::kAuto)), "\"smo\"");
  EXPECT_EQ(SolverOf(TrainWith(data, options, SolverKind::kLinear)), "\"linear\"");
}

}  // namespace
}  // namespace kweave
