#include "verify/plain_sequences.h"

#include <fmt/format.h>

#include <algorithm>

#include "kweave/error.h"

namespace kweave::verify {
namespace {

// Letters [begin, end) of a sequence, and the last ones that words may have.
struct Part {
  Index begin = 0, end = 0, limit = 0;
};

// Numbers from 1, negative ones from the end; a third entry of 1: words begin there, and may end anywhere.
Part PartOf(const FeatureSubset& region, Index length) {
  if (region.empty()) return {0, length, length};
  const auto from_start = [&](Index number) { return number > 0 ? number - 1 : length + number; };
  const Index begin = std::clamp<Index>(from_start(region[0]), 0, length);
  const Index end = std::clamp<Index>(from_start(region[1]) + 1, begin, length);
  return {begin, end, region[2] == 1 ? length : end};
}

bool AreEqual(int a, int b) { return a >= 0 && a == b; }

// How many letters from i on are equal, of at most `most`.
Index EqualLetters(Letters x, Letters z, Index i, Index most) {
  Index count = 0;
  while (count < most && AreEqual(x[i + count], z[i + count])) ++count;
  return count;
}

// parameters: degree, order (one of them is 0).
double WeightedDegree(const KernelParameters& parameters, const FeatureSubset& region, Letters x, Letters z) {
  const double degree = parameters[0], order = parameters[1];
  const Part part = PartOf(region, static_cast<Index>(x.size()));
  double sum = 0;
  for (Index i = part.begin; i < part.end; ++i) {
    const Index most = std::min(static_cast<Index>(std::max(degree, order)), part.limit - i);
    const auto equal = static_cast<double>(EqualLetters(x, z, i, most));
    if (order > 0) sum += equal == order ? 1 : 0;
    for (double k = 1; order == 0 && k <= equal; ++k) sum += 2 * (degree - k + 1) / (degree * (degree + 1));
  }
  return sum;
}

using Formula = double (*)(const KernelParameters&, const FeatureSubset&, Letters, Letters);
constexpr std::pair<std::string_view, Formula> kFormulas[] = {
    {"wd", WeightedDegree},
};

}  // namespace

double SequenceValue(std::string_view kernel, const KernelParameters& parameters, const FeatureSubset& region,
                     Letters x, Letters z) {
  for (const auto& [name, formula] : kFormulas) {
    if (name == kernel) return formula(parameters, region, x, z);
  }
  throw Error(ErrorKind::kData,
              fmt::format("kernel '{}' cannot be verified: its formula is not known here", kernel));
}

}  // namespace kweave::verify
