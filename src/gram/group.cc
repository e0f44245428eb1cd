#include "gram/group.h"

#include <algorithm>
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

std::vector<Index> CommonSupport(std::span<const std::span<const double>> vectors) {
  std::vector<Index> rows;
  const std::size_t size = vectors.empty() ? 0 : vectors[0].size();
  for (std::size_t i = 0; i < size; ++i) {
    if (std::any_of(vectors.begin(), vectors.end(), [&](const auto& a) { return a[i] != 0; })) {
      rows.push_back(static_cast<Index>(i));
    }
  }
  return rows;
}

std::vector<Index> CommonSupport(std::span<const VectorRequest> requests) {
  std::vector<std::span<const double>> vectors;
  for (const VectorRequest& request : requests) vectors.push_back(request.a);
  return CommonSupport(vectors);
}

}  // namespace kweave
