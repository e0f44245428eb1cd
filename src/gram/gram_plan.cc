#include "gram/gram_plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "gram/feature_group.h"
#include "kernel/linear.h"
#include "kernel/sequence_kernel.h"
#include "kernel/wd.h"

namespace kweave {
namespace {

// The objects of a family and of its base, and its table: 1.3 to 3.3 kB measured with a thousand families of
// one kernel.
constexpr std::size_t kFamilyBytes = 3 << 10;

// Up to so many training samples kernels on near words are matrices of pairs, which are kept while weights
// move: 64 MB in single precision.
constexpr Index kMostByPairs = 4000;

class Planner {
 public:
  Planner(const KernelSet& kernels, const Sides& sides, FamilyEvaluation evaluation, bool use_float)
      : kernels_(kernels),
        sides_(sides),
        evaluation_(evaluation),
        use_float_(use_float),
        value_bytes_(use_float ? sizeof(float) : sizeof(double)),
        feature_rows_(sides.left_count(), value_bytes_) {}

  GramPlan Plan(const Normalization& normalization) {
    Sort(normalization);
    for (GramPlan::Family& family : plan_.families) PlanFamily(family);
    for (const Index m : plan_.singles) {
      for (const KernelTerm& term : kernels_.Expression(m).terms) AddReader(term);
    }
    for (GramPlan::Linear& linear : plan_.linear) PlanLinear(linear);
    for (GramPlan::Runs& runs : plan_.runs) PlanRuns(runs);
    for (GramPlan::Words& words : plan_.words) PlanWords(words);
    plan_.table_bytes += feature_rows_.bytes();
    return std::move(plan_);
  }

 private:
  // By the way a Gram takes to them.
  void Sort(const Normalization& normalization) {
    std::map<std::pair<BaseKey, const KernelKind*>, GramPlan::Family> families;
    std::map<std::int32_t, std::vector<LinearMember>> linear;
    std::map<std::int32_t, std::vector<RunMember>> runs;
    std::map<std::int32_t, std::vector<WordMember>> equal_words;
    for (Index m = 0; m < kernels_.size(); ++m) {
      const double scale = normalization.scale[m];
      if (scale == 0) continue;
      if (kernels_.IsComposite(m) || normalization.chains.contains(m)) {
        plan_.singles.push_back(m);
        continue;
      }
      const KernelTerm term = kernels_.Term(m);
      if (term.kind == &kLinear) {
        linear[term.view].push_back({m, &kernels_.subsets[term.subset], scale});
      } else if (term.kind == &kWd) {
        runs[term.view].push_back(MemberOf(m, term, scale));
      } else if (std::optional<WordMember> word = WordMemberOf(m, term, scale)) {
        if (word->map.weights.empty()) {
          equal_words[term.view].push_back(*std::move(word));
        } else {
          plan_.words.push_back({term.view, false, {*std::move(word)}});
        }
      } else {
        GramPlan::Family& family = families[{KeyOf(term), term.kind}];
        if (family.members.empty()) family.term = term;
        family.members.push_back({m, term.parameters, scale});
      }
    }
    for (auto& [key, family] : families) plan_.families.push_back(std::move(family));
    for (auto& [view, members] : linear) plan_.linear.push_back({view, std::move(members)});
    for (auto& [view, members] : runs) plan_.runs.push_back({view, std::move(members)});
    for (auto& [view, members] : equal_words) plan_.words.push_back({view, true, std::move(members)});
  }

  RunMember MemberOf(Index m, const KernelTerm& term, double scale) const {
    const PackedLetters letters = LettersOf(std::get<SequenceRows>(sides_.left[Offset(term.view)].features));
    const LetterRange range = Resolve(RegionOf(kernels_.subsets[term.subset]), letters.length);
    return {m, range.begin, range.end, range.limit, WordWeights(term.parameters), scale};
  }

  // Nothing where the values of pairs are to be kept.
  std::optional<WordMember> WordMemberOf(Index m, const KernelTerm& term, double scale) const {
    if (!term.kind->IsOnSequences()) return std::nullopt;
    const auto& sequences = std::get<SequenceRows>(sides_.left[Offset(term.view)].features);
    std::optional<WordMap> map = FindWordMap(*term.kind, term.parameters, sequences.alphabet);
    if (!map) return std::nullopt;
    const bool is_matrix = sides_.is_training && sides_.left_count() <= kMostByPairs;
    if (!map->weights.empty() && (is_matrix || !map->HasTable())) return std::nullopt;
    return WordMember{m, *std::move(map), RegionOf(kernels_.subsets[term.subset]), scale};
  }

  void PlanWords(GramPlan::Words& words) const {
    for (const WordMember& member : words.members) {
      words.bytes += WordGroupBytes(member, WordSidesOf(sides_, words.view));
    }
  }

  void PlanRuns(GramPlan::Runs& runs) const {
    const auto letters = [&](std::span<const View> views) {
      return LettersOf(std::get<SequenceRows>(views[Offset(runs.view)].features));
    };
    runs.bytes = RunGroupBytes(letters(sides_.left), letters(sides_.right), sides_.is_training, runs.members);
  }

  void PlanFamily(GramPlan::Family& family) {
    const KernelKind& kind = *family.term.kind;
    const FeatureSubset& subset = kernels_.subsets[family.term.subset];
    const Features& features = sides_.left[family.term.view].features;
    if (evaluation_ != FamilyEvaluation::kDirect && IsSmoothInOneFeature(kind, features, subset)) {
      const FeatureColumn column = ColumnOf(family.term, sides_, subset);
      if (std::optional<MeasuredFeature> found =
              MeasureFeature(kind, family.members, column, plan_.matrices)) {
        family.reads_base = !(sides_.is_training && KeepDigits(kind, family.members, *found, use_float_) &&
                              feature_rows_.Take(column.place, found->table.terms));
        plan_.table_bytes += (column.left.size() + column.right.size()) * sizeof(double);
        CountMatrices(kind, family.members, found->table);
        family.table = std::move(found->table);
      }
    }
    if (family.reads_base) AddReader(family.term);
  }

  // Where there are other kernels the machine needs rows, and those of many features are worth keeping.
  void PlanLinear(GramPlan::Linear& linear) const {
    const View &left = sides_.left[linear.view], &right = sides_.right[linear.view];
    linear.bytes = LinearFeatureBytes(left, right, sides_.is_training, value_bytes_);
    const bool has_others =
        !plan_.families.empty() || !plan_.singles.empty() || !plan_.runs.empty() || !plan_.words.empty();
    const bool is_one_of_all = linear.members.size() == 1 && linear.members[0].subset->empty();
    const bool is_expensive =
        !std::holds_alternative<SparseRows>(left.features) && ColumnCount(left.features) > kCheapFeatures;
    linear.keeps_products = sides_.is_training && has_others && is_one_of_all && is_expensive;
  }

  void AddReader(const KernelTerm& term) {
    const auto [base, is_new] = plan_.bases.try_emplace(KeyOf(term));
    if (is_new) {
      base->second.plan = PlanBase(RequestOf(term, kernels_, sides_), value_bytes_);
      base->second.plan.bytes += BaseRows<float>::PlaceBytes(sides_.left_count());
    }
    ++base->second.readers;
  }

  // Those that features share are counted once.
  void CountMatrices(const KernelKind& kind, std::span<const FamilyMember> members,
                     const FeatureTable& table) {
    const auto on_unit_range = kind.in_one_feature->on_unit_range;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const bool is_shared =
          on_unit_range != nullptr &&
          !shared_matrices_.emplace(&kind, on_unit_range(members[m].parameters, table.half)).second;
      if (!is_shared) plan_.table_bytes += table.members[m].terms * table.members[m].terms * sizeof(double);
    }
  }

  const KernelSet& kernels_;
  const Sides& sides_;
  const FamilyEvaluation evaluation_;
  const bool use_float_;
  const std::size_t value_bytes_;
  FeatureRowsPlan feature_rows_;
  std::set<FeatureMatrices::key_type> shared_matrices_;
  GramPlan plan_;
};

bool IsFile(const BaseKey& key) { return std::get<3>(key) >= 0; }

}  // namespace

Index GramPlan::MatrixCount() const {
  return static_cast<Index>(bases.size()) +
         static_cast<Index>(std::ranges::count_if(linear, &Linear::keeps_products));
}

Index GramPlan::CachedCount() const {
  const auto is_cached = [](const auto& base) { return IsFile(base.first) || !base.second.plan.is_cheap; };
  return static_cast<Index>(std::ranges::count_if(bases, is_cached)) +
         static_cast<Index>(std::ranges::count_if(linear, &Linear::keeps_products));
}

std::size_t GramPlan::Bytes() const {
  std::size_t bytes = table_bytes + families.size() * kFamilyBytes;
  for (const auto& [key, base] : bases) bytes += base.plan.bytes;
  for (const Linear& of_view : linear) bytes += of_view.bytes;
  for (const Runs& of_view : runs) bytes += of_view.bytes;
  for (const Words& of_view : words) bytes += of_view.bytes;
  return bytes;
}

bool GramPlan::HasSharedBases() const {
  return std::ranges::any_of(bases, [](const auto& base) { return base.second.readers > 1; });
}

GramPlan PlanGram(const KernelSet& kernels, const Sides& sides, const Normalization& normalization,
                  FamilyEvaluation evaluation, bool use_float) {
  return Planner(kernels, sides, evaluation, use_float).Plan(normalization);
}

}  // namespace kweave
