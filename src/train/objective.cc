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

const LossRecord& EffectiveLoss(const TrainOptions& options) {
  const Task task = options.task;
  if (task == Task::kOneClass && !options.bias) {
    if (options.loss == "auto") return *FindLoss("hinge");
    throw Error(ErrorKind::kUsage,
                fmt::format("`loss` '{}' does not serve `task` oneclass without `bias`; available: auto",
                            options.loss),
                {"loss", options.loss, "auto"});
  }
  for (const LossRecord& record : LossTable()) {
    if (record.task == task && (options.loss == "auto" || options.loss == record.name)) return record;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("`loss` '{}' {}; available for `task` {}: {}", options.loss,
                          FindLoss(options.loss) == nullptr ? "does not exist" : "serves another task",
                          ToString(task), LossesOf(task)),
              {"loss", options.loss, LossesOf(task)});
}

Objective::Objective(std::span<const double> y, std::span<const double> upper, const TrainOptions& options)
    : loss_(EffectiveLoss(options).make({.epsilon = options.epsilon, .sharpness = options.sharpness})),
      is_margin_threshold_(options.task == Task::kOneClass && !options.bias) {
  const bool has_threshold = options.task == Task::kOneClass && options.bias;
  risk_ = {loss_.get(), y, upper, options.bias, has_threshold ? 1.0 : 0.0};
}

}  // namespace kweave
