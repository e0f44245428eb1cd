#ifndef KWEAVE_TRAIN_GRAMS_H_
#define KWEAVE_TRAIN_GRAMS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/threads.h"
#include "gram/make_gram.h"
#include "weights/learn.h"

namespace kweave {

/// What the kernels of a run are computed from.
struct GramSource {
  const KernelSet* kernels = nullptr;
  std::vector<View> views;
  Normalization normalization;
};

/// How they are computed.
struct GramSettings {
  bool use_float = true;  ///< those of the solvers
  std::size_t base_cache_bytes = 0;
  Evaluation certificate = Evaluation::kAuto;
  bool factors_sum_to_zero = false;  ///< as in GramOptions: tasks with a bias
};

/// The kernels at both precisions. The exact ones are made when first asked for, and are the working ones when those
/// are as good.
class Grams : public GramSample {
 public:
  /// The kernel set and the pool must outlive it.
  Grams(GramSource source, const GramSettings& settings, ThreadPool& pool);

  GramPair Pair() override;
  /// The same kernels between some of the samples, ascending; not for kernels in files, which know all samples only.
  std::shared_ptr<GramSample> Part(std::span<const Index> rows);
  Gram& Exact();
  /// By both, parts of the samples not counted.
  std::int64_t rows_evaluated() const;

 private:
  std::unique_ptr<Gram> Make(const GramOptions& options) const;

  GramSource source_;
  GramSettings settings_;
  ThreadPool& pool_;
  std::unique_ptr<Gram> working_;
  std::unique_ptr<Gram> exact_;
};

}  // namespace kweave

#endif  // KWEAVE_TRAIN_GRAMS_H_
