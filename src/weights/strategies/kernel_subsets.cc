#include "weights/strategies/kernel_subsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/stopwatch.h"
#include "regularizer/lp_norm.h"
#include "weights/run/sample_machine.h"

namespace kweave {

namespace {

// A bundle keeps all products of its betas for every kernel, and Newton steps take up to 512 directions: from
// so many kernels on a few hundred of them, in the first round and added per round, leave every step cheap.
constexpr Index kManyKernels = 1000, kAtATime = 300;
// Of the gap: what the kernels in use may take of it, the rest being for those left out.
constexpr double kShareOfTarget = 0.3;
constexpr double kCertificateSlack = 0.95;  // of the gap: the certificate adds bounds on rounding and tables
constexpr int kMostRefusals = 3;            // more certificates than that would say the same
constexpr double kFirstGap = 0.02;          // enough to tell which kernels are missing
// Where few kernels get a weight, bundles need few solves and no time; where many do, after so many moves,
// Newton steps are far fewer.
constexpr std::int64_t kMostFirstMoves = 10;
constexpr const char* kFirstMethod = "level";
constexpr const char* kLaterMethod = "newton";

std::vector<Index> SpreadEvenly(Index kernels) {
  std::vector<Index> chosen;
  for (Index k = 0; k < kAtATime; ++k) chosen.push_back(k * kernels / kAtATime);
  return chosen;
}

// Those that exceed every kernel in use, the largest of each run of neighbours; the largest of all if these
// are too many.
std::vector<Index> Missing(std::span<const double> q, std::span<const Index> used) {
  double largest = 0;
  for (const Index m : used) largest = std::max(largest, q[m]);
  std::vector<Index> missing;
  for (std::size_t m = 0; m < q.size(); ++m) {
    const bool is_peak = (m == 0 || q[m] >= q[m - 1]) && (m + 1 == q.size() || q[m] > q[m + 1]);
    if (is_peak && q[m] > largest) missing.push_back(static_cast<Index>(m));
  }
  if (missing.size() > kAtATime) {
    std::ranges::nth_element(missing, missing.begin() + kAtATime,
                             [&](Index a, Index b) { return q[a] > q[b]; });
    missing.resize(kAtATime);
  }
  return missing;
}

class SubsetLearning {
 public:
  SubsetLearning(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                 RunControl& control)
      : gram_(gram),
        problem_(problem),
        options_(options),
        control_(control),
        machine_(problem, options, control),
        used_(SpreadEvenly(gram.working->kernels())),
        target_(std::max(kFirstGap, kShareOfTarget * options.target_gap)) {}

  Learned Run() {
    for (;;) {
      Learn();
      if (last_.status == Status::kIterationLimit && method_ == kFirstMethod) {
        method_ = kLaterMethod;
        Learn();
      }
      const std::vector<double> q = MeasureAll();
      if (control_.ShouldStop()) return Finish(*control_.stop_reason());
      if (relative_gap_ <= kCertificateSlack * options_.target_gap && IsCertified())
        return Finish(Status::kConverged);
      const std::vector<Index> missing = Missing(q, used_);
      const bool was_precise = target_ <= kShareOfTarget * options_.target_gap;
      if (refusals_ == kMostRefusals || (missing.empty() && was_precise)) return Finish(Status::kStalled);
      target_ =
          std::max(kShareOfTarget * std::min(relative_gap_, target_), kShareOfTarget * options_.target_gap);
      Use(missing);
    }
  }

 private:
  // On the kernels in use, from the last answer.
  void Learn() {
    const std::shared_ptr<GramSample> some = gram_.some_kernels(used_);
    LearnOptions options = options_;
    options.method = method_;
    if (method_ == kFirstMethod) options.max_iterations = kMostFirstMoves;
    options.target_gap = target_;
    const WarmStart start{weights_, last_.beta};
    if (!last_.beta.empty()) options.start = &start;
    const RunControl::Stage stage(control_,
                                  fmt::format("{} of {} kernels", used_.size(), gram_.working->kernels()));
    Learned learned = LearnWeights(some->Pair(), problem_, options, control_);
    learned.Follow(last_);
    last_ = std::move(learned);
    weights_ = last_.theta;
  }

  // What the best bound says of all kernels.
  std::vector<double> MeasureAll() {
    ScopedSeconds seconds(last_.weight_seconds);
    std::vector<double> q = gram_.working->Answer({.a = last_.dual_beta}).quadratics;
    const double dual =
        LowerBound(*problem_.regularizer, machine_.Linear(last_.dual_beta), q, problem_.risk.bias_slope == 0);
    relative_gap_ = RelativeGap(last_.certificate.primal, dual, problem_.risk.least_size);
    last_.history.back().dual = dual;
    last_.history.back().relative_gap = relative_gap_;
    return q;
  }

  void Use(std::span<const Index> missing) {
    std::vector<std::pair<Index, double>> weighted;
    for (std::size_t k = 0; k < used_.size(); ++k) weighted.emplace_back(used_[k], weights_[k]);
    for (const Index m : missing) weighted.emplace_back(m, 0.0);
    std::ranges::sort(weighted);
    used_.clear(), weights_.clear();
    for (const auto& [m, weight] : weighted) {
      used_.push_back(m);
      weights_.push_back(weight);
    }
  }

  std::vector<double> AllWeights() const {
    std::vector<double> theta(static_cast<std::size_t>(gram_.working->kernels()), 0.0);
    for (std::size_t k = 0; k < used_.size(); ++k) theta[used_[k]] = last_.theta[k];
    return theta;
  }

  bool IsCertified() {
    ScopedSeconds seconds(last_.certificate_seconds);
    certificate_ = machine_.Certify(gram_.exact(), AllWeights(), last_.beta, last_.dual_beta);
    ++refusals_;
    return certificate_.relative_gap <= options_.target_gap;
  }

  Learned Finish(Status status) {
    if (status != Status::kConverged && IsCertified()) status = Status::kConverged;
    last_.status = status;
    last_.certificate = std::move(certificate_);
    last_.theta = AllWeights();
    return std::move(last_);
  }

  const GramPair& gram_;
  const LearningProblem& problem_;
  const LearnOptions& options_;
  RunControl& control_;
  SampleMachine machine_;        // to measure with only
  std::vector<Index> used_;      // kernels that weights are learned of, ascending
  std::vector<double> weights_;  // theirs, to start from
  std::string method_ = kFirstMethod;
  double target_;            // relative gap asked of them
  double relative_gap_ = 1;  // over all kernels
  int refusals_ = 0;         // certificates asked for
  Learned last_;
  Certificate certificate_;
};

}  // namespace

bool ShouldLearnOnSubsets(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options) {
  const LpNorm* norm = problem.regularizer->lp_norm();
  return options.method == "auto" && options.driver == DriverKind::kAuto && options.max_iterations == 0 &&
         options.start == nullptr && gram.some_kernels && norm != nullptr && norm->p() == 1 &&
         gram.working->kernels() > kManyKernels;
}

Learned LearnOnSubsets(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                       RunControl& control) {
  return SubsetLearning(gram, problem, options, control).Run();
}

}  // namespace kweave
