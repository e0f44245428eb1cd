#include "gram/group.h"

#include <cstddef>

namespace kweave {

SupportVector MakeSupport(std::span<const double> a) {
  SupportVector support;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 0) continue;
    support.rows.push_back(static_cast<Index>(i));
    support.factors.push_back(a[i]);
    support.sum += a[i];
  }
  return support;
}

}  // namespace kweave
