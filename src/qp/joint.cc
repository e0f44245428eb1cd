#include "qp/joint.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>

#include "compute/cpu/smo_loops.h"
#include "qp/block_rows.h"
#include "qp/joint_set.h"

namespace kweave {

namespace {

constexpr Index kMostInSet = 128, kLeastInSet = 16;
constexpr Index kMostPairsInSet = 1024;  // of sample and class, where a term has a row for each
constexpr double kShareLeftInSet = 0.1;  // of the violation of all samples
constexpr std::int64_t kStepsPerSample = 40;
constexpr double kLeastViolation = 1e-13;  // of the largest output
constexpr int kBlocksWithoutProgress = 200;
constexpr double kProgress = 1e-3;  // of the gap, in so many blocks
constexpr Index kTile = 64;         // samples turned over at a time
constexpr Index kColumns = 1024, kColumnsPerPiece = 4 * kColumns;

std::size_t Offset(Index i) { return static_cast<std::size_t>(i); }

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
        prices_(risk.classes),
        beta_(Offset(risk.samples() * risk.classes)),
        gradient_(beta_.size()),
        shares_(Offset(risk.samples())) {
    Transpose(state.beta, beta_);
    for (Index i = 0; i < risk.samples(); ++i) caps_.push_back(risk.Cap(i, risk.y[Offset(i)]));
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

  // From class after class to sample after sample.
  void Transpose(std::span<const double> from, std::span<double> to) const {
    for (Index begin = 0; begin < risk_.samples(); begin += kTile) {
      const Index end = std::min(begin + kTile, risk_.samples());
      for (Index u = 0; u < risk_.classes; ++u) {
        for (Index i = begin; i < end; ++i) to[Offset(i * risk_.classes + u)] = from[risk_.At(i, u)];
      }
    }
  }

  // Gradients, prices, biases and bounds at the present betas and outputs.
  void Measure() {
    prices_.Clear(risk_.has_bias);
    Transpose(state_.outputs, gradient_);
    largest_output_ = 1;
    for (Index i = 0; i < risk_.samples(); ++i) MeasureSample(i);
    potentials_ = FindPotentials(prices_, potentials_.biases);
    if (!risk_.has_bias) std::fill(potentials_.biases.begin(), potentials_.biases.end(), 0.0);
    result_.primal = result_.dual = 0;
    for (Index i = 0; i < risk_.samples(); ++i) AddBounds(i);
    result_.biases = potentials_.biases;
  }

  // The slope of the sample's dual term.
  double Slope(Index i) const {
    const double own = beta_[Offset(i * risk_.classes + risk_.y[Offset(i)])];
    return risk_.loss->PieceAt(own, 0, 1, risk_.C[Offset(i)]).slope;
  }

  // Its outputs become its gradient.
  void MeasureSample(Index i) {
    double* gradient = gradient_.data() + i * risk_.classes;
    const double* beta = beta_.data() + i * risk_.classes;
    for (Index u = 0; u < risk_.classes; ++u) {
      largest_output_ = std::max(largest_output_, std::abs(gradient[u]));
    }
    const Index own = risk_.y[Offset(i)];
    gradient[own] -= Slope(i);
    for (Index u = 0; u < risk_.classes; ++u) {
      if (beta[u] < (u == own ? caps_[Offset(i)] : 0)) prices_.Offer(i, u, gradient);
    }
  }

  // The sample's part of both bounds, and of the gap: what Fenchel's inequality leaves of it.
  void AddBounds(Index i) {
    const double* gradient = gradient_.data() + i * risk_.classes;
    const double* beta = beta_.data() + i * risk_.classes;
    const Index own = risk_.y[Offset(i)];
    const double own_output = gradient[own] + Slope(i);
    double best_other = -std::numeric_limits<double>::infinity(), product = 0, biased = 0;
    for (Index u = 0; u < risk_.classes; ++u) {
      const double f = u == own ? own_output : gradient[u];
      if (u != own) best_other = std::max(best_other, f + potentials_.biases[Offset(u)]);
      product += beta[u] * f;
      biased += beta[u] * potentials_.biases[Offset(u)];
    }
    const double C = risk_.C[Offset(i)];
    const double margin = own_output + potentials_.biases[Offset(own)] - best_other;
    const double loss = C * risk_.loss->Value(margin, 1);
    const double dual = risk_.loss->Dual(beta[own], 1, C);
    result_.primal += loss + 0.5 * product;
    result_.dual += dual - 0.5 * product;
    shares_[Offset(i)] = loss - dual + product + biased;
  }

  bool IsStalled() {
    if (2 * potentials_.excess <= kLeastViolation * largest_output_) return true;
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
    const double target = std::max(kShareLeftInSet * 2 * potentials_.excess, kLeastViolation);
    const std::int64_t steps =
        set_.Solve(block_, target, kStepsPerSample * static_cast<Index>(block_.samples.size()));
    result_.steps += steps;
    ++result_.blocks;
    if (steps > 0) MoveTo(before);
    return steps > 0;
  }

  // The samples of the worst cycle, so that a step is always possible, and those that add most to the gap.
  void ChooseSet() {
    std::vector<Index>& chosen = block_.samples;
    chosen.clear();
    const std::vector<Index>& cycle = potentials_.cycle;
    for (std::size_t e = 0; e < cycle.size(); ++e) {
      const auto sample = static_cast<Index>(prices_.Sample(cycle[e], cycle[(e + 1) % cycle.size()]));
      if (sample >= 0) shares_[Offset(sample)] = std::numeric_limits<double>::infinity();
    }
    const Index most = std::max(std::min(most_in_set_, risk_.samples()), static_cast<Index>(cycle.size()));
    order_.resize(shares_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<Index>(i);
    std::nth_element(order_.begin(), order_.begin() + (most - 1), order_.end(), [this](Index a, Index b) {
      return shares_[Offset(a)] != shares_[Offset(b)] ? shares_[Offset(a)] > shares_[Offset(b)] : a < b;
    });
    for (Index k = 0; k < most; ++k) {
      if (shares_[Offset(order_[Offset(k)])] > 0) chosen.push_back(order_[Offset(k)]);
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
      std::copy_n(beta_.data() + i * risk_.classes, classes, block_.beta.data() + k * classes);
      std::copy_n(gradient_.data() + i * risk_.classes, classes, block_.gradient.data() + k * classes);
    }
    block_.kernels.resize(terms_.size());
    fetched_.resize(terms_.size());
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      // Pairs are in the order of the betas of the block.
      const std::vector<Index> positions = IsOnPairs(terms_[t]) ? PairsOf(block_.samples) : block_.samples;
      const std::span<const T* const> rows = rows_[t]->Fetch(positions);
      fetched_[t].assign(rows.begin(), rows.end());
      std::vector<double>& kernel = block_.kernels[t];
      kernel.clear();
      for (const T* row : rows) {
        for (const Index at : positions) kernel.push_back(static_cast<double>(row[at]) + shifts_[t]);
      }
    }
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
        beta_[static_cast<std::size_t>(block_.samples[k]) * classes + u] = block_.beta[k * classes + u];
      }
    }
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      IsOnPairs(terms_[t]) ? AddPairs(t, changes) : AddTerm(t, changes);
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
    ForPieces(options_.pool, static_cast<Index>(beta_.size()), kColumnsPerPiece, [&](Index begin, Index end) {
      AddScaledRows(factors.data(), rows.data(), static_cast<Index>(factors.size()), begin,
                    state_.outputs.data() + begin, end - begin);
    });
  }

  // outputs += K_t changes A_t, one class at a time: only samples that moved in it cost anything.
  void AddTerm(std::size_t t, std::span<const double> changes) {
    const std::size_t size = block_.samples.size();
    const auto classes = static_cast<std::size_t>(risk_.classes);
    moved_rows_.resize(classes);
    factors_.resize(classes);
    for (std::size_t u = 0; u < classes; ++u) {
      moved_rows_[u].clear();
      factors_[u].clear();
      double sum = 0;
      for (std::size_t k = 0; k < size; ++k) {
        double factor = 0;
        for (std::size_t v = 0; v < classes; ++v) {
          const double share = terms_[t].classes[u * classes + v];
          if (share != 0) factor += share * changes[k * classes + v];
        }
        if (factor == 0) continue;
        moved_rows_[u].push_back(fetched_[t][k]);
        factors_[u].push_back(factor);
        sum += factor;
      }
      constants_[u] = shifts_[t] * sum;
    }
    ForPieces(options_.pool, risk_.samples(), kColumnsPerPiece, [&](Index first, Index last) {
      for (Index begin = first; begin < last; begin += kColumns) {
        const Index count = std::min(kColumns, last - begin);
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
        state_.beta[risk_.At(i, u)] = beta_[Offset(i * risk_.classes + u)];
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

  ClassPrices prices_;
  std::vector<double> beta_;      // sample after sample, and so gradient_
  std::vector<double> gradient_;  // of the negative dual
  std::vector<double> caps_;      // of the own class of each sample
  std::vector<double> shares_;    // of the samples in the gap
  ClassPotentials potentials_;
  double largest_output_ = 1;
  double checked_gap_ = std::numeric_limits<double>::infinity();
  std::int64_t next_check_ = kBlocksWithoutProgress;
  JointResult result_;

  // Of the current step.
  JointBlock block_;
  std::vector<Index> order_;
  std::vector<std::vector<const T*>> fetched_, moved_rows_;
  std::vector<std::vector<double>> factors_;
  std::vector<double> constants_ = std::vector<double>(Offset(risk_.classes));
};

}  // namespace

template <class T>
JointResult SolveJoint(const JointRisk& risk, std::span<const JointTerm<T>> terms, JointState& state,
                       const JointOptions& options) {
  return Joint<T>(risk, terms, state, options).Run();
}

template JointResult SolveJoint(const JointRisk&, std::span<const JointTerm<float>>, JointState&,
                                const JointOptions&);
template JointResult SolveJoint(const JointRisk&, std::span<const JointTerm<double>>, JointState&,
                                const JointOptions&);

}  // namespace kweave
