// Solves   few columns of a matrix A whose mixture A x, x >= 0, is nearly the mixture y = A w of many.
// Method   non-negative least squares by an active set (Lawson and Hanson, Solving least squares problems,
//          1974): the column that reduces the residual fastest enters, those whose weight would fall below
//          zero leave.
// Takes    the columns and w >= 0 with sum 1; returns x with sum 1.
// Holds    no entry of A x differs from that of A w by more than the tolerance; where so few columns cannot
//          do that, x is w.
// Costs    for d entries, k columns and s of them in use at the end, about s steps of k d multiplications and
//          s^3 / 3.
#ifndef KWEAVE_WEIGHTS_MODELS_SPARSE_MIXTURE_H_
#define KWEAVE_WEIGHTS_MODELS_SPARSE_MIXTURE_H_

#include <cstddef>
#include <span>
#include <vector>

namespace kweave {

/// `columns` holds w.size() columns one after the other. At most `most` of them get a weight.
std::vector<double> SparseMixture(std::span<const double> columns, std::span<const double> w,
                                  double tolerance, std::size_t most);

}  // namespace kweave

#endif  // KWEAVE_WEIGHTS_MODELS_SPARSE_MIXTURE_H_
