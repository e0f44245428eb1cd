#include "train/grams.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kweave {

Grams::Grams(GramSource source, const GramSettings& settings, ThreadPool& pool)
    : Grams(std::move(source), settings, pool, nullptr, {}) {}

Grams::Grams(GramSource source, const GramSettings& settings, ThreadPool& pool, const Grams* whole,
             std::vector<Index> samples)
    : source_(std::move(source)),
      settings_(settings),
      pool_(pool),
      whole_(whole),
      samples_(std::move(samples)) {
  GramOptions options{settings.use_float, FamilyEvaluation::kAuto, settings.base_cache_bytes,
                      settings.factors_sum_to_zero};
  if (whole_ != nullptr) options.shared = whole_->working_->bases();
  working_ = Make(std::move(options));
}

GramPair Grams::Pair() {
  GramPair pair{working_.get(), settings_.use_float, [this]() -> Gram& { return Exact(); }, {}};
  // A file holds a matrix of all samples.
  if (source_.kernels->files.empty()) {
    pair.sample = [this](std::span<const Index> rows) {
      return Part(rows, settings_.base_cache_bytes, pool_);
    };
  }
  pair.some_kernels = [this](std::span<const Index> kernels) { return SomeKernels(kernels); };
  pair.precise = [this]() -> Gram& { return Precise(); };
  return pair;
}

Gram& Grams::Precise() {
  if (!settings_.use_float && !settings_.factors_sum_to_zero) return *working_;
  if (settings_.use_float && settings_.certificate == FamilyEvaluation::kAuto) return Exact();
  if (!precise_) precise_ = Make({false, FamilyEvaluation::kAuto, 0, false});
  return *precise_;
}

Gram& Grams::Exact() {
  if (!settings_.use_float && settings_.certificate == FamilyEvaluation::kAuto) return *working_;
  if (!exact_) {
    GramOptions options{false, settings_.certificate, 0, false};
    options.learned_error = settings_.learned_error;
    if (whole_ != nullptr && whole_->exact_) options.shared = whole_->exact_->bases();
    exact_ = Make(std::move(options));
  }
  return *exact_;
}

void Grams::KeepBases(bool exact_too) {
  working_->KeepBases();
  if (exact_too) Exact().KeepBases();
}

std::int64_t Grams::rows_evaluated() const {
  return working_->rows_evaluated() + (precise_ ? precise_->rows_evaluated() : 0) +
         (exact_ ? exact_->rows_evaluated() : 0);
}

std::int64_t Grams::base_values() const {
  return working_->base_values() + (precise_ ? precise_->base_values() : 0) +
         (exact_ ? exact_->base_values() : 0);
}

std::unique_ptr<Gram> Grams::Make(GramOptions options) const {
  options.shared_samples = samples_;
  options.device = settings_.device;
  return MakeGram(*source_.kernels, source_.views, source_.normalization, options, pool_);
}

std::shared_ptr<Grams> Grams::SomeKernels(std::span<const Index> kernels) const {
  const auto some = std::make_shared<const KernelSet>(source_.kernels->Select(kernels));
  GramSource source{some.get(), {}, {}};
  for (const std::string& name : some->views) {
    const auto view = std::ranges::find(source_.views, name, &View::name);
    source.views.push_back(*view);
  }
  std::vector<Index> every_sample(RowCount(source_.views[0].features));
  std::iota(every_sample.begin(), every_sample.end(), Index{0});
  source.normalization = source_.normalization.Select(kernels, every_sample);
  GramSettings settings = settings_;
  settings.certificate = FamilyEvaluation::kAuto;
  auto grams = std::make_shared<Grams>(std::move(source), settings, pool_);
  grams->own_kernels_ = some;
  return grams;
}

std::shared_ptr<Grams> Grams::Part(std::span<const Index> rows, std::size_t base_cache_bytes,
                                   ThreadPool& pool) const {
  GramSource part{source_.kernels, source_.views, source_.normalization};
  GramSettings settings = settings_;
  settings.base_cache_bytes = base_cache_bytes;
  std::vector<Index> samples = samples_;
  if (!rows.empty()) {
    samples.assign(rows.begin(), rows.end());
    if (!samples_.empty()) {
      for (Index& i : samples) i = samples_[i];
    }
    part.views.clear();
    for (const View& view : source_.views) part.views.push_back(SelectSamples(view, rows));
    std::vector<Index> every_kernel(source_.kernels->size());
    std::iota(every_kernel.begin(), every_kernel.end(), Index{0});
    part.normalization = source_.normalization.Select(every_kernel, rows);
  }
  const Grams* whole = whole_ != nullptr ? whole_ : this;
  return std::shared_ptr<Grams>(new Grams(std::move(part), settings, pool, whole, std::move(samples)));
}

void KernelWork::Add(const Grams& grams) {
  rows += grams.rows_evaluated();
  base_values += grams.base_values();
}

}  // namespace kweave
