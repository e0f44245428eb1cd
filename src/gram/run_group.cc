#include "gram/run_group.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/offset.h"
#include "compute/cpu/match_runs.h"

namespace kweave {
namespace {

// Columns that a thread compares with all rows at a time: their letters stay in the nearest cache.
constexpr Index kColumnsAtOnce = 256;
static_assert(kColumnsAtOnce % kLettersAbreast == 0);

// Words of all kernels of a group.
struct Extent {
  Index first = 0, last = 0;
  int degree = 1;
};

Extent ExtentOf(std::span<const RunMember> members) {
  Extent extent{members.empty() ? 0 : members[0].begin, 0, 1};
  for (const RunMember& member : members) {
    extent.first = std::min(extent.first, member.begin);
    extent.last = std::max(extent.last, member.end);
    extent.degree = std::max(extent.degree, static_cast<int>(member.weights.size()));
  }
  extent.last = std::max(extent.first, extent.last);
  return extent;
}

// Calls use(position, order, weight) for all words of a kernel.
template <class Use>
void ForWords(const RunMember& member, const Use& use) {
  for (Index i = member.begin; i < member.end; ++i) {
    const auto most = std::min<Index>(static_cast<Index>(member.weights.size()), member.limit - i);
    for (Index k = 1; k <= most; ++k) {
      const double weight = member.weights[Offset(k - 1)];
      if (weight != 0) use(i, static_cast<int>(k), weight);
    }
  }
}

RunWeights Combine(std::span<const RunMember> members, std::span<const double> theta, Index length,
                   int degree) {
  RunWeights weights(length, degree);
  for (const RunMember& member : members) {
    const double factor = theta[Offset(member.kernel)] * member.scale;
    if (factor == 0) continue;
    ForWords(member, [&](Index i, int k, double weight) { weights.Add(i, k, factor * weight); });
  }
  return weights;
}

// Rows of pairs, on all threads.
template <class T>
void AddPairs(const LetterPlanes& left, std::span<const Index> rows, const LetterPlanes& right,
              const RunTable<T>& table, T* out, Index stride, ThreadPool& pool) {
  pool.ParallelFor((right.size() + kColumnsAtOnce - 1) / kColumnsAtOnce, 1, [&](Index block, Index, int) {
    const Index begin = block * kColumnsAtOnce;
    AddRunValues(left, rows, right, begin, std::min(right.size(), begin + kColumnsAtOnce), table, out + begin,
                 stride);
  });
}

// K(theta) of training samples, or of some of them.
class RunProducts final : public ProductMatrix {
 public:
  // `words`: null where no products will be asked for.
  RunProducts(const PackedLetters& letters, std::shared_ptr<const RunWeights> weights,
              std::shared_ptr<const RunTable<float>> table, std::shared_ptr<const PositionWords> words,
              ThreadPool& pool)
      : letters_(letters),
        weights_(std::move(weights)),
        table_(std::move(table)),
        words_(std::move(words)),
        pool_(pool) {}

  Index size() const override { return letters_.size(); }
  void Diagonal(std::span<double> out) const override {
    std::ranges::fill(out, 0.0);
    AddSelfValues(letters_, *weights_, out);
  }
  void Rows(std::span<const Index> rows, float* out, Index stride) const override {
    if (planes_.size() == 0) planes_ = LetterPlanes(letters_);
    for (std::size_t r = 0; r < rows.size(); ++r)
      std::fill_n(out + static_cast<Index>(r) * stride, size(), 0.0F);
    AddPairs(planes_, rows, planes_, *table_, out, stride, pool_);
  }
  void Multiply(std::span<const double> a, std::span<double> out) const override {
    std::ranges::fill(out, 0.0);
    words_->Multiply(a, *weights_, out, {}, pool_);
  }
  std::unique_ptr<ProductMatrix> Part(std::span<const Index> samples, bool multiplies) const override {
    auto selected = std::make_unique<SelectedLetters>(letters_, samples);
    const RunWeights::Range range = weights_->Positions();
    std::shared_ptr<const PositionWords> words;
    if (multiplies) {
      words = std::make_shared<const PositionWords>(selected->letters(), range.first, range.last,
                                                    weights_->degree(), pool_);
    }
    auto part = std::make_unique<RunProducts>(selected->letters(), weights_, table_, std::move(words), pool_);
    part->selected_ = std::move(selected);
    return part;
  }

 private:
  std::unique_ptr<SelectedLetters> selected_;  // what letters_ are, of a part
  PackedLetters letters_;
  std::shared_ptr<const RunWeights> weights_;
  std::shared_ptr<const RunTable<float>> table_;
  std::shared_ptr<const PositionWords> words_;
  ThreadPool& pool_;
  mutable LetterPlanes planes_;  // when first asked for
};

template <class T>
class RunGroup final : public Group<T> {
 public:
  RunGroup(std::vector<RunMember> members, std::shared_ptr<RunWords> words)
      : members_(std::move(members)),
        words_(std::move(words)),
        extent_(ExtentOf(members_)),
        left_(words_->left()),
        right_(words_->is_training() ? LetterPlanes() : LetterPlanes(words_->right())) {
    this->traits_.quadratics_cost = QuadraticsCost::kSupport;
  }

  std::unique_ptr<GroupKernel<T>> Learn(std::span<const double> theta) const override {
    return std::make_unique<RunKernel>(*this, theta);
  }
  std::unique_ptr<GroupExpansion> StartExpansion() override { return std::make_unique<RunExpansion>(*this); }

  // One pass for quadratics and outputs.
  void Answer(std::span<const VectorRequest> requests, std::span<GroupAnswer> answers,
              ThreadPool& pool) override {
    for (std::size_t v = 0; v < requests.size(); ++v) {
      const VectorRequest& request = requests[v];
      std::vector<double> squares(request.wants_quadratics ? WordCount() : 0);
      if (request.wants_quadratics || request.has_outputs()) {
        Pass(request.a, request.has_outputs() ? request.theta : std::span<const double>(), answers[v].outputs,
             squares, pool);
      }
      if (request.wants_quadratics) SumWords(squares, answers[v].quadratics);
      if (request.keeps_expansion) {
        auto expansion = std::make_unique<RunExpansion>(*this);
        expansion->Add(MakeSupport(request.a), pool);
        if (request.wants_quadratics) expansion->KeepSquares(std::move(squares));
        answers[v].expansion = std::move(expansion);
      }
    }
  }

  void FindStatistics(Index count, const KernelStatistics& statistics, ThreadPool& pool) override {
    const std::shared_ptr<const PositionWords> words = Words(pool);
    std::vector<double> sums(WordCount());
    for (Index i = extent_.first; i < extent_.last; ++i) {
      for (int k = 1; k <= extent_.degree; ++k) {
        sums[Place(i, k)] = static_cast<double>(words->KnownWords(i, k)) / static_cast<double>(words->size());
      }
    }
    SumWords(sums, statistics.mean_diagonals);
    if (statistics.mean_pairs.empty()) return;
    const std::vector<double> mean(Offset(count), 1.0 / static_cast<double>(count));
    Pass(mean, {}, {}, sums, pool);
    SumWords(sums, statistics.mean_pairs);
  }

 private:
  class RunKernel final : public GroupKernel<T> {
   public:
    RunKernel(const RunGroup& group, std::span<const double> theta)
        : group_(group),
          weights_(std::make_shared<const RunWeights>(
              Combine(group.members_, theta, group.words_->left().length, group.extent_.degree))),
          table_(std::make_shared<const RunTable<T>>(*weights_)) {}

    void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) const override {
      AddPairs(group_.left_, rows, group_.right(), *table_, out, stride, pool);
    }
    void AddDiagonal(std::span<double> out, ThreadPool&) const override {
      AddSelfValues(group_.words_->left(), *weights_, out);
    }
    std::unique_ptr<ProductMatrix> Products(ThreadPool& pool) const override {
      if (!group_.words_->is_training()) return nullptr;
      return std::make_unique<RunProducts>(group_.words_->left(), weights_,
                                           std::make_shared<const RunTable<float>>(*weights_),
                                           group_.Words(pool), pool);
    }

   private:
    const RunGroup& group_;
    std::shared_ptr<const RunWeights> weights_;
    std::shared_ptr<const RunTable<T>> table_;
  };

  // The vector itself: what kernels say of it is found in one pass when it is asked for.
  class RunExpansion final : public GroupExpansion {
   public:
    explicit RunExpansion(const RunGroup& group)
        : group_(group), a_(Offset(group.words_->left().size()), 0.0) {}

    void Add(const SupportVector& entries, ThreadPool& pool) override {
      pool_ = &pool;
      for (std::size_t k = 0; k < entries.rows.size(); ++k) a_[Offset(entries.rows[k])] += entries.factors[k];
      squares_.clear();
    }
    void Quadratics(std::span<const double>, std::span<double> q) const override {
      if (squares_.empty()) {
        squares_.assign(group_.WordCount(), 0.0);
        if (pool_ != nullptr) group_.Pass(a_, {}, {}, squares_, *pool_);
      }
      group_.SumWords(squares_, q);
    }
    void Products(std::span<const double> b, std::span<double> products) const override {
      std::vector<double> sums(group_.WordCount(), 0.0);
      if (pool_ != nullptr) group_.Words(*pool_)->Products(a_, b, sums, *pool_);
      group_.SumWords(sums, products);
    }
    void AddOutputs(std::span<const double> theta, std::span<double> out) const override {
      if (pool_ != nullptr) group_.Pass(a_, theta, out, {}, *pool_);
    }
    void KeepSquares(std::vector<double> squares) { squares_ = std::move(squares); }

   private:
    const RunGroup& group_;
    std::vector<double> a_;
    mutable std::vector<double> squares_;  // sums over words; empty: not found yet
    ThreadPool* pool_ = nullptr;
  };

  std::size_t WordCount() const { return Offset((extent_.last - extent_.first) * extent_.degree); }
  std::size_t Place(Index position, int order) const {
    return Offset((position - extent_.first) * extent_.degree + order - 1);
  }
  const LetterPlanes& right() const { return words_->is_training() ? left_ : right_; }
  std::shared_ptr<const PositionWords> Words(ThreadPool& pool) const {
    return words_->Find(extent_.first, extent_.last, extent_.degree, pool);
  }

  // out += outputs at theta, if there is one; squares of all words, if they are not empty.
  void Pass(std::span<const double> a, std::span<const double> theta, std::span<double> out,
            std::span<double> squares, ThreadPool& pool) const {
    const Index length = words_->left().length;
    const RunWeights weights =
        theta.empty() ? RunWeights(length, extent_.degree) : Combine(members_, theta, length, extent_.degree);
    if (words_->is_training()) {
      Words(pool)->Multiply(a, weights, theta.empty() ? std::span<double>() : out, squares, pool);
      return;
    }
    std::vector<double> both(a.begin(), a.end());
    both.resize(a.size() + Offset(words_->right().size()), 0.0);
    std::vector<double> outputs(theta.empty() ? 0 : both.size(), 0.0);
    Words(pool)->Multiply(both, weights, outputs, squares, pool);
    for (std::size_t j = a.size(); j < outputs.size(); ++j) out[j - a.size()] += outputs[j];
  }

  // What sums over words come to for every kernel.
  void SumWords(std::span<const double> sums, std::span<double> out) const {
    for (const RunMember& member : members_) {
      double sum = 0;
      ForWords(member, [&](Index i, int k, double weight) { sum += weight * sums[Place(i, k)]; });
      out[Offset(member.kernel)] = member.scale * sum;
    }
  }

  std::vector<RunMember> members_;
  std::shared_ptr<RunWords> words_;
  Extent extent_;
  LetterPlanes left_, right_;
};

}  // namespace

std::shared_ptr<const PositionWords> RunWords::Find(Index first, Index last, int degree, ThreadPool& pool) {
  std::shared_ptr<const PositionWords>& words = words_[{first, last, degree}];
  if (!words) {
    words = std::make_shared<const PositionWords>(std::span(parts_, is_training_ ? 1 : 2), first, last,
                                                  degree, pool);
  }
  return words;
}

template <class T>
std::unique_ptr<Group<T>> MakeRunGroup(std::vector<RunMember> members, std::shared_ptr<RunWords> words) {
  return std::make_unique<RunGroup<T>>(std::move(members), std::move(words));
}

std::size_t RunGroupBytes(const PackedLetters& left, const PackedLetters& right, bool is_training,
                          std::span<const RunMember> members) {
  const Extent extent = ExtentOf(members);
  const std::size_t count = Offset(left.size() + (is_training ? 0 : right.size()));
  // Planes and words.
  const std::size_t letters = 2 * (Offset(left.length * left.bits) / 8 + sizeof(std::uint64_t));
  constexpr std::size_t kBytesOfShared = sizeof(std::uint32_t) + 1;  // of a sequence and position
  return count * (letters + Offset(extent.last - extent.first) * kBytesOfShared);
}

template std::unique_ptr<Group<float>> MakeRunGroup(std::vector<RunMember>, std::shared_ptr<RunWords>);
template std::unique_ptr<Group<double>> MakeRunGroup(std::vector<RunMember>, std::shared_ptr<RunWords>);

}  // namespace kweave
