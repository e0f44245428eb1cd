#ifndef KWEAVE_DATA_LABEL_KEY_H_
#define KWEAVE_DATA_LABEL_KEY_H_

#include <optional>
#include <string>
#include <string_view>

namespace kweave {

/// The number that a label stands for; none for words, and for numbers with leading zeros: `007` is a code,
/// not 7.
std::optional<double> LabelNumber(std::string_view label);

/// What labels are compared by: those with equal keys are one class. `+1`, `1`, `1.0` and `1e0` have the
/// same; whole numbers keep all of their digits, so that those beyond 2^53 stay apart.
std::string LabelKey(std::string_view label);

}  // namespace kweave

#endif  // KWEAVE_DATA_LABEL_KEY_H_
