#include "kernel/language.h"

#include "kernel/spec_expander.h"
#include "kernel/spec_parser.h"
#include "kweave/error.h"

namespace kweave {

KernelSet ParseKernels(std::span<const std::string> specifications, std::span<const View> views,
                       std::uint64_t seed, Index max_kernels) {
  if (specifications.empty())
    throw Error(ErrorKind::kUsage, "no kernel is given; expected at least one, such as rbf");
  SpecExpander expander(views, seed, max_kernels);
  for (const std::string& text : specifications) expander.Add(ParseSpec(text, views, max_kernels), text);
  return expander.Finish();
}

}  // namespace kweave
