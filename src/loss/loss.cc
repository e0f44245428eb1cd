#include "loss/loss.h"

#include "loss/hinge.h"

namespace kweave {

std::span<const LossRecord> LossTable() {
  static const HingeLoss hinge;
  static const LossRecord table[] = {
      {"hinge", "max(0, 1 - y f): binary classification with y = +1 or -1.", &hinge},
  };
  return table;
}

}  // namespace kweave
