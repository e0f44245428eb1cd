// The Gram matrices of a kernel set on an accelerator: samples lie there, kernels are functions of distances
// and inner products that are evaluated where they are used (compute/device.h).
#ifndef KWEAVE_GRAM_DEVICE_GRAM_H_
#define KWEAVE_GRAM_DEVICE_GRAM_H_

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "compute/device.h"
#include "gram/make_gram.h"

namespace kweave {

/// An accelerator that Grams may use.
struct DeviceUse {
  Device* device = nullptr;
  Index least_samples = 0;                        ///< fewer stay on the CPU without a word
  std::function<void(const std::string&)> tells;  ///< why a Gram is on the CPU, in one sentence
};

/// The kernels on the device of options.device; null where they are for the CPU: they do not fit, are of a
/// kind that the device does not know, or it fails. `views` and `kernels` must outlive it.
std::unique_ptr<Gram> MakeDeviceGram(const KernelSet& kernels, std::span<const View> views,
                                     const Normalization& normalization, const GramOptions& options,
                                     ThreadPool& pool);

}  // namespace kweave

#endif  // KWEAVE_GRAM_DEVICE_GRAM_H_
