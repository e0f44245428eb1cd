#include "weights/baselines/cut_program.h"

#include <ClpSimplex.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace kweave {

namespace {

// Far more than runs to a gap of 1e-3 need; it bounds memory to 500 vectors of n + M values.
constexpr int kMaxCuts = 500;
// Of objectives of order one: below every gap that is asked for.
constexpr double kTolerance = 1e-10;

}  // namespace

// The linear program and the cuts it consists of.
class CutProgram::Master {
 public:
  Master(int kernels, LinearWeights weights)
      : kernels_(kernels), weights_(std::move(weights)), columns_(static_cast<std::size_t>(kernels) + 1) {
    program_.setLogLevel(0);
    program_.resize(0, kernels + 1);
    std::iota(columns_.begin(), columns_.end(), 0);
    const double most = std::isfinite(weights_.total) ? weights_.total : COIN_DBL_MAX;
    for (int m = 0; m < kernels; ++m) {
      const auto at = static_cast<std::size_t>(m);
      weights_.is_bounded()
          ? program_.setColumnBounds(m, weights_.lower[at], std::min(weights_.upper[at], most))
          : program_.setColumnBounds(m, 0, most);
    }
    program_.setColumnBounds(kernels, -COIN_DBL_MAX, COIN_DBL_MAX);
    program_.setObjectiveCoefficient(kernels, 1);
    const std::vector<double> ones(static_cast<std::size_t>(kernels), 1.0);
    const bool may_keep = weights_.cost > 0 || weights_.is_bounded();
    program_.addRow(kernels, columns_.data(), ones.data(), may_keep ? 0 : weights_.total, most);
    program_.setPrimalTolerance(kTolerance);
    program_.setDualTolerance(kTolerance);
  }

  // z + 1/2 theta' q >= L, in units of the first objective.
  void AddCut(const Evaluation& at) {
    if (cuts_.empty()) {
      unit_ = std::max(std::abs(at.primal), std::numeric_limits<double>::min());
      for (int m = 0; m < kernels_; ++m) program_.setObjectiveCoefficient(m, weights_.cost / unit_);
    }
    if (weights_.cost > 0) LimitGrowth(at);
    if (cuts_.size() >= kMaxCuts) DropSlackestCut();
    std::vector<double> row(columns_.size(), 1.0);
    for (int m = 0; m < kernels_; ++m)
      row[static_cast<std::size_t>(m)] = 0.5 * at.quadratics[static_cast<std::size_t>(m)] / unit_;
    program_.addRow(kernels_ + 1, columns_.data(), row.data(), at.linear / unit_, COIN_DBL_MAX);
    cuts_.push_back({at.linear, at.quadratics, at.beta});
  }

  bool Solve() {
    program_.dual();
    if (program_.isProvenOptimal()) return true;
    program_.allSlackBasis(true);
    program_.primal();
    return program_.isProvenOptimal();
  }

  std::span<const double> vertex() const {
    return {program_.primalColumnSolution(), static_cast<std::size_t>(kernels_)};
  }

  DualPoint Mixture(const Regularizer& regularizer) const {
    const double* multipliers = program_.dualRowSolution() + 1;
    double total = 0;
    for (std::size_t t = 0; t < cuts_.size(); ++t) total += std::max(multipliers[t], 0.0);
    DualPoint point;
    if (!(total > 0)) return point;
    point.beta.assign(cuts_[0].beta.size(), 0.0);
    std::vector<double> q(static_cast<std::size_t>(kernels_), 0.0);
    double linear = 0;
    for (std::size_t t = 0; t < cuts_.size(); ++t) {
      const double share = std::max(multipliers[t], 0.0) / total;
      if (share == 0) continue;
      linear += share * cuts_[t].linear;
      for (std::size_t m = 0; m < q.size(); ++m) q[m] += share * cuts_[t].quadratics[m];
      for (std::size_t i = 0; i < point.beta.size(); ++i) point.beta[i] += share * cuts_[t].beta[i];
    }
    point.bound = LowerBound(regularizer, linear, q, weights_.cost > 0);
    return point;
  }

 private:
  struct Cut {
    double linear;
    std::vector<double> quadratics;
    std::vector<double> beta;
  };

  // A few cuts know little of weights far larger than the best so far.
  void LimitGrowth(const Evaluation& at) {
    const double sum = std::accumulate(at.theta.begin(), at.theta.end(), 0.0);
    if (!(at.primal < best_primal_) || !(sum > 0)) return;
    best_primal_ = at.primal;
    program_.setRowUpper(0, kMostGrowth * sum);
  }

  void DropSlackestCut() {
    const double* activity = program_.primalRowSolution() + 1;
    const double* lower = program_.rowLower() + 1;
    std::size_t slackest = 0;
    for (std::size_t t = 0; t + 1 < cuts_.size(); ++t) {
      if (activity[t] - lower[t] > activity[slackest] - lower[slackest]) slackest = t;
    }
    const int row = static_cast<int>(slackest) + 1;
    program_.deleteRows(1, &row);
    cuts_.erase(cuts_.begin() + static_cast<std::ptrdiff_t>(slackest));
  }

  const int kernels_;
  const LinearWeights weights_;
  std::vector<int> columns_;
  ClpSimplex program_;
  double unit_ = 1;
  double best_primal_ = std::numeric_limits<double>::infinity();
  std::vector<Cut> cuts_;  // cut t is row t + 1
};

CutProgram::CutProgram(std::size_t kernels, const LinearWeights& weights)
    : master_(std::make_unique<Master>(static_cast<int>(kernels), weights)) {}
CutProgram::~CutProgram() = default;

void CutProgram::AddCut(const Evaluation& at) { master_->AddCut(at); }
bool CutProgram::Solve() { return master_->Solve(); }
std::span<const double> CutProgram::vertex() const { return master_->vertex(); }
DualPoint CutProgram::Mixture(const Regularizer& regularizer) const { return master_->Mixture(regularizer); }

}  // namespace kweave
