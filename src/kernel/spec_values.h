#ifndef KWEAVE_KERNEL_SPEC_VALUES_H_
#define KWEAVE_KERNEL_SPEC_VALUES_H_

#include <vector>

#include "kernel/kernel_spec.h"
#include "kernel/spec_scanner.h"
#include "kweave/dataset.h"

namespace kweave {

/// Reads one parameter: numbers, lists, `1..3`, `logspace(a,b,n)`, `linspace(a,b,n)`, `median`, `mean`,
/// `quantile(q)`, `auto`, and products and quotients of them (`median*[0.5,2]`), at most `max_count` values.
std::vector<SpecValue> ReadSpecValues(SpecScanner& scanner, Index max_count);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_SPEC_VALUES_H_
