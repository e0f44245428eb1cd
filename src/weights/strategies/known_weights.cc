#include "weights/strategies/known_weights.h"

#include <fmt/format.h>

#include <ClpSimplex.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "certificate/importance.h"
#include "regularizer/lp_norm.h"

namespace kweave {

namespace {

// Of the gap from one round to the next. Weights follow the gap by its root at least, at norm 1 by itself; a
// smaller gap than that would cost solves that may not be needed.
constexpr double kLeastFall = 0.01, kMostFall = 0.3;
// Relative: what float64 still resolves in sums over thousands of samples.
constexpr double kLeastGap = 1e-11;
// Two programs for every kernel, of as many variables: some milliseconds up to here.
constexpr std::size_t kMostKernelsMixed = 100;
constexpr std::size_t kMostCuts = 48;  // of all rounds: the newest say most

// The cuts at norm 1: theta' q_k >= 2 (L_k - P), theta >= 0, sum theta <= 1; for every kernel its largest and
// its smallest weight.
class WeightPrograms {
 public:
  WeightPrograms(const Certificate& certificate, std::size_t kernels) : certificate_(certificate) {
    program_.setLogLevel(0);
    program_.resize(0, static_cast<int>(kernels));
    std::vector<int> columns(kernels);
    std::iota(columns.begin(), columns.end(), 0);
    for (const int m : columns) program_.setColumnBounds(m, 0, 1);
    std::vector<double> row(kernels, 1.0);
    program_.addRow(static_cast<int>(kernels), columns.data(), row.data(), -COIN_DBL_MAX, 1);
    for (const WeightCut& cut : certificate.cuts) {
      const double unit = std::max(*std::ranges::max_element(cut.quadratics), 1e-300);
      for (std::size_t m = 0; m < kernels; ++m) row[m] = cut.quadratics[m] / unit;
      program_.addRow(static_cast<int>(kernels), columns.data(), row.data(),
                      2 * (cut.linear - certificate.primal) / unit, COIN_DBL_MAX);
      units_.push_back(unit);
    }
  }

  // The mixture that bounds the weight of kernel m best: from above for `sense` 1, from below for -1. Empty
  // where the program has no answer, or needs no cut.
  WeightCut Mix(int m, double sense) {
    program_.setObjectiveCoefficient(m, -sense);
    program_.primal();
    program_.setObjectiveCoefficient(m, 0);
    if (!program_.isProvenOptimal()) return {};
    const double* multipliers = program_.dualRowSolution() + 1;
    double total = 0;
    for (std::size_t k = 0; k < units_.size(); ++k) total += std::abs(multipliers[k]) / units_[k];
    if (!(total > 0)) return {};
    WeightCut mixed{0, std::vector<double>(certificate_.cuts[0].quadratics.size(), 0.0), false};
    for (std::size_t k = 0; k < units_.size(); ++k) {
      const double share = std::abs(multipliers[k]) / units_[k] / total;
      if (share == 0) continue;
      mixed.linear += share * certificate_.cuts[k].linear;
      for (std::size_t j = 0; j < mixed.quadratics.size(); ++j)
        mixed.quadratics[j] += share * certificate_.cuts[k].quadratics[j];
    }
    return mixed;
  }

 private:
  const Certificate& certificate_;
  ClpSimplex program_;
  std::vector<double> units_;  // of the rows of cuts
};

// The relative gap to try next.
double NextGap(const Regularizer& regularizer, double gap, double error, double tolerance) {
  const double missing = tolerance / error;
  const bool is_linear = regularizer.linear().has_value();
  return gap * std::clamp(is_linear ? missing : missing * missing, kLeastFall, kMostFall);
}

// Those of earlier rounds hold as well.
void KeepCuts(Certificate& earlier, Certificate& now) {
  auto& cuts = now.cuts;
  cuts.insert(cuts.end(), std::make_move_iterator(earlier.cuts.begin()),
              std::make_move_iterator(earlier.cuts.end()));
  if (cuts.size() > kMostCuts) cuts.resize(kMostCuts);
}

double ErrorOf(const Regularizer& regularizer, Certificate certificate, std::span<const double> theta) {
  MixCuts(regularizer, certificate);
  return ShareError(FindImportance(regularizer, certificate), theta);
}

}  // namespace

void MixCuts(const Regularizer& regularizer, Certificate& certificate) {
  const LpNorm* norm = regularizer.lp_norm();
  if (norm == nullptr || norm->p() != 1 || certificate.cuts.size() < 2) return;
  const std::size_t kernels = certificate.cuts[0].quadratics.size();
  if (kernels > kMostKernelsMixed || kernels < 2 || !std::isfinite(certificate.primal)) return;
  WeightPrograms programs(certificate, kernels);
  std::vector<WeightCut> mixed;
  for (int m = 0; m < static_cast<int>(kernels); ++m) {
    for (const double sense : {1.0, -1.0}) {
      if (WeightCut cut = programs.Mix(m, sense); !cut.quadratics.empty()) mixed.push_back(std::move(cut));
    }
  }
  certificate.cuts.insert(certificate.cuts.end(), std::make_move_iterator(mixed.begin()),
                          std::make_move_iterator(mixed.end()));
}

Learned LearnUntilKnown(const Regularizer& regularizer, const LearnOptions& options, double tolerance,
                        const std::function<Learned(const LearnOptions&)>& learn, RunControl& control) {
  Learned best = learn(options);
  if (tolerance == 0 || !options.certifies) return best;
  for (double gap = best.certificate.relative_gap; best.status == Status::kConverged;) {
    const double error = ErrorOf(regularizer, best.certificate, best.theta);
    if (error <= tolerance || best.theta.size() == 1) break;
    gap = NextGap(regularizer, gap, error, tolerance);
    if (!std::isfinite(error) || gap < kLeastGap) {
      best.status = Status::kStalled;
      break;
    }
    const WarmStart start{
        .theta = best.theta,
        .beta = best.beta,
        .dual_beta = best.certificate.dual_beta.empty() ? best.beta : best.certificate.dual_beta,
        .dual = best.certificate.dual};
    LearnOptions next = options;
    next.target_gap = gap;
    next.start = &start;
    const RunControl::Stage stage(control, fmt::format("shares known to {:.2g}", error));
    Learned answer = learn(next);
    if (answer.certificate.relative_gap <= best.certificate.relative_gap) {
      answer.Follow(best);
      KeepCuts(best.certificate, answer.certificate);
      best = std::move(answer);
    } else {
      best += answer;
      best.status = answer.status;
      KeepCuts(answer.certificate, best.certificate);
    }
  }
  if (best.status != Status::kConverged && best.certificate.relative_gap <= options.target_gap &&
      ErrorOf(regularizer, best.certificate, best.theta) <= tolerance)
    best.status = Status::kConverged;
  return best;
}

}  // namespace kweave
