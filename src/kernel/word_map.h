// Kernels that are sums over pairs of words of two sequences, wherever the words are.
//
// A sequence is mapped to how often each word occurs in it; k(x,z) = sum over words u, v of c_u(x) c_v(z)
// h(d(u, v)), where d is the number of letters in which two words differ. Without h only equal words count,
// and the counts are features of a linear kernel.
#ifndef KWEAVE_KERNEL_WORD_MAP_H_
#define KWEAVE_KERNEL_WORD_MAP_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compute/cpu/hamming_operator.h"
#include "compute/cpu/word_counts.h"
#include "kernel/kernel_kind.h"
#include "kernel/sequence_kernel.h"

namespace kweave {

struct WordMap {
  WordShape shape;
  std::vector<double> weights;  ///< h(0), h(1), ...; empty: equal words alone count, each pair 1
  bool is_relative = false;     ///< counts are divided by how many words a sequence has

  /// The largest distance of words that count.
  int Reach() const;
  /// Whether a table of all words fits: products with it take far less time than pairs of sequences.
  bool HasTable() const;
};

/// The map of a kernel, where it has one. Throws Error(kUsage) where parameters or alphabet do not fit.
std::optional<WordMap> FindWordMap(const KernelKind& kind, const KernelParameters& parameters,
                                   std::string_view alphabet);

/// What words of a region are of one sequence.
WordRangeOf RangeOf(const Region& region);

/// 1 over the number of words of every sequence, 0 where there are none; nothing for counts as they are.
std::vector<double> FactorsOf(const WordMap& map, const WordCounts& counts);

/// The values of pairs.
template <class T>
std::unique_ptr<SequenceValues<T>> MakeWordValues(const SequenceRequest& request, const WordMap& map);
std::size_t WordValueBytes(const SequenceRequest& request, const WordMap& map);

/// One pair by plain loops over all pairs of words.
double PlainWordValue(std::span<const int> x, std::span<const int> z, const WordMap& map,
                      const Region& region);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_WORD_MAP_H_
