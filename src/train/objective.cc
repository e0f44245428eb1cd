#include "train/objective.h"

#include <fmt/format.h>

#include <string>

#include "kweave/error.h"

namespace kweave {
namespace {

const LossRecord* FindLoss(std::string_view name) {
  for (const LossRecord& record : LossTable()) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

std::string LossesOf(Task task) {
  std::string names = "auto";
  for (const LossRecord& record : LossTable()) {
    if (record.task == task) names += fmt::format(", {}", record.name);
  }
  return names;
}

}  // namespace

Task EffectiveTask(const TrainOptions& options) {
  const TaskRecord* record = FindTask(options.task);
  if (record != nullptr) return record->task;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("task '{}' is not available; available: classify, regress, oneclass", options.task));
}

const LossRecord& EffectiveLoss(const TrainOptions& options) {
  const Task task = EffectiveTask(options);
  if (task == Task::kOneClass && !options.bias) {
    if (options.loss == "auto") return *FindLoss("hinge");
    throw Error(
        ErrorKind::kUsage,
        fmt::format("loss '{}' does not serve task oneclass without bias; available: auto", options.loss));
  }
  for (const LossRecord& record : LossTable()) {
    if (record.task == task && (options.loss == "auto" || options.loss == record.name)) return record;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("loss '{}' {}; available for task {}: {}", options.loss,
                          FindLoss(options.loss) == nullptr ? "does not exist" : "serves another task",
                          options.task, LossesOf(task)));
}

Objective::Objective(std::span<const double> y, std::span<const double> upper, const TrainOptions& options)
    : loss_(EffectiveLoss(options).make({.epsilon = options.epsilon, .sharpness = options.sharpness})),
      is_margin_threshold_(EffectiveTask(options) == Task::kOneClass && !options.bias) {
  const bool has_threshold = EffectiveTask(options) == Task::kOneClass && options.bias;
  risk_ = {loss_.get(), y, upper, options.bias, has_threshold ? 1.0 : 0.0};
}

}  // namespace kweave
