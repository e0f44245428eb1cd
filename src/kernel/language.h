// The kernel language: text to kernels. docs/kernels.md describes it for people.
//
// Next on the main path: gram/gram.h turns a KernelSet into rows and quadratics.
#ifndef KWEAVE_KERNEL_LANGUAGE_H_
#define KWEAVE_KERNEL_LANGUAGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernel/kernel_set.h"
#include "kweave/dataset.h"

namespace kweave {

/// Above this their list alone fills the memory of most machines.
inline constexpr Index kMostKernels = 100'000'000;

/// Parses the specifications against the views of the training data (names, feature counts, data-driven
/// widths; `seed` draws the sample of rows they use above 2,000 rows). Throws Error(kUsage) that quotes the
/// specification and points at the place in it, and Error(kData) where a kernel is not defined for the
/// features, which names samples by `numbering`. `max_kernels` bounds their number, each counted as often as
/// it has terms.
KernelSet ParseKernels(std::span<const std::string> specifications, std::span<const View> views,
                       std::uint64_t seed, const Numbering& numbering = {}, Index max_kernels = kMostKernels);

/// The files that the specifications name. Throws Error(kUsage) as ParseKernels does.
std::vector<std::string> FilesOfKernels(std::span<const std::string> specifications,
                                        std::span<const View> views);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_LANGUAGE_H_
