// Sums over pairs of words by the letters in which they differ.
//
// Solves     out_u = sum over words v of h(d(u, v)) s_v for all words u of l letters out of q, where d counts
//            the places in which two words differ.
// Method     the matrix is a polynomial in the matrices that average over the letter at one place, so that it
//            has l + 1 eigenvalues lambda_0 ... lambda_l, one for every number of places in which a function
//            of a word differs from its average over that place (Delsarte: An algebraic approach to the
//            association schemes of coding theory, 1973; the eigenvalues are sums of Krawtchouk
//            polynomials). Place after place, the q values of words that differ there only are replaced by
//            their mean and what all but the first exceed it by; each value is multiplied by its eigenvalue;
//            and back.
// Takes and  a table of q^l values, which it replaces.
// returns
// Costs      4 l additions a value, in three passes over the memory, whatever h is.
#ifndef KWEAVE_COMPUTE_CPU_HAMMING_OPERATOR_H_
#define KWEAVE_COMPUTE_CPU_HAMMING_OPERATOR_H_

#include <span>
#include <vector>

#include "base/threads.h"
#include "kweave/index.h"

namespace kweave {

/// h(d) = C(l - d, k): in how many sets of k places two words are equal.
std::vector<double> GappedWeights(int letters, int chosen);
/// h(d): how many words differ from either of two in at most `most` places.
std::vector<double> MismatchWeights(int letters, int most, int alphabet);

class HammingOperator {
 public:
  /// `weights` are h(0) ... h(letters).
  HammingOperator(int letters, int alphabet, std::span<const double> weights);

  int letters() const { return letters_; }
  Index words() const { return words_; }
  std::span<const double> eigenvalues() const { return eigenvalues_; }

  /// `pool` may be null: one thread.
  void Apply(std::span<double> table, ThreadPool* pool) const;

 private:
  void ApplyHigh(double* table, Index begin, Index end) const;

  int letters_, alphabet_;
  int low_;  // places inside a block of neighbours
  Index words_, block_;
  std::vector<double> eigenvalues_;
  std::vector<int> varied_;  // digits that are not 0 of the numbers below a block
};

}  // namespace kweave

#endif  // KWEAVE_COMPUTE_CPU_HAMMING_OPERATOR_H_
