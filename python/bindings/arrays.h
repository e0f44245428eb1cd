#ifndef KWEAVE_PYTHON_ARRAYS_H_
#define KWEAVE_PYTHON_ARRAYS_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <span>
#include <vector>

#include "kweave/dataset.h"

namespace kweave::python {

namespace py = pybind11;

/// Holds a Python object alive for as long as the core refers to its memory, whichever thread lets go of it.
std::shared_ptr<const void> KeepAlive(py::object object);

/// The samples that Python describes as {"size": n, "positions": p, "views": [(name, matrix, feature names)],
/// "matrices": [(name, array, row indices, column indices, row numbers, column numbers)]}, not copied.
/// Messages call sample i sample p[i], and rows and columns by their numbers; empty ones leave them as they
/// are. A matrix is an array of float32 or float64 with contiguous rows, or the tuple (offsets int64, columns
/// int32, values float64, number of columns) of sparse rows; the array of kernel values is one of float32 or
/// float64 with any strides, and empty indices mean all rows or columns. Throws py::type_error on anything
/// else.
Dataset ReadSamples(const py::dict& samples);

/// Adds labels: the targets as they are or, where `classes` has names, as positions in it; classes keep that
/// order.
void AddLabels(const std::vector<double>& targets, const std::vector<std::string>& classes, Dataset& data);

/// An array that takes over the values.
py::array_t<double> ToArray(std::vector<double> values);

}  // namespace kweave::python

#endif  // KWEAVE_PYTHON_ARRAYS_H_
