#include "kernel/poly.h"

#include "kernel/linear.h"

namespace kweave {

constinit const KernelKind kPoly = {
    .name = "poly",
    .sentence = "(gamma <x,z> + coef0)^degree, polynomial",
    .base = &kInnerProductQuantity,
    .shape = Shape::kPower,
    .default_gamma = "1",
    .defaults = {.gamma = 1, .coef0 = 1, .degree = 3},
};

}  // namespace kweave
