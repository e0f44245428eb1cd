// What training asks of a loss. A new loss is one file pair, its test and one line of the table in loss.cc.
#ifndef KWEAVE_LOSS_LOSS_H_
#define KWEAVE_LOSS_LOSS_H_

#include <memory>
#include <span>
#include <string_view>

#include "kweave/choices.h"

namespace kweave {

struct Interval {
  double lower = 0;
  double upper = 0;
};

/// The part of the dual term around one beta on which it is smooth, and its derivatives there.
struct DualPiece {
  Interval range;        ///< of beta
  double slope = 0;      ///< first derivative
  double curvature = 0;  ///< minus the second derivative, not negative
};

class SmoothLoss;

/// A loss C * l(f, y), convex in the function value f, together with its conjugate. In signed dual variables
/// beta (f = K beta + b) the two meet in C l(f, y) >= Dual(beta, y, C) - beta f, for every f and every
/// feasible beta. The smallest value of l over f is 0, so that Dual(0) = 0 and 0 is feasible.
class Loss {
 public:
  virtual ~Loss() = default;

  /// Itself when it has a continuous derivative, else null.
  virtual const SmoothLoss* smooth() const { return nullptr; }

  /// l(f, y).
  virtual double Value(double f, double y) const = 0;

  /// The largest lower bound on C l(f, y) + beta f over all f, for beta inside Feasible(y, C).
  virtual double Dual(double beta, double y, double C) const = 0;

  /// The beta for which Dual is finite.
  virtual Interval Feasible(double y, double C) const = 0;

  /// Around a feasible beta. Where Dual has a corner at beta, the side on which a machine with output f wants
  /// to be.
  virtual DualPiece PieceAt(double beta, double f, double y, double C) const = 0;

  /// The b that minimises sum_i C_i l(f_i + b, y_i) + slope b; the middle one where there are several.
  virtual double BestBias(std::span<const double> f, std::span<const double> y, std::span<const double> C,
                          double slope) const = 0;
};

/// The numbers that losses have.
struct LossParameters {
  double epsilon = 0.1;   ///< half the width of the tube in which regression costs nothing
  double sharpness = 10;  ///< of the smoothed hinge: the larger, the closer to the hinge
};

/// One line of the table of losses.
struct LossRecord {
  std::string_view name;
  std::string_view sentence;  ///< for the documentation
  Task task;
  std::unique_ptr<Loss> (*make)(const LossParameters& parameters);
};

/// The first line of a task is what it uses when no loss is asked for.
std::span<const LossRecord> LossTable();

}  // namespace kweave

#endif  // KWEAVE_LOSS_LOSS_H_
