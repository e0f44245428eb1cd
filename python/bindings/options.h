#ifndef KWEAVE_PYTHON_OPTIONS_H_
#define KWEAVE_PYTHON_OPTIONS_H_

#include <pybind11/pybind11.h>

#include "kweave/options.h"

namespace kweave::python {

namespace py = pybind11;

/// Every option by name with the default it has in the core: those of training, and "threads", "memory",
/// "seed", "time_limit" of the context.
py::dict DefaultOptions();

/// Options from a dictionary of names; those it leaves out keep their defaults. Throws Error(kUsage) on a
/// name that is no option and py::cast_error on a value of the wrong type.
TrainOptions ReadOptions(const py::dict& values);

}  // namespace kweave::python

#endif  // KWEAVE_PYTHON_OPTIONS_H_
