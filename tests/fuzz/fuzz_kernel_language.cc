// Any text as kernel specifications, one per line: they are refused with Error, or make kernels whose names
// are unique and stand for the same kernels.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "fuzz_input.h"
#include "kernel/language.h"

namespace {

using namespace kweave;

constexpr Index kMaxKernels = 3000;

std::vector<View> MakeViews() {
  return {{.name = "data", .features = MakeDense({0, 0.5, 1, 2, 3, 1, 4, 4, 4}, 3, 3), .feature_names = {}},
          {.name = "a-b",
           .features = MakeDense({-1, 1e200, 3, -1e200, 2, 0}, 3, 2),
           .feature_names = {"x", "y z"}}};
}

void CheckNames(const KernelSet& kernels, const std::vector<View>& views) {
  std::unordered_set<std::string> names;
  for (Index m = 0; m < kernels.size(); ++m) {
    const std::string name = kernels.Name(m);
    Require(names.insert(name).second);
    if (m >= 20 || kernels.given_names.contains(m)) continue;
    const std::vector<std::string> again = {name};
    Require(ParseKernels(again, views, 0, {}, kMaxKernels).Name(0) == name);
  }
  if (kernels.size() == 0) return;
  const std::vector<Index> last = {kernels.size() - 1};
  Require(kernels.Select(last).Name(0) == kernels.Name(last[0]));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<View> kViews = MakeViews();
  const std::vector<std::string> lines = FuzzPieces(data, size, '\n', size + 1);
  AllowErrors([&] { CheckNames(ParseKernels(lines, kViews, 0, {}, kMaxKernels), kViews); });
  return 0;
}
