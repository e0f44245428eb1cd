// Kernels on sequences: what is generic (gram/, the kernel language) asks of them.
//
// A kernel on sequences is a BaseQuantity of its own (Source::kSequences) with the identity as its shape. The
// values below serve products with other kernels, normalisations that are no factor and whatever else wants
// pairs; a kernel with an explicit feature map may have a Group besides (gram/run_group.h).
#ifndef KWEAVE_KERNEL_SEQUENCE_KERNEL_H_
#define KWEAVE_KERNEL_SEQUENCE_KERNEL_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "compute/cpu/packed_letters.h"
#include "data/sequences.h"
#include "kernel/region.h"
#include "kernel/shape.h"
#include "kweave/dataset.h"

namespace kweave {

/// Values of one kernel between left and right sequences. T: float or double.
template <class T>
class SequenceValues {
 public:
  virtual ~SequenceValues() = default;
  /// out[r * stride + j - begin] = k(left rows[r], right j) for begin <= j < end, where `begin` is a multiple
  /// of kColumnBlock. May be called from several threads at once.
  virtual void Rows(std::span<const Index> rows, Index begin, Index end, T* out, Index stride) const = 0;
  /// k(x,x). One thread at a time.
  virtual double LeftDiagonal(Index i) const = 0;
  virtual double RightDiagonal(Index j) const = 0;
};

/// What values are computed from. The letters outlive them.
struct SequenceRequest {
  PackedLetters left, right;  ///< in training the same
  bool is_training = true;
  KernelParameters parameters{};
  Region region;
  std::string_view alphabet;  ///< the letters, by their numbers
};

struct SequenceKernel {
  /// It compares position with position; readers of data check it.
  bool needs_equal_lengths = false;
  std::unique_ptr<SequenceValues<float>> (*values_f32)(const SequenceRequest& request) = nullptr;
  std::unique_ptr<SequenceValues<double>> (*values_f64)(const SequenceRequest& request) = nullptr;
  /// What they keep beside the letters, at most.
  std::size_t (*bytes)(const SequenceRequest& request) = nullptr;
  /// One pair by plain loops: what the tests compare with. Letters by their numbers, -1: not known.
  double (*plain)(std::span<const int> x, std::span<const int> z, const KernelParameters& parameters,
                  const Region& region, std::string_view alphabet) = nullptr;
};

/// The sequences as loops read them. They must outlive it.
inline PackedLetters LettersOf(const SequenceRows& sequences) {
  const std::size_t rows = Offset(sequences.rows);
  PackedLetters letters;
  letters.words = sequences.words;
  letters.offsets = {sequences.offsets, rows};
  letters.lengths = {sequences.lengths, rows};
  for (const std::int32_t length : letters.lengths) letters.length = std::max<Index>(letters.length, length);
  letters.bits = sequences.bits;
  if (sequences.unknown_begin != nullptr) {
    letters.unknown_begin = {sequences.unknown_begin, rows + 1};
    letters.unknown = {sequences.unknown, Offset(sequences.unknown_begin[rows])};
  }
  return letters;
}

}  // namespace kweave

#endif  // KWEAVE_KERNEL_SEQUENCE_KERNEL_H_
