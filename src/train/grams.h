#ifndef KWEAVE_TRAIN_GRAMS_H_
#define KWEAVE_TRAIN_GRAMS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/threads.h"
#include "gram/device_gram.h"
#include "gram/make_gram.h"
#include "weights/run/learn.h"

namespace kweave {

class Grams;

/// What kernels were asked for.
struct KernelWork {
  std::int64_t rows = 0;
  std::int64_t base_values = 0;
  void Add(const Grams& grams);
};

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
  FamilyEvaluation certificate = FamilyEvaluation::kAuto;
  bool factors_sum_to_zero = false;   ///< as in GramOptions: tasks with a bias
  double learned_error = 0;           ///< likewise, of the exact kernels
  const DeviceUse* device = nullptr;  ///< likewise, of all
};

/// The kernels at both precisions. The exact ones are made when first asked for, and are the working ones
/// when those are as good.
class Grams : public GramSample {
 public:
  /// The kernel set and the pool must outlive it.
  Grams(GramSource source, const GramSettings& settings, ThreadPool& pool);

  GramPair Pair() override;
  /// Computes every base quantity once and keeps it, for the exact kernels too where `exact_too`: the parts
  /// below then take them from here and may be used side by side.
  void KeepBases(bool exact_too);
  /// The same kernels between some of the samples, ascending (empty: all), with the loops in `pool`;
  /// `base_cache_bytes` for what is not kept here. This must outlive it.
  std::shared_ptr<Grams> Part(std::span<const Index> rows, std::size_t base_cache_bytes,
                              ThreadPool& pool) const;
  /// Some of the kernels, ascending, between all samples. This must outlive it.
  std::shared_ptr<Grams> SomeKernels(std::span<const Index> kernels) const;
  Gram& Exact();
  /// In float64, by tables where those are good, and nothing left out that only sums of factors make
  /// harmless.
  Gram& Precise();
  /// By both, parts of the samples not counted.
  std::int64_t rows_evaluated() const;
  std::int64_t base_values() const;

 private:
  Grams(GramSource source, const GramSettings& settings, ThreadPool& pool, const Grams* whole,
        std::vector<Index> samples);
  std::unique_ptr<Gram> Make(GramOptions options) const;

  std::shared_ptr<const KernelSet> own_kernels_;  // where source_ has some of another's only
  GramSource source_;
  GramSettings settings_;
  ThreadPool& pool_;
  const Grams* whole_ = nullptr;  // those of all samples, of which these are a part
  std::vector<Index> samples_;    // the samples of that part; empty: all
  std::unique_ptr<Gram> working_;
  std::unique_ptr<Gram> precise_;
  std::unique_ptr<Gram> exact_;
};

}  // namespace kweave

#endif  // KWEAVE_TRAIN_GRAMS_H_
