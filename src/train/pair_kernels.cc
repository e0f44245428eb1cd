#include "train/pair_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "gram/normalization.h"
#include "kernel/precomputed.h"
#include "kweave/error.h"
#include "model/content.h"

namespace kweave {
namespace {

// 1 / what the last normaliser brings to 1; 0 without variance, NaN beyond the range of numbers.
double FactorOf(const MatrixFile& matrix, Index samples, Index classes, Normalizer normalizer) {
  double diagonal = 0, means = 0;
  std::vector<double> row(samples);
  for (Index u = 0; u < classes; ++u) {
    for (Index i = 0; i < samples; ++i) {
      matrix.RowPart(u * samples + i, u * samples, (u + 1) * samples, row.data());
      diagonal += row[i];
      for (const double value : row) means += value / static_cast<double>(samples);
    }
  }
  const double variance = normalizer == Normalizer::kTrace ? diagonal : diagonal - means;
  if (!std::isfinite(variance)) return std::numeric_limits<double>::quiet_NaN();
  return variance > kNoVariance * std::abs(diagonal) ? static_cast<double>(samples * classes) / variance : 0;
}

}  // namespace

std::vector<Index> FindPairKernels(const KernelSet& kernels) {
  std::vector<Index> positions;
  for (Index m = 0; m < kernels.size(); ++m) {
    if (!kernels.IsComposite(m)) {
      if (kernels.Term(m).kind == &kJointMatrix) positions.push_back(m);
      continue;
    }
    const auto& terms = kernels.composites[kernels.order[m].member].terms;
    if (std::ranges::find(terms, &kJointMatrix, &KernelTerm::kind) != terms.end()) {
      throw Error(ErrorKind::kUsage,
                  "a joint kernel is on pairs of sample and class, so it cannot be part of a sum, product or "
                  "mean; give it among the `kernels` by itself");
    }
  }
  return positions;
}

PairKernels PreparePairKernels(KernelSet kernels, std::span<const Index> positions, Index samples,
                               Index classes, std::span<const Normalizer> normalizers) {
  const bool has_factors = std::ranges::all_of(normalizers, [](Normalizer step) {
    return step == Normalizer::kTrace || step == Normalizer::kMultiplicative;
  });
  if (!has_factors) {
    throw Error(ErrorKind::kUsage,
                "joint kernels are normalised by a factor only: normalize multiplicative, trace or none");
  }
  PairKernels pairs;
  pairs.kernels = std::move(kernels);
  pairs.kept.assign(positions.begin(), positions.end());
  pairs.views = WithSampleCount({}, samples * classes);
  std::vector<Index> class_after_class;
  for (Index u = 0; u < classes; ++u) {
    for (Index i = 0; i < samples; ++i) class_after_class.push_back(i * classes + u);
  }
  for (MatrixSource& file : pairs.kernels.files) {
    file.held = std::make_shared<const MatrixFile>(file.Open().Reordered(class_after_class));
  }
  pairs.normalization.sequence.assign(normalizers.begin(), normalizers.end());
  for (Index m = 0; m < pairs.kernels.size(); ++m) {
    const MatrixSource& file = pairs.kernels.files[pairs.kernels.Term(m).file];
    pairs.normalization.scale.push_back(
        normalizers.empty() ? 1 : FactorOf(*file.held, samples, classes, normalizers.back()));
  }
  return pairs;
}

PairKernels SelectPairKernels(const PairKernels& pairs, std::span<const Index> kept) {
  PairKernels selected{pairs.kernels.Select(kept), {}, pairs.normalization.Select(kept, {}), pairs.views};
  for (const Index m : kept) selected.kept.push_back(pairs.kept[m]);
  return selected;
}

}  // namespace kweave
