#include "options.h"

#include <pybind11/stl.h>

#include <array>
#include <functional>
#include <string>

#include "kweave/context.h"
#include "kweave/error.h"

namespace kweave::python {
namespace {

/// One option: its name in Python and its place in the core.
struct Field {
  const char* name;
  std::function<py::object(const TrainOptions&)> get;
  std::function<void(py::handle, TrainOptions&)> set;
};

template <class T>
Field MakeField(const char* name, T TrainOptions::*member) {
  return {name, [member](const TrainOptions& options) { return py::cast(options.*member); },
          [name, member](py::handle value, TrainOptions& options) {
            try {
              options.*member = value.cast<T>();
            } catch (const py::cast_error&) {
              throw Error(ErrorKind::kUsage, std::string(name) + " is " +
                                                 py::repr(value).cast<std::string>() + ", expected a " +
                                                 (std::is_arithmetic_v<T> ? "number" : "text"));
            }
          }};
}

const std::array kFields = {
    MakeField("task", &TrainOptions::task),
    MakeField("loss", &TrainOptions::loss),
    MakeField("kernels", &TrainOptions::kernels),
    MakeField("C", &TrainOptions::C),
    MakeField("epsilon", &TrainOptions::epsilon),
    MakeField("nu", &TrainOptions::nu),
    MakeField("sharpness", &TrainOptions::sharpness),
    MakeField("bias", &TrainOptions::bias),
    MakeField("norm", &TrainOptions::norm),
    MakeField("block_norm", &TrainOptions::block_norm),
    MakeField("regularizer", &TrainOptions::regularizer),
    MakeField("penalty", &TrainOptions::penalty),
    MakeField("weight_bounds", &TrainOptions::weight_bounds),
    MakeField("groups", &TrainOptions::groups),
    MakeField("inner_norm", &TrainOptions::inner_norm),
    MakeField("matrix", &TrainOptions::matrix),
    MakeField("matrix_on", &TrainOptions::matrix_on),
    MakeField("ridge", &TrainOptions::ridge),
    MakeField("elastic", &TrainOptions::elastic),
    MakeField("multiclass", &TrainOptions::multiclass),
    MakeField("machine_weights", &TrainOptions::machine_weights),
    MakeField("class_kernels", &TrainOptions::class_kernels),
    MakeField("class_C", &TrainOptions::class_C),
    MakeField("class_norm", &TrainOptions::class_norm),
    MakeField("method", &TrainOptions::method),
    MakeField("solver", &TrainOptions::solver),
    MakeField("combine", &TrainOptions::combine),
    MakeField("restarts", &TrainOptions::restarts),
    MakeField("driver", &TrainOptions::driver),
    MakeField("normalize", &TrainOptions::normalize),
    MakeField("gap", &TrainOptions::gap),
    MakeField("certificate", &TrainOptions::certificate),
    MakeField("max_iterations", &TrainOptions::max_iterations),
    MakeField("sample_weights", &TrainOptions::sample_weights),
    MakeField("class_weights", &TrainOptions::class_weights),
    MakeField("keep_samples", &TrainOptions::keep_samples),
};

}  // namespace

py::dict DefaultOptions() {
  py::dict defaults;
  const TrainOptions options;
  for (const Field& field : kFields) defaults[field.name] = field.get(options);
  const Context context;
  defaults["threads"] = context.threads;
  defaults["memory"] = context.memory_bytes;
  defaults["seed"] = context.seed;
  defaults["time_limit"] = context.time_limit_seconds;
  return defaults;
}

TrainOptions ReadOptions(const py::dict& values) {
  TrainOptions options;
  for (const auto& [key, value] : values) {
    const auto name = key.cast<std::string>();
    const auto* field =
        std::find_if(kFields.begin(), kFields.end(), [&](const Field& f) { return f.name == name; });
    if (field == kFields.end()) throw Error(ErrorKind::kUsage, "'" + name + "' is not an option");
    field->set(value, options);
  }
  return options;
}

}  // namespace kweave::python
