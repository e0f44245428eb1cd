#include "weights/method_table.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "kweave/error.h"
#include "weights/analytic.h"
#include "weights/level.h"
#include "weights/silp.h"
#include "weights/uniform.h"

namespace kweave {

namespace {

template <class Method>
std::unique_ptr<WeightMethod> Make(double norm) {
  return std::make_unique<Method>(norm);
}

// Above this many samples the Newton steps that norm 1 needs cost more than the solves they save: on 4,000
// samples and 50 kernels column generation took half the time to a gap of 1e-3, three quarters to 1e-6.
constexpr Index kMostSamplesForNewton = 2000;

std::string_view Choose(double norm, Index samples) {
  if (std::isinf(norm)) return "uniform";
  return norm == 1 && samples > kMostSamplesForNewton ? "silp" : "analytic";
}

std::string NamesServing(double norm) {
  std::string names = "auto";
  for (const MethodRecord& record : MethodTable()) {
    if (record.serves(norm)) names += fmt::format(", {}", record.name);
  }
  return names;
}

}  // namespace

std::span<const MethodRecord> MethodTable() {
  static const MethodRecord table[] = {
      {"analytic",
       "Weights in closed form after each solve, with Newton steps where that would crawl; any norm.",
       [](double) { return true; }, Make<Analytic>},
      {"level", "Level bundle whose model of the objective is curved; norm 1.",
       [](double norm) { return norm == 1; }, Make<Level>},
      {"silp", "Column generation over a linear program; norm 1.", [](double norm) { return norm == 1; },
       Make<Silp>},
      {"uniform", "One solve on the sum of all kernels; norm inf.",
       [](double norm) { return std::isinf(norm); }, Make<Uniform>},
  };
  return table;
}

const MethodRecord& FindMethod(std::string_view name, double norm, Index samples) {
  if (name == "auto") return FindMethod(Choose(norm, samples), norm, samples);
  for (const MethodRecord& record : MethodTable()) {
    if (record.name != name) continue;
    if (record.serves(norm)) return record;
    throw Error(ErrorKind::kUsage, fmt::format("method {} does not serve norm {}; these do: {}", name, norm,
                                               NamesServing(norm)));
  }
  throw Error(ErrorKind::kUsage, fmt::format("there is no method {}; for norm {} there are: {}", name, norm,
                                             NamesServing(norm)));
}

}  // namespace kweave
