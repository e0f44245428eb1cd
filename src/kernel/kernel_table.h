#ifndef KWEAVE_KERNEL_KERNEL_TABLE_H_
#define KWEAVE_KERNEL_KERNEL_TABLE_H_

#include <span>
#include <string>
#include <string_view>

#include "kernel/kernel_kind.h"

namespace kweave {

/// Every kernel there is, in the order that --help shows. A new kernel is one file pair and one line here.
std::span<const KernelKind* const> KernelTable();

/// Null when there is no kernel of that name.
const KernelKind* FindKernelKind(std::string_view name);

/// The table as text for --help and the documentation: one line per kernel with its parameters, their
/// defaults and the formula.
std::string KernelHelp();

}  // namespace kweave

#endif  // KWEAVE_KERNEL_KERNEL_TABLE_H_
