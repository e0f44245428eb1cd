#include "kernel/kernel_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernel/kernel_names.h"
#include "kernel/kernel_spec.h"

namespace kweave {
namespace {

/// Moves entries of one list to another as they are first asked for, and says where they went.
template <class T>
class Keeper {
 public:
  Keeper(const std::vector<T>& from, std::vector<T>& to) : from_(from), to_(to), moved_(from.size(), -1) {}

  std::int32_t operator()(std::int32_t index) {
    if (index < 0) return index;
    if (moved_[index] < 0) {
      moved_[index] = static_cast<std::int32_t>(to_.size());
      to_.push_back(from_[index]);
    }
    return moved_[index];
  }

 private:
  const std::vector<T>& from_;
  std::vector<T>& to_;
  std::vector<std::int32_t> moved_;
};

}  // namespace

std::string KernelSet::Name(Index m) const {
  const auto found = given_names.find(m);
  return found != given_names.end() ? found->second : DescribeKernel(*this, m);
}

KernelTerm KernelSet::Term(Index m) const {
  const Family& family = families[order[m].family];
  return {.kind = family.kind,
          .parameters = family.members[order[m].member],
          .view = family.view,
          .subset = family.subset,
          .file = family.file};
}

std::string KernelSet::Source(Index m) const {
  const auto source_of = [&](const KernelTerm& term) {
    return term.file >= 0 ? files[term.file].name : views[term.view];
  };
  if (!IsComposite(m)) return source_of(Term(m));
  std::vector<std::string> sources;
  for (const KernelTerm& term : composites[order[m].member].terms) sources.push_back(source_of(term));
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  return fmt::format("{}", fmt::join(sources, " with "));
}

Composite KernelSet::Expression(Index m) const {
  if (IsComposite(m)) return composites[order[m].member];
  return {{Term(m)}, {{Composite::Operation::kTerm, 0}}};
}

KernelSet KernelSet::Select(std::span<const Index> kept) const {
  KernelSet result;
  result.had_more_views = NamesViews();
  Keeper keep_view(views, result.views);
  Keeper keep_subset(subsets, result.subsets);
  Keeper keep_file(files, result.files);
  result.subsets.clear();
  keep_subset(0);  // the list begins with "all features", used or not
  std::vector<std::int32_t> moved_family(families.size(), -1);
  for (Index m : kept) {
    const KernelId id = order[m];
    if (const auto found = given_names.find(m); found != given_names.end()) {
      result.given_names[result.size()] = found->second;
    }
    if (id.family < 0) {
      result.order.push_back({-1, static_cast<std::int32_t>(result.composites.size())});
      Composite& composite = result.composites.emplace_back(composites[id.member]);
      for (KernelTerm& term : composite.terms) {
        term.view = UsesFeatures(*term.kind) ? keep_view(term.view) : 0;
        term.subset = keep_subset(term.subset);
        term.file = keep_file(term.file);
      }
      continue;
    }
    const Family& source = families[id.family];
    std::int32_t& moved = moved_family[id.family];
    if (moved < 0) {
      moved = static_cast<std::int32_t>(result.families.size());
      result.families.push_back({.kind = source.kind,
                                 .view = UsesFeatures(*source.kind) ? keep_view(source.view) : 0,
                                 .subset = keep_subset(source.subset),
                                 .file = keep_file(source.file),
                                 .members = {}});
    }
    Family& target = result.families[moved];
    result.order.push_back({moved, static_cast<std::int32_t>(target.members.size())});
    target.members.push_back(source.members[id.member]);
  }
  return result;
}

void KernelSet::Hold(std::span<const GramMatrix> matrices) {
  for (MatrixSource& file : files) {
    const auto found = std::ranges::find(matrices, file.name, &GramMatrix::name);
    if (found != matrices.end()) file.held = std::make_shared<const MatrixFile>(MatrixFile::Wrap(*found));
  }
}

void KernelSet::LetGo() {
  for (MatrixSource& file : files) file.held = nullptr;
}

}  // namespace kweave
