// kweave inspect: what a model holds.
#include <memory>

#include "kweave/bounds.h"
#include "kweave/model.h"
#include "terminal.h"
#include "verbs.h"

namespace kweave::app {

void AddInspect(CLI::App& app) {
  struct InspectArguments {
    std::string model;
    bool as_json = false;
    bool as_bound = false;
  };
  CLI::App& verb = *app.add_subcommand("inspect", "show what a model holds and which sources matter");
  const auto arguments = std::make_shared<InspectArguments>();
  verb.add_option("MODEL", arguments->model, "a model that train wrote")->required();
  verb.add_flag("--json", arguments->as_json, "for programs");
  verb.add_flag(
      "--bound", arguments->as_bound,
      "the factor of a bound on the error against the block norm P: which P suits what was learned");
  verb.callback([arguments] {
    const Model model = Model::Load(arguments->model);
    if (arguments->as_bound) {
      const BoundCurve curve = GlobalBoundCurve(PartNorms(model.summary()));
      return Print(arguments->as_json ? curve.ToJson() + "\n" : curve.ToText());
    }
    Print(arguments->as_json ? model.ToJson() + "\n" : model.Describe());
  });
}

}  // namespace kweave::app
