#ifndef KWEAVE_LOSS_TASK_H_
#define KWEAVE_LOSS_TASK_H_

#include <array>
#include <string_view>

namespace kweave {

/// What is learned.
enum class Task { kClassify, kRegress, kOneClass };

/// One line of the table of tasks.
struct TaskRecord {
  std::string_view name;  ///< on the command line and in models
  Task task;
};

inline constexpr std::array kTasks = {TaskRecord{"classify", Task::kClassify},
                                      TaskRecord{"regress", Task::kRegress},
                                      TaskRecord{"oneclass", Task::kOneClass}};

constexpr std::string_view ToString(Task task) { return kTasks[static_cast<std::size_t>(task)].name; }

/// The task of this name, or null.
constexpr const TaskRecord* FindTask(std::string_view name) {
  for (const TaskRecord& record : kTasks) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

}  // namespace kweave

#endif  // KWEAVE_LOSS_TASK_H_
