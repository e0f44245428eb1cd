#include "qp/joint.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>

#include "base/constants.h"
#include "base/dot.h"
#include "base/offset.h"
#include "compute/cpu/smo_loops.h"
#include "qp/block_rows.h"
#include "qp/joint_set.h"
#include "qp/joint_standing.h"

namespace kweave {

namespace {

// Sets of at most 64 take as long, of 1,024 1.6 times as long (2,000 letters of 26 classes, gap 1e-3).
constexpr Index kMostInSet = 256;
constexpr Index kMostPairsInSet = 1024;       // of sample and class, where a term has a row for each
constexpr double kShareLeftInSet = 0.4;       // of the violation of all samples
constexpr std::int64_t kStepsPerSample = 40;  // a guard: with 10 the same letters take the same steps
constexpr double kLeastViolation = 1e-13;     // of the largest output
constexpr int kBlocksWithoutProgress = 200;   // a guard: 50 end no solve of the letters either
constexpr double kProgress = 1e-3;            // of the gap, in so many blocks

template <class T>
class Joint {
 public:
  Joint(const JointRisk& risk, std::span<const JointTerm<T>> terms, JointState& state,
        const JointOptions& options)
      : risk_(risk),
        terms_(terms),
        state_(state),
        options_(options),
        class_matrices_(ClassMatrices(terms)),
        set_(risk, class_matrices_),
        standing_(risk, state.beta, options.pool) {
    for (Index u = 0; u < risk.classes; ++u) changed_.push_back(u);
    SolverOptions row_options;
    row_options.cache_bytes = options.cache_bytes / std::max<std::size_t>(terms.size(), 1);
    row_options.pool = options.pool;
    const Index least = std::max(kLeastInSet, risk.classes);  // the longest cycle must fit
    for (const JointTerm<T>& term : terms) {
      row_options.reserve = rows_.empty() ? options.reserve : nullptr;
      const Index rows_per_sample = IsOnPairs(term) ? risk.classes : 1;
      rows_.push_back(std::make_unique<BlockRows<T>>(*term.rows, row_options, least * rows_per_sample));
      most_in_set_ = std::min(most_in_set_, rows_.back()->capacity() / rows_per_sample);
      if (IsOnPairs(term))
        most_in_set_ = std::min(most_in_set_, std::max(least, kMostPairsInSet / risk.classes));
      // A constant over all pairs changes nothing: the betas of every sample sum to zero.
      shifts_.push_back(risk.has_bias || IsOnPairs(term) ? 0 : term.rows->Shift());
    }
  }

  JointResult Run() {
    for (;;) {
      Measure();
      if (!std::isfinite(result_.primal)) return Finish(SolverOutcome::kNotFinite);
      if (gap() <= options_.relative_gap * std::abs(result_.primal)) return Finish(SolverOutcome::kConverged);
      if (options_.proceed && !options_.proceed()) return Finish(SolverOutcome::kStoppedByObserver);
      if (IsStalled() || !Step()) return Finish(SolverOutcome::kStalled);
    }
  }

 private:
  static std::vector<std::span<const double>> ClassMatrices(std::span<const JointTerm<T>> terms) {
    std::vector<std::span<const double>> matrices;
    for (const JointTerm<T>& term : terms) matrices.push_back(term.classes);
    return matrices;
  }

  static bool IsOnPairs(const JointTerm<T>& term) { return term.classes.empty(); }

  double gap() const { return result_.primal - result_.dual; }

  void Measure() {
    standing_.Measure(state_.outputs, changed_);
    result_.primal = standing_.primal();
    result_.dual = standing_.dual();
    result_.biases = standing_.potentials().biases;
  }

  bool IsStalled() {
    if (result_.work >= options_.most_steps) return true;
    if (2 * standing_.potentials().excess <= kLeastViolation * standing_.largest_output()) return true;
    if (!(gap() < (1 - kProgress) * checked_gap_) && result_.blocks >= next_check_) return true;
    if (gap() < (1 - kProgress) * checked_gap_) {
      checked_gap_ = gap();
      next_check_ = result_.blocks + kBlocksWithoutProgress;
    }
    return false;
  }

  // False when nothing moved.
  bool Step() {
    ChooseSet();
    LoadBlock();
    const std::vector<double> before = block_.beta;
    const double target = std::max(kShareLeftInSet * 2 * standing_.potentials().excess, kLeastViolation);
    const std::int64_t steps =
        set_.Solve(block_, target, kStepsPerSample * static_cast<Index>(block_.samples.size()));
    result_.steps += steps;
    result_.work += steps + static_cast<Index>(block_.samples.size());
    ++result_.blocks;
    if (steps > 0) MoveTo(before);
    return steps > 0;
  }

  // The samples of the worst cycle, so that a step is always possible, and those that violate most.
  void ChooseSet() {
    std::vector<Index>& chosen = block_.samples;
    chosen.clear();
    violations_.assign(standing_.violations().begin(), standing_.violations().end());
    const std::vector<Index>& cycle = standing_.potentials().cycle;
    for (std::size_t e = 0; e < cycle.size(); ++e) {
      const Index sample = standing_.SampleFor(cycle[e], cycle[(e + 1) % cycle.size()]);
      if (sample >= 0) violations_[Offset(sample)] = std::numeric_limits<double>::infinity();
    }
    const Index most = std::max(std::min(most_in_set_, risk_.samples()), static_cast<Index>(cycle.size()));
    order_.resize(violations_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<Index>(i);
    std::nth_element(order_.begin(), order_.begin() + (most - 1), order_.end(), [this](Index a, Index b) {
      return violations_[Offset(a)] != violations_[Offset(b)]
                 ? violations_[Offset(a)] > violations_[Offset(b)]
                 : a < b;
    });
    for (Index k = 0; k < most; ++k) {
      if (violations_[Offset(order_[Offset(k)])] > 0) chosen.push_back(order_[Offset(k)]);
    }
    std::sort(chosen.begin(), chosen.end());
  }

  void LoadBlock() {
    const std::size_t size = block_.samples.size();
    const auto classes = static_cast<std::size_t>(risk_.classes);
    block_.beta.resize(size * classes);
    block_.gradient.resize(size * classes);
    for (std::size_t k = 0; k < size; ++k) {
      const Index i = block_.samples[k];
      std::copy_n(standing_.Beta(i).begin(), classes, block_.beta.data() + k * classes);
      std::copy_n(standing_.Gradient(i).begin(), classes, block_.gradient.data() + k * classes);
    }
    block_.kernels.resize(terms_.size());
    fetched_.resize(terms_.size());
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      // Pairs are in the order of the betas of the block.
      const std::vector<Index> positions = IsOnPairs(terms_[t]) ? PairsOf(block_.samples) : block_.samples;
      const std::span<const T* const> rows = rows_[t]->Fetch(positions);
      fetched_[t].assign(rows.begin(), rows.end());
      FillSymmetric(rows, positions, shifts_[t], block_.kernels[t]);
    }
  }

  // The rows at the positions they belong to, each pair read once.
  void FillSymmetric(std::span<const T* const> rows, std::span<const Index> positions, double shift,
                     std::vector<double>& kernel) const {
    const std::size_t size = positions.size();
    kernel.resize(size * size);
    ForPieces(options_.pool, static_cast<Index>(size), kRowsPerCall, [&](Index begin, Index end) {
      for (std::size_t k = Offset(begin); k < Offset(end); ++k) {
        for (std::size_t l = 0; l <= k; ++l) {
          kernel[k * size + l] = kernel[l * size + k] = static_cast<double>(rows[k][positions[l]]) + shift;
        }
      }
    });
  }

  // All pairs of these samples, those of one sample together, by their places in rows over pairs.
  std::vector<Index> PairsOf(std::span<const Index> samples) const {
    std::vector<Index> pairs;
    for (const Index i : samples) {
      for (Index u = 0; u < risk_.classes; ++u) pairs.push_back(static_cast<Index>(risk_.At(i, u)));
    }
    return pairs;
  }

  // Takes over the betas of the block, and their effect on all outputs.
  void MoveTo(std::span<const double> before) {
    const std::size_t size = block_.samples.size();
    const auto classes = static_cast<std::size_t>(risk_.classes);
    std::vector<double> changes(block_.beta.size());
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t u = 0; u < classes; ++u) {
        changes[k * classes + u] = block_.beta[k * classes + u] - before[k * classes + u];
      }
      standing_.Assign(block_.samples[k], std::span(block_.beta).subspan(k * classes, classes));
    }
    std::vector<char> has_changed(classes, 0);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      if (IsOnPairs(terms_[t])) {
        AddPairs(t, changes);
        std::fill(has_changed.begin(), has_changed.end(), 1);
        continue;
      }
      AddTerm(t, changes);
      for (std::size_t u = 0; u < classes; ++u) has_changed[u] |= !factors_[u].empty();
    }
    changed_.clear();
    for (std::size_t u = 0; u < classes; ++u) {
      if (has_changed[u] != 0) changed_.push_back(static_cast<Index>(u));
    }
  }

  // outputs += J changes, by the rows of the pairs that moved.
  void AddPairs(std::size_t t, std::span<const double> changes) {
    std::vector<const T*> rows;
    std::vector<double> factors;
    for (std::size_t k = 0; k < changes.size(); ++k) {
      if (changes[k] == 0) continue;
      rows.push_back(fetched_[t][k]);
      factors.push_back(changes[k]);
    }
    ForPieces(options_.pool, static_cast<Index>(state_.outputs.size()), kColumnsPerPiece,
              [&](Index begin, Index end) {
                AddScaledRows(factors.data(), rows.data(), static_cast<Index>(factors.size()), begin,
                              state_.outputs.data() + begin, end - begin);
              });
  }

  // changes A, of which most are zero.
  std::vector<double> Mixed(std::span<const double> matrix, std::span<const double> changes) const {
    const auto classes = static_cast<std::size_t>(risk_.classes);
    std::vector<double> mixed(changes.size(), 0.0);
    for (std::size_t k = 0; k < changes.size(); ++k) {
      if (changes[k] == 0) continue;
      const std::size_t row = k - k % classes;
      const std::span<const double> shares = matrix.subspan(k % classes * classes, classes);
      for (std::size_t u = 0; u < classes; ++u) mixed[row + u] += shares[u] * changes[k];
    }
    return mixed;
  }

  // outputs += K_t changes A_t, one class at a time: only samples that moved in it cost anything.
  void AddTerm(std::size_t t, std::span<const double> changes) {
    const std::size_t size = block_.samples.size();
    const auto classes = static_cast<std::size_t>(risk_.classes);
    const std::vector<double> mixed = Mixed(terms_[t].classes, changes);
    moved_rows_.resize(classes);
    factors_.resize(classes);
    for (std::size_t u = 0; u < classes; ++u) {
      moved_rows_[u].clear();
      factors_[u].clear();
      double sum = 0;
      for (std::size_t k = 0; k < size; ++k) {
        const double factor = mixed[k * classes + u];
        if (factor == 0) continue;
        moved_rows_[u].push_back(fetched_[t][k]);
        factors_[u].push_back(factor);
        sum += factor;
      }
      constants_[u] = shifts_[t] * sum;
    }
    ForPieces(options_.pool, risk_.samples(), kColumnsPerPiece, [&](Index first, Index last) {
      for (Index begin = first; begin < last; begin += kColumnsAdded) {
        const Index count = std::min(kColumnsAdded, last - begin);
        for (std::size_t u = 0; u < classes; ++u) {
          if (factors_[u].empty()) continue;
          double* out = state_.outputs.data() + static_cast<Index>(u) * risk_.samples() + begin;
          AddScaledRows(factors_[u].data(), moved_rows_[u].data(), static_cast<Index>(factors_[u].size()),
                        begin, out, count);
          if (constants_[u] != 0) {
            for (Index i = 0; i < count; ++i) out[i] += constants_[u];
          }
        }
      }
    });
  }

  JointResult Finish(SolverOutcome outcome) {
    result_.outcome = outcome;
    for (Index i = 0; i < risk_.samples(); ++i) {
      for (Index u = 0; u < risk_.classes; ++u) {
        state_.beta[risk_.At(i, u)] = standing_.Beta(i)[Offset(u)];
      }
    }
    for (const auto& rows : rows_) {
      result_.rows_computed += rows->rows_computed();
      if (!rows->is_finite()) result_.outcome = SolverOutcome::kNotFinite;
    }
    return result_;
  }

  const JointRisk& risk_;
  std::span<const JointTerm<T>> terms_;
  JointState& state_;
  const JointOptions& options_;
  const std::vector<std::span<const double>> class_matrices_;
  JointSet set_;
  std::vector<std::unique_ptr<BlockRows<T>>> rows_;  // by term
  std::vector<double> shifts_;                       // what these rows leave out and must not
  Index most_in_set_ = kMostInSet;

  JointStanding standing_;
  std::vector<Index> changed_;  // classes whose outputs did, in the last step
  double checked_gap_ = std::numeric_limits<double>::infinity();
  std::int64_t next_check_ = kBlocksWithoutProgress;
  JointResult result_;

  // Of the current step.
  JointBlock block_;
  std::vector<double> violations_;  // of the samples; infinite where one must be chosen
  std::vector<Index> order_;
  std::vector<std::vector<const T*>> fetched_, moved_rows_;
  std::vector<std::vector<double>> factors_;
  std::vector<double> constants_ = std::vector<double>(Offset(risk_.classes));
};

// A matrix that changed since the last solve changed most in its size: the betas follow it, as one.
void ScaleToBestDual(const JointRisk& risk, JointState& state) {
  const double scale = risk.BestDualScale(state.beta, Dot(state.beta, state.outputs));
  if (scale == 1) return;
  for (double& value : state.outputs) value *= scale;
  for (Index i = 0; i < risk.samples(); ++i) {
    for (Index u = 0; u < risk.classes; ++u) {
      double& beta = state.beta[risk.At(i, u)];
      beta = std::min(scale * beta, risk.Cap(i, u));
    }
  }
}

}  // namespace

template <class T>
JointResult SolveJoint(const JointRisk& risk, std::span<const JointTerm<T>> terms, JointState& state,
                       const JointOptions& options) {
  ScaleToBestDual(risk, state);
  return Joint<T>(risk, terms, state, options).Run();
}

template JointResult SolveJoint(const JointRisk&, std::span<const JointTerm<float>>, JointState&,
                                const JointOptions&);
template JointResult SolveJoint(const JointRisk&, std::span<const JointTerm<double>>, JointState&,
                                const JointOptions&);

}  // namespace kweave
