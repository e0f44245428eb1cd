#include "gram/linear_group.h"

#include <algorithm>

#include "compute/cpu/family_loops.h"
#include "gram/pair_pass.h"

namespace kweave {
namespace {

// A member with the numbers of its features.
struct NumberedMember {
  Index kernel = 0;
  double scale = 1;
  bool has_all = false;
  std::vector<std::int32_t> features;
};

template <class T>
std::vector<NumberedMember> NumberFeatures(std::span<const LinearMember> members,
                                           const LinearFeatures<T>& features) {
  std::vector<NumberedMember> numbered;
  for (const LinearMember& member : members) {
    numbered.push_back({member.kernel, member.scale, member.subset->empty(), {}});
    for (std::int32_t column : *member.subset) {
      const Index number = features.NumberOf(column);
      if (number >= 0) numbered.back().features.push_back(static_cast<std::int32_t>(number));
    }
  }
  return numbered;
}

// Calls use(f) for every feature of a member.
template <class Use>
void ForFeatures(const NumberedMember& member, Index features, Use use) {
  if (member.has_all) {
    for (Index f = 0; f < features; ++f) use(f);
  } else {
    for (std::int32_t f : member.features) use(f);
  }
}

// The weight of every feature in the learned kernel.
std::vector<double> FeatureWeights(std::span<const NumberedMember> members, Index features,
                                   std::span<const double> theta) {
  std::vector<double> u(features, 0.0);
  for (const NumberedMember& member : members) {
    const double weight = theta[member.kernel] * member.scale;
    if (weight != 0) ForFeatures(member, features, [&](Index f) { u[f] += weight; });
  }
  return u;
}

template <class T>
class LinearExpansion : public GroupExpansion {
 public:
  LinearExpansion(std::span<const NumberedMember> members, const LinearFeatures<T>& features)
      : members_(members), features_(features), v_(features.features(), 0.0) {}

  void Add(const SupportVector& entries, ThreadPool& pool) override {
    pool_ = &pool;
    const std::vector<double> change = features_.Combine(entries);
    for (std::size_t f = 0; f < v_.size(); ++f) v_[f] += change[f];
  }

  void Quadratics(std::span<const double>, std::span<double> q) const override {
    for (const NumberedMember& member : members_) {
      double sum = 0;
      ForFeatures(member, features_.features(), [&](Index f) { sum += v_[f] * v_[f]; });
      q[member.kernel] = member.scale * sum;
    }
  }

  void Products(std::span<const double> b, std::span<double> products) const override {
    const std::vector<double> v = features_.Combine(MakeSupport(b));
    for (const NumberedMember& member : members_) {
      double sum = 0;
      ForFeatures(member, features_.features(), [&](Index f) { sum += v[f] * v_[f]; });
      products[member.kernel] = member.scale * sum;
    }
  }

  void AddOutputs(std::span<const double> theta, std::span<double> out) const override {
    std::vector<double> w = FeatureWeights(members_, features_.features(), theta);
    if (pool_ == nullptr || std::ranges::all_of(w, [](double value) { return value == 0; })) return;
    for (std::size_t f = 0; f < w.size(); ++f) w[f] *= v_[f];
    pool_->ParallelFor(static_cast<Index>(out.size()), kColumnBlock, [&](Index begin, Index end, int) {
      features_.AddOutputs(w, begin, end, out.data() + begin);
    });
  }

 private:
  std::span<const NumberedMember> members_;
  const LinearFeatures<T>& features_;
  std::vector<double> v_;  // X' a
  ThreadPool* pool_ = nullptr;
};

template <class T>
class LinearGroup final : public Group<T> {
 public:
  LinearGroup(std::span<const LinearMember> members, std::shared_ptr<const LinearFeatures<T>> features,
              Index right_count, BaseRows<T>* products)
      : features_(std::move(features)),
        members_(NumberFeatures(members, *features_)),
        right_count_(right_count),
        products_(products) {
    this->traits_.quadratics_cost = QuadraticsCost::kLittle;
  }

  std::unique_ptr<GroupKernel<T>> Learn(std::span<const double> theta) const override {
    return std::make_unique<LinearKernel>(*this, FeatureWeights(members_, features_->features(), theta));
  }
  void FindStatistics(Index count, const KernelStatistics& statistics, ThreadPool& pool) override {
    SumFeatures(features_->MeanSquares(), statistics.mean_diagonals);
    if (!statistics.variances.empty()) SumFeatures(features_->Variances(), statistics.variances);
    if (statistics.mean_pairs.empty()) return;
    Expand<T>(*this, MeanOf(count), pool)->Quadratics({}, statistics.mean_pairs);
  }
  std::unique_ptr<GroupExpansion> StartExpansion() override {
    return std::make_unique<LinearExpansion<T>>(members_, *features_);
  }

 private:
  class LinearKernel final : public GroupKernel<T> {
   public:
    LinearKernel(const LinearGroup& group, std::vector<double> weights)
        : group_(group),
          weights_(std::move(weights)),
          rounded_weights_(weights_.begin(), weights_.end()),
          is_zero_(std::ranges::all_of(weights_, [](double value) { return value == 0; })) {}

    void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) const override {
      if (is_zero_) return;
      if (group_.products_ != nullptr) {
        const T weight = rounded_weights_.front();  // of all features
        VisitPairs<T>(*group_.products_, rows, {.may_evict = true}, pool, [&](const PairBlock<T>& pairs) {
          for (std::size_t r = 0; r < pairs.samples.size(); ++r) {
            AddScaled<T>(pairs.rows()[r], pairs.width(), weight,
                         out + (pairs.first + r) * stride + pairs.begin);
          }
        });
        return;
      }
      pool.ParallelFor(group_.right_count_, kColumnBlock, [&](Index begin, Index end, int) {
        group_.features_->AddProducts(rounded_weights_, rows, begin, end, out + begin, stride);
      });
    }
    void AddDiagonal(std::span<double> out, ThreadPool&) const override {
      if (!is_zero_) group_.features_->AddDiagonal(weights_, out);
    }
    std::optional<WeightedFeatures<T>> Linear() const override {
      return WeightedFeatures<T>{group_.features_.get(), weights_};
    }

   private:
    const LinearGroup& group_;
    const std::vector<double> weights_;     // by feature
    const std::vector<T> rounded_weights_;  // the same, for the matrix product
    const bool is_zero_;
  };

  // values[m] = the sum over the features of kernel m.
  void SumFeatures(std::span<const double> by_feature, std::span<double> values) const {
    for (const NumberedMember& member : members_) {
      double sum = 0;
      ForFeatures(member, features_->features(), [&](Index f) { sum += by_feature[f]; });
      values[member.kernel] = member.scale * sum;
    }
  }

  std::shared_ptr<const LinearFeatures<T>> features_;
  std::vector<NumberedMember> members_;
  Index right_count_;
  BaseRows<T>* products_;
};

template <class T>
class LinearProducts : public BaseBlock<T> {
 public:
  explicit LinearProducts(std::shared_ptr<const LinearFeatures<T>> features)
      : features_(std::move(features)), ones_(features_->features(), T{1}) {}

  void GatherLeft(std::span<const Index>, AlignedVector<T>&) const override {}
  void Compute(std::span<const Index> rows, const AlignedVector<T>&, Index begin, Index end, T* out,
               Index stride) const override {
    for (std::size_t r = 0; r < rows.size(); ++r) std::fill_n(out + r * stride, end - begin, T{0});
    features_->AddProducts(ones_, rows, begin, end, out, stride);
  }
  double LeftDiagonal(Index) const override { return 0; }  // the group asks its features
  double RightDiagonal(Index) const override { return 0; }

 private:
  std::shared_ptr<const LinearFeatures<T>> features_;
  std::vector<T> ones_;
};

}  // namespace

template <class T>
std::unique_ptr<Group<T>> MakeLinearGroup(std::vector<LinearMember> members,
                                          std::shared_ptr<const LinearFeatures<T>> features,
                                          Index right_count, BaseRows<T>* products) {
  return std::make_unique<LinearGroup<T>>(members, std::move(features), right_count, products);
}

template <class T>
std::unique_ptr<BaseBlock<T>> MakeLinearProducts(std::shared_ptr<const LinearFeatures<T>> features) {
  return std::make_unique<LinearProducts<T>>(std::move(features));
}

template std::unique_ptr<Group<float>> MakeLinearGroup(std::vector<LinearMember>,
                                                       std::shared_ptr<const LinearFeatures<float>>, Index,
                                                       BaseRows<float>*);
template std::unique_ptr<Group<double>> MakeLinearGroup(std::vector<LinearMember>,
                                                        std::shared_ptr<const LinearFeatures<double>>, Index,
                                                        BaseRows<double>*);
template std::unique_ptr<BaseBlock<float>> MakeLinearProducts(std::shared_ptr<const LinearFeatures<float>>);
template std::unique_ptr<BaseBlock<double>> MakeLinearProducts(std::shared_ptr<const LinearFeatures<double>>);

}  // namespace kweave
