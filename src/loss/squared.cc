#include "loss/squared.h"

#include "base/constants.h"

namespace kweave {

namespace {}

double SquaredLoss::Value(double f, double y) const { return 0.5 * (f - y) * (f - y); }

double SquaredLoss::Dual(double beta, double y, double C) const { return beta * (y - 0.5 * beta / C); }

Interval SquaredLoss::Feasible(double y, double C) const { return {-kInfinity, kInfinity}; }

DualPiece SquaredLoss::PieceAt(double beta, double f, double y, double C) const {
  return {Feasible(y, C), y - beta / C, 1 / C};
}

LossDerivatives SquaredLoss::DerivativesAt(double f, double y) const { return {f - y, 1}; }

}  // namespace kweave
