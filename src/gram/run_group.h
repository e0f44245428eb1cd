// All weighted-degree kernels on sequences of one length, on any of their regions.
//
// A word of k letters at position i is what they have in common: whatever the kernels, the learned one is a
// sum over positions and orders (RunWeights). Rows come from runs of equal letters of pairs
// (compute/cpu/match_runs.h), products and quadratics from sums over words (compute/cpu/position_words.h);
// neither costs more with more kernels.
#ifndef KWEAVE_GRAM_RUN_GROUP_H_
#define KWEAVE_GRAM_RUN_GROUP_H_

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "compute/cpu/packed_letters.h"
#include "compute/cpu/position_words.h"
#include "gram/group.h"

namespace kweave {

/// One kernel: sum over positions in [begin, end) and orders k of weights[k - 1] wherever the k letters there
/// are equal and none of them lies behind `limit`.
struct RunMember {
  Index kernel = 0;
  Index begin = 0, end = 0;
  Index limit = 0;
  std::vector<double> weights;
  double scale = 1;
};

/// Sequences of a view with their words, found when first asked for; Grams of the same samples may share
/// them.
class RunWords {
 public:
  /// In training the right samples are the left ones, and `right` is not read. What they point at must
  /// outlive this.
  RunWords(const PackedLetters& left, const PackedLetters& right, bool is_training)
      : parts_{left, right}, is_training_(is_training) {}

  const PackedLetters& left() const { return parts_[0]; }
  const PackedLetters& right() const { return parts_[is_training_ ? 0 : 1]; }
  bool is_training() const { return is_training_; }
  /// Words of left and, behind them, right samples.
  std::shared_ptr<const PositionWords> Find(Index first, Index last, int degree, ThreadPool& pool);

 private:
  PackedLetters parts_[2];
  bool is_training_;
  std::map<std::tuple<Index, Index, int>, std::shared_ptr<const PositionWords>> words_;
};

template <class T>
std::unique_ptr<Group<T>> MakeRunGroup(std::vector<RunMember> members, std::shared_ptr<RunWords> words);

/// What the sequences of a group take beside their packed letters, at most.
std::size_t RunGroupBytes(const PackedLetters& left, const PackedLetters& right, bool is_training,
                          std::span<const RunMember> members);

}  // namespace kweave

#endif  // KWEAVE_GRAM_RUN_GROUP_H_
