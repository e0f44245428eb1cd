#include "kernel/language.h"

#include "kernel/spec_expander.h"
#include "kernel/spec_parser.h"
#include "kweave/error.h"

namespace kweave {

KernelSet ParseKernels(std::span<const std::string> specifications, std::span<const View> views,
                       std::uint64_t seed, const Numbering& numbering, Index max_kernels) {
  if (specifications.empty())
    throw Error(ErrorKind::kUsage, "no kernel is given; expected at least one, such as rbf",
                {"kernels", "", "at least one"});
  SpecExpander expander(views, seed, numbering, max_kernels);
  for (const std::string& text : specifications) expander.Add(ParseSpec(text, views, max_kernels), text);
  return expander.Finish();
}

std::vector<std::string> FilesOfKernels(std::span<const std::string> specifications,
                                        std::span<const View> views) {
  std::vector<std::string> files;
  for (const std::string& text : specifications) {
    for (const SpecAxis& axis : ParseSpec(text, views, kMostKernels).axes) {
      files.insert(files.end(), axis.files.begin(), axis.files.end());
    }
  }
  return files;
}

}  // namespace kweave
