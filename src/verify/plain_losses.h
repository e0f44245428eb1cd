// The losses of docs/dev/notation.md and their conjugates, as formulas.
#ifndef KWEAVE_VERIFY_PLAIN_LOSSES_H_
#define KWEAVE_VERIFY_PLAIN_LOSSES_H_

#include <string>

#include "base/constants.h"

namespace kweave::verify {

struct PlainLoss {
  std::string name;
  double epsilon = 0, sharpness = 0;

  /// l(f, y).
  double Value(double f, double y) const;
  /// The minimum over f of C l(f, y) + beta f; minus infinity where there is none. A beta outside
  /// the interval where the minimum is finite, by no more than `violation` relative to C, is taken at its
  /// end.
  double Dual(double beta, double y, double C, double violation) const;
  /// Whether it grows on either side of a margin.
  bool IsTwoSided() const { return name == "least-squares"; }
};

}  // namespace kweave::verify

#endif  // KWEAVE_VERIFY_PLAIN_LOSSES_H_
