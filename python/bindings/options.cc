#include "options.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "kweave/context.h"
#include "kweave/error.h"

namespace kweave::python {
namespace {

using Record = OptionRecord<TrainOptions>;

constexpr const char* kKeepSamples = "keep_samples";  // which has no record

const Record* FindRecord(std::string_view name) {
  for (const Record& record : TrainOptionRecords()) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

// What Python sees where the alternatives are numbers, texts, lists and dictionaries.
constexpr const char* kKinds[] = {"bool",        "int",           "float",   "str",
                                  "list of str", "list of float", "numbers", "intervals"};
static_assert(std::size(kKinds) == std::variant_size_v<OptionValue>);

OptionValue FromPython(std::string_view name, py::handle value, const OptionValue& like) {
  const auto cast = [value]<class T>(const T&) -> OptionValue { return value.cast<T>(); };
  try {
    return std::visit(cast, like);
  } catch (const py::cast_error&) {
    const std::string expected = std::string("a ") + (like.index() <= 2 ? "number" : "text");
    throw Error(ErrorKind::kUsage, {std::string(name), py::repr(value).cast<std::string>(), expected});
  }
}

py::list Choices(const Record& record) {
  py::list choices;
  if (record.choices == nullptr) return choices;
  for (const OptionChoice& choice : record.choices()) {
    py::dict told;
    told["name"] = choice.name;
    told["sentence"] = choice.sentence;
    told["condition"] = choice.condition;
    choices.append(told);
  }
  return choices;
}

py::list Tasks(const Record& record) {
  py::list tasks;
  for (const ChoiceRecord<Task>& task : ChoiceTable<Task>()) {
    const std::vector<Task>& own = record.scope.tasks;
    if (own.empty() || std::find(own.begin(), own.end(), task.choice) != own.end())
      tasks.append(std::string(task.name));
  }
  return tasks;
}

}  // namespace

py::list OptionRecords() {
  py::list records;
  for (const Record& record : TrainOptionRecords()) {
    py::dict told;
    told["name"] = std::string(record.name);
    told["sentence"] = std::string(record.sentence);
    told["scope"] = record.scope.ToText(/*names_tasks=*/false);
    told["tasks"] = Tasks(record);
    told["kind"] = kKinds[record.fallback.index()];
    told["default"] = py::cast(record.fallback);
    told["default_text"] = record.DefaultText();
    told["allowed"] = record.AllowedText();
    told["choices"] = Choices(record);
    told["is_list"] = record.is_list;
    told["has_infinity"] = record.range.has_infinity;
    told["zero_means_none"] = record.range.zero_means_none;
    records.append(told);
  }
  return records;
}

py::dict DefaultOptions() {
  py::dict defaults = ToPython(TrainOptions());
  const Context context;
  defaults["threads"] = context.threads;
  defaults["memory"] = context.memory_bytes;
  defaults["seed"] = context.seed;
  defaults["time_limit"] = context.time_limit_seconds;
  return defaults;
}

py::dict ToPython(const TrainOptions& options) {
  py::dict values;
  for (const Record& record : TrainOptionRecords())
    values[py::str(std::string(record.name))] = py::cast(record.get(options));
  return values;
}

std::string WithParameters(std::string_view text) {
  return NameOptions(text, [](std::string_view name) -> std::string {
    // As scikit-learn calls them.
    if (name == "class_weights") return "class_weight";
    if (name == "sample_weights") return "sample_weight";
    return std::string(name);
  });
}

OptionValue ReadOptionValue(const std::string& name, py::handle value) {
  const Record* record = FindRecord(name);
  if (record == nullptr) throw Error(ErrorKind::kUsage, "'" + name + "' is not an option");
  return FromPython(name, value, record->fallback);
}

TrainOptions ReadOptions(const py::dict& values) {
  TrainOptions options;
  for (const auto& [key, value] : values) {
    const auto name = key.cast<std::string>();
    if (name == kKeepSamples) {
      options.keep_samples = value.cast<std::vector<std::int64_t>>();
      continue;
    }
    const OptionValue read = ReadOptionValue(name, value);
    FindRecord(name)->set(options, read);
  }
  return options;
}

}  // namespace kweave::python
