#include "weights/method_table.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "kweave/error.h"
#include "weights/analytic.h"
#include "weights/lbfgs.h"
#include "weights/level.h"
#include "weights/silp.h"
#include "weights/uniform.h"

namespace kweave {

namespace {

template <class Method>
std::unique_ptr<WeightMethod> Make(double norm) {
  return std::make_unique<Method>(norm);
}

// For norm 1, measured once each in CPU time: with 50 widths on 2,000 to 10,000 samples, where few kernels stay
// active, `level` took the fewest solves (2 to 6 to a gap of 1e-3; `analytic` 4 to 8, `silp` 4 to 9) and no more
// time, on seven UCI sets with 91 to 793 kernels as much time as `analytic` to a tenth of it at 1e-3, but with
// tens of active kernels it is slower, at 1e-6 mostly and on 50 features with C = 100 at 1e-3 too (2 times, and
// 4 times at 1e-6).
std::string_view Choose(double norm) {
  if (std::isinf(norm)) return "uniform";
  return norm == 1 ? "level" : "analytic";
}

std::string NamesServing(double norm, const Loss& loss) {
  std::string names = "auto";
  for (const MethodRecord& record : MethodTable()) {
    if (record.serves(norm, loss)) names += fmt::format(", {}", record.name);
  }
  return names;
}

}  // namespace

std::span<const MethodRecord> MethodTable() {
  static const MethodRecord table[] = {
      {"analytic",
       "Weights in closed form after each solve, with Newton steps where that would crawl; any norm.",
       [](double, const Loss&) { return true; }, Make<Analytic>},
      {"lbfgs", "Quasi-Newton steps of weights and machine together; norms above 1 with smooth losses.",
       [](double norm, const Loss& loss) { return norm > 1 && loss.smooth() != nullptr; }, nullptr,
       LearnByLbfgs},
      {"level", "Level bundle whose model of the objective is curved; norm 1.",
       [](double norm, const Loss&) { return norm == 1; }, Make<Level>},
      {"silp", "Column generation over a linear program; norm 1.",
       [](double norm, const Loss&) { return norm == 1; }, Make<Silp>},
      {"uniform", "One solve on the sum of all kernels; norm inf.",
       [](double norm, const Loss&) { return std::isinf(norm); }, Make<Uniform>},
  };
  return table;
}

const MethodRecord& FindMethod(std::string_view name, double norm, const Loss& loss) {
  if (name == "auto") return FindMethod(Choose(norm), norm, loss);
  for (const MethodRecord& record : MethodTable()) {
    if (record.name != name) continue;
    if (record.serves(norm, loss)) return record;
    throw Error(ErrorKind::kUsage,
                fmt::format("method {} does not serve norm {} with this loss; these do: {}", name, norm,
                            NamesServing(norm, loss)));
  }
  throw Error(ErrorKind::kUsage, fmt::format("there is no method {}; for norm {} there are: {}", name, norm,
                                             NamesServing(norm, loss)));
}

}  // namespace kweave
