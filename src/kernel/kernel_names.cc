#include "kernel/kernel_names.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/hash_index.h"
#include "kernel/kernel_spec.h"
#include "kernel/region.h"
#include "kernel/spec_scanner.h"

namespace kweave {
namespace {

KernelParameters Shortened(const KernelKind& kind, KernelParameters parameters,
                           const ShortWidths* short_widths) {
  if (short_widths == nullptr) return parameters;
  for (std::size_t p = 0; p < kind.parameters.size(); ++p) {
    if (kind.parameters[p].width == ParameterRule::Width::kNone) continue;
    const auto found = short_widths->find(parameters[p]);
    if (found != short_widths->end()) parameters[p] = found->second;
  }
  return parameters;
}

/// 1-based, with runs written as a..b.
std::string DescribeSubset(const FeatureSubset& subset) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < subset.size(); begin = end) {
    end = begin + 1;
    while (end < subset.size() && subset[end] == subset[end - 1] + 1) ++end;
    fmt::format_to(std::back_inserter(text), "{}{}", begin > 0 ? "," : "", subset[begin] + 1);
    if (end - begin > 1) fmt::format_to(std::back_inserter(text), "..{}", subset[end - 1] + 1);
  }
  return text;
}

std::string DescribeTerm(const KernelSet& kernels, const KernelTerm& term, const ShortWidths* short_widths) {
  const KernelKind& kind = *term.kind;
  const KernelParameters parameters = Shortened(*term.kind, term.parameters, short_widths);
  if (!UsesFeatures(kind))
    return fmt::format("{}(file={})", kind.name, QuotedIfNeeded(kernels.files[term.file].name));
  std::string text(kind.name);
  const auto out = std::back_inserter(text);
  char before = '(';
  for (std::size_t p = 0; p < kind.parameters.size(); ++p) {
    if (kind.parameters[p].alternative >= 0 && parameters[p] == 0) continue;
    fmt::format_to(out, "{}{}={}", std::exchange(before, ','), kind.parameters[p].name, parameters[p]);
  }
  if (!kind.parameters.empty()) text += ')';
  const FeatureSubset& subset = kernels.subsets[term.subset];
  if (kernels.NamesViews() || !subset.empty())
    fmt::format_to(out, "@{}", QuotedIfNeeded(kernels.views[term.view]));
  if (!subset.empty()) {
    fmt::format_to(out, "[{}]",
                   kind.IsOnSequences() ? DescribeRegion(RegionOf(subset)) : DescribeSubset(subset));
  }
  return text;
}

/// Puts parentheses around operands that would else run together with their neighbours.
std::string DescribeComposite(const KernelSet& kernels, const Composite& composite,
                              const ShortWidths* short_widths) {
  using Operation = Composite::Operation;
  std::vector<std::pair<std::string, Operation>> stack;
  for (const Composite::Node& node : composite.nodes) {
    if (node.operation == Operation::kTerm) {
      stack.emplace_back(DescribeTerm(kernels, composite.terms[node.argument], short_widths), node.operation);
      continue;
    }
    const bool is_mean = node.operation == Operation::kMean;
    std::string text = is_mean ? "mean(" : "";
    for (auto operand = stack.end() - node.argument; operand != stack.end(); ++operand) {
      if (operand != stack.end() - node.argument)
        text += is_mean ? ',' : node.operation == Operation::kSum ? '+' : '*';
      const bool is_open = operand->second == Operation::kSum || operand->second == node.operation;
      const bool needs_parentheses = !is_mean && is_open;
      text += needs_parentheses ? '(' + operand->first + ')' : operand->first;
    }
    if (is_mean) text += ')';
    stack.resize(stack.size() - node.argument);
    stack.emplace_back(std::move(text), node.operation);
  }
  return stack.back().first;
}

std::uint64_t HashParameters(std::uint64_t hash, const KernelParameters& parameters) {
  for (const double value : parameters) hash = MixHash(hash, std::bit_cast<std::uint64_t>(value));
  return hash;
}

/// Equal for kernels of one family, or for composites, that DescribeKernel describes alike.
std::uint64_t HashKernel(const KernelSet& kernels, Index m, const ShortWidths* short_widths) {
  const KernelId id = kernels.order[m];
  if (id.family >= 0) {
    const Family& family = kernels.families[id.family];
    return HashParameters(1, Shortened(*family.kind, family.members[id.member], short_widths));
  }
  std::uint64_t hash = 2;
  const Composite& composite = kernels.composites[id.member];
  for (const Composite::Node& node : composite.nodes) {
    hash = MixHash(MixHash(hash, static_cast<std::uint64_t>(node.operation)),
                   static_cast<std::uint64_t>(node.argument));
  }
  for (const KernelTerm& term : composite.terms) {
    hash = HashParameters(MixHash(hash, std::bit_cast<std::uintptr_t>(term.kind)),
                          Shortened(*term.kind, term.parameters, short_widths));
    for (std::int32_t part : {term.view, term.subset, term.file})
      hash = MixHash(hash, static_cast<std::uint64_t>(part));
  }
  return hash;
}

/// The hashes met so far, apart for every family (kernels of different families are never alike), so that the
/// table of the family at hand fits into the cache.
class SeenHashes {
 public:
  explicit SeenHashes(const KernelSet& kernels) {
    const auto add_region = [&](std::size_t members) {
      regions_.push_back(
          {used_, members > 1 ? std::bit_ceil(4 * members) : 0});  // a member is met in two forms
      used_ += regions_.back().slots;
    };
    regions_.reserve(kernels.families.size() + 1);
    for (const Family& family : kernels.families) add_region(family.members.size());
    add_region(kernels.composites.size());
    slots_.resize(used_, kEmpty);
  }

  /// False when the hash was there already. Family -1 are the composites.
  bool Insert(std::int32_t family, std::uint64_t hash) {
    const Region region = family < 0 ? regions_.back() : regions_[family];
    if (region.slots == 0) return true;
    if (hash == kEmpty) hash = 1;
    for (std::size_t s = hash;; ++s) {
      std::uint64_t& slot = slots_[region.begin + (s & (region.slots - 1))];
      if (slot == hash) return false;
      if (slot != kEmpty) continue;
      slot = hash;
      return true;
    }
  }

 private:
  static constexpr std::uint64_t kEmpty = 0;  // what is there before anything is
  struct Region {
    std::size_t begin, slots;
  };
  std::vector<Region> regions_;
  std::vector<std::uint64_t> slots_;
  std::size_t used_ = 0;
};

}  // namespace

std::string DescribeKernel(const KernelSet& kernels, Index m, const ShortWidths* short_widths) {
  if (kernels.IsComposite(m)) {
    return DescribeComposite(kernels, kernels.composites[kernels.order[m].member], short_widths);
  }
  return DescribeTerm(kernels, kernels.Term(m), short_widths);
}

void MakeNamesUnique(KernelSet& kernels, const ShortWidths& short_widths) {
  // Two different kernels with one hash, if that should ever happen, only cost a needless #2.
  SeenHashes descriptions(kernels);
  std::map<std::pair<std::int32_t, std::uint64_t>, int> repeats;
  std::unordered_map<std::string, int> given;
  for (Index m = 0; m < kernels.size(); ++m) {
    if (const auto found = kernels.given_names.find(m); found != kernels.given_names.end()) {
      const int number = ++given[found->second];
      if (number > 1) found->second += fmt::format("#{}", number);
      continue;
    }
    const std::int32_t family = kernels.order[m].family;
    const std::uint64_t exact = HashKernel(kernels, m, nullptr);
    if (!short_widths.empty()) {
      const std::uint64_t shortened = HashKernel(kernels, m, &short_widths);
      if (shortened != exact && descriptions.Insert(family, shortened)) {
        kernels.given_names[m] = DescribeKernel(kernels, m, &short_widths);
        continue;
      }
    }
    if (descriptions.Insert(family, exact)) continue;
    const int number = 2 + repeats[{family, exact}]++;
    kernels.given_names[m] = fmt::format("{}#{}", DescribeKernel(kernels, m), number);
  }
}

double ShortenNumber(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

}  // namespace kweave
