#include "train/run_device.h"

#include <fmt/format.h>

#include "train/objective.h"

namespace kweave {
namespace {

// To start a device takes some tenths of a second, in which the CPU solves problems of fewer samples; and
// what comes back from parts of so few samples is not worth the way.
constexpr Index kLeastSamples = 8000, kLeastSamplesOfPart = 1000;

bool IsServed(const TrainOptions& options) {
  return options.combine == Combine::kSum && options.multiclass != Multiclass::kJoint &&
         EffectiveLoss(options).make({})->smooth() == nullptr;
}

}  // namespace

RunDevice::RunDevice(const Dataset& data, const TrainOptions& options, const Context& context)
    : context_(context), is_asked_for_(options.device != "auto") {
  const Index samples = data.views.empty() ? 0 : RowCount(data.views[0].features);
  if (options.device == "cpu" || (!is_asked_for_ && samples < kLeastSamples)) return;
  if (IsServed(options)) {
    const auto most_bytes = static_cast<std::size_t>(options.device_memory * 1e9);
    opening_ = std::async(std::launch::async, [most_bytes] { return OpenDevice(most_bytes); });
  } else if (is_asked_for_) {
    Tell(
        LogLevel::kNote,
        "`device` is for sums of kernels, losses with corners and machines of one output: this training runs "
        "on the CPU");
  }
}

const DeviceUse* RunDevice::use() {
  if (opening_.valid()) FinishOpening();
  return is_open_ ? &use_ : nullptr;
}

void RunDevice::FinishOpening() {
  try {
    device_ = opening_.get();
  } catch (const DeviceError& error) {
    Tell(is_asked_for_ ? LogLevel::kWarning : LogLevel::kDetail,
         fmt::format("training runs on the CPU: {}", error.what()));
    return;
  }
  is_open_ = true;
  use_ = {device_.get(), is_asked_for_ ? 0 : kLeastSamplesOfPart,
          [this](const std::string& sentence) { Tell(LogLevel::kNote, sentence); }};
  Tell(LogLevel::kDetail, fmt::format("training runs on {}", device_->Description()));
}

void RunDevice::Abandon(const DeviceError& error) {
  is_open_ = false;
  Tell(LogLevel::kWarning, fmt::format("{}; training starts again on the CPU", error.what()));
}

void RunDevice::Tell(LogLevel level, const std::string& sentence) const {
  const std::lock_guard lock(mutex_);
  if (told_.insert(sentence).second && context_.log) context_.log(level, sentence);
}

}  // namespace kweave
