#include "arrays.h"

#include <pybind11/stl.h>

namespace kweave::python {
namespace {

template <class T>
bool Is(const py::array& array) {
  return py::isinstance<py::array_t<T>>(array);
}

template <class T>
DenseRows<T> Dense(const py::array& array) {
  const Index row_bytes = array.strides(0);
  if (array.shape(1) > 1 && array.strides(1) != static_cast<Index>(sizeof(T))) {
    throw py::type_error("the rows of a dense matrix must be contiguous");
  }
  if (row_bytes % static_cast<Index>(sizeof(T)) != 0)
    throw py::type_error("the rows of a matrix are not aligned");
  return {static_cast<const T*>(array.data()), array.shape(0), array.shape(1),
          row_bytes / static_cast<Index>(sizeof(T)), KeepAlive(array)};
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
  for (const py::handle& item : samples["views"]) {
    const auto view = item.cast<py::tuple>();
    data.views.push_back(
        {view[0].cast<std::string>(), ReadFeatures(view[1]), view[2].cast<std::vector<std::string>>()});
  }
  return data;
}

void AddLabels(const std::vector<std::int64_t>& codes, const std::vector<std::string>& names, Dataset& data) {
  for (std::int64_t code : codes) {
    data.labels.text.push_back(names.at(code));
    data.labels.number.push_back(static_cast<double>(code));
  }
}

py::array_t<double> ToArray(std::vector<double> values) {
  auto* held = new std::vector<double>(std::move(values));
  const py::capsule owner(held, [](void* data) { delete static_cast<std::vector<double>*>(data); });
  return py::array_t<double>(static_cast<py::ssize_t>(held->size()), held->data(), owner);
}

}  // namespace kweave::python
