#ifndef KWEAVE_NEAREST_NAME_H_
#define KWEAVE_NEAREST_NAME_H_

#include <span>
#include <string>
#include <string_view>

namespace kweave {

/// The candidate with the fewest edits (insert, delete, replace, swap neighbours) from `name`; empty when
/// none is close enough to be what was meant.
std::string_view NearestName(std::string_view name, std::span<const std::string_view> candidates);

/// The end of a sentence about an unknown name: `; did you mean "rbf"?`, else `; expected one of a, b, c`.
///
///     const std::string_view known[] = {"linear", "rbf"};
///     kweave::NameHint("rfb", known);   // "; did you mean "rbf"?"
std::string NameHint(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace kweave

#endif  // KWEAVE_NEAREST_NAME_H_
