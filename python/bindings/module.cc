// kweave._core: the public headers of the library, as the Python package needs them.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.h"
#include "hooks.h"
#include "kweave/error.h"
#include "kweave/kernels.h"
#include "kweave/model.h"
#include "kweave/model_part.h"
#include "kweave/select.h"
#include "kweave/train.h"
#include "kweave/verify.h"
#include "kweave/version.h"
#include "options.h"

namespace kweave::python {
namespace {

Model TrainModel(const py::dict& samples, const std::vector<double>& targets,
                 const std::vector<std::string>& classes, const py::dict& options, const py::dict& run,
                 const Model* start) {
  Dataset data = ReadSamples(samples);
  AddLabels(targets, classes, data);
  const TrainOptions train_options = ReadOptions(options);
  return Hooks(run).Call([&](const Context& context) { return Train(data, train_options, context, start); });
}

// `grid`: lists of values by option; `folds`: pairs of lists of positions. The point chosen is not trained.
std::string SelectPoint(const py::dict& samples, const std::vector<double>& targets,
                        const std::vector<std::string>& classes, const py::dict& options,
                        const py::dict& grid,
                        const std::vector<std::pair<std::vector<Index>, std::vector<Index>>>& folds,
                        const std::string& score, const std::string& rule, const py::dict& run) {
  Dataset data = ReadSamples(samples);
  AddLabels(targets, classes, data);
  SelectRequest request;
  request.train = ReadOptions(options);
  for (const auto& [name, values] : grid) {
    GridAxis axis{name.cast<std::string>(), {}};
    for (const py::handle value : values) axis.values.push_back(ReadOptionValue(axis.option, value));
    request.grid.push_back(std::move(axis));
  }
  for (const auto& [train, test] : folds) request.given_folds.push_back({train, test});
  request.options.score = score;
  request.options.rule = rule;
  request.options.baselines = "none";
  request.wants_model = false;
  return Hooks(run).Call([&](const Context& context) {
    const Selection found = Select(data, request, context);
    if (found.status != Status::kConverged) {
      throw Error(ErrorKind::kResource, "stopped before all points were scored");
    }
    return found.ToJson();
  });
}

std::string Analyze(const py::dict& samples, const std::vector<double>& targets,
                    const std::vector<std::string>& classes, const py::dict& options, const py::dict& run) {
  Dataset data = ReadSamples(samples);
  AddLabels(targets, classes, data);
  const TrainOptions train_options = ReadOptions(options);
  return Hooks(run).Call(
      [&](const Context& context) { return AnalyzeKernels(data, train_options, context).ToJson(); });
}

std::string VerifyModel(const Model& model, const py::dict& samples, const std::vector<double>& targets,
                        const std::vector<std::string>& classes, const py::dict& run) {
  Dataset data = ReadSamples(samples);
  AddLabels(targets, classes, data);
  return Hooks(run).Call([&](const Context& context) { return Verify(model, data, context).ToJson(); });
}

py::array_t<double> Decide(const Model& model, const py::dict& samples, const py::dict& run) {
  const Dataset data = ReadSamples(samples);
  Prediction prediction =
      Hooks(run).Call([&](const Context& context) { return model.Predict(data, context); });
  return ToArray(std::move(prediction.decision));
}

py::array_t<double> DecideByMachine(const Model& model, const py::dict& samples, const py::dict& run) {
  const Dataset data = ReadSamples(samples);
  return ToArray(
      Hooks(run).Call([&](const Context& context) { return model.PredictByMachine(data, context); }));
}

py::array_t<double> DecideByKernel(const Model& model, const py::dict& samples, const py::dict& run,
                                   Index machine) {
  const Dataset data = ReadSamples(samples);
  return ToArray(Hooks(run).Call(
      [&](const Context& context) { return model.PredictByKernel(data, context, {}, machine); }));
}

py::array_t<double> LearnedKernel(const Model& model, const py::dict& samples, const py::dict& run,
                                  Index machine) {
  const Dataset data = ReadSamples(samples);
  return ToArray(Hooks(run).Call(
      [&](const Context& context) { return model.LearnedKernel(data, context, {}, machine); }));
}

Model OnlyKernels(const Model& model, const std::vector<std::string>& names) {
  return WithKernels(model, names);
}

py::tuple Support(const Model& model, Index machine) {
  const std::vector<std::pair<Index, double>> support = model.support(machine);
  py::array_t<Index> indices(static_cast<py::ssize_t>(support.size()));
  py::array_t<double> factors(static_cast<py::ssize_t>(support.size()));
  for (std::size_t s = 0; s < support.size(); ++s) {
    indices.mutable_at(s) = support[s].first;
    factors.mutable_at(s) = support[s].second;
  }
  return py::make_tuple(indices, factors);
}

py::bytes ToBytes(const Model& model) {
  const std::vector<std::uint8_t> bytes = model.ToBytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Model FromBytes(const py::bytes& bytes) {
  const std::string_view view = bytes;
  return Model::FromBytes({reinterpret_cast<const std::uint8_t*>(view.data()), view.size()});
}

void DefineModel(py::module_& module) {
  py::class_<Model>(module, "Model", "A trained machine.")
      .def_static("load", &Model::Load, py::arg("path"))
      .def("save", &Model::Save, py::arg("path"), py::call_guard<py::gil_scoped_release>())
      .def("with_note", &Model::WithNote, py::arg("name"), py::arg("text"))
      .def("note", &Model::note, py::arg("name"))
      .def("with_kernels", &OnlyKernels, py::arg("names"))
      .def("verify", &VerifyModel, py::arg("samples"), py::arg("targets"), py::arg("classes"), py::arg("run"))
      .def("decide", &Decide, py::arg("samples"), py::arg("run"))
      .def("decide_by_machine", &DecideByMachine, py::arg("samples"), py::arg("run"))
      .def("decide_by_kernel", &DecideByKernel, py::arg("samples"), py::arg("run"), py::arg("machine") = 0)
      .def("learned_kernel", &LearnedKernel, py::arg("samples"), py::arg("run"), py::arg("machine") = 0)
      .def_property_readonly("active_kernels", &Model::active_kernels)
      .def_property_readonly("summary", [](const Model& model) { return model.summary().ToJson(); })
      .def_property_readonly("given_options",
                             [](const Model& model) { return ToPython(GivenOptions(model.summary())); })
      .def_property_readonly("classes", &Model::classes)
      .def_property_readonly("views", &Model::views)
      .def_property_readonly("outputs", &Model::outputs)
      .def_property_readonly("machines", &Model::machines)
      .def_property_readonly("is_multilabel", &Model::is_multilabel)
      .def("support", &Support, py::arg("machine") = 0)
      .def_property_readonly("data_count", &Model::data_count)
      .def_property_readonly("stored_samples", &Model::stored_samples)
      .def("describe", &Model::Describe)
      .def("describe_json", &Model::ToJson)
      .def(py::pickle(&ToBytes, &FromBytes));
}

// An option or data that does not fit is a ValueError; what the machine could not give is a RuntimeError.
// Both say in `field`, `value` and `rule` what was wrong.
void TranslateError(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(std::move(pointer));
  } catch (const Error& error) {
    const py::handle type(error.kind() == ErrorKind::kResource ? PyExc_RuntimeError : PyExc_ValueError);
    const py::object raised = type(WithParameters(error.what()));
    raised.attr("field") = error.field();
    raised.attr("value") = error.value();
    raised.attr("rule") = error.rule();
    PyErr_SetObject(type.ptr(), raised.ptr());
  }
}

py::list KernelTableOfPython() {
  py::list table;
  for (const KernelDescription& kernel : KernelDescriptions()) {
    py::list parameters;
    for (const KernelParameterDescription& one : kernel.parameters) {
      parameters.append(py::dict(py::arg("name") = one.name, py::arg("sentence") = one.sentence,
                                 py::arg("initial") = one.initial,
                                 py::arg("follows_from_data") = one.follows_from_data));
    }
    table.append(py::dict(py::arg("name") = kernel.name, py::arg("class_name") = kernel.class_name,
                          py::arg("sentence") = kernel.sentence, py::arg("parameters") = parameters));
  }
  return table;
}

PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled core of kweave.";
  module.attr("__version__") = KWEAVE_VERSION;
  py::register_exception_translator(&TranslateError);
  DefineModel(module);
  module.def("option_records", &OptionRecords);
  module.def("default_options", &DefaultOptions);
  module.def("kernel_help", &KernelHelp);
  module.def("kernel_table", &KernelTableOfPython);
  module.def("train", &TrainModel, py::arg("samples"), py::arg("targets"), py::arg("classes"),
             py::arg("options"), py::arg("run"), py::arg("start") = py::none());
  module.def("select", &SelectPoint, py::arg("samples"), py::arg("targets"), py::arg("classes"),
             py::arg("options"), py::arg("grid"), py::arg("folds"), py::arg("score"), py::arg("rule"),
             py::arg("run"));
  module.def("analyze_kernels", &Analyze, py::arg("samples"), py::arg("targets"), py::arg("classes"),
             py::arg("options"), py::arg("run"));
}

}  // namespace
}  // namespace kweave::python
