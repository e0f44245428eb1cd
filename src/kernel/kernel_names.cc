#include "kernel/kernel_names.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "kernel/kernel_spec.h"
#include "kernel/spec_scanner.h"

namespace kweave {
namespace {

KernelTerm Shortened(KernelTerm term, const ShortGammas* short_gammas) {
  if (short_gammas == nullptr) return term;
  const auto found = short_gammas->find(term.parameters.gamma);
  if (found != short_gammas->end()) term.parameters.gamma = found->second;
  return term;
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

std::string DescribeTerm(const KernelSet& kernels, const KernelTerm& term) {
  const KernelKind& kind = *term.kind;
  const KernelParameters& parameters = term.parameters;
  if (!UsesFeatures(kind))
    return fmt::format("{}(file={})", kind.name, QuotedIfNeeded(kernels.files[term.file]));
  std::string text(kind.name);
  const auto out = std::back_inserter(text);
  if (kind.shape == Shape::kExponential) fmt::format_to(out, "(gamma={})", parameters.gamma);
  if (kind.shape == Shape::kPower) {
    fmt::format_to(out, "(degree={},gamma={},coef0={})", parameters.degree, parameters.gamma,
                   parameters.coef0);
  }
  const FeatureSubset& subset = kernels.subsets[term.subset];
  if (kernels.views.size() > 1 || !subset.empty())
    fmt::format_to(out, "@{}", QuotedIfNeeded(kernels.views[term.view]));
  if (!subset.empty()) fmt::format_to(out, "[{}]", DescribeSubset(subset));
  return text;
}

/// Puts parentheses around operands that would else run together with their neighbours.
std::string DescribeComposite(const KernelSet& kernels, const Composite& composite,
                              const ShortGammas* short_gammas) {
  using Operation = Composite::Operation;
  std::vector<std::pair<std::string, Operation>> stack;
  for (const Composite::Node& node : composite.nodes) {
    if (node.operation == Operation::kTerm) {
      stack.emplace_back(DescribeTerm(kernels, Shortened(composite.terms[node.argument], short_gammas)),
                         node.operation);
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
  hash = MixHash(hash, std::bit_cast<std::uint64_t>(parameters.gamma));
  hash = MixHash(hash, std::bit_cast<std::uint64_t>(parameters.coef0));
  return MixHash(hash, std::bit_cast<std::uint64_t>(parameters.degree));
}

/// Equal for kernels that DescribeKernel describes alike.
std::uint64_t HashKernel(const KernelSet& kernels, Index m, const ShortGammas* short_gammas) {
  const KernelId id = kernels.order[m];
  if (id.family >= 0) {
    // Families differ in what they work on, so the family stands for all of that.
    KernelTerm term;
    term.parameters = kernels.families[id.family].members[id.member];
    return HashParameters(MixHash(1, static_cast<std::uint64_t>(id.family)),
                          Shortened(term, short_gammas).parameters);
  }
  std::uint64_t hash = 2;
  const Composite& composite = kernels.composites[id.member];
  for (const Composite::Node& node : composite.nodes) {
    hash = MixHash(MixHash(hash, static_cast<std::uint64_t>(node.operation)),
                   static_cast<std::uint64_t>(node.argument));
  }
  for (const KernelTerm& exact : composite.terms) {
    const KernelTerm term = Shortened(exact, short_gammas);
    hash = HashParameters(MixHash(hash, std::bit_cast<std::uintptr_t>(term.kind)), term.parameters);
    hash = MixHash(MixHash(MixHash(hash, term.view), term.subset), term.file);
  }
  return hash;
}

/// A set of hashes in one block of memory.
class HashSet {
 public:
  explicit HashSet(std::size_t count) : slots_(std::bit_ceil(2 * count + 2), kEmpty) {}

  /// False when it was there already.
  bool Insert(std::uint64_t hash) {
    if (hash == kEmpty) hash = 1;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = (hash >> 7) & mask;; slot = (slot + 1) & mask) {
      if (slots_[slot] == hash) return false;
      if (slots_[slot] != kEmpty) continue;
      slots_[slot] = hash;
      return true;
    }
  }

 private:
  static constexpr std::uint64_t kEmpty = 0;
  std::vector<std::uint64_t> slots_;
};

}  // namespace

std::string DescribeKernel(const KernelSet& kernels, Index m, const ShortGammas* short_gammas) {
  if (kernels.IsComposite(m)) {
    return DescribeComposite(kernels, kernels.composites[kernels.order[m].member], short_gammas);
  }
  return DescribeTerm(kernels, Shortened(kernels.Term(m), short_gammas));
}

void MakeNamesUnique(KernelSet& kernels, const ShortGammas& short_gammas) {
  // Two different kernels with one hash, if that should ever happen, only cost a needless #2.
  HashSet descriptions(kernels.order.size());
  std::unordered_map<std::uint64_t, int> repeated_descriptions;
  std::unordered_map<std::string, int> given;
  for (Index m = 0; m < kernels.size(); ++m) {
    if (const auto found = kernels.given_names.find(m); found != kernels.given_names.end()) {
      const int number = ++given[found->second];
      if (number > 1) found->second += fmt::format("#{}", number);
      continue;
    }
    const std::uint64_t exact = HashKernel(kernels, m, nullptr);
    if (!short_gammas.empty()) {
      const std::uint64_t shortened = HashKernel(kernels, m, &short_gammas);
      if (shortened != exact && descriptions.Insert(shortened)) {
        kernels.given_names[m] = DescribeKernel(kernels, m, &short_gammas);
        continue;
      }
    }
    if (descriptions.Insert(exact)) continue;
    const int number = 2 + repeated_descriptions[exact]++;
    kernels.given_names[m] = fmt::format("{}#{}", DescribeKernel(kernels, m), number);
  }
}

double ShortenNumber(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

}  // namespace kweave
