#include "gram/structured_gram.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "compute/cpu/family_loops.h"
#include "gram/panel.h"
#include "gram/scaled_features.h"
#include "gram/selected_block.h"
#include "gram/structured_expansion.h"
#include "kernel/linear.h"

namespace kweave {
namespace {

// Linear kernels go through their features; the others through their base quantity.
bool IsLinear(const KernelTerm& term) { return term.kind == &kLinear; }

constexpr Index kChunks = 4;  // of groups that run side by side
// With few columns their blocks do not keep the threads busy.
constexpr Index kFewColumns = 2 * kColumnBlock;
constexpr std::int32_t kProductsOfFeatures = -1;  // stands for a subset in the key of a base

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
      shared_(dynamic_cast<const StructuredGram*>(options.shared)),
      shared_samples_(options.shared_samples),
      pool_(pool),
      left_count_(RowCount(sides.left[0].features)),
      right_count_(RowCount(sides.right[0].features)) {
  needs_right_diagonal_ =
      std::ranges::find(normalization.sequence, Normalizer::kSpherical) != normalization.sequence.end();
  MakeGroups(normalization, options);
  ShareCache(options.cache_bytes);
}

template <class T>
void StructuredGram<T>::MakeGroups(const Normalization& normalization, const GramOptions& options) {
  std::map<BaseKey, std::vector<FamilyMember>> families;
  std::map<std::int32_t, std::vector<LinearMember>> linear;
  std::vector<Index> singles;
  for (Index m = 0; m < kernels_.size(); ++m) {
    const double scale = normalization.scale[m];
    if (scale == 0) continue;
    if (kernels_.IsComposite(m) || normalization.chains.contains(m)) {
      singles.push_back(m);
      continue;
    }
    const KernelTerm term = kernels_.Term(m);
    if (IsLinear(term)) {
      linear[term.view].push_back({m, &kernels_.subsets[term.subset], scale});
    } else {
      families[KeyOf(term)].push_back({m, term.parameters, scale});
    }
  }
  for (auto& [view, members] : linear) {
    std::shared_ptr<const LinearFeatures<T>> features =
        MakeLinearFeatures<T>(sides_.left[view], sides_.right[view], sides_.is_training,
                              options.factors_sum_to_zero && std::is_same_v<T, float>);
    // Where there are other kernels the machine needs rows, and those of many features are worth keeping.
    const bool has_others = !families.empty() || !singles.empty();
    BaseRows<T>* products = nullptr;
    if (has_others && members.size() == 1 && members[0].subset->empty() && sides_.is_training &&
        AreProductsDear(sides_.left[view].features)) {
      const BaseKey key{kLinear.base, view, kProductsOfFeatures, -1};
      // Some of the samples are centred at another mean, so they need products of their own.
      std::unique_ptr<BaseBlock<T>> block = shared_samples_.empty() ? SharedBlock(key) : nullptr;
      if (!block) block = MakeLinearProducts<T>(features);
      auto& base = bases_[key];
      base = std::make_unique<BaseRows<T>>(std::move(block), left_count_, right_count_);
      products = base.get();
    }
    groups_.push_back(MakeLinearGroup<T>(std::move(members), std::move(features), right_count_, products));
  }
  std::set<BaseKey> bases_of_singles;
  for (Index m : singles) {
    for (const KernelTerm& term : Expression(m).terms) bases_of_singles.insert(KeyOf(term));
  }
  GaussianMatrices matrices;
  for (auto& [key, members] : families) {
    const KernelTerm term = kernels_.Term(members.front().kernel);
    const bool is_own_base = !bases_of_singles.contains(key);
    groups_.push_back(MakeFamily(term, std::move(members), is_own_base, options, matrices));
  }
  for (Index m : singles) {
    const auto chain = normalization.chains.find(m);
    std::vector<SampleStep> steps;
    if (chain != normalization.chains.end()) steps = CompleteSteps(m, chain->second);
    groups_.push_back(MakeSingle(m, normalization.scale[m], std::move(steps)));
  }
  for (const auto& group : groups_) {
    if (group->has_rows()) row_groups_.push_back(group.get());
  }
  // Single kernels may share a base with others.
  const bool may_be_side_by_side = singles.empty() && right_count_ <= kFewColumns;
  are_side_by_side_ = may_be_side_by_side && static_cast<Index>(groups_.size()) >= 2 * kChunks;
  are_rows_side_by_side_ = may_be_side_by_side && static_cast<Index>(row_groups_.size()) >= 2 * kChunks;
}

template <class T>
std::unique_ptr<Group<T>> StructuredGram<T>::MakeFamily(const KernelTerm& term,
                                                        std::vector<FamilyMember> members, bool is_own_base,
                                                        const GramOptions& options,
                                                        GaussianMatrices& matrices) {
  const auto make_family = [&] {
    return MakeFamilyGroup<T>(term.kind->shape, members, Base(term), is_own_base, options.evaluation,
                              options.learned_error);
  };
  if (options.evaluation == Evaluation::kDirect || !IsSmoothInFeatures(*term.kind)) return make_family();
  const FeatureSubset& subset = kernels_.subsets[term.subset];
  const kweave::Features& left = sides_.left[term.view].features;
  if (SubsetSize(left, subset) != 1) return make_family();
  const auto column = [&](const kweave::Features& features) {
    const AlignedVector<double> packed = PackFeatures<double>(features, subset, {});
    return std::vector<double>(packed.begin(), packed.end());
  };
  FeatureColumn values{{term.view, subset.empty() ? 0 : subset[0]}, column(left), {}};
  if (!sides_.is_training) values.right = column(sides_.right[term.view].features);
  if (sides_.is_training && !feature_rows_) feature_rows_ = std::make_unique<FeatureRows<T>>(left_count_);
  return MakeFeatureGroup<T>(term.kind->shape, members, values, matrices, feature_rows_.get(), make_family);
}

template <class T>
BaseRows<T>& StructuredGram<T>::Base(const KernelTerm& term) {
  const BaseKey key = KeyOf(term);
  auto& base = bases_[key];
  if (std::unique_ptr<BaseBlock<T>> block; !base && (block = SharedBlock(key))) {
    base = std::make_unique<BaseRows<T>>(std::move(block), left_count_, right_count_);
  }
  if (!base) {
    BaseRequest request;
    request.quantity = term.kind->base;
    request.subset = &kernels_.subsets[term.subset];
    request.left = &sides_.left[term.view];
    request.right = sides_.is_training ? request.left : &sides_.right[term.view];
    request.is_training = sides_.is_training;
    request.file = term.file >= 0 ? &kernels_.files[term.file] : nullptr;
    request.left_count = left_count_;
    request.right_count = right_count_;
    request.left_columns = sides_.left_columns;
    request.needs_right_diagonal = needs_right_diagonal_;
    base = std::make_unique<BaseRows<T>>(MakeBaseBlock<T>(request), left_count_, right_count_);
  }
  return *base;
}

template <class T>
std::unique_ptr<BaseBlock<T>> StructuredGram<T>::SharedBlock(const BaseKey& key) const {
  if (shared_ == nullptr) return nullptr;
  const auto found = shared_->bases_.find(key);
  const bool is_file = std::get<3>(key) >= 0;  // which knows all samples only
  if (found == shared_->bases_.end() || !(is_file || found->second->is_complete())) return nullptr;
  return MakeSelectedBlock<T>(*found->second, shared_samples_);
}

// Files are in memory as far as the system has room; their diagonal is read when first asked for.
template <class T>
void StructuredGram<T>::KeepBases() {
  for (auto& group : groups_) group->MapBase();
  for (auto& [key, base] : bases_) {
    const bool is_file = std::get<3>(key) >= 0;
    if (!is_file) base->KeepAll(pool_);
    if (is_file && left_count_ > 0) base->block().LeftDiagonal(0);
  }
}

template <class T>
void StructuredGram<T>::ReleaseCopies() {
  for (auto& [key, base] : bases_) base->Release();
}

template <class T>
std::int64_t StructuredGram<T>::base_values() const {
  std::int64_t values = 0;
  for (const auto& [key, base] : bases_) values += base->values_computed();
  return values;
}

template <class T>
Composite StructuredGram<T>::Expression(Index m) const {
  if (kernels_.IsComposite(m)) return kernels_.composites[kernels_.order[m].member];
  return {{kernels_.Term(m)}, {{Composite::Operation::kTerm, 0}}};
}

template <class T>
std::unique_ptr<Group<T>> StructuredGram<T>::MakeSingle(Index m, double scale,
                                                        std::vector<SampleStep> steps) {
  SingleKernel kernel{m, Expression(m), scale, std::move(steps)};
  std::vector<BaseRows<T>*> bases;
  for (const KernelTerm& term : kernel.expression.terms) bases.push_back(&Base(term));
  return MakeSingleGroup<T>(std::move(kernel), std::move(bases));
}

template <class T>
std::vector<double> StructuredGram<T>::RawDiagonal(Index m, bool of_right) {
  const Composite expression = Expression(m);
  std::vector<double> diagonal(of_right ? right_count_ : left_count_), terms(expression.terms.size());
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const KernelTerm& term = expression.terms[t];
      const BaseBlock<T>& block = Base(term).block();
      const double base = of_right ? block.RightDiagonal(i) : block.LeftDiagonal(i);
      terms[t] = ShapeValue(term.kind->shape, term.parameters, base);
    }
    diagonal[i] = EvaluateExpression(expression, terms);
  }
  return diagonal;
}

// Gives every step its value for the right samples: those of training are fitted, those of new samples follow
// from their own k(x,x) and, for kCenter, their mean over the training samples.
template <class T>
std::vector<SampleStep> StructuredGram<T>::CompleteSteps(Index m, std::span<const FittedStep> fitted) {
  std::vector<SampleStep> steps;
  std::vector<double> diagonal;
  for (const FittedStep& step : fitted) {
    SampleStep complete{step.kind, step.constant, step.per_sample, step.per_sample};
    if (!sides_.is_training) {
      if (diagonal.empty()) diagonal = RawDiagonal(m, /*of_right=*/true);
      if (step.kind == Normalizer::kSpherical) {
        complete.right.resize(right_count_);
        for (Index j = 0; j < right_count_; ++j) {
          complete.right[j] = diagonal[j] > 0 ? 1 / std::sqrt(diagonal[j]) : 0;
          diagonal[j] = diagonal[j] > 0 ? 1 : 0;
        }
      } else if (step.kind == Normalizer::kCenter) {
        std::vector<double> theta(kernels_.size(), 0.0);
        theta[m] = 1;
        complete.right.assign(right_count_, 0.0);
        const std::unique_ptr<Group<T>> single = MakeSingle(m, 1, steps);
        kweave::Expand(*single, MeanOf(left_count_), pool_)->AddOutputs(theta, complete.right);
        for (Index j = 0; j < right_count_; ++j) diagonal[j] += step.constant - 2 * complete.right[j];
      } else {
        for (double& value : diagonal) value *= step.constant;
      }
    }
    steps.push_back(std::move(complete));
  }
  return steps;
}

// Computed bases share the cache equally; what they cannot use lets files stay in memory between passes.
template <class T>
void StructuredGram<T>::ShareCache(std::size_t cache_bytes) {
  const auto is_kept = [](const auto& entry) { return !entry.second->block().IsCheap(); };
  const std::size_t kept = std::ranges::count_if(bases_, is_kept);
  const std::size_t row_bytes = std::max<std::size_t>(right_count_, 1) * sizeof(T);
  const std::size_t rows = kept == 0 ? 0 : std::min<std::size_t>(cache_bytes / kept / row_bytes, left_count_);
  std::size_t left_over = cache_bytes - kept * rows * row_bytes;
  for (auto& entry : bases_) {
    BaseRows<T>& base = *entry.second;
    if (is_kept(entry)) {
      base.SetCapacity(static_cast<Index>(rows));
    } else if (base.block().ResidentBytes() <= left_over) {
      left_over -= base.block().ResidentBytes();
      base.block().StayResident();
    }
  }
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
std::vector<Measurement> StructuredGram<T>::MeasureEach(std::span<const std::span<const double>> thetas,
                                                        std::span<const std::span<const double>> vectors) {
  std::vector<Measurement> measured(vectors.size());
  for (Measurement& one : measured) {
    one.quadratics.assign(kernels_.size(), 0.0);
    one.outputs.assign(right_count_, 0.0);
  }
  if (vectors.empty()) return measured;
  theta_.clear();  // groups have other weights after this
  for (auto& group : groups_) group->MeasureEach(thetas, vectors, measured, pool_);
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
