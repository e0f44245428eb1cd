#ifndef KWEAVE_PYTHON_OPTIONS_H_
#define KWEAVE_PYTHON_OPTIONS_H_

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "kweave/options.h"

namespace kweave::python {

namespace py = pybind11;

/// The table of options, a dictionary for each: what python/generate-parameters makes signatures and
/// docstrings of.
py::list OptionRecords();

/// Every option by name with the default it has in the core: those of training, and "threads", "memory",
/// "seed", "time_limit" of the context.
py::dict DefaultOptions();

/// Options as a dictionary of names.
py::dict ToPython(const TrainOptions& options);

/// Options from a dictionary of names; those it leaves out keep their defaults. Throws Error(kUsage) on a
/// name that is no option and on a value of the wrong type.
TrainOptions ReadOptions(const py::dict& values);

/// The value of one option. Throws Error(kUsage) as ReadOptions does.
OptionValue ReadOptionValue(const std::string& name, py::handle value);

/// A text with the options it names in backquotes as the parameters of estimators.
std::string WithParameters(std::string_view text);

}  // namespace kweave::python

#endif  // KWEAVE_PYTHON_OPTIONS_H_
