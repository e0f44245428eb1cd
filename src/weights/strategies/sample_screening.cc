#include "weights/strategies/sample_screening.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/constants.h"
#include "base/memory.h"
#include "base/stopwatch.h"
#include "compute/cpu/smo_loops.h"
#include "weights/run/gram_rows.h"
#include "weights/strategies/sampled_start.h"

namespace kweave {

namespace {

// How far outputs, in units of the margin, may still move before a sample counts: those of a machine on few
// samples, and of one that only lacks some. Larger ones keep more samples, smaller ones need another round.
constexpr double kFirstSlack = 0.3, kSlack = 0.13;
// The first round ends at this gap, mostly after one solve: enough to tell which samples count.
constexpr double kFirstGap = 0.1;
// It is repeated, a few times at most, where it shows that so many of the samples that count had been left
// out.
constexpr double kMostMissed = 0.25;
constexpr int kMostFirstRounds = 3;
constexpr double kMostShare = 0.6;  // of all samples: beyond, leaving some out saves too little

// out += K beta, row by row: for one theta less work than an expansion.
void AddProduct(RowSource<float>& source, std::span<const double> beta, std::span<double> out) {
  std::vector<Index> support;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    if (beta[i] != 0) support.push_back(static_cast<Index>(i));
  }
  AlignedVector<float> rows(std::min<std::size_t>(kRowsPerCall, support.size()) * out.size());
  std::vector<const float*> pointers;
  std::vector<double> factors;
  for (std::size_t first = 0; first < support.size(); first += kRowsPerCall) {
    const std::size_t count = std::min<std::size_t>(kRowsPerCall, support.size() - first);
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

class Screening {
 public:
  Screening(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
            RunControl& control)
      : gram_(gram),
        problem_(problem),
        options_(options),
        control_(control),
        is_in_(risk().y.size(), false) {}

  // `start` is rough: that of a few samples.
  Learned Run(WarmStart start) {
    now_ = std::move(start);
    FindOutputs();
    std::fill(now_.beta.begin(), now_.beta.end(), 0.0);
    Admit(kFirstSlack);
    for (int round = 0; round < kMostFirstRounds; ++round) {
      if (HasTooMany()) return LearnOnAll();
      LearnOnRows(std::max(kFirstGap, options_.target_gap));
      if (control_.ShouldStop()) return LearnOnAll();
      FindOutputs();
      if (MissedShare() <= kMostMissed) break;
      Admit(kSlack);
    }
    return GoOn();
  }

  // `start` lacks little, and its outputs are known well enough to tell which samples count.
  Learned RunFrom(WarmStart start) {
    now_ = std::move(start);
    are_outputs_rough_ = true;
    NoteOutputs();
    return GoOn();
  }

 private:
  const Risk& risk() const { return problem_.risk; }

  // Until no sample that counts is left out.
  Learned GoOn() {
    // Others that were in are out again.
    for (std::size_t i = 0; i < is_in_.size(); ++i) is_in_[i] = now_.beta[i] != 0;
    Admit(kSlack);
    for (std::size_t before = 0; before != rows_.size() && !HasTooMany(); Admit(kSlack)) {
      before = rows_.size();
      LearnOnRows(options_.target_gap);
      if (control_.ShouldStop()) break;
      if (IsCertified()) return std::move(learned_);
      now_.outputs = learned_.certificate.outputs;
      are_outputs_rough_ = false;
      NoteOutputs();
    }
    return LearnOnAll();
  }

  bool HasTooMany() const {
    return static_cast<double>(rows_.size()) > kMostShare * static_cast<double>(is_in_.size());
  }

  // Of the present machine, for all samples.
  void FindOutputs() {
    now_.outputs.assign(is_in_.size(), 0.0);
    GramRows<float> rows(*gram_.working, now_.theta);
    AddProduct(rows, now_.beta, now_.outputs);
    NoteOutputs();
  }
  void NoteOutputs() { bias_ = risk().BestBias(now_.outputs); }

  bool Costs(std::size_t i, double slack) const {
    const double f = now_.outputs[i] + bias_;
    return risk().loss->Value(f - slack, risk().y[i]) > 0 || risk().loss->Value(f + slack, risk().y[i]) > 0;
  }

  // Of the samples that count, how many are not in.
  double MissedShare() const {
    std::size_t counting = 0, missed = 0;
    for (std::size_t i = 0; i < is_in_.size(); ++i) {
      if (!Costs(i, kSlack)) continue;
      ++counting;
      if (!is_in_[i]) ++missed;
    }
    return counting == 0 ? 0 : static_cast<double>(missed) / static_cast<double>(counting);
  }

  // Samples that would cost something if their outputs moved by `slack` join those that count.
  void Admit(double slack) {
    rows_.clear();
    for (std::size_t i = 0; i < is_in_.size(); ++i) {
      is_in_[i] = is_in_[i] || Costs(i, slack);
      if (is_in_[i]) rows_.push_back(static_cast<Index>(i));
    }
  }

  void LearnOnRows(double target_gap) {
    std::vector<double> y, C;
    WarmStart start{now_.theta, {}};
    const bool is_cold = std::ranges::all_of(now_.beta, [](double b) { return b == 0; });
    for (const Index row : rows_) {
      const auto i = static_cast<std::size_t>(row);
      y.push_back(risk().y[i]);
      C.push_back(risk().C[i]);
      start.beta.push_back(now_.beta[i]);
      if (!is_cold && !are_outputs_rough_) start.outputs.push_back(now_.outputs[i]);
    }
    LearningProblem part = problem_;
    part.risk.y = y;
    part.risk.C = C;
    LearnOptions options = options_;
    options.start = &start;
    options.certifies = false;
    options.target_gap = target_gap;
    const std::shared_ptr<GramSample> sample = gram_.sample(rows_);
    const RunControl::Stage stage(control_, fmt::format("{} of {} samples", rows_.size(), is_in_.size()));
    Learned learned = LearnWeights(sample->Pair(), part, options, control_);
    now_ = {learned.theta, OverAll(learned.beta), {}};
    learned.beta = now_.beta;
    learned.counted = rows_;
    if (!learned.dual_beta.empty()) learned.dual_beta = OverAll(learned.dual_beta);
    learned.Follow(learned_);
    learned_ = std::move(learned);
  }

  std::vector<double> OverAll(std::span<const double> values) const {
    std::vector<double> all(is_in_.size(), 0.0);
    for (std::size_t k = 0; k < rows_.size(); ++k) all[static_cast<std::size_t>(rows_[k])] = values[k];
    return all;
  }

  bool IsCertified() {
    if (!options_.certifies) return true;
    ScopedSeconds seconds(learned_.certificate_seconds);
    learned_.certificate =
        Certify(gram_.exact(), risk(), *problem_.regularizer, learned_.theta, learned_.beta,
                learned_.dual_beta.empty() ? learned_.beta : learned_.dual_beta);
    if (!(learned_.certificate.relative_gap <= options_.target_gap)) return false;
    learned_.status = Status::kConverged;  // even if the solves fell a little short of what they aimed at
    return true;
  }

  Learned LearnOnAll() {
    LearnOptions options = options_;
    now_.outputs.clear();
    options.start = &now_;
    Learned learned = LearnWeights(gram_, problem_, options, control_);
    learned.Follow(learned_);
    return learned;
  }

  const GramPair& gram_;
  const LearningProblem& problem_;
  const LearnOptions& options_;
  RunControl& control_;
  WarmStart now_;  // over all samples
  bool are_outputs_rough_ = false;
  double bias_ = 0;          // of its outputs
  std::vector<bool> is_in_;  // samples that count
  std::vector<Index> rows_;  // the same, ascending
  Learned learned_;          // on them, with the work of all rounds
};

}  // namespace

Learned LearnScreened(const GramPair& gram, const LearningProblem& problem, const LearnOptions& options,
                      RunControl& control) {
  const bool has_outputs = gram.sample && options.start != nullptr && !options.start->outputs.empty();
  if (has_outputs) return Screening(gram, problem, options, control).RunFrom(*options.start);
  std::optional<WarmStart> start;
  if (options.start == nullptr) start = SampledStart(gram, problem, options, control);
  if (!start || control.ShouldStop()) return LearnWeights(gram, problem, options, control);
  return Screening(gram, problem, options, control).Run(std::move(*start));
}

}  // namespace kweave
