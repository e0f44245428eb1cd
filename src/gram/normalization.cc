#include "gram/normalization.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "gram/structured_gram.h"

namespace kweave {
namespace {

// Above this many samples statistics are computed from float32 kernel values (sums stay in float64).
constexpr Index kManySamples = 4000;

Normalization Unnormalized(Index kernels) {
  Normalization none;
  none.scale.assign(kernels, 1.0);
  return none;
}

constexpr double kOverflow = std::numeric_limits<double>::quiet_NaN();  // as Normalization::scale says

// 1 / variance, or 0 when there is none. A variance so small that it has lost its digits would give a factor
// beyond the range of numbers.
double FactorOf(double variance, double mean_diagonal) {
  if (!std::isfinite(variance) || !std::isfinite(mean_diagonal)) return kOverflow;
  if (!(variance > kNoVariance * std::abs(mean_diagonal))) return 0;
  return variance < std::numeric_limits<double>::min() ? kOverflow : 1 / variance;
}

// Kernels with k(x,x) = 1 for every x: a spherical step changes nothing but undoes factors.
bool HasUnitDiagonal(const KernelSet& kernels, Index m) {
  if (kernels.IsComposite(m)) return false;
  const KernelTerm term = kernels.Term(m);
  return term.kind->ConstantDiagonal(term.parameters) == 1;
}

bool NeedsChain(const KernelSet& kernels, Index m, std::span<const View> views,
                std::span<const Normalizer> sequence) {
  const auto is_more_than_factor = [&](Normalizer step) {
    return step == Normalizer::kCenter || (step == Normalizer::kSpherical && !HasUnitDiagonal(kernels, m));
  };
  return std::ranges::any_of(sequence, is_more_than_factor) || !PresenceIn(kernels, m, views).empty();
}

// A variance over all pairs of more samples than this is that of a random sample of as many: it is known to a
// fraction of a percent, and the exact one would cost more than training.
constexpr Index kSamplesForFactors = 20000;

std::vector<View> SampleForFactors(const KernelSet& kernels, std::span<const View> views,
                                   std::uint64_t seed) {
  std::vector<View> sample(views.begin(), views.end());
  const Index n = RowCount(views[0].features);
  if (n <= kSamplesForFactors || !kernels.files.empty()) return sample;
  Random random(seed);
  const std::vector<Index> rows = RandomSubset(n, kSamplesForFactors, random);
  for (View& view : sample) view = SelectSamples(view, rows);
  return sample;
}

template <class T>
class Fitter {
 public:
  Fitter(const KernelSet& kernels, std::span<const View> views, std::span<const Normalizer> sequence,
         ThreadPool& pool)
      : kernels_(kernels),
        views_(views),
        sequence_(sequence),
        pool_(pool),
        raw_(Unnormalized(kernels.size())),
        gram_(kernels, {views, views, true, {}}, raw_, GramOptions{.factors_sum_to_zero = true}, pool),
        n_(gram_.left_count()) {}

  // Kernels whose steps are all factors: only the last one counts.
  void FitFactors(Normalization& result) {
    if (sequence_.empty()) return;
    if (sequence_.back() == Normalizer::kSpherical || sequence_.back() == Normalizer::kCenter) return;
    std::vector<double> size(kernels_.size());  // what a variance is compared with to tell it from rounding
    const bool needs_variance = sequence_.back() == Normalizer::kMultiplicative;
    std::vector<double> means(needs_variance ? size.size() : 0), exact(means.size(), -1);
    gram_.FindStatistics({size, means, exact});
    std::vector<double> variance = size;
    for (std::size_t m = 0; m < means.size(); ++m) {
      variance[m] -= means[m];
      if (exact[m] >= 0) variance[m] = size[m] = exact[m];
    }
    for (Index m = 0; m < kernels_.size(); ++m) {
      if (!NeedsChain(kernels_, m, views_, sequence_)) result.scale[m] = FactorOf(variance[m], size[m]);
    }
  }

  void FitChains(Normalization& result) {
    for (Index m = 0; m < kernels_.size(); ++m) {
      if (NeedsChain(kernels_, m, views_, sequence_)) FitChain(m, result);
    }
  }

 private:
  void FitChain(Index m, Normalization& result) {
    presence_ = PresenceIn(kernels_, m, views_);
    present_ = presence_.empty() ? MeanOf(n_) : MeanOfPresent(presence_);
    std::vector<Normalizer> sequence(sequence_.begin(), sequence_.end());
    if (!presence_.empty()) sequence.insert(sequence.end(), {Normalizer::kCenter, Normalizer::kPresence});
    std::vector<double> diagonal = gram_.RawDiagonal(m, /*of_right=*/false);
    std::vector<SampleStep> steps;
    result.scale[m] = present_.rows.empty() ? 0 : 1;
    for (Normalizer kind : sequence) {
      if (result.scale[m] != 1) return;
      SampleStep step = FitStep(m, kind, diagonal, steps);
      const double mean_diagonal = Mean(diagonal);
      for (Index i = 0; i < n_; ++i) diagonal[i] = ApplySteps({&step, 1}, i, i, diagonal[i]);
      const double new_mean = Mean(diagonal);
      // A centred kernel without variance is rounding around zero.
      const bool is_constant = kind == Normalizer::kCenter
                                   ? !(new_mean > kNoVariance * std::abs(mean_diagonal))
                                   : step.constant == 0;
      if (!std::isfinite(mean_diagonal + new_mean + step.constant)) {
        result.scale[m] = kOverflow;
      } else if (is_constant) {
        result.scale[m] = 0;
      }
      steps.push_back(std::move(step));
    }
    if (result.scale[m] != 1) return;
    auto& chain = result.chains[m];
    for (SampleStep& step : steps) chain.push_back({step.kind, step.constant, std::move(step.left)});
  }

  // The next step of kernel m, whose values k(x,x) after `steps` are `diagonal`.
  SampleStep FitStep(Index m, Normalizer kind, std::span<const double> diagonal,
                     const std::vector<SampleStep>& steps) {
    SampleStep step{kind, 1, {}, {}};
    const double mean_diagonal = Mean(diagonal);
    switch (kind) {
      case Normalizer::kTrace:
        step.constant = FactorOf(mean_diagonal, mean_diagonal);
        break;
      case Normalizer::kMultiplicative:
        step.constant = FactorOf(mean_diagonal - Mean(RowMeans(m, steps)), mean_diagonal);
        break;
      case Normalizer::kSpherical:
        for (double value : diagonal) step.left.push_back(value > 0 ? 1 / std::sqrt(value) : 0);
        break;
      case Normalizer::kCenter:
        step.left = RowMeans(m, steps);
        step.constant = Mean(step.left);
        break;
      case Normalizer::kPresence:
        step.left = presence_;
        break;
    }
    step.right = step.left;
    return step;
  }

  // The mean of k_m(x,.) over the samples that have its views, after `steps`.
  std::vector<double> RowMeans(Index m, const std::vector<SampleStep>& steps) {
    std::vector<double> theta(kernels_.size(), 0.0), means(n_, 0.0);
    theta[m] = 1;
    const auto single = gram_.MakeSingle(m, 1, steps);
    Expand(*single, present_, pool_)->AddOutputs(theta, means);
    return means;
  }

  // Over the samples that have the views of the kernel.
  double Mean(std::span<const double> values) const {
    double sum = 0;
    for (const Index i : present_.rows) sum += values[i];
    return sum / static_cast<double>(present_.rows.size());
  }

  const KernelSet& kernels_;
  std::span<const View> views_;
  std::span<const Normalizer> sequence_;
  ThreadPool& pool_;
  Normalization raw_;
  StructuredGram<T> gram_;
  Index n_;
  // Of the kernel at hand.
  std::vector<double> presence_;
  SupportVector present_;
};

}  // namespace

namespace {

bool HasStep(const Normalization& normalization, Normalizer kind) {
  return std::ranges::any_of(normalization.chains, [kind](const auto& chain) {
    return std::ranges::find(chain.second, kind, &FittedStep::kind) != chain.second.end();
  });
}

}  // namespace

bool Normalization::NeedsAllTrainingSamples() const { return HasStep(*this, Normalizer::kCenter); }

bool Normalization::KnowsMissingSamples() const { return HasStep(*this, Normalizer::kPresence); }

Normalization Normalization::Select(std::span<const Index> kept, std::span<const Index> samples) const {
  Normalization selected;
  selected.sequence = sequence;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    selected.scale.push_back(scale[kept[k]]);
    const auto chain = chains.find(kept[k]);
    if (chain == chains.end()) continue;
    auto& steps = selected.chains[static_cast<Index>(k)];
    for (const FittedStep& step : chain->second) {
      FittedStep part{step.kind, step.constant, {}};
      if (!step.per_sample.empty()) {
        for (Index i : samples) part.per_sample.push_back(step.per_sample[i]);
      }
      steps.push_back(std::move(part));
    }
  }
  return selected;
}

std::vector<double> PresenceIn(const KernelSet& kernels, Index m, std::span<const View> views) {
  const auto is_complete = [](const View& view) { return view.presence.empty(); };
  if (std::ranges::all_of(views, is_complete)) return {};
  std::vector<double> presence;
  for (const KernelTerm& term : kernels.Expression(m).terms) {
    if (term.file >= 0 || is_complete(views[term.view])) continue;
    const std::vector<double>& own = views[term.view].presence;
    if (presence.empty()) presence = own;
    for (std::size_t i = 0; i < own.size(); ++i) presence[i] = std::min(presence[i], own[i]);
  }
  return presence;
}

Normalization UnfittedNormalization(const KernelSet& kernels, std::span<const View> views,
                                    std::span<const Normalizer> sequence) {
  Normalization result = Unnormalized(kernels.size());
  result.sequence.assign(sequence.begin(), sequence.end());
  for (Index m = 0; m < kernels.size(); ++m) {
    if (NeedsChain(kernels, m, views, sequence)) result.chains[m];
  }
  return result;
}

Normalization FitNormalization(const KernelSet& kernels, std::span<const View> views,
                               std::span<const Normalizer> sequence, ThreadPool& pool, std::uint64_t seed) {
  Normalization result = Unnormalized(kernels.size());
  result.sequence.assign(sequence.begin(), sequence.end());
  const auto is_complete = [](const View& view) { return view.presence.empty(); };
  if (sequence.empty() && std::ranges::all_of(views, is_complete)) return result;
  const auto with_fitter = [&](std::span<const View> samples, const auto& use) {
    if (RowCount(samples[0].features) > kManySamples) {
      Fitter<float> fitter(kernels, samples, sequence, pool);
      use(fitter);
    } else {
      Fitter<double> fitter(kernels, samples, sequence, pool);
      use(fitter);
    }
  };
  Index chains = 0;
  for (Index m = 0; m < kernels.size(); ++m) chains += NeedsChain(kernels, m, views, sequence) ? 1 : 0;
  if (chains < kernels.size()) {
    const std::vector<View> sample = SampleForFactors(kernels, views, seed);
    with_fitter(sample, [&](auto& fitter) { fitter.FitFactors(result); });
  }
  if (chains > 0) with_fitter(views, [&](auto& fitter) { fitter.FitChains(result); });
  return result;
}

}  // namespace kweave
