// The Gram matrices of a kernel set: kernels sorted into groups by structure, which share base quantities.
#ifndef KWEAVE_GRAM_STRUCTURED_GRAM_H_
#define KWEAVE_GRAM_STRUCTURED_GRAM_H_

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gram/base_store.h"
#include "gram/family_group.h"
#include "gram/feature_group.h"
#include "gram/gram.h"
#include "gram/gram_plan.h"
#include "gram/group.h"
#include "gram/make_gram.h"
#include "gram/single_kernels.h"

namespace kweave {

template <class T>
class StructuredGram : public Gram {
 public:
  StructuredGram(const KernelSet& kernels, const Sides& sides, const Normalization& normalization,
                 const GramOptions& options, ThreadPool& pool);

  std::vector<VectorAnswer> AnswerAll(std::span<const VectorRequest> requests) override;
  std::vector<double> MeanDiagonals() override;
  void KeepBases() override;
  SharedBases bases() const override;
  void ReleaseCopies() override { bases_.Release(); }
  std::int64_t base_values() const override { return bases_.values_computed(); }

  /// Of all kernels.
  void FindStatistics(const KernelStatistics& statistics);

  /// Kernel m as a single kernel with the given steps.
  std::unique_ptr<Group<T>> MakeSingle(Index m, double scale, std::vector<SampleStep> steps) {
    return single_kernels_.Make(m, scale, std::move(steps));
  }
  /// k_m(x,x) of every left (or right) sample, before normalisation.
  std::vector<double> RawDiagonal(Index m, bool of_right) { return single_kernels_.RawDiagonal(m, of_right); }

 protected:
  std::shared_ptr<const LearnedMatrix> MakeLearned(std::span<const double> theta) override;

 private:
  class StructuredKernel;
  class StructuredExpansion;

  template <class Work>
  void ForGroups(Work work);
  template <class Work>
  void ForChunks(Index count, Work work);
  void MakeGroups(GramPlan plan, const Normalization& normalization, const GramOptions& options);
  std::unique_ptr<Group<T>> MakeLinear(GramPlan::Linear part, const GramOptions& options);
  std::unique_ptr<Group<T>> MakeRuns(GramPlan::Runs part);
  std::unique_ptr<Group<T>> MakeWords(GramPlan::Words part);
  std::unique_ptr<Group<T>> MakeFamily(GramPlan::Family part, GramPlan& plan, const GramOptions& options);
  bool HasCheapQuadratics() const;
  void CountAnswers(std::span<const VectorRequest> requests);
  std::vector<std::unique_ptr<GroupExpansion>> StartParts() const;

  const KernelSet& kernels_;
  Sides sides_;
  ThreadPool& pool_;
  BaseStore<T> bases_;
  SingleKernels<T> single_kernels_;
  std::vector<std::unique_ptr<Group<T>>> groups_;
  std::vector<Group<T>*> row_groups_;             ///< those that add rows themselves
  std::unique_ptr<FeatureRows<T>> feature_rows_;  ///< of those that do not; null: there are none
  bool are_side_by_side_ = false;  ///< few samples, many groups: threads share the groups, not the samples
  bool are_rows_side_by_side_ = false;
  AlignedVector<T> side_by_side_;  ///< rows of all chunks but the first, kept for the next call
  ThreadPool alone_{1};            ///< for groups that run side by side
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_STRUCTURED_GRAM_H_
