#ifndef KWEAVE_INDEX_H_
#define KWEAVE_INDEX_H_

#include <cstdint>

namespace kweave {

/// Counts and positions of samples, features and kernels; signed, so that differences are safe.
using Index = std::int64_t;

}  // namespace kweave

#endif  // KWEAVE_INDEX_H_
