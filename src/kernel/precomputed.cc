#include "kernel/precomputed.h"

namespace kweave {

constinit const BaseQuantity kFileQuantity = {
    .name = "matrix entry",
    .source = BaseQuantity::Source::kFile,
};

constinit const KernelKind kPrecomputed = {
    .name = "precomputed",
    .sentence = "entry (i,j) of the matrix in `file`",
    .base = &kFileQuantity,
};

constinit const KernelKind kJointMatrix = {
    .name = "joint",
    .sentence =
        "multiclass joint: on pairs of sample and class, entry (i m + u, j m + v) of the matrix in `file`",
    .base = &kFileQuantity,
};

}  // namespace kweave
