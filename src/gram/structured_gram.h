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
#include "gram/group.h"
#include "gram/make_gram.h"
#include "gram/single_kernels.h"

namespace kweave {

template <class T>
class StructuredGram : public Gram {
 public:
  StructuredGram(const KernelSet& kernels, const Sides& sides, const Normalization& normalization,
                 const GramOptions& options, ThreadPool& pool);

  Index left_count() const override { return left_count_; }
  Index right_count() const override { return right_count_; }
  Index kernels() const override { return kernels_.size(); }
  void Rows(std::span<const double> theta, std::span<const Index> rows, float* out, Index stride) override;
  void Rows(std::span<const double> theta, std::span<const Index> rows, double* out, Index stride) override;
  double RowShift(std::span<const double> theta) const override;
  void Diagonal(std::span<const double> theta, std::span<double> out) override;
  std::unique_ptr<Expansion> Expand(std::span<const double> a) override;
  void Update(Expansion& expansion, std::span<const double> a) override;
  bool QuadraticsOnly(std::span<const double> a, std::span<double> q) override;
  std::vector<Measurement> Measure(std::span<const double> theta,
                                   std::span<const std::span<const double>> vectors) override;
  std::vector<Measurement> MeasureEach(std::span<const MeasureRequest> requests) override;
  std::unique_ptr<FeatureMatrix> Features(std::span<const double> theta) override;
  double TableError() const override;
  void KeepBases() override;
  void ReleaseCopies() override { bases_.Release(); }
  std::int64_t base_values() const override { return bases_.values_computed(); }
  std::vector<std::unique_ptr<Expansion>> ExpandAll(
      std::span<const std::span<const double>> vectors) override;

  /// means[m] = mean of k_m(x,x) over the left samples.
  void MeanDiagonals(std::span<double> means) const;

  /// means[m] = mean of k_m(x,z) over all pairs of training samples.
  void MeansOfAllPairs(std::span<double> means);

  /// Overwrites the variances of kernels that know them better than E k(x,x) - E k(x,z) does.
  void Variances(std::span<double> variances) const;

  /// Kernel m as a single kernel with the given steps.
  std::unique_ptr<Group<T>> MakeSingle(Index m, double scale, std::vector<SampleStep> steps) {
    return single_kernels_.Make(m, scale, std::move(steps));
  }
  /// k_m(x,x) of every left (or right) sample, before normalisation.
  std::vector<double> RawDiagonal(Index m, bool of_right) { return single_kernels_.RawDiagonal(m, of_right); }

 private:
  /// Null where there is no such Gram of this precision.
  static const BaseStore<T>* BasesOf(const Gram* gram);
  template <class Work>
  void ForGroups(Work work);
  template <class Work>
  void ForChunks(Index count, Work work);
  void AddRows(std::span<const Index> rows, T* out, Index stride);
  void MakeGroups(const Normalization& normalization, const GramOptions& options);
  std::unique_ptr<Group<T>> MakeFamily(const KernelTerm& term, std::vector<FamilyMember> members,
                                       bool is_own_base, const GramOptions& options,
                                       GaussianMatrices& matrices);
  void SetWeights(std::span<const double> theta);
  std::vector<std::unique_ptr<GroupExpansion>> StartParts() const;

  const KernelSet& kernels_;
  Sides sides_;
  ThreadPool& pool_;
  Index left_count_ = 0;
  Index right_count_ = 0;
  BaseStore<T> bases_;
  SingleKernels<T> single_kernels_;
  std::vector<std::unique_ptr<Group<T>>> groups_;
  std::vector<Group<T>*> row_groups_;             ///< those that add rows themselves
  std::unique_ptr<FeatureRows<T>> feature_rows_;  ///< of those that do not; null: none was asked to be there
  std::vector<double> theta_;                     ///< the weights the groups hold
  bool are_side_by_side_ = false;  ///< few samples, many groups: threads share the groups, not the samples
  bool are_rows_side_by_side_ = false;
  AlignedVector<T> side_by_side_;  ///< rows of all chunks but the first, kept for the next call
  ThreadPool alone_{1};            ///< for groups that run side by side
};

}  // namespace kweave

#endif  // KWEAVE_GRAM_STRUCTURED_GRAM_H_
