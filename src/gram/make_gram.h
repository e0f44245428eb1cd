#ifndef KWEAVE_GRAM_MAKE_GRAM_H_
#define KWEAVE_GRAM_MAKE_GRAM_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/threads.h"
#include "gram/gram.h"
#include "gram/normalization.h"
#include "kernel/kernel_set.h"
#include "kweave/choices.h"

namespace kweave {

/// How families of kernels are evaluated: whichever costs less; as a tabulated function of the base quantity
/// wherever a table exists; every kernel by its own formula.
using FamilyEvaluation = KernelEvaluation;

struct DeviceUse;

struct GramOptions {
  bool use_float = false;  ///< kernel values in float32 (sums stay in float64)
  FamilyEvaluation evaluation = FamilyEvaluation::kAuto;
  std::size_t cache_bytes = 0;  ///< for base quantities kept between calls
  /// Rows are used with factors that sum to zero only (tasks with a bias): linear kernels may be centred, so
  /// that float32 keeps its digits when feature means are large.
  bool factors_sum_to_zero = false;
  /// Where base quantities come from (Gram::bases): a Gram of the same kernels on all samples, which keeps
  /// its bases (Gram::KeepBases) and outlives this one. The samples here are `shared_samples` of it; empty:
  /// all. Bases of another precision, or none: computed here.
  SharedBases shared = {};
  std::vector<Index> shared_samples = {};
  /// What the table of a learned kernel may be off by, relative to the ranges of its kernels, to have fewer
  /// terms; part of GramShape::table_error.
  double learned_error = 0;
  /// Where the kernels are evaluated if it serves them (gram/device_gram.h), and the CPU if not. Null: on the
  /// CPU.
  const DeviceUse* device = nullptr;
};

/// The Gram matrices of one set of samples with itself. Views, kernels and normalisation must outlive it;
/// `views` are those of KernelSet::views, in that order.
std::unique_ptr<Gram> MakeGram(const KernelSet& kernels, std::span<const View> views,
                               const Normalization& normalization, const GramOptions& options,
                               ThreadPool& pool);

/// The Gram matrices between the samples the normalisation was fitted on (left; usually support vectors, but
/// all training samples when normalization.NeedsAllTrainingSamples()) and new ones (right). Precomputed
/// kernels: the files of the set name matrices with one row per new sample; left sample i is their column
/// left_columns[i], or column i when `left_columns` is empty.
std::unique_ptr<Gram> MakeCrossGram(const KernelSet& kernels, std::span<const View> left,
                                    std::span<const View> right, const Normalization& normalization,
                                    std::span<const Index> left_columns, const GramOptions& options,
                                    ThreadPool& pool);

}  // namespace kweave

#endif  // KWEAVE_GRAM_MAKE_GRAM_H_
