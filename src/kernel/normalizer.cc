#include "kernel/normalizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "kweave/error.h"
#include "kweave/nearest_name.h"

namespace kweave {
namespace {

constexpr NormalizerRecord kNormalizers[] = {
    {Normalizer::kTrace, "trace", "k / mean of k(x,x)."},
    {Normalizer::kMultiplicative, "multiplicative", "k / variance in feature space."},
    {Normalizer::kSpherical, "spherical", "k(x,z) / sqrt(k(x,x) k(z,z))."},
    {Normalizer::kCenter, "center", "k of the features less their mean."},
    {Normalizer::kPresence, "presence", "k of samples that have the view, else 0."},
};

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

Normalizer ParseNormalizer(std::string_view name, std::string_view list) {
  std::vector<std::string_view> names = {"none"};
  for (const NormalizerRecord& record : NormalizerTable()) {
    if (record.name == name) return record.normalizer;
    names.push_back(record.name);
  }
  if (name == "none") {
    throw Error(ErrorKind::kUsage, fmt::format("normalization \"{}\": none stands alone", list),
                {"normalize", std::string(list), "none alone"});
  }
  const std::string_view nearest = NearestName(name, names);
  throw Error(ErrorKind::kUsage,
              fmt::format("normalization \"{}\": there is no \"{}\"{}; expected none or a list of {}", list,
                          name, nearest.empty() ? "" : fmt::format(", did you mean \"{}\"?", nearest),
                          fmt::join(names.begin() + 1, names.end(), ", ")),
              {"normalize", std::string(list),
               fmt::format("none or a list of {}", fmt::join(names.begin() + 1, names.end(), ", "))});
}

}  // namespace

std::span<const NormalizerRecord> NormalizerTable() {
  return std::span(kNormalizers).first(std::size(kNormalizers) - 1);
}

const NormalizerRecord* FindNormalizer(std::string_view name) {
  const auto* const found = std::ranges::find(kNormalizers, name, &NormalizerRecord::name);
  return found == std::end(kNormalizers) ? nullptr : found;
}

std::string_view ToString(Normalizer normalizer) {
  return kNormalizers[static_cast<std::size_t>(normalizer)].name;
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
