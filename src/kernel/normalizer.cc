#include "kernel/normalizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "kweave/error.h"
#include "kweave/nearest_name.h"

namespace kweave {
namespace {

constexpr std::array kNormalizers = {Normalizer::kTrace, Normalizer::kMultiplicative, Normalizer::kSpherical,
                                     Normalizer::kCenter};

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

Normalizer ParseNormalizer(std::string_view name, std::string_view list) {
  const auto found = std::ranges::find(kNormalizers, name, ToString);
  if (found != kNormalizers.end()) return *found;
  std::vector<std::string_view> names = {"none"};
  for (Normalizer normalizer : kNormalizers) names.push_back(ToString(normalizer));
  if (name == "none") {
    throw Error(ErrorKind::kUsage, fmt::format("normalization \"{}\": none stands alone", list));
  }
  const std::string_view nearest = NearestName(name, names);
  throw Error(ErrorKind::kUsage,
              fmt::format("normalization \"{}\": there is no \"{}\"{}; expected none or a list of {}", list,
                          name, nearest.empty() ? "" : fmt::format(", did you mean \"{}\"?", nearest),
                          fmt::join(names.begin() + 1, names.end(), ", ")));
}

}  // namespace

std::string_view ToString(Normalizer normalizer) {
  switch (normalizer) {
    case Normalizer::kTrace:
      return "trace";
    case Normalizer::kMultiplicative:
      return "multiplicative";
    case Normalizer::kSpherical:
      return "spherical";
    case Normalizer::kCenter:
      return "center";
  }
  return "";
}

std::vector<Normalizer> ParseNormalizers(std::string_view list) {
  if (Trimmed(list) == "none") return {};
  std::vector<Normalizer> sequence;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    sequence.push_back(ParseNormalizer(Trimmed(list.substr(begin, end - begin)), list));
    begin = end + 1;
  }
  return sequence;
}

}  // namespace kweave
