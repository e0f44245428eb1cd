#include "weights/learn_sifted.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/memory.h"
#include "base/stopwatch.h"
#include "compute/cpu/smo_loops.h"
#include "weights/gram_rows.h"
#include "weights/sampled_start.h"

namespace kweave {

namespace {

// How far outputs may still move before a sample counts: those of a machine on few samples, and of one that only lacks
// some.
constexpr double kFirstSlack = 0.25, kSlack = 0.1;
// The first round ends at so many times the gap wanted: enough to tell who counts.
constexpr double kFirstGaps = 10;
constexpr double kMostShare = 0.6;     // of all samples: beyond, leaving some out saves too little
constexpr double kMissedShare = 0.05;  // of the gap wanted: what samples left out may cost

// out += K beta, row by row: for one theta less work than an expansion.
void AddProduct(RowSource<float>& source, std::span<const double> beta, std::span<double> out) {
  constexpr std::size_t kRowsAtATime = 64;
  std::vector<Index> support;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    if (beta[i] != 0) support.push_back(static_cast<Index>(i));
  }
  AlignedVector<float> rows(std::min(kRowsAtATime, support.size()) * out.size());
  std::vector<const float*> pointers;
  std::vector<double> factors;
  for (std::size_t first = 0; first < support.size(); first += kRowsAtATime) {
    const std::size_t count = std::min(kRowsAtATime, support.size() - first);
    const std::span<const Index> batch = std::span<const Index>(support).subspan(first, count);
    source.Rows(batch, rows.data(), static_cast<Index>(out.size()));
    pointers.clear(), factors.clear();
    for (std::size_t r = 0; r < count; ++r) {
      pointers.push_back(rows.data() + r * out.size());
      factors.push_back(beta[static_cast<std::size_t>(batch[r])]);
    }
    AddScaledRows(factors.data(), pointers.data(), static_cast<Index>(count), 0, out.data(),
                  static_cast<Index>(out.size()));
  }
  const double shift = source.Shift() * std::accumulate(beta.begin(), beta.end(), 0.0);
  for (double& value : out) value += shift;
}

class Sifter {
 public:
  Sifter(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
         RunControl& control)
      : gram_(gram),
        problem_(problem),
        options_(options),
        control_(control),
        is_in_(risk().y.size(), false) {}

  Learned Run(WarmStart start) {
    now_ = std::move(start);
    FindOutputs();
    std::fill(now_.beta.begin(), now_.beta.end(), 0.0);
    Admit(kFirstSlack);
    while (static_cast<double>(rows_.size()) <= kMostShare * static_cast<double>(is_in_.size())) {
      LearnOnRows();
      if (control_.ShouldStop()) return LearnOnAll();
      const bool is_first_round = std::exchange(is_first_round_, false);
      if (is_first_round || MissedLoss() > AllowedLoss()) {
        if (is_first_round) {  // that machine said roughly who counts
          for (std::size_t i = 0; i < is_in_.size(); ++i) is_in_[i] = now_.beta[i] != 0;
        }
        Admit(kSlack);
        continue;
      }
      if (IsCertified()) return std::move(learned_);
      break;
    }
    return LearnOnAll();
  }

 private:
  const Risk& risk() const { return problem_.risk; }

  // Of the present machine, for all samples, with the best bias.
  void FindOutputs() {
    outputs_.assign(is_in_.size(), 0.0);
    GramRows<float> rows(*gram_.working, now_.theta);
    AddProduct(rows, now_.beta, outputs_);
    const double bias = risk().BestBias(outputs_);
    for (double& f : outputs_) f += bias;
  }

  bool Costs(std::size_t i, double slack) const {
    return risk().loss->Value(outputs_[i] - slack, risk().y[i]) > 0 ||
           risk().loss->Value(outputs_[i] + slack, risk().y[i]) > 0;
  }

  // Samples that would cost something if their outputs moved by `slack` join those that count.
  void Admit(double slack) {
    rows_.clear();
    for (std::size_t i = 0; i < is_in_.size(); ++i) {
      is_in_[i] = is_in_[i] || Costs(i, slack);
      if (is_in_[i]) rows_.push_back(static_cast<Index>(i));
    }
  }

  void LearnOnRows() {
    std::vector<double> y, C;
    WarmStart start{now_.theta, {}};
    for (const Index row : rows_) {
      const auto i = static_cast<std::size_t>(row);
      y.push_back(risk().y[i]);
      C.push_back(risk().C[i]);
      start.beta.push_back(now_.beta[i]);
    }
    LearningProblem part = problem_;
    part.risk.y = y;
    part.risk.C = C;
    LearnOptions options = options_;
    options.start = &start;
    options.certifies = false;
    if (is_first_round_) options.target_gap *= kFirstGaps;
    const std::shared_ptr<GramSample> sample = gram_.sample(rows_);
    Learned learned = LearnWeights(sample->Pair(), part, options, control_);
    now_ = {learned.theta, OverAll(learned.beta)};
    learned.beta = now_.beta;
    if (!learned.dual_beta.empty()) learned.dual_beta = OverAll(learned.dual_beta);
    AddEarlierWork(learned);
    learned_ = std::move(learned);
    FindOutputs();
  }

  std::vector<double> OverAll(std::span<const double> values) const {
    std::vector<double> all(is_in_.size(), 0.0);
    for (std::size_t k = 0; k < rows_.size(); ++k) all[static_cast<std::size_t>(rows_[k])] = values[k];
    return all;
  }

  // Rounds are one run to the outside.
  void AddEarlierWork(Learned& learned) const {
    for (HistoryRow& row : learned.history) row.solves += learned_.solves;
    learned.history.insert(learned.history.begin(), learned_.history.begin(), learned_.history.end());
    learned.iterations += learned_.iterations;
    learned.solves += learned_.solves;
    learned.solve_seconds += learned_.solve_seconds;
    learned.weight_seconds += learned_.weight_seconds;
    learned.certificate_seconds += learned_.certificate_seconds;
  }

  double MissedLoss() const {
    double missed = 0;
    for (std::size_t i = 0; i < is_in_.size(); ++i) {
      if (!is_in_[i]) missed += risk().C[i] * risk().loss->Value(outputs_[i], risk().y[i]);
    }
    return missed;
  }
  double AllowedLoss() const {
    return kMissedShare * options_.target_gap * std::abs(learned_.certificate.primal);
  }

  bool IsCertified() {
    if (!options_.certifies) return true;
    ScopedSeconds seconds(learned_.certificate_seconds);
    learned_.certificate =
        Certify(gram_.exact(), risk(), *problem_.regularizer, learned_.theta, learned_.beta,
                learned_.dual_beta.empty() ? learned_.beta : learned_.dual_beta);
    return learned_.certificate.relative_gap <= options_.target_gap;
  }

  Learned LearnOnAll() {
    LearnOptions options = options_;
    options.start = &now_;
    Learned learned = LearnWeights(gram_, problem_, options, control_);
    AddEarlierWork(learned);
    return learned;
  }

  const GramPair& gram_;
  const LearningProblem& problem_;
  const LearnOptions& options_;
  RunControl& control_;
  WarmStart now_;                // over all samples
  std::vector<double> outputs_;  // of it
  std::vector<bool> is_in_;      // samples that count
  std::vector<Index> rows_;      // the same, ascending
  bool is_first_round_ = true;
  Learned learned_;  // on them, with the work of all rounds
};

}  // namespace

Learned LearnSifted(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                    RunControl& control) {
  std::optional<WarmStart> start;
  if (options.start == nullptr) start = SampledStart(gram, problem, options, control);
  if (!start || control.ShouldStop()) return LearnWeights(gram, problem, options, control);
  return Sifter(gram, problem, options, control).Run(std::move(*start));
}

}  // namespace kweave
