#ifndef KWEAVE_TRAIN_RUN_DEVICE_H_
#define KWEAVE_TRAIN_RUN_DEVICE_H_

#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "compute/device.h"
#include "gram/device_gram.h"
#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/options.h"

namespace kweave {

/// The accelerator of one run, if options and problem want one and there is one. Says in the log what it does
/// not serve, each sentence once.
class RunDevice {
 public:
  /// Data, options and context must outlive it.
  RunDevice(const Dataset& data, const TrainOptions& options, const Context& context);
  RunDevice(const RunDevice&) = delete;
  RunDevice& operator=(const RunDevice&) = delete;

  /// Null: the run stays on the CPU. Waits for the device, which starts while other things are prepared.
  const DeviceUse* use();
  /// Says that the run starts again on the CPU, and why; there is no device from now on.
  void Abandon(const DeviceError& error);

 private:
  void FinishOpening();
  void Tell(LogLevel level, const std::string& sentence) const;

  const Context& context_;
  const bool is_asked_for_;
  std::future<std::unique_ptr<Device>> opening_;
  std::unique_ptr<Device> device_;
  bool is_open_ = false;
  DeviceUse use_;
  mutable std::mutex mutex_;  // machines of several classes are trained side by side
  mutable std::set<std::string> told_;
};

}  // namespace kweave

#endif  // KWEAVE_TRAIN_RUN_DEVICE_H_
