#ifndef KWEAVE_KERNEL_SPEC_PARSER_H_
#define KWEAVE_KERNEL_SPEC_PARSER_H_

#include <span>
#include <string_view>

#include "kernel/kernel_spec.h"
#include "kweave/dataset.h"

namespace kweave {

/// Reads one specification against the names and features of the views. Throws Error(kUsage).
///
///     sum     = product { '+' product }
///     product = factor { '*' factor }
///     factor  = primary { '@' view [ '[' features ']' ] }
///     primary = '(' sum [ ',' name ] ')' | 'each' '(' sum [ ',' name ] ')'
///             | 'mean' '(' sum ',' sum { ',' sum } [ ',' name ] ')' | kernel [ '(' arguments ')' ]
///     name    = 'name' '=' text
KernelSpec ParseSpec(std::string_view text, std::span<const View> views, Index max_count);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_SPEC_PARSER_H_
