#include "gram/structured_gram.h"

#include <algorithm>

#include "compute/cpu/family_loops.h"
#include "gram/kernel_parts.h"
#include "gram/linear_group.h"
#include "gram/panel.h"
#include "gram/scaled_features.h"
#include "gram/structured_expansion.h"

namespace kweave {
namespace {

constexpr Index kChunks = 4;  // of groups that run side by side
// With few columns their blocks do not keep the threads busy.
constexpr Index kFewColumns = 2 * kColumnBlock;

// k(x,x) is needed before normalisation, of new samples too.
bool NeedsDiagonals(const Normalization& normalization) {
  return std::ranges::find(normalization.sequence, Normalizer::kSpherical) != normalization.sequence.end();
}

template <class From, class To>
void ConvertRows(std::span<const From> rows, Index count, To* out, Index stride, Index columns) {
  for (Index r = 0; r < count; ++r) {
    std::transform(rows.begin() + r * columns, rows.begin() + (r + 1) * columns, out + r * stride,
                   [](From value) { return static_cast<To>(value); });
  }
}

}  // namespace

template <class T>
StructuredGram<T>::StructuredGram(const KernelSet& kernels, const Sides& sides,
                                  const Normalization& normalization, const GramOptions& options,
                                  ThreadPool& pool)
    : kernels_(kernels),
      sides_(sides),
      pool_(pool),
      left_count_(sides.left_count()),
      right_count_(sides.right_count()),
      bases_(kernels, sides, NeedsDiagonals(normalization), BasesOf(options.shared), options.shared_samples),
      single_kernels_(kernels, sides, bases_, pool) {
  MakeGroups(normalization, options);
  bases_.ShareCache(options.cache_bytes);
}

template <class T>
const BaseStore<T>* StructuredGram<T>::BasesOf(const Gram* gram) {
  const auto* structured = dynamic_cast<const StructuredGram*>(gram);
  return structured == nullptr ? nullptr : &structured->bases_;
}

template <class T>
void StructuredGram<T>::MakeGroups(const Normalization& normalization, const GramOptions& options) {
  KernelParts parts = SortKernels(kernels_, normalization);
  for (auto& [view, members] : parts.linear) {
    std::shared_ptr<const LinearFeatures<T>> features =
        MakeLinearFeatures<T>(sides_.left[view], sides_.right[view], sides_.is_training,
                              options.factors_sum_to_zero && std::is_same_v<T, float>);
    BaseRows<T>* products = nullptr;
    if (sides_.is_training && parts.AreProductsKept(view, sides_.left)) {
      products = &bases_.OfProducts(view, features);
    }
    groups_.push_back(MakeLinearGroup<T>(std::move(members), std::move(features), right_count_, products));
  }
  GaussianMatrices matrices;
  for (auto& [key, members] : parts.families) {
    const KernelTerm term = kernels_.Term(members.front().kernel);
    const bool is_own_base = !parts.bases_of_singles.contains(key);
    groups_.push_back(MakeFamily(term, std::move(members), is_own_base, options, matrices));
  }
  for (Index m : parts.singles) {
    const auto chain = normalization.chains.find(m);
    std::vector<SampleStep> steps;
    if (chain != normalization.chains.end()) steps = single_kernels_.CompleteSteps(m, chain->second);
    groups_.push_back(single_kernels_.Make(m, normalization.scale[m], std::move(steps)));
  }
  for (const auto& group : groups_) {
    if (group->has_rows()) row_groups_.push_back(group.get());
  }
  // Single kernels may share a base with others.
  const bool may_be_side_by_side = parts.singles.empty() && right_count_ <= kFewColumns;
  are_side_by_side_ = may_be_side_by_side && static_cast<Index>(groups_.size()) >= 2 * kChunks;
  are_rows_side_by_side_ = may_be_side_by_side && static_cast<Index>(row_groups_.size()) >= 2 * kChunks;
}

template <class T>
std::unique_ptr<Group<T>> StructuredGram<T>::MakeFamily(const KernelTerm& term,
                                                        std::vector<FamilyMember> members, bool is_own_base,
                                                        const GramOptions& options,
                                                        GaussianMatrices& matrices) {
  const auto make_family = [&] {
    return MakeFamilyGroup<T>(term.kind->shape, members, bases_.Of(term), is_own_base, options.evaluation,
                              options.learned_error);
  };
  const FeatureSubset& subset = kernels_.subsets[term.subset];
  const kweave::Features& left = sides_.left[term.view].features;
  if (options.evaluation == FamilyEvaluation::kDirect || !IsSmoothInOneFeature(*term.kind, left, subset)) {
    return make_family();
  }
  FeatureColumn values = ColumnOf(term, left, subset);
  if (!sides_.is_training) values.right = ColumnOf(term, sides_.right[term.view].features, subset).left;
  if (sides_.is_training && !feature_rows_) feature_rows_ = std::make_unique<FeatureRows<T>>(left_count_);
  return MakeFeatureGroup<T>(term.kind->shape, members, values, matrices, feature_rows_.get(), make_family);
}

template <class T>
void StructuredGram<T>::KeepBases() {
  for (auto& group : groups_) group->MapBase();
  bases_.KeepAll(pool_);
}

template <class T>
void StructuredGram<T>::SetWeights(std::span<const double> theta) {
  if (std::ranges::equal(theta, theta_)) return;
  theta_.assign(theta.begin(), theta.end());
  for (Group<T>* group : row_groups_) group->SetWeights(theta);
  if (feature_rows_) feature_rows_->SetWeights(theta);
}

// Calls work(group number, chunk, pool) for all groups, those of one chunk in order. The chunks do not depend on the
// number of threads, so neither does what is summed up by chunk.
template <class T>
template <class Work>
void StructuredGram<T>::ForGroups(Work work) {
  if (are_side_by_side_) {
    ForChunks(static_cast<Index>(groups_.size()), work);
  } else {
    for (std::size_t g = 0; g < groups_.size(); ++g) work(static_cast<Index>(g), 0, pool_);
  }
}

template <class T>
template <class Work>
void StructuredGram<T>::ForChunks(Index count, Work work) {
  pool_.ParallelFor(kChunks, 1, [&](Index chunk, Index, int) {
    for (Index g = chunk * count / kChunks; g < (chunk + 1) * count / kChunks; ++g) work(g, chunk, alone_);
  });
}

template <class T>
void StructuredGram<T>::AddRows(std::span<const Index> rows, T* out, Index stride) {
  for (std::size_t r = 0; r < rows.size(); ++r) std::fill_n(out + r * stride, right_count_, T{0});
  if (feature_rows_) feature_rows_->AddRows(rows, out, stride, pool_);
  if (!are_rows_side_by_side_) {
    for (Group<T>* group : row_groups_) group->AddRows(rows, out, stride, pool_);
    return;
  }
  const Index size = static_cast<Index>(rows.size()) * right_count_;
  // The first chunk needs no place of its own.
  side_by_side_.assign((kChunks - 1) * size, T{0});
  const auto part = [&](Index chunk) { return side_by_side_.data() + (chunk - 1) * size; };
  ForChunks(static_cast<Index>(row_groups_.size()), [&](Index g, Index chunk, ThreadPool& pool) {
    chunk == 0 ? row_groups_[g]->AddRows(rows, out, stride, pool)
               : row_groups_[g]->AddRows(rows, part(chunk), right_count_, pool);
  });
  for (Index chunk = 1; chunk < kChunks; ++chunk) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      AddScaled<T>(part(chunk) + r * right_count_, right_count_, T{1}, out + r * stride);
    }
  }
}

template <class T>
void StructuredGram<T>::Rows(std::span<const double> theta, std::span<const Index> rows, float* out,
                             Index stride) {
  if constexpr (std::is_same_v<T, float>) {
    SetWeights(theta);
    CountRows(static_cast<std::int64_t>(rows.size()));
    AddRows(rows, out, stride);
  } else {
    AlignedVector<T> exact(rows.size() * right_count_);
    Rows(theta, rows, exact.data(), right_count_);
    ConvertRows<T>(exact, static_cast<Index>(rows.size()), out, stride, right_count_);
  }
}

template <class T>
void StructuredGram<T>::Rows(std::span<const double> theta, std::span<const Index> rows, double* out,
                             Index stride) {
  if constexpr (std::is_same_v<T, double>) {
    SetWeights(theta);
    CountRows(static_cast<std::int64_t>(rows.size()));
    AddRows(rows, out, stride);
  } else {
    AlignedVector<T> rounded(rows.size() * right_count_);
    Rows(theta, rows, rounded.data(), right_count_);
    ConvertRows<T>(rounded, static_cast<Index>(rows.size()), out, stride, right_count_);
  }
}

template <class T>
double StructuredGram<T>::RowShift(std::span<const double> theta) const {
  double shift = 0;
  for (const auto& group : groups_) shift += group->RowShift(theta);
  return shift;
}

template <class T>
void StructuredGram<T>::Diagonal(std::span<const double> theta, std::span<double> out) {
  SetWeights(theta);
  std::ranges::fill(out, 0.0);
  for (const Group<T>* group : row_groups_) group->AddDiagonal(out);
  if (feature_rows_) feature_rows_->AddDiagonal(out, pool_);
}

template <class T>
std::unique_ptr<Expansion> StructuredGram<T>::Expand(std::span<const double> a) {
  auto expansion = std::make_unique<StructuredExpansion>(StartParts(), left_count_);
  CountRows(expansion->MoveTo(a, [this](auto add) { ForGroups(add); }));
  return expansion;
}

// Few changes are added to what is there; many cost more than all entries from nothing.
template <class T>
void StructuredGram<T>::Update(Expansion& expansion, std::span<const double> a) {
  auto& mine = static_cast<StructuredExpansion&>(expansion);
  Index changes = 0, entries = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    changes += a[i] != mine.a()[i];
    entries += a[i] != 0;
  }
  if (changes >= entries) mine = StructuredExpansion(StartParts(), left_count_);
  CountRows(mine.MoveTo(a, [this](auto add) { ForGroups(add); }));
}

// A row of as many pairs as there are samples counts as one.
template <class T>
bool StructuredGram<T>::QuadraticsOnly(std::span<const double> a, std::span<double> q) {
  const auto has = [&](QuadraticsCost cost) {
    return std::ranges::any_of(groups_, [&](const auto& group) { return group->quadratics_cost() == cost; });
  };
  if (has(QuadraticsCost::kExpansion) || !has(QuadraticsCost::kSupport)) return false;
  std::ranges::fill(q, 0.0);
  ForGroups([&](Index g, Index, ThreadPool& pool) { groups_[g]->SupportQuadratics(a, q, pool); });
  const auto support = std::ranges::count_if(a, [](double value) { return value != 0; });
  CountRows(right_count_ > 0 ? support * support / (2 * right_count_) : 0);
  return true;
}

template <class T>
std::vector<Measurement> StructuredGram<T>::Measure(std::span<const double> theta,
                                                    std::span<const std::span<const double>> vectors) {
  SetWeights(theta);
  std::vector<Measurement> measured(vectors.size());
  for (Measurement& one : measured) {
    one.quadratics.assign(theta.size(), 0.0);
    one.outputs.assign(right_count_, 0.0);
  }
  // Quadratics are each group's own; outputs are summed up by chunk.
  std::vector<std::vector<Measurement>> parts(are_side_by_side_ ? kChunks : 0, measured);
  ForGroups([&](Index g, Index chunk, ThreadPool& pool) {
    groups_[g]->Measure(theta, vectors, are_side_by_side_ ? parts[chunk] : measured, pool);
  });
  for (const std::vector<Measurement>& part : parts) {
    for (std::size_t v = 0; v < vectors.size(); ++v) {
      AddScaled<double>(part[v].outputs.data(), right_count_, 1, measured[v].outputs.data());
      AddScaled<double>(part[v].quadratics.data(), kernels_.size(), 1, measured[v].quadratics.data());
    }
  }
  CountRows(static_cast<std::int64_t>(CommonSupport(vectors).size()));
  return measured;
}

template <class T>
std::vector<Measurement> StructuredGram<T>::MeasureEach(std::span<const MeasureRequest> requests) {
  std::vector<Measurement> measured(requests.size());
  for (Measurement& one : measured) {
    one.quadratics.assign(kernels_.size(), 0.0);
    one.outputs.assign(right_count_, 0.0);
  }
  if (requests.empty()) return measured;
  theta_.clear();  // groups have other weights after this
  // Errors of the groups add up.
  std::vector<MeasureRequest> parts(requests.begin(), requests.end());
  std::vector<std::span<const double>> vectors;
  for (MeasureRequest& part : parts) {
    part.rough_error /= static_cast<double>(groups_.size());
    vectors.push_back(part.a);
  }
  for (auto& group : groups_) group->MeasureEach(parts, measured, pool_);
  CountRows(static_cast<std::int64_t>(CommonSupport(vectors).size()));
  return measured;
}

template <class T>
std::vector<std::unique_ptr<Expansion>> StructuredGram<T>::ExpandAll(
    std::span<const std::span<const double>> vectors) {
  std::vector<std::vector<std::unique_ptr<GroupExpansion>>> parts(vectors.size());
  for (const auto& group : groups_) {
    std::vector<std::unique_ptr<GroupExpansion>> own = group->ExpandAll(vectors, pool_);
    for (std::size_t v = 0; v < vectors.size(); ++v) parts[v].push_back(std::move(own[v]));
  }
  std::vector<std::unique_ptr<Expansion>> expansions;
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    expansions.push_back(std::make_unique<StructuredExpansion>(
        std::move(parts[v]), std::vector<double>(vectors[v].begin(), vectors[v].end())));
  }
  CountRows(static_cast<std::int64_t>(CommonSupport(vectors).size()));
  return expansions;
}

template <class T>
std::vector<std::unique_ptr<GroupExpansion>> StructuredGram<T>::StartParts() const {
  std::vector<std::unique_ptr<GroupExpansion>> parts;
  for (auto& group : groups_) parts.push_back(group->StartExpansion());
  return parts;
}

template <class T>
std::unique_ptr<FeatureMatrix> StructuredGram<T>::Features(std::span<const double> theta) {
  std::vector<WeightedFeatures<T>> parts;
  for (const auto& group : groups_) {
    std::optional<WeightedFeatures<T>> part = group->Linear(theta);
    if (!part) return nullptr;
    parts.push_back(std::move(*part));
  }
  const auto poll = [this] { pool_.ParallelFor(1, 1, [](Index, Index, int) {}); };  // as every loop does
  return ScaleFeatures<T>(parts, left_count_, poll);
}

template <class T>
double StructuredGram<T>::TableError() const {
  double error = 0;
  for (const auto& group : groups_) error = std::max(error, group->TableError());
  return error;
}

template <class T>
void StructuredGram<T>::MeanDiagonals(std::span<double> means) const {
  std::ranges::fill(means, 0.0);
  for (const auto& group : groups_) group->MeanDiagonals(left_count_, means);
}

template <class T>
void StructuredGram<T>::MeansOfAllPairs(std::span<double> means) {
  std::ranges::fill(means, 0.0);
  for (const auto& group : groups_) group->MeansOfAllPairs(left_count_, means, pool_);
}

template <class T>
void StructuredGram<T>::Variances(std::span<double> variances) const {
  for (const auto& group : groups_) group->Variances(variances);
}

template class StructuredGram<float>;
template class StructuredGram<double>;

}  // namespace kweave
