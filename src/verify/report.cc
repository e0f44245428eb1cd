#include <fmt/format.h>

#include "kweave/verify.h"
#include "model/json.h"

namespace kweave {

std::string Verification::ToText() const {
  std::string text;
  for (const VerifiedClaim& claim : claims) {
    if (!claim.name.empty()) text += fmt::format("machine '{}': ", claim.name);
    text += fmt::format(
        "primal {:.9g} (claimed {:.9g}), dual {:.9g} (claimed {:.9g}), relative gap {:.3g} (claimed "
        "{:.3g})\n",
        claim.primal, claim.claimed_primal, claim.dual, claim.claimed_dual, claim.relative_gap,
        claim.claimed_gap);
  }
  for (const std::string& sentence : unchecked) text += fmt::format("not checked: {}\n", sentence);
  for (const std::string& sentence : failures) text += fmt::format("wrong: {}\n", sentence);
  return text + (holds ? "the claim of the model holds\n" : "the claim of the model does not hold\n");
}

std::string Verification::ToJson() const {
  Json list = Json::array();
  for (const VerifiedClaim& claim : claims) {
    list.push_back({{"name", claim.name},
                    {"primal", claim.primal},
                    {"dual", claim.dual},
                    {"relative_gap", claim.relative_gap},
                    {"claimed_primal", claim.claimed_primal},
                    {"claimed_dual", claim.claimed_dual},
                    {"claimed_relative_gap", claim.claimed_gap},
                    {"primal_rounding", claim.primal_rounding},
                    {"dual_rounding", claim.dual_rounding},
                    {"holds", claim.holds}});
  }
  const Json json = {{"holds", holds},
                     {"primal", primal},
                     {"dual", dual},
                     {"gap", primal - dual},
                     {"relative_gap", relative_gap},
                     {"machines", std::move(list)},
                     {"failures", failures},
                     {"unchecked", unchecked},
                     {"kernel_values", kernel_values}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kweave
