#include "kweave/summary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "kweave/error.h"
#include "model/summary_json.h"

namespace kweave {
namespace {

struct NamedStatus {
  Status status;
  std::string_view name;
};

constexpr std::array kStatuses = {
    NamedStatus{Status::kConverged, "converged"}, NamedStatus{Status::kIterationLimit, "iteration_limit"},
    NamedStatus{Status::kTimeLimit, "time_limit"}, NamedStatus{Status::kStalled, "stalled"},
    NamedStatus{Status::kInterrupted, "interrupted"}};

Status StatusFromName(std::string_view name) {
  for (const NamedStatus& known : kStatuses) {
    if (known.name == name) return known.status;
  }
  throw Error(ErrorKind::kData, "unknown status '" + std::string(name) + "' in a summary");
}

template <class Choice>
Choice ChoiceFromName(std::string_view name) {
  if (const ChoiceRecord<Choice>* record = FindChoice<Choice>(name)) return record->choice;
  throw Error(ErrorKind::kData, "unknown name '" + std::string(name) + "' in a summary");
}

// Not-a-number and infinity have no JSON form and are written as null.
double Number(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Json ToJson(const PhaseSeconds& seconds) {
  return {{"total", seconds.total}, {"read", seconds.read},       {"kernels", seconds.kernels},
          {"solve", seconds.solve}, {"weights", seconds.weights}, {"certificate", seconds.certificate}};
}

PhaseSeconds SecondsFromJson(const Json& json) {
  return {.total = Number(json.at("total")),
          .read = Number(json.at("read")),
          .kernels = Number(json.at("kernels")),
          .solve = Number(json.at("solve")),
          .weights = Number(json.at("weights")),
          .certificate = Number(json.at("certificate"))};
}

Json ToJson(const HistoryRow& row) {
  return {{"seconds", row.seconds},
          {"primal", row.primal},
          {"dual", row.dual},
          {"gap", row.primal - row.dual},
          {"relative_gap", row.relative_gap},
          {"solves", row.solves},
          {"inside_solve", row.inside_solve},
          {"fallbacks", row.fallbacks}};
}

HistoryRow HistoryFromJson(const Json& json) {
  return {.seconds = Number(json.at("seconds")),
          .primal = Number(json.at("primal")),
          .dual = Number(json.at("dual")),
          .relative_gap = Number(json.contains("relative_gap") ? json.at("relative_gap")
                                                               : json.at("gap")),  // as older models call it
          .solves = WholeNumber<std::int64_t>(json.at("solves")),
          .inside_solve = json.at("inside_solve").get<bool>(),
          // Older models do not count them.
          .fallbacks = json.contains("fallbacks") ? WholeNumber<std::int64_t>(json.at("fallbacks")) : 0};
}

Json ToJson(const WeightInterval& interval) { return {interval.lower, interval.upper}; }

// None is written where a bound is infinite, which has no JSON form.
WeightInterval IntervalFromJson(const Json& json) {
  const Json& upper = json.at(1);
  return {Number(json.at(0)), upper.is_null() ? std::numeric_limits<double>::infinity() : Number(upper)};
}

Json ToJson(std::span<const WeightInterval> intervals) {
  Json json = Json::array();
  for (const WeightInterval& interval : intervals) json.push_back(ToJson(interval));
  return json;
}

std::vector<WeightInterval> IntervalsFromJson(const Json& json, const char* name) {
  std::vector<WeightInterval> intervals;
  if (!json.contains(name)) return intervals;
  for (const Json& interval : json.at(name)) intervals.push_back(IntervalFromJson(interval));
  return intervals;
}

// Of anything that has both, where it has them.
template <class Report>
void WriteIntervals(const Report& report, Json& json) {
  if (report.weight_interval) json["weight_interval"] = ToJson(*report.weight_interval);
  if (report.share_interval) json["share_interval"] = ToJson(*report.share_interval);
}

template <class Report>
void ReadIntervals(const Json& json, Report& report) {
  if (json.contains("weight_interval")) report.weight_interval = IntervalFromJson(json.at("weight_interval"));
  if (json.contains("share_interval")) report.share_interval = IntervalFromJson(json.at("share_interval"));
}

Json ToJson(const SourceReport& source) {
  Json json = {{"name", source.name}, {"weight", source.weight}, {"share", source.share}};
  WriteIntervals(source, json);
  return json;
}

SourceReport SourceFromJson(const Json& json) {
  SourceReport source{json.at("name").get<std::string>(), Number(json.at("weight")),
                      Number(json.at("share"))};
  ReadIntervals(json, source);
  return source;
}

Json ToJson(const MachineReport& machine) {
  Json json = {{"class", machine.name}};
  if (!machine.against.empty()) json["against"] = machine.against;
  json["status"] = ToString(machine.status);
  json["primal"] = machine.primal;
  json["dual"] = machine.dual;
  json["relative_gap"] = machine.relative_gap;
  json["iterations"] = machine.iterations;
  json["solves"] = machine.solves;
  json["bias"] = machine.bias;
  json["n_support"] = machine.n_support;
  json["weights"] = machine.weights;
  if (!machine.quadratics.empty()) json["quadratics"] = machine.quadratics;
  if (!machine.weight_intervals.empty()) {
    json["weight_intervals"] = ToJson(machine.weight_intervals);
    json["share_intervals"] = ToJson(machine.share_intervals);
  }
  if (!machine.history.empty()) {
    json["history"] = Json::array();
    for (const HistoryRow& row : machine.history) json["history"].push_back(ToJson(row));
  }
  return json;
}

MachineReport MachineFromJson(const Json& json) {
  MachineReport report{.name = json.at("class").get<std::string>(),
                       .against = json.value("against", ""),
                       .status = StatusFromName(json.at("status").get<std::string>()),
                       .primal = Number(json.at("primal")),
                       .dual = Number(json.at("dual")),
                       .relative_gap = Number(json.at("relative_gap")),
                       .iterations = WholeNumber<std::int64_t>(json.at("iterations")),
                       .solves = WholeNumber<std::int64_t>(json.at("solves")),
                       .bias = Number(json.at("bias")),
                       .n_support = WholeNumber<std::int64_t>(json.at("n_support")),
                       .weights = json.at("weights").get<std::vector<double>>(),
                       .quadratics = json.value("quadratics", std::vector<double>()),
                       .weight_intervals = IntervalsFromJson(json, "weight_intervals"),
                       .share_intervals = IntervalsFromJson(json, "share_intervals")};
  if (json.contains("history")) {  // older models have none
    for (const Json& row : json.at("history")) report.history.push_back(HistoryFromJson(row));
  }
  return report;
}

Json ToJson(const GroupReport& group) {
  Json kernels = Json::array();
  for (std::size_t k = 0; k < group.kernels.size(); ++k) {
    kernels.push_back({{"name", group.kernels[k]}, {"weight", group.within[k]}});
  }
  return {{"name", group.name}, {"weight", group.weight}, {"kernels", std::move(kernels)}};
}

GroupReport GroupFromJson(const Json& json) {
  GroupReport group{json.at("name").get<std::string>(), Number(json.at("weight")), {}, {}};
  for (const Json& kernel : json.at("kernels")) {
    group.kernels.push_back(kernel.at("name").get<std::string>());
    group.within.push_back(Number(kernel.at("weight")));
  }
  return group;
}

Json ToJson(const KernelReport& kernel) {
  Json json = {{"name", kernel.name}, {"weight", kernel.weight}, {"quadratic", kernel.quadratic}};
  WriteIntervals(kernel, json);
  return json;
}

KernelReport KernelFromJson(const Json& json) {
  KernelReport kernel{.name = json.at("name").get<std::string>(),
                      .weight = Number(json.at("weight")),
                      .quadratic = Number(json.at("quadratic"))};
  ReadIntervals(json, kernel);
  return kernel;
}

Json Rows(std::span<const double> values, std::size_t columns) {
  Json rows = Json::array();
  for (std::size_t begin = 0; begin < values.size(); begin += columns) {
    const auto row = values.subspan(begin, columns);
    rows.push_back(std::vector<double>(row.begin(), row.end()));
  }
  return rows;
}

std::vector<double> FromRows(const Json& rows) {
  std::vector<double> values;
  for (const Json& row : rows) {
    for (const Json& value : row) values.push_back(Number(value));
  }
  return values;
}

Json ToJson(const ClassKernelReport& report) {
  Json kernels = Json::array();
  for (const KernelReport& kernel : report.kernels) kernels.push_back(ToJson(kernel));
  return {{"classes", report.classes},
          {"kernels", std::move(kernels)},
          {"matrix", Rows(report.matrix, report.classes.size())},
          {"embedding", Rows(report.embedding, 2)}};
}

ClassKernelReport ClassKernelFromJson(const Json& json) {
  ClassKernelReport report;
  report.classes = json.at("classes").get<std::vector<std::string>>();
  for (const Json& kernel : json.at("kernels")) report.kernels.push_back(KernelFromJson(kernel));
  report.matrix = FromRows(json.at("matrix"));
  report.embedding = FromRows(json.at("embedding"));
  return report;
}

Summary Parse(const Json& json) {
  Summary summary;
  summary.status = StatusFromName(json.at("status").get<std::string>());
  summary.task = ChoiceFromName<Task>(json.at("task").get<std::string>());
  summary.primal = Number(json.at("primal"));
  summary.dual = Number(json.at("dual"));
  summary.gap = Number(json.at("gap"));
  summary.relative_gap = Number(json.at("relative_gap"));
  summary.iterations = WholeNumber<std::int64_t>(json.at("iterations"));
  summary.solves = WholeNumber<std::int64_t>(json.at("solves"));
  summary.bias = Number(json.at("bias"));
  summary.n_support = WholeNumber<std::int64_t>(json.at("n_support"));
  for (const Json& kernel : json.at("kernels")) summary.kernels.push_back(KernelFromJson(kernel));
  if (json.contains("sources")) {  // older models have none, nor intervals
    for (const Json& source : json.at("sources")) summary.sources.push_back(SourceFromJson(source));
  }
  if (json.contains("samples")) summary.samples = WholeNumber<std::int64_t>(json.at("samples"));
  if (json.contains("missing_views")) {
    for (const Json& view : json.at("missing_views")) {
      summary.missing_views.push_back(
          {view.at("view").get<std::string>(), WholeNumber<std::int64_t>(view.at("missing"))});
    }
  }
  if (json.contains("share_error")) summary.share_error = Number(json.at("share_error"));
  summary.no_intervals = json.value("no_intervals", "");
  summary.kernels_total = WholeNumber<std::int64_t>(json.at("kernels_total"));
  summary.kernels_active = WholeNumber<std::int64_t>(json.at("kernels_active"));
  summary.seconds = SecondsFromJson(json.at("seconds"));
  // Older models do not have it.
  summary.kernel_rows = json.contains("kernel_rows") ? WholeNumber<std::int64_t>(json.at("kernel_rows")) : 0;
  // Nor this.
  summary.base_values = json.contains("base_values") ? WholeNumber<std::int64_t>(json.at("base_values")) : 0;
  if (json.contains("multiclass"))
    summary.multiclass = ChoiceFromName<Multiclass>(json.at("multiclass").get<std::string>());
  if (json.contains("class_kernel")) summary.class_kernel = ClassKernelFromJson(json.at("class_kernel"));
  if (json.contains("groups")) {
    for (const Json& group : json.at("groups")) summary.groups.push_back(GroupFromJson(group));
  }
  if (json.contains("machines")) {
    for (const Json& machine : json.at("machines")) summary.machines.push_back(MachineFromJson(machine));
  }
  summary.peak_memory_bytes = WholeNumber<std::int64_t>(json.at("peak_memory_bytes"));
  summary.threads = WholeNumber<int>(json.at("threads"));
  for (const auto& [name, value] : json.at("options").items())
    summary.options.emplace_back(name, value.dump());
  summary.certificate = ChoiceFromName<KernelEvaluation>(json.at("certificate").get<std::string>());
  for (const Json& row : json.at("history")) summary.history.push_back(HistoryFromJson(row));
  if (json.contains("projected_gradient")) summary.projected_gradient = Number(json.at("projected_gradient"));
  if (json.contains("leave_one_out")) summary.leave_one_out = Number(json.at("leave_one_out"));
  return summary;
}

// Rows of a history count what came before them.
std::int64_t Fallbacks(std::span<const HistoryRow> history) {
  std::int64_t most = 0;
  for (const HistoryRow& row : history) most = std::max(most, row.fallbacks);
  return most;
}

// Moves of all machines that were not a step of the method that ran.
std::int64_t Fallbacks(const Summary& summary) {
  std::int64_t sum = Fallbacks(summary.history);
  for (const MachineReport& machine : summary.machines) sum += Fallbacks(machine.history);
  return sum;
}

}  // namespace

std::string_view ToString(Status status) {
  for (const NamedStatus& known : kStatuses) {
    if (known.status == status) return known.name;
  }
  return "unknown";
}

Json ToJson(const Summary& summary) {
  Json kernels = Json::array();
  for (const KernelReport& kernel : summary.kernels) kernels.push_back(ToJson(kernel));
  Json options = Json::object();
  for (const auto& [name, literal] : summary.options) options[name] = Json::parse(literal);
  Json history = Json::array();
  for (const HistoryRow& row : summary.history) history.push_back(ToJson(row));
  Json json = {{"status", ToString(summary.status)},
               {"task", ToString(summary.task)},
               {"primal", summary.primal},
               {"dual", summary.dual},
               {"gap", summary.gap},
               {"relative_gap", summary.relative_gap},
               {"iterations", summary.iterations},
               {"fallbacks", Fallbacks(summary)},
               {"solves", summary.solves},
               {"bias", summary.bias},
               {"n_support", summary.n_support},
               {"kernels", std::move(kernels)},
               {"kernels_total", summary.kernels_total},
               {"kernels_active", summary.kernels_active},
               {"seconds", ToJson(summary.seconds)},
               {"kernel_rows", summary.kernel_rows},
               {"base_values", summary.base_values},
               {"peak_memory_bytes", summary.peak_memory_bytes},
               {"threads", summary.threads},
               {"options", std::move(options)},
               {"certificate", ToString(summary.certificate)},
               {"history", std::move(history)}};
  if (summary.samples > 0) json["samples"] = summary.samples;
  if (!summary.missing_views.empty()) {
    json["missing_views"] = Json::array();
    for (const MissingReport& view : summary.missing_views)
      json["missing_views"].push_back({{"view", view.view}, {"missing", view.missing}});
  }
  if (!summary.sources.empty()) {
    json["sources"] = Json::array();
    for (const SourceReport& source : summary.sources) json["sources"].push_back(ToJson(source));
  }
  if (summary.share_error) json["share_error"] = *summary.share_error;
  if (!summary.no_intervals.empty()) json["no_intervals"] = summary.no_intervals;
  if (summary.multiclass) json["multiclass"] = ToString(*summary.multiclass);
  if (!summary.groups.empty()) {
    json["groups"] = Json::array();
    for (const GroupReport& group : summary.groups) json["groups"].push_back(ToJson(group));
  }
  if (!summary.machines.empty()) {
    json["machines"] = Json::array();
    for (const MachineReport& machine : summary.machines) json["machines"].push_back(ToJson(machine));
  }
  if (summary.class_kernel) json["class_kernel"] = ToJson(*summary.class_kernel);
  if (summary.projected_gradient) json["projected_gradient"] = *summary.projected_gradient;
  if (summary.leave_one_out) json["leave_one_out"] = *summary.leave_one_out;
  return json;
}

Summary SummaryFromJson(const Json& json) {
  try {
    return Parse(json);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kData, std::string("the summary is damaged: ") + error.what());
  }
}

std::string Summary::ToJson() const {
  // Names come from files: bytes that are not UTF-8 are replaced rather than refused.
  return kweave::ToJson(*this).dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kweave
