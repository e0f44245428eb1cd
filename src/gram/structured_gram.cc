#include "gram/structured_gram.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/memory.h"
#include "compute/cpu/family_loops.h"
#include "gram/panel.h"
#include "gram/scaled_features.h"
#include "kernel/sequence_kernel.h"
#include "kweave/error.h"

namespace kweave {
namespace {

// Of groups that run side by side; fixed, so that sums do not depend on the threads, and few, as each has
// sums of its own.
constexpr Index kChunks = 4;
// With few columns their blocks do not keep the threads busy.
constexpr Index kFewColumns = 2 * kColumnBlock;

// Throws where copies of the samples cannot fit: a small model file may ask for any number of them.
void RequireFree(std::size_t bytes) {
  constexpr std::size_t kFew = std::size_t{256} << 20;  // not worth asking the system
  if (bytes <= kFew) return;
  if (const std::size_t free_bytes = AvailableMemoryBytes(); bytes > free_bytes) {
    throw Error(
        ErrorKind::kResource,
        fmt::format("copies of the samples for the kernels take about {:.3g} GB, but {:.3g} GB are free",
                    static_cast<double>(bytes) / 1e9, static_cast<double>(free_bytes) / 1e9));
  }
}

// k(x,x) is needed before normalisation, of new samples too.
bool NeedsDiagonals(const Normalization& normalization) {
  return std::ranges::find(normalization.sequence, Normalizer::kSpherical) != normalization.sequence.end();
}

template <class T>
const BaseStore<T>* OfPrecision(const SharedBases& bases) {
  if constexpr (std::is_same_v<T, float>) {
    return bases.singles;
  } else {
    return bases.doubles;
  }
}

template <class From, class To>
void ConvertRows(std::span<const From> rows, Index count, To* out, Index stride, Index columns) {
  for (Index r = 0; r < count; ++r) {
    std::transform(rows.begin() + r * columns, rows.begin() + (r + 1) * columns, out + r * stride,
                   [](From value) { return static_cast<To>(value); });
  }
}

}  // namespace

// The shares of all groups in K(theta).
template <class T>
class StructuredGram<T>::StructuredKernel final : public LearnedMatrix {
 public:
  StructuredKernel(StructuredGram& gram, std::span<const double> theta) : LearnedMatrix(theta), gram_(gram) {
    for (const Group<T>* group : gram.row_groups_) {
      groups_.push_back(group->Learn(theta));
      shift_ += groups_.back()->shift();
    }
    if (!gram.feature_rows_) return;
    features_ = gram.feature_rows_->Learn(theta);
    shift_ += features_->shift();
  }

  void Rows(std::span<const Index> rows, float* out, Index stride) const override {
    RowsAs(rows, out, stride);
  }
  void Rows(std::span<const Index> rows, double* out, Index stride) const override {
    RowsAs(rows, out, stride);
  }

  void Diagonal(std::span<double> out) const override {
    std::ranges::fill(out, 0.0);
    for (const auto& group : groups_) group->AddDiagonal(out, gram_.pool_);
    if (features_) features_->AddDiagonal(out, gram_.pool_);
  }

  std::unique_ptr<FeatureMatrix> Features() const override {
    if (groups_.size() < gram_.groups_.size()) return nullptr;
    std::vector<WeightedFeatures<T>> parts;
    for (const auto& group : groups_) {
      std::optional<WeightedFeatures<T>> part = group->Linear();
      if (!part) return nullptr;
      parts.push_back(std::move(*part));
    }
    const auto poll = [this] {
      gram_.pool_.ParallelFor(1, 1, [](Index, Index, int) {});
    };  // as every loop does
    return ScaleFeatures<T>(parts, gram_.left_count(), poll);
  }

  std::unique_ptr<ProductMatrix> Products() const override {
    // Several groups would need sums of their parts, and none of those yet has two.
    if (groups_.size() != 1 || gram_.groups_.size() != 1) return nullptr;
    return groups_[0]->Products(gram_.pool_);
  }

 private:
  template <class Out>
  void RowsAs(std::span<const Index> rows, Out* out, Index stride) const {
    if constexpr (std::is_same_v<T, Out>) {
      gram_.CountRows(static_cast<std::int64_t>(rows.size()));
      FillRows(rows, out, stride);
    } else {
      const Index columns = gram_.right_count();
      AlignedVector<T> values(rows.size() * columns);
      RowsAs(rows, values.data(), columns);
      ConvertRows<T>(values, static_cast<Index>(rows.size()), out, stride, columns);
    }
  }

  void FillRows(std::span<const Index> rows, T* out, Index stride) const {
    const Index columns = gram_.right_count();
    for (std::size_t r = 0; r < rows.size(); ++r) std::fill_n(out + r * stride, columns, T{0});
    if (features_) features_->AddRows(rows, out, stride, gram_.pool_);
    if (!gram_.are_rows_side_by_side_) {
      for (const auto& group : groups_) group->AddRows(rows, out, stride, gram_.pool_);
      return;
    }
    const Index size = static_cast<Index>(rows.size()) * columns;
    // The first chunk needs no place of its own.
    gram_.side_by_side_.assign((kChunks - 1) * size, T{0});
    const auto part = [&](Index chunk) { return gram_.side_by_side_.data() + (chunk - 1) * size; };
    gram_.ForChunks(static_cast<Index>(groups_.size()), [&](Index g, Index chunk, ThreadPool& pool) {
      chunk == 0 ? groups_[g]->AddRows(rows, out, stride, pool)
                 : groups_[g]->AddRows(rows, part(chunk), columns, pool);
    });
    for (Index chunk = 1; chunk < kChunks; ++chunk) {
      for (std::size_t r = 0; r < rows.size(); ++r) {
        AddScaled<T>(part(chunk) + r * columns, columns, T{1}, out + r * stride);
      }
    }
  }

  StructuredGram& gram_;
  std::vector<std::unique_ptr<GroupKernel<T>>> groups_;  // of the row groups
  std::unique_ptr<GroupKernel<T>> features_;             // of feature_rows_
};

// The expansions of all groups.
template <class T>
class StructuredGram<T>::StructuredExpansion final : public MovableExpansion {
 public:
  StructuredExpansion(StructuredGram& gram, std::vector<std::unique_ptr<GroupExpansion>> parts,
                      std::span<const double> a)
      : gram_(gram), parts_(std::move(parts)), a_(a.begin(), a.end()) {}

  void Quadratics(std::span<double> q) const override {
    std::ranges::fill(q, 0.0);
    for (const auto& part : parts_) part->Quadratics(a_, q);
  }
  void Products(std::span<const double> b, std::span<double> products) const override {
    std::ranges::fill(products, 0.0);
    for (const auto& part : parts_) part->Products(b, products);
  }
  void Outputs(std::span<const double> theta, std::span<double> out) const override {
    std::ranges::fill(out, 0.0);
    for (const auto& part : parts_) part->AddOutputs(theta, out);
  }

  // Few changes are added to what is there; many cost more than all entries from nothing.
  void MoveTo(std::span<const double> a) override {
    std::vector<double> change(a_.size());
    Index changes = 0, entries = 0;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      change[i] = a[i] - a_[i];
      changes += change[i] != 0;
      entries += a[i] != 0;
    }
    const bool starts_anew = changes >= entries;
    if (starts_anew) parts_ = gram_.StartParts();
    const SupportVector added = MakeSupport(starts_anew ? a : change);
    gram_.ForGroups([&](Index g, Index, ThreadPool& pool) { parts_[g]->Add(added, pool); });
    gram_.CountRows(static_cast<std::int64_t>(added.rows.size()));
    a_.assign(a.begin(), a.end());
  }

 private:
  StructuredGram& gram_;
  std::vector<std::unique_ptr<GroupExpansion>> parts_;
  std::vector<double> a_;
};

template <class T>
StructuredGram<T>::StructuredGram(const KernelSet& kernels, const Sides& sides,
                                  const Normalization& normalization, const GramOptions& options,
                                  ThreadPool& pool)
    : Gram({sides.left_count(), sides.right_count(), kernels.size()}),
      kernels_(kernels),
      sides_(sides),
      pool_(pool),
      bases_(kernels, sides, NeedsDiagonals(normalization), OfPrecision<T>(options.shared),
             options.shared_samples),
      single_kernels_(kernels, sides, bases_, pool) {
  GramPlan plan = PlanGram(kernels, sides, normalization, options.evaluation, std::is_same_v<T, float>);
  RequireFree(plan.Bytes());
  MakeGroups(std::move(plan), normalization, options);
  bases_.ShareCache(options.cache_bytes);
  for (const auto& group : groups_) {
    shape_.table_error = std::max(shape_.table_error, group->traits().table_error);
    for (const auto& [kernel, error] : group->traits().rounding_errors) {
      shape_.rounding_errors.resize(static_cast<std::size_t>(kernels.size()));
      shape_.rounding_errors[kernel] = error;
    }
  }
  shape_.has_cheap_quadratics = HasCheapQuadratics();
}

template <class T>
SharedBases StructuredGram<T>::bases() const {
  SharedBases shared;
  if constexpr (std::is_same_v<T, float>) {
    shared.singles = &bases_;
  } else {
    shared.doubles = &bases_;
  }
  return shared;
}

template <class T>
void StructuredGram<T>::MakeGroups(GramPlan plan, const Normalization& normalization,
                                   const GramOptions& options) {
  for (GramPlan::Linear& part : plan.linear) groups_.push_back(MakeLinear(std::move(part), options));
  for (GramPlan::Runs& part : plan.runs) groups_.push_back(MakeRuns(std::move(part)));
  for (GramPlan::Words& part : plan.words) groups_.push_back(MakeWords(std::move(part)));
  for (GramPlan::Family& part : plan.families) {
    groups_.push_back(MakeFamily(std::move(part), plan, options));
  }
  for (Index m : plan.singles) {
    const auto chain = normalization.chains.find(m);
    std::vector<SampleStep> steps;
    if (chain != normalization.chains.end()) steps = single_kernels_.CompleteSteps(m, chain->second);
    groups_.push_back(single_kernels_.Make(m, normalization.scale[m], std::move(steps)));
  }
  for (const auto& group : groups_) {
    if (group->traits().has_rows) row_groups_.push_back(group.get());
  }
  const bool may_be_side_by_side =
      plan.singles.empty() && !plan.HasSharedBases() && right_count() <= kFewColumns;
  are_side_by_side_ = may_be_side_by_side && static_cast<Index>(groups_.size()) >= 2 * kChunks;
  are_rows_side_by_side_ = may_be_side_by_side && static_cast<Index>(row_groups_.size()) >= 2 * kChunks;
}

template <class T>
std::unique_ptr<Group<T>> StructuredGram<T>::MakeLinear(GramPlan::Linear part, const GramOptions& options) {
  std::shared_ptr<const LinearFeatures<T>> features =
      MakeLinearFeatures<T>(sides_.left[part.view], sides_.right[part.view], sides_.is_training,
                            options.factors_sum_to_zero && std::is_same_v<T, float>);
  BaseRows<T>* products = part.keeps_products ? &bases_.OfProducts(part.view, features) : nullptr;
  return MakeLinearGroup<T>(std::move(part.members), std::move(features), right_count(), products);
}

template <class T>
std::unique_ptr<Group<T>> StructuredGram<T>::MakeRuns(GramPlan::Runs part) {
  const auto letters = [&](std::span<const View> views) {
    return LettersOf(std::get<SequenceRows>(views[part.view].features));
  };
  const PackedLetters left = letters(sides_.left);
  PackedLetters right = sides_.is_training ? left : letters(sides_.right);
  right.length = left.length;  // there may be none
  return MakeRunGroup<T>(std::move(part.members),
                         std::make_shared<RunWords>(left, right, sides_.is_training));
}

template <class T>
std::unique_ptr<Group<T>> StructuredGram<T>::MakeWords(GramPlan::Words part) {
  const WordSides sides = WordSidesOf(sides_, part.view);
  return part.are_equal ? MakeEqualWordGroup<T>(part.members, sides)
                        : MakeNearWordGroup<T>(std::move(part.members[0]), sides);
}

template <class T>
std::unique_ptr<Group<T>> StructuredGram<T>::MakeFamily(GramPlan::Family part, GramPlan& plan,
                                                        const GramOptions& options) {
  const KernelKind& kind = *part.term.kind;
  std::unique_ptr<Group<T>> by_base;
  if (part.reads_base) {
    const bool is_own_base = plan.bases.at(KeyOf(part.term)).readers == 1;
    by_base = MakeFamilyGroup<T>(*kind.shape, part.members, bases_.Of(part.term), is_own_base,
                                 options.evaluation, options.learned_error);
  }
  if (!part.table) return by_base;
  if (!part.reads_base && !feature_rows_) feature_rows_ = std::make_unique<FeatureRows<T>>(left_count());
  return MakeFeatureGroup<T>(kind, std::move(part.members),
                             ColumnOf(part.term, sides_, kernels_.subsets[part.term.subset]),
                             std::move(*part.table), plan.matrices, feature_rows_.get(), std::move(by_base));
}

template <class T>
std::vector<double> StructuredGram<T>::MeanDiagonals() {
  std::vector<double> means(static_cast<std::size_t>(kernels()), 0.0);
  FindStatistics({means, {}, {}});
  return means;
}

template <class T>
void StructuredGram<T>::KeepBases() {
  for (auto& group : groups_) group->MapBase();
  bases_.KeepAll(pool_);
}

// Calls work(group number, chunk, pool) for all groups, those of one chunk in order. The chunks do not depend
// on the number of threads, so neither does what is summed up by chunk.
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
std::shared_ptr<const LearnedMatrix> StructuredGram<T>::MakeLearned(std::span<const double> theta) {
  return std::make_shared<StructuredKernel>(*this, theta);
}

// Quadratics are each group's own; outputs of groups that run side by side are summed up by chunk.
template <class T>
std::vector<VectorAnswer> StructuredGram<T>::AnswerAll(std::span<const VectorRequest> requests) {
  const std::size_t count = requests.size();
  std::vector<VectorAnswer> answers(count);
  std::vector<VectorRequest> shares(requests.begin(), requests.end());
  std::vector<std::vector<std::unique_ptr<GroupExpansion>>> parts(count);
  for (std::size_t v = 0; v < count; ++v) {
    if (requests[v].wants_quadratics) answers[v].quadratics.assign(kernels_.size(), 0.0);
    if (requests[v].has_outputs()) answers[v].outputs.assign(right_count(), 0.0);
    if (requests[v].keeps_expansion) parts[v].resize(groups_.size());
    shares[v].rough_error /= static_cast<double>(groups_.size());  // errors of the groups add up
  }
  const Index chunks = are_side_by_side_ ? kChunks : 1;
  std::vector<std::vector<std::vector<double>>> outputs(chunks - 1);  // by chunk, the first has its place
  for (auto& of_chunk : outputs) {
    for (const VectorAnswer& answer : answers) of_chunk.emplace_back(answer.outputs.size(), 0.0);
  }
  std::vector<std::vector<double>> rough_errors(chunks, std::vector<double>(count, 0.0));
  ForGroups([&](Index g, Index chunk, ThreadPool& pool) {
    std::vector<GroupAnswer> own(count);
    for (std::size_t v = 0; v < count; ++v) {
      own[v].quadratics = answers[v].quadratics;
      own[v].outputs = chunk == 0 ? answers[v].outputs : outputs[chunk - 1][v];
    }
    groups_[g]->Answer(shares, own, pool);
    for (std::size_t v = 0; v < count; ++v) {
      rough_errors[chunk][v] += own[v].rough_error;
      if (requests[v].keeps_expansion) parts[v][g] = std::move(own[v].expansion);
    }
  });
  for (std::size_t v = 0; v < count; ++v) {
    for (const auto& of_chunk : outputs) {
      AddScaled<double>(of_chunk[v].data(), static_cast<Index>(of_chunk[v].size()), 1,
                        answers[v].outputs.data());
    }
    for (const auto& of_chunk : rough_errors) answers[v].rough_error += of_chunk[v];
    if (requests[v].keeps_expansion) {
      answers[v].expansion = std::make_unique<StructuredExpansion>(*this, std::move(parts[v]), requests[v].a);
    }
  }
  CountAnswers(requests);
  return answers;
}

// Where quadratics alone are asked for and cost pairs of nonzero entries, as many pairs as there are samples
// count as one row.
template <class T>
void StructuredGram<T>::CountAnswers(std::span<const VectorRequest> requests) {
  const auto support = static_cast<std::int64_t>(CommonSupport(requests).size());
  const bool needs_rows =
      !shape_.has_cheap_quadratics || std::ranges::any_of(requests, [](const VectorRequest& request) {
        return request.has_outputs() || request.keeps_expansion;
      });
  CountRows(needs_rows ? support : support * support / std::max<Index>(2 * right_count(), 1));
}

template <class T>
bool StructuredGram<T>::HasCheapQuadratics() const {
  const auto has = [&](QuadraticsCost cost) {
    return std::ranges::any_of(groups_,
                               [&](const auto& group) { return group->traits().quadratics_cost == cost; });
  };
  return !has(QuadraticsCost::kExpansion) && has(QuadraticsCost::kSupport);
}

template <class T>
std::vector<std::unique_ptr<GroupExpansion>> StructuredGram<T>::StartParts() const {
  std::vector<std::unique_ptr<GroupExpansion>> parts;
  for (auto& group : groups_) parts.push_back(group->StartExpansion());
  return parts;
}

template <class T>
void StructuredGram<T>::FindStatistics(const KernelStatistics& statistics) {
  for (const auto& group : groups_) group->FindStatistics(left_count(), statistics, pool_);
}

template class StructuredGram<float>;
template class StructuredGram<double>;

}  // namespace kweave
