#ifndef KWEAVE_KERNEL_KERNEL_NAMES_H_
#define KWEAVE_KERNEL_KERNEL_NAMES_H_

#include <string>
#include <unordered_map>

#include "kernel/kernel_set.h"

namespace kweave {

/// Data-driven widths, and the shorter numbers that stand for them in names.
using ShortWidths = std::unordered_map<double, double>;

/// The kernel in the kernel language, as KernelSet::Name without a given name prints it: parsing it gives the
/// same kernel. With `short_widths`, those widths are replaced.
std::string DescribeKernel(const KernelSet& kernels, Index m, const ShortWidths* short_widths = nullptr);

/// Fills in given_names where what DescribeKernel says is not the name: numbers that users did not write are
/// shortened to six digits where that stays unique; later ones of equal names get #2, #3 and so on.
/// Linear in the number of kernels, and makes no strings but those it stores.
void MakeNamesUnique(KernelSet& kernels, const ShortWidths& short_widths);

/// Six significant digits of a data-driven width.
double ShortenNumber(double value);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_KERNEL_NAMES_H_
