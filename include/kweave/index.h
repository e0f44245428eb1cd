#ifndef KWEAVE_INDEX_H_
#define KWEAVE_INDEX_H_

#include <cstdint>

namespace kweave {

/// Counts and positions of samples, features and kernels. Signed, so that a difference of two of them is
/// never a huge number; 64 bits, so that the n^2 entries of a kernel matrix can be counted:
///
///     for (kweave::Index i = 0; i < data.size; ++i) ...
using Index = std::int64_t;

}  // namespace kweave

#endif  // KWEAVE_INDEX_H_
