// Kernel values by their formulas, one pair of samples at a time, in double precision.
//
// Solves   k_m(x_i, x_j) as docs/kernels.md states it, normalised by statistics of the samples themselves
//          (kernel/normalizer.h says what each step is), and products of the matrices K_m with vectors.
// Method   plain loops. A quantity that several kernels of a row are functions of (a distance) is kept while
//          the row lasts.
// Takes    kernels as the parser of specifications gives them, and the samples; nothing else of this library.
// Holds    every value to a few units in the last place, that of Real, of the largest one that it is computed
//          from.
// Costs    n^2 / 2 values for each kernel, and again for each step of the normalisation that needs a mean
//          over all pairs.
#ifndef KWEAVE_VERIFY_PLAIN_KERNELS_H_
#define KWEAVE_VERIFY_PLAIN_KERNELS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "kernel/kernel_set.h"
#include "kernel/normalizer.h"
#include "kweave/dataset.h"

namespace kweave::verify {

/// One step of a kernel's normalisation, fitted. Real: double, or long double where more digits are needed.
template <class Real>
struct PlainStep {
  Normalizer kind = Normalizer::kTrace;
  Real constant = 1;             ///< the factor, or the mean over all pairs (kCenter)
  std::vector<Real> per_sample;  ///< 1 / sqrt k(x,x) (kSpherical), mean k(x,.) (kCenter)

  Real Apply(Index i, Index j, Real value) const;
};

template <class Real>
struct PlainNormalization {
  std::vector<PlainStep<Real>> steps;
  double magnitude = 0;      ///< of the values that the results are computed from, at the same scale as these
  double raw_magnitude = 0;  ///< before any step
  /// The smallest variance (or mean diagonal) that a step divided by, relative to the mean diagonal before
  /// it; of kSpherical the smallest k(x,x), relative to the values that it is computed from.
  double least_variance = 1;

  Real Apply(Index i, Index j, Real value) const;
};

template <class Real>
class PlainKernels {
 public:
  /// `views` hold the samples, by the names that `kernels` uses; both must outlive it.
  PlainKernels(const KernelSet& kernels, std::span<const View> views, Index samples);

  Index size() const { return kernels_.size(); }
  Index samples() const { return samples_; }

  /// Values of kernel m, not normalised: out[j - begin] = k_m(x_i, x_j) for begin <= j < end.
  void Row(Index m, Index i, Index begin, Index end, std::span<Real> out);

  /// The normalisation of the kernels from `first` to `last` - 1, all steps fitted in sequence; of a kernel
  /// on views that samples lack on the others, and then kCenter and kPresence.
  std::vector<PlainNormalization<Real>> Fit(std::span<const Normalizer> sequence, Index first, Index last);

  /// Calls visit(m, i, row) for these kernels and all i, with the normalised values for j <= i.
  using Visit = std::function<void(Index m, Index i, std::span<const Real> row)>;
  void ForEachRow(std::span<const PlainNormalization<Real>> fitted, Index first, Index last,
                  const Visit& visit);

  /// What is called before every row, and may throw to end the work.
  std::function<void()> poll;

 private:
  using BaseKey = std::tuple<std::uintptr_t, std::int32_t, std::int32_t, std::int32_t, double>;

  /// What fitting knows of one kernel.
  struct Fitting {
    std::vector<Real> diagonal, means;  ///< k(x,x) and mean k(x,.) after the steps so far
    std::vector<double> presence;       ///< of the samples; 0: it lacks a view of the kernel
    bool is_incomplete = false;         ///< some samples do, or are rescaled
  };

  std::vector<double> Presence(Index m) const;
  static Real MeanOfPresent(const Fitting& kernel, const std::vector<Real>& values);
  void FitMeans(std::span<const PlainNormalization<Real>> fitted, Index first, Index last,
                std::vector<Fitting>& kernels);
  static void FitStep(Normalizer kind, Fitting& kernel, PlainNormalization<Real>& fitted);
  void TermRow(const KernelTerm& term, Index i, Index begin, Index end, std::span<Real> out);
  void SequenceRow(const KernelTerm& term, Index i, Index begin, Index end, std::span<Real> out);
  const std::vector<Real>& BaseRow(const KernelTerm& term, Index i, Index begin, Index end);

  const KernelSet& kernels_;
  std::vector<const View*> views_;                      // those of kernels_.views
  std::vector<MatrixFile> files_;                       // those of kernels_.files
  std::vector<std::vector<std::vector<int>>> letters_;  // by view and sample, of sequences
  Index samples_;
  std::map<BaseKey, std::vector<Real>> bases_;  // of the row below
  std::tuple<Index, Index, Index> row_{-1, 0, 0};
};

}  // namespace kweave::verify

#endif  // KWEAVE_VERIFY_PLAIN_KERNELS_H_
