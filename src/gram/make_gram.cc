#include "gram/make_gram.h"

#include "gram/device_gram.h"
#include "gram/structured_gram.h"

namespace kweave {
namespace {

std::unique_ptr<Gram> Make(const KernelSet& kernels, const Sides& sides, const Normalization& normalization,
                           const GramOptions& options, ThreadPool& pool) {
  if (options.use_float)
    return std::make_unique<StructuredGram<float>>(kernels, sides, normalization, options, pool);
  return std::make_unique<StructuredGram<double>>(kernels, sides, normalization, options, pool);
}

}  // namespace

std::unique_ptr<Gram> MakeGram(const KernelSet& kernels, std::span<const View> views,
                               const Normalization& normalization, const GramOptions& options,
                               ThreadPool& pool) {
  if (options.device != nullptr) {
    if (auto gram = MakeDeviceGram(kernels, views, normalization, options, pool)) return gram;
  }
  return Make(kernels, {views, views, true, {}}, normalization, options, pool);
}

std::unique_ptr<Gram> MakeCrossGram(const KernelSet& kernels, std::span<const View> left,
                                    std::span<const View> right, const Normalization& normalization,
                                    std::span<const Index> left_columns, const GramOptions& options,
                                    ThreadPool& pool) {
  return Make(kernels, {left, right, false, left_columns}, normalization, options, pool);
}

}  // namespace kweave
