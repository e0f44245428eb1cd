#include "arrays.h"

#include <pybind11/stl.h>

namespace kweave::python {
namespace {

template <class T>
bool Is(const py::array& array) {
  return py::isinstance<py::array_t<T>>(array);
}

template <class T>
Index Stride(const py::array& array, int axis) {
  if (array.strides(axis) % static_cast<Index>(sizeof(T)) != 0)
    throw py::type_error("a matrix is not aligned");
  return array.strides(axis) / static_cast<Index>(sizeof(T));
}

template <class T>
DenseRows<T> Dense(const py::array& array) {
  if (array.shape(1) > 1 && array.strides(1) != static_cast<Index>(sizeof(T))) {
    throw py::type_error("the rows of a dense matrix must be contiguous");
  }
  return {static_cast<const T*>(array.data()), array.shape(0), array.shape(1), Stride<T>(array, 0),
          KeepAlive(array)};
}

template <class T>
const T* Contiguous(const py::handle& handle, const char* what) {
  const auto array = py::reinterpret_borrow<py::array>(handle);
  if (!Is<T>(array) || array.ndim() != 1 || (array.size() > 1 && array.strides(0) != sizeof(T))) {
    throw py::type_error(std::string("sparse rows: unexpected type of ") + what);
  }
  return static_cast<const T*>(array.data());
}

SparseRows Sparse(const py::tuple& parts) {
  SparseRows rows;
  rows.offsets = Contiguous<std::int64_t>(parts[0], "offsets");
  rows.columns = Contiguous<std::int32_t>(parts[1], "columns");
  rows.values = Contiguous<double>(parts[2], "values");
  rows.rows = static_cast<Index>(py::len(parts[0])) - 1;
  rows.cols = parts[3].cast<Index>();
  rows.owner = KeepAlive(parts);
  return rows;
}

Features ReadFeatures(const py::handle& matrix) {
  if (py::isinstance<py::tuple>(matrix)) return Sparse(py::reinterpret_borrow<py::tuple>(matrix));
  const auto array = py::reinterpret_borrow<py::array>(matrix);
  if (!py::isinstance<py::array>(matrix) || array.ndim() != 2) throw py::type_error("expected a 2-d array");
  if (Is<float>(array)) return Dense<float>(array);
  if (Is<double>(array)) return Dense<double>(array);
  throw py::type_error("expected an array of float32 or float64");
}

template <class T>
GramMatrix Gram(const std::string& name, const py::array& array) {
  return {name,
          DenseRows<T>{static_cast<const T*>(array.data()), array.shape(0), array.shape(1),
                       Stride<T>(array, 0), KeepAlive(array)},
          Stride<T>(array, 1)};
}

std::vector<Index> ReadIndices(const py::handle& indices) {
  const auto array = py::array_t<Index, py::array::c_style | py::array::forcecast>::ensure(indices);
  if (!array) throw py::error_already_set();
  return {array.data(), array.data() + array.size()};
}

GramMatrix ReadMatrix(const py::tuple& parts) {
  const auto name = parts[0].cast<std::string>();
  const auto array = parts[1].cast<py::array>();
  if (array.ndim() != 2 || !(Is<float>(array) || Is<double>(array))) {
    throw py::type_error("kernel values: expected a 2-d array of float32 or float64");
  }
  GramMatrix matrix = Is<float>(array) ? Gram<float>(name, array) : Gram<double>(name, array);
  matrix.row_indices = ReadIndices(parts[2]);
  matrix.column_indices = ReadIndices(parts[3]);
  matrix.row_numbers = ReadIndices(parts[4]);
  matrix.column_numbers = ReadIndices(parts[5]);
  return matrix;
}

}  // namespace

std::shared_ptr<const void> KeepAlive(py::object object) {
  return {new py::object(std::move(object)), [](const void* held) {
            const py::gil_scoped_acquire gil;
            delete static_cast<const py::object*>(held);
          }};
}

Dataset ReadSamples(const py::dict& samples) {
  Dataset data;
  data.size = samples["size"].cast<Index>();
  data.numbering = {.first = 0, .positions = ReadIndices(samples["positions"])};
  for (const py::handle& item : samples["views"]) {
    const auto view = item.cast<py::tuple>();
    data.views.push_back({view[0].cast<std::string>(), ReadFeatures(view[1]),
                          view[2].cast<std::vector<std::string>>(), view[3].cast<std::vector<double>>()});
  }
  if (!samples["confounds"].is_none()) data.confounds.features = ReadFeatures(samples["confounds"]);
  for (const py::handle& item : samples["matrices"])
    data.matrices.push_back(ReadMatrix(item.cast<py::tuple>()));
  const auto positions = static_cast<Index>(data.numbering.positions.size());
  if (positions != 0 && positions != data.size) throw py::value_error("expected a position for every sample");
  return data;
}

void AddLabels(const std::vector<double>& targets, const std::vector<std::string>& classes, Dataset& data) {
  data.labels.number = targets;
  data.labels.text.resize(targets.size());  // a regression does not look at it
  if (classes.empty()) return;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    data.labels.text[i] = classes.at(static_cast<std::size_t>(targets[i]));
  }
}

py::array_t<double> ToArray(std::vector<double> values) {
  auto* held = new std::vector<double>(std::move(values));
  const py::capsule owner(held, [](void* data) { delete static_cast<std::vector<double>*>(data); });
  return py::array_t<double>(static_cast<py::ssize_t>(held->size()), held->data(), owner);
}

}  // namespace kweave::python
