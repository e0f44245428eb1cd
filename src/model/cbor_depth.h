#ifndef KWEAVE_MODEL_CBOR_DEPTH_H_
#define KWEAVE_MODEL_CBOR_DEPTH_H_

#include <cstdint>
#include <span>

namespace kweave {

/// True when `bytes` are one whole CBOR item (RFC 8949) of definite lengths that nests at most `limit` deep.
/// Readers that recurse may then be let loose on bytes of any origin. Costs one step per item, none per byte.
bool IsCborWithinDepth(std::span<const std::uint8_t> bytes, int limit);

}  // namespace kweave

#endif  // KWEAVE_MODEL_CBOR_DEPTH_H_
