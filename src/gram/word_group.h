// Kernels that are sums over pairs of words of two sequences, through the words.
//
// Where equal words count, their numbers are features of linear kernels (gram/linear_group.h). Where words
// that differ count, too, factors of the sequences are added up by word, a product with the matrix of all
// pairs of words follows (compute/cpu/hamming_operator.h), and outputs are read by word: neither takes a pair
// of sequences. Rows come from pairs (kernel/word_map.h).
#ifndef KWEAVE_GRAM_WORD_GROUP_H_
#define KWEAVE_GRAM_WORD_GROUP_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "gram/base_store.h"
#include "gram/group.h"
#include "kernel/word_map.h"

namespace kweave {

struct WordMember {
  Index kernel = 0;
  WordMap map;
  Region region;
  double scale = 1;
};

/// The two sides of a view. The letters must outlive the group.
struct WordSides {
  PackedLetters left, right;  ///< the same in training
  bool is_training = true;
};

/// Of the sequences of one view.
WordSides WordSidesOf(const Sides& sides, std::int32_t view);

/// All kernels on equal words of one view.
template <class T>
std::unique_ptr<Group<T>> MakeEqualWordGroup(std::span<const WordMember> members, const WordSides& sides);

/// A kernel on words that may differ and have a table (WordMap::HasTable).
template <class T>
std::unique_ptr<Group<T>> MakeNearWordGroup(WordMember member, const WordSides& sides);

/// What a member of either takes, at most.
std::size_t WordGroupBytes(const WordMember& member, const WordSides& sides);

}  // namespace kweave

#endif  // KWEAVE_GRAM_WORD_GROUP_H_
