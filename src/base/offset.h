#ifndef KWEAVE_BASE_OFFSET_H_
#define KWEAVE_BASE_OFFSET_H_

#include <cstddef>

#include "kweave/index.h"

namespace kweave {

/// A position as containers count: `i` is not negative.
inline std::size_t Offset(Index i) { return static_cast<std::size_t>(i); }

}  // namespace kweave

#endif  // KWEAVE_BASE_OFFSET_H_
