#include "train/grams.h"

#include <numeric>
#include <utility>

namespace kweave {

Grams::Grams(GramSource source, const GramSettings& settings, ThreadPool& pool)
    : source_(std::move(source)), settings_(settings), pool_(pool) {
  working_ =
      Make({settings.use_float, Evaluation::kAuto, settings.base_cache_bytes, settings.factors_sum_to_zero});
}

GramPair Grams::Pair() {
  GramPair pair{working_.get(), settings_.use_float, [this]() -> Gram& { return Exact(); }, {}};
  // A file holds a matrix of all samples.
  if (source_.kernels->files.empty()) {
    pair.sample = [this](std::span<const Index> rows) { return Part(rows); };
  }
  return pair;
}

Gram& Grams::Exact() {
  if (!settings_.use_float && settings_.certificate == Evaluation::kAuto) return *working_;
  if (!exact_) exact_ = Make({false, settings_.certificate, 0, false});
  return *exact_;
}

std::int64_t Grams::rows_evaluated() const {
  return working_->rows_evaluated() + (exact_ ? exact_->rows_evaluated() : 0);
}

std::unique_ptr<Gram> Grams::Make(const GramOptions& options) const {
  return MakeGram(*source_.kernels, source_.views, source_.normalization, options, pool_);
}

std::shared_ptr<GramSample> Grams::Part(std::span<const Index> rows) {
  GramSource part{source_.kernels, {}, {}};
  for (const View& view : source_.views) {
    part.views.push_back({view.name, SelectRows(view.features, rows), view.feature_names});
  }
  std::vector<Index> every_kernel(source_.kernels->size());
  std::iota(every_kernel.begin(), every_kernel.end(), Index{0});
  part.normalization = source_.normalization.Select(every_kernel, rows);
  GramSettings settings = settings_;
  settings.certificate = Evaluation::kAuto;  // a start needs no better one
  return std::make_shared<Grams>(std::move(part), settings, pool_);
}

}  // namespace kweave
