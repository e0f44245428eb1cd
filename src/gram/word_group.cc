#include "gram/word_group.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/offset.h"
#include "compute/cpu/family_loops.h"
#include "gram/linear_features.h"
#include "gram/linear_group.h"

namespace kweave {
namespace {

std::vector<PackedLetters> PartsOf(const WordSides& sides) {
  if (sides.is_training) return {sides.left};
  return {sides.left, sides.right};
}

SequenceRequest RequestOf(const WordMember& member, const WordSides& sides) {
  SequenceRequest request;
  request.left = sides.left;
  request.right = sides.right;
  request.is_training = sides.is_training;
  request.region = member.region;
  return request;
}

// Features of several kernels side by side, as sparse views of left and right samples.
class WordViews {
 public:
  WordViews(std::span<const WordMember> members, const WordSides& sides) {
    std::vector<WordFeatures> parts;
    Index width = 0;
    for (const WordMember& member : members) {
      const WordCounts counts(PartsOf(sides), member.map.shape, RangeOf(member.region), /*ranks=*/true);
      parts.push_back(WordFeatures::Of(counts, FactorsOf(member.map, counts)));
      FeatureSubset& subset = subsets_.emplace_back(Offset(std::max<Index>(parts.back().width, 1)));
      std::iota(subset.begin(), subset.end(), static_cast<std::int32_t>(width));
      width += static_cast<Index>(subset.size());
    }
    const Index count = static_cast<Index>(parts[0].offsets.size()) - 1;
    for (Index i = 0; i < count; ++i) {
      for (std::size_t m = 0; m < parts.size(); ++m) AppendRow(parts[m], i, subsets_[m][0]);
      offsets_.push_back(static_cast<Index>(columns_.size()));
    }
    const Index left = sides.left.size();
    left_.features = SparseRows{offsets_.data(), columns_.data(), values_.data(), left, width, nullptr};
    for (Index i = left; i <= count; ++i) right_offsets_.push_back(offsets_[Offset(i)]);
    right_.features =
        SparseRows{right_offsets_.data(), columns_.data(), values_.data(), count - left, width, nullptr};
  }

  const View& left() const { return left_; }
  const View& right() const { return right_; }
  const FeatureSubset& subset(std::size_t member) const { return subsets_[member]; }

 private:
  void AppendRow(const WordFeatures& part, Index i, std::int32_t first) {
    for (Index e = part.offsets[Offset(i)]; e < part.offsets[Offset(i) + 1]; ++e) {
      columns_.push_back(first + part.columns[Offset(e)]);
      values_.push_back(part.values[Offset(e)]);
    }
  }

  std::vector<Index> offsets_{0}, right_offsets_;
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
  std::vector<FeatureSubset> subsets_;  // of every kernel, never empty, which would mean all
  View left_, right_;
};

// Sums over words, and what follows from them.
class WordTable {
 public:
  WordTable(const WordMap& map, std::span<const PackedLetters> parts, const Region& region)
      : counts_(parts, map.shape, RangeOf(region), /*ranks=*/false),
        operator_(map.shape.letters(), map.shape.alphabet, map.weights) {}

  Index size() const { return counts_.size(); }

  // table = A sum_i a_i c_i of the first sequences; returns a' K a.
  double Multiply(std::span<const double> a, std::vector<double>& table, ThreadPool& pool) const {
    table.assign(Offset(operator_.words()), 0.0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == 0) continue;
      const WordCounts::Row row = counts_.row(static_cast<Index>(i));
      for (std::size_t e = 0; e < row.words.size(); ++e)
        table[row.words[e]] += a[i] * static_cast<double>(row.counts[e]);
    }
    operator_.Apply(table, &pool);
    double square = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != 0) square += a[i] * Value(static_cast<Index>(i), table);
    }
    return square;
  }
  double Value(Index i, std::span<const double> table) const {
    const WordCounts::Row row = counts_.row(i);
    double sum = 0;
    for (std::size_t e = 0; e < row.words.size(); ++e)
      sum += static_cast<double>(row.counts[e]) * table[row.words[e]];
    return sum;
  }
  // out[j] += weight times the values of sequences from `first` on.
  void AddValues(std::span<const double> table, Index first, double weight, std::span<double> out,
                 ThreadPool& pool) const {
    pool.ParallelFor(static_cast<Index>(out.size()), kColumnBlock, [&](Index begin, Index end, int) {
      for (Index j = begin; j < end; ++j) out[Offset(j)] += weight * Value(first + j, table);
    });
  }

 private:
  WordCounts counts_;
  HammingOperator operator_;
};

// Rows of pairs, on all threads: out[r * stride + j] += weight k(rows[r], j).
template <class T>
void AddPairs(const SequenceValues<T>& values, std::span<const Index> rows, Index columns, T weight, T* out,
              Index stride, ThreadPool& pool) {
  pool.ParallelFor(columns, kColumnBlock, [&](Index begin, Index end, int) {
    const Index width = end - begin;
    std::vector<T> block(rows.size() * Offset(width));
    values.Rows(rows, begin, end, block.data(), width);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      AddScaled<T>(block.data() + static_cast<Index>(r) * width, width, weight,
                   out + static_cast<Index>(r) * stride + begin);
    }
  });
}

// theta K of training samples, or of some of them.
class WordProducts final : public ProductMatrix {
 public:
  // `table`: null where no products will be asked for.
  WordProducts(const WordMember& member, const PackedLetters& letters, std::shared_ptr<const WordTable> table,
               double weight, ThreadPool& pool)
      : member_(member), letters_(letters), table_(std::move(table)), weight_(weight), pool_(pool) {}

  Index size() const override { return letters_.size(); }
  void Diagonal(std::span<double> out) const override {
    pool_.ParallelFor(size(), kColumnBlock, [&](Index begin, Index end, int) {
      for (Index i = begin; i < end; ++i) out[Offset(i)] = weight_ * Values().LeftDiagonal(i);
    });
  }
  void Rows(std::span<const Index> rows, float* out, Index stride) const override {
    for (std::size_t r = 0; r < rows.size(); ++r)
      std::fill_n(out + static_cast<Index>(r) * stride, size(), 0.0F);
    AddPairs<float>(Values(), rows, size(), static_cast<float>(weight_), out, stride, pool_);
  }
  void Multiply(std::span<const double> a, std::span<double> out) const override {
    std::ranges::fill(out, 0.0);
    std::vector<double> table;
    table_->Multiply(a, table, pool_);
    table_->AddValues(table, 0, weight_, out, pool_);
  }
  std::unique_ptr<ProductMatrix> Part(std::span<const Index> samples, bool multiplies) const override {
    auto selected = std::make_unique<SelectedLetters>(letters_, samples);
    std::shared_ptr<const WordTable> table;
    if (multiplies) {
      table =
          std::make_shared<const WordTable>(member_.map, std::span(&selected->letters(), 1), member_.region);
    }
    auto part =
        std::make_unique<WordProducts>(member_, selected->letters(), std::move(table), weight_, pool_);
    part->selected_ = std::move(selected);
    return part;
  }

 private:
  const SequenceValues<float>& Values() const {
    if (!values_)
      values_ = MakeWordValues<float>(RequestOf(member_, {letters_, letters_, true}), member_.map);
    return *values_;
  }

  std::unique_ptr<SelectedLetters> selected_;  // what letters_ are, of a part
  WordMember member_;
  PackedLetters letters_;
  std::shared_ptr<const WordTable> table_;
  double weight_;
  ThreadPool& pool_;
  mutable std::unique_ptr<SequenceValues<float>> values_;  // when first asked for
};

template <class T>
class NearWordGroup final : public Group<T> {
 public:
  NearWordGroup(WordMember member, const WordSides& sides)
      : member_(std::move(member)),
        sides_(sides),
        table_(std::make_shared<const WordTable>(member_.map, PartsOf(sides), member_.region)),
        values_(MakeWordValues<T>(RequestOf(member_, sides), member_.map)) {
    this->traits_.quadratics_cost = QuadraticsCost::kLittle;
  }

  std::unique_ptr<GroupKernel<T>> Learn(std::span<const double> theta) const override {
    return std::make_unique<NearWordKernel>(*this, theta[Offset(member_.kernel)] * member_.scale);
  }
  std::unique_ptr<GroupExpansion> StartExpansion() override {
    return std::make_unique<NearWordExpansion>(*this);
  }

  void FindStatistics(Index count, const KernelStatistics& statistics, ThreadPool& pool) override {
    const std::vector<double>& diagonal = Diagonal(pool);
    const double sum = std::accumulate(diagonal.begin(), diagonal.end(), 0.0);
    statistics.mean_diagonals[Offset(member_.kernel)] = member_.scale * sum / static_cast<double>(count);
    if (statistics.mean_pairs.empty()) return;
    Expand<T>(*this, MeanOf(count), pool)->Quadratics({}, statistics.mean_pairs);
  }

 private:
  class NearWordKernel final : public GroupKernel<T> {
   public:
    NearWordKernel(const NearWordGroup& group, double weight) : group_(group), weight_(weight) {}

    void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) const override {
      if (weight_ == 0) return;
      AddPairs<T>(*group_.values_, rows, group_.sides_.right.size(), static_cast<T>(weight_), out, stride,
                  pool);
    }
    void AddDiagonal(std::span<double> out, ThreadPool& pool) const override {
      if (weight_ == 0) return;
      const std::vector<double>& diagonal = group_.Diagonal(pool);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += weight_ * diagonal[i];
    }
    std::unique_ptr<ProductMatrix> Products(ThreadPool& pool) const override {
      if (!group_.sides_.is_training) return nullptr;
      return std::make_unique<WordProducts>(group_.member_, group_.sides_.left, group_.table_, weight_, pool);
    }

   private:
    const NearWordGroup& group_;
    const double weight_;
  };

  // The vector, and the sums over words when they are first asked for.
  class NearWordExpansion final : public GroupExpansion {
   public:
    explicit NearWordExpansion(const NearWordGroup& group)
        : group_(group), a_(Offset(group.sides_.left.size()), 0.0) {}

    void Add(const SupportVector& entries, ThreadPool& pool) override {
      pool_ = &pool;
      for (std::size_t k = 0; k < entries.rows.size(); ++k) a_[Offset(entries.rows[k])] += entries.factors[k];
      table_.clear();
    }
    void Quadratics(std::span<const double>, std::span<double> q) const override {
      Find();
      q[Offset(group_.member_.kernel)] = group_.member_.scale * square_;
    }
    void Products(std::span<const double> b, std::span<double> products) const override {
      Find();
      double sum = 0;
      for (std::size_t i = 0; i < b.size() && !table_.empty(); ++i) {
        if (b[i] != 0) sum += b[i] * group_.table_->Value(static_cast<Index>(i), table_);
      }
      products[Offset(group_.member_.kernel)] = group_.member_.scale * sum;
    }
    void AddOutputs(std::span<const double> theta, std::span<double> out) const override {
      const double weight = theta[Offset(group_.member_.kernel)] * group_.member_.scale;
      if (weight == 0 || pool_ == nullptr) return;
      Find();
      const Index first = group_.sides_.is_training ? 0 : group_.sides_.left.size();
      group_.table_->AddValues(table_, first, weight, out, *pool_);
    }

   private:
    void Find() const {
      if (table_.empty() && pool_ != nullptr) square_ = group_.table_->Multiply(a_, table_, *pool_);
    }

    const NearWordGroup& group_;
    std::vector<double> a_;
    ThreadPool* pool_ = nullptr;
    mutable std::vector<double> table_;  // empty: not found yet
    mutable double square_ = 0;
  };

  // k(x,x) of the left samples.
  const std::vector<double>& Diagonal(ThreadPool& pool) const {
    if (diagonal_.empty()) {
      diagonal_.resize(Offset(sides_.left.size()));
      pool.ParallelFor(sides_.left.size(), kColumnBlock, [&](Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) diagonal_[Offset(i)] = values_->LeftDiagonal(i);
      });
    }
    return diagonal_;
  }

  WordMember member_;
  WordSides sides_;
  std::shared_ptr<const WordTable> table_;
  std::unique_ptr<SequenceValues<T>> values_;
  mutable std::vector<double> diagonal_;
};

}  // namespace

WordSides WordSidesOf(const Sides& sides, std::int32_t view) {
  const auto letters = [&](std::span<const View> views) {
    return LettersOf(std::get<SequenceRows>(views[Offset(view)].features));
  };
  const PackedLetters left = letters(sides.left);
  return {left, sides.is_training ? left : letters(sides.right), sides.is_training};
}

template <class T>
std::unique_ptr<Group<T>> MakeEqualWordGroup(std::span<const WordMember> members, const WordSides& sides) {
  const WordViews views(members, sides);
  std::shared_ptr<const LinearFeatures<T>> features =
      MakeLinearFeatures<T>(views.left(), views.right(), sides.is_training, /*may_center=*/false);
  std::vector<LinearMember> linear;
  for (std::size_t m = 0; m < members.size(); ++m) {
    linear.push_back({members[m].kernel, &views.subset(m), members[m].scale});
  }
  return MakeLinearGroup<T>(std::move(linear), std::move(features), sides.right.size(), nullptr);
}

template <class T>
std::unique_ptr<Group<T>> MakeNearWordGroup(WordMember member, const WordSides& sides) {
  return std::make_unique<NearWordGroup<T>>(std::move(member), sides);
}

std::size_t WordGroupBytes(const WordMember& member, const WordSides& sides) {
  // Counts of table and values, or features twice while they are copied.
  constexpr std::size_t kCopies = 2;
  return kCopies * WordValueBytes(RequestOf(member, sides), member.map);
}

template std::unique_ptr<Group<float>> MakeEqualWordGroup(std::span<const WordMember>, const WordSides&);
template std::unique_ptr<Group<double>> MakeEqualWordGroup(std::span<const WordMember>, const WordSides&);
template std::unique_ptr<Group<float>> MakeNearWordGroup(WordMember, const WordSides&);
template std::unique_ptr<Group<double>> MakeNearWordGroup(WordMember, const WordSides&);

}  // namespace kweave
