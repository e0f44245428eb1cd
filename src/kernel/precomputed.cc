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
    .shape = Shape::kIdentity,
};

}  // namespace kweave
