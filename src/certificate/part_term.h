// Solves     R*(q + shift c) for the indicator c of a part of the kernels, for many parts and shifts.
// Method     a dual term that is a norm of norms (regularizer/regularizer.h, DualNorm) keeps sums of powers,
//            from which those of the part are taken away; a maximum keeps the order of its values. Others are
//            evaluated anew.
// Takes      the regulariser, which must outlive this, and q >= 0.
// Holds      what is returned is never too small: rounding is added to the rest that a difference leaves.
// Costs      O(M log M) once; for a part and a shift what the part has kernels, or for other dual terms one
//            of them.
#ifndef KWEAVE_CERTIFICATE_PART_TERM_H_
#define KWEAVE_CERTIFICATE_PART_TERM_H_

#include <span>
#include <utility>
#include <vector>

#include "kweave/index.h"
#include "regularizer/regularizer.h"

namespace kweave {

class PartTerm {
 public:
  PartTerm(const Regularizer& regularizer, std::vector<double> q);

  bool is_fast() const { return norm_ != nullptr; }
  std::span<const double> q() const { return q_; }
  /// The part that is meant from now on: ascending, each kernel once.
  void Choose(std::span<const Index> part);
  /// R*(q + shift c).
  double At(double shift) const;
  /// R*(q + shift c - taken), `taken` from the q of every kernel: O(M).
  double At(double shift, double taken) const;
  /// Where the dual term is a maximum over all kernels: the shift at which the part and the rest are alike;
  /// else 0.
  double Kink() const;
  /// The largest sum of weights of the part where the regulariser bounds it by a norm; else infinite.
  double Cap() const;

 private:
  struct TouchedGroup {
    double rest;             // of its other kernels: sum of powers, or the largest
    std::size_t begin, end;  // of its kernels in part_
  };
  double NormOfGroup(const TouchedGroup& group, double shift) const;
  double WholeOf(double rest, std::span<const double> norms) const;
  void MeasureGroups();
  std::size_t GroupOf(Index m) const;

  const Regularizer& regularizer_;
  const DualNorm* norm_;
  std::vector<double> q_;
  double unit_ = 1;  // the largest q: powers are of ratios to it
  std::vector<double> group_sums_, group_norms_;
  std::vector<std::vector<Index>> group_order_;  // kernels by falling q, where the inner norm is a maximum
  std::vector<std::size_t> norm_order_;          // groups by falling norm, where the outer one is
  double outer_sum_ = 0;

  std::vector<Index> part_;  // by groups
  std::vector<TouchedGroup> touched_;
  std::vector<bool> is_in_part_, is_touched_;
  double outer_rest_ = 0;
  mutable std::vector<double> norms_, shifted_;
};

}  // namespace kweave

#endif  // KWEAVE_CERTIFICATE_PART_TERM_H_
