// kweave inspect: what a model holds.
#include <memory>

#include "kweave/model.h"
#include "terminal.h"
#include "verbs.h"

namespace kweave::app {

void AddInspect(CLI::App& app) {
  struct InspectArguments {
    std::string model;
    bool as_json = false;
  };
  CLI::App& verb = *app.add_subcommand("inspect", "show what a model holds and which sources matter");
  const auto arguments = std::make_shared<InspectArguments>();
  verb.add_option("MODEL", arguments->model, "a model that train wrote")->required();
  verb.add_flag("--json", arguments->as_json, "for programs");
  verb.callback([arguments] {
    const Model model = Model::Load(arguments->model);
    Print(arguments->as_json ? model.ToJson() + "\n" : model.Describe());
  });
}

}  // namespace kweave::app
