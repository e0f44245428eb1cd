#include "gram/feature_group.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/dot.h"
#include "compute/cpu/chebyshev_totals.h"
#include "compute/cpu/family_loops.h"
#include "gram/family_table.h"
#include "gram/panel.h"

namespace kweave {
namespace {

constexpr Index kSamplesPerTerm = 4;     // fewer: the pairs of samples cost no more
constexpr Index kEntriesPerSample = 64;  // of all matrices: no more memory than 64 columns of features
// No more than rounding, by which pairs err that are evaluated by their formula: nothing to add to a
// certificate.
constexpr double kRelativeError = 1e-16;
constexpr Index kTotalsBlock = 8192;  // samples that one thread sums up at a time

// The table with the samples on [-1,1].
struct FeatureSamples {
  FeatureTable table;
  std::vector<FamilyMember> members;
  std::vector<double> left, right;  // right empty: the same

  std::span<const double> outputs_at() const { return right.empty() ? left : right; }
};

// sum_j factors[j] T_k(t[j]) for every k.
std::vector<double> Totals(std::span<const double> t, std::span<const double> factors, Index terms,
                           ThreadPool& pool) {
  const auto count = static_cast<Index>(t.size());
  const Index blocks = (count + kTotalsBlock - 1) / kTotalsBlock;
  std::vector<double> parts(std::max<Index>(blocks, 1) * terms, 0.0);
  pool.ParallelFor(blocks, 1, [&](Index block, Index, int) {
    const Index begin = block * kTotalsBlock, size = std::min(kTotalsBlock, count - begin);
    AddChebyshevTotals(t.subspan(begin, size), factors.subspan(begin, size),
                       std::span(parts).subspan(block * terms, terms));
  });
  for (Index block = 1; block < blocks; ++block) {
    for (Index k = 0; k < terms; ++k) parts[k] += parts[block * terms + k];
  }
  parts.resize(terms);
  return parts;
}

class FeatureExpansion : public GroupExpansion {
 public:
  explicit FeatureExpansion(const FeatureSamples& samples)
      : samples_(samples), totals_(samples.table.terms, 0.0) {}

  void Add(const SupportVector& entries, ThreadPool& pool) override {
    pool_ = &pool;
    std::vector<double> t(entries.rows.size());
    for (std::size_t e = 0; e < t.size(); ++e) t[e] = samples_.left[entries.rows[e]];
    const std::vector<double> change = Totals(t, entries.factors, samples_.table.terms, pool);
    for (std::size_t k = 0; k < totals_.size(); ++k) totals_[k] += change[k];
    images_.clear();
  }

  void Quadratics(std::span<const double>, std::span<double> q) const override { Multiply(totals_, q); }

  void Products(std::span<const double> b, std::span<double> products) const override {
    if (pool_ != nullptr) Multiply(Totals(samples_.left, b, samples_.table.terms, *pool_), products);
  }

  void AddOutputs(std::span<const double> theta, std::span<double> out) const override {
    std::vector<double> coefficients(totals_.size(), 0.0);
    double weights = 0;
    bool is_zero = true;
    for (std::size_t m = 0; m < samples_.members.size(); ++m) {
      const double weight = theta[samples_.members[m].kernel] * samples_.members[m].scale;
      if (weight == 0) continue;
      is_zero = false;
      weights += weight;
      const std::span<const double> image = Image(m);
      for (std::size_t k = 0; k < image.size(); ++k) coefficients[k] += weight * image[k];
    }
    if (pool_ == nullptr || is_zero) return;
    coefficients[0] += weights * samples_.table.shift * totals_[0];  // T_0 = 1
    const std::span<const double> at = samples_.outputs_at();
    pool_->ParallelFor(static_cast<Index>(out.size()), kColumnBlock, [&](Index begin, Index end, int) {
      AddChebyshev<double>(at.data() + begin, end - begin, {}, coefficients, out.data() + begin);
    });
  }

 private:
  // A_m times the totals: K_m a in terms of polynomials, less the shift.
  std::span<const double> Image(std::size_t m) const {
    if (images_.empty()) images_.resize(samples_.members.size());
    std::vector<double>& image = images_[m];
    if (image.empty()) {
      const FeatureTable::Member& member = samples_.table.members[m];
      for (Index a = 0; a < member.terms; ++a)
        image.push_back(Dot(std::span(*member.matrix).subspan(a * member.terms, member.terms),
                            std::span(totals_).first(member.terms)));
    }
    return image;
  }

  // v' K_m a for the totals v of another vector.
  void Multiply(std::span<const double> v, std::span<double> products) const {
    const double shift = samples_.table.shift * totals_[0] * v[0];
    for (std::size_t m = 0; m < samples_.members.size(); ++m) {
      const std::span<const double> image = Image(m);
      products[samples_.members[m].kernel] =
          samples_.members[m].scale * (Dot(image, v.first(image.size())) + shift);
    }
  }

  const FeatureSamples& samples_;
  std::vector<double> totals_;
  mutable std::vector<std::vector<double>> images_;  // by member, found when first asked for
  ThreadPool* pool_ = nullptr;
};

template <class T>
class FeatureGroup final : public Group<T> {
 public:
  /// `rows` are those of the family; null: others add them.
  FeatureGroup(const KernelKind& kind, FeatureSamples samples, std::unique_ptr<Group<T>> rows)
      : kind_(kind), samples_(std::move(samples)), rows_(std::move(rows)) {
    this->traits_ = {rows_ != nullptr, /*table_error=*/0, QuadraticsCost::kLittle};
  }

  std::unique_ptr<GroupKernel<T>> Learn(std::span<const double> theta) const override {
    return rows_->Learn(theta);
  }
  void FindStatistics(Index count, const KernelStatistics& statistics, ThreadPool& pool) override {
    for (const FamilyMember& member : samples_.members) {
      statistics.mean_diagonals[member.kernel] = member.scale * MeanDiagonal(member.parameters, count);
    }
    if (statistics.mean_pairs.empty()) return;
    Expand<T>(*this, MeanOf(count), pool)->Quadratics({}, statistics.mean_pairs);
  }
  std::unique_ptr<GroupExpansion> StartExpansion() override {
    return std::make_unique<FeatureExpansion>(samples_);
  }

 private:
  double MeanDiagonal(const KernelParameters& parameters, Index left_count) const {
    if (const auto constant = kind_.ConstantDiagonal(parameters)) return *constant;
    double mean = 0;
    for (const double t : samples_.left) {
      const double x = samples_.table.center + t * samples_.table.half;
      const double base = kind_.base->plain({&x, 1}, {&x, 1}, kind_.BaseParameter(parameters));
      mean += ShapeValue(*kind_.shape, parameters, base) / static_cast<double>(left_count);
    }
    return mean;
  }

  const KernelKind& kind_;
  FeatureSamples samples_;
  std::unique_ptr<Group<T>> rows_;
};

std::vector<KernelParameters> ParametersOf(std::span<const FamilyMember> members) {
  std::vector<KernelParameters> parameters;
  for (const FamilyMember& member : members) parameters.push_back(member.parameters);
  return parameters;
}

}  // namespace

bool KeepDigits(const KernelKind& kind, std::span<const FamilyMember> members, const MeasuredFeature& feature,
                bool use_float) {
  if (kind.shape->degree == nullptr) return true;
  const auto keep = use_float ? KeepsDigits<float> : KeepsDigits<double>;
  return std::ranges::all_of(members, [&](const FamilyMember& member) {
    return keep(kind.shape->degree(member.parameters), feature.mean_square, feature.largest_square);
  });
}

bool IsSmoothInOneFeature(const KernelKind& kind, const Features& features, const FeatureSubset& subset) {
  return kind.in_one_feature != nullptr && SubsetSize(features, subset) == 1;
}

FeatureColumn ColumnOf(const KernelTerm& term, const Sides& sides, const FeatureSubset& subset) {
  const auto values = [&](std::span<const View> side) {
    const AlignedVector<double> packed = PackFeatures<double>(side[term.view].features, subset, {});
    return std::vector<double>(packed.begin(), packed.end());
  };
  FeatureColumn column{{term.view, subset.empty() ? 0 : subset[0]}, values(sides.left), {}};
  if (!sides.is_training) column.right = values(sides.right);
  return column;
}

std::optional<MeasuredFeature> MeasureFeature(const KernelKind& kind, std::span<const FamilyMember> members,
                                              const FeatureColumn& column, FeatureMatrices& matrices) {
  const auto samples = static_cast<Index>(
      std::min(column.left.size(), (column.right.empty() ? column.left : column.right).size()));
  if (samples == 0) return {};
  auto [low, high] = std::ranges::minmax(column.left);
  if (!column.right.empty()) {
    low = std::min(low, std::ranges::min(column.right));
    high = std::max(high, std::ranges::max(column.right));
  }
  MeasuredFeature found;
  found.largest_square = std::max(low * low, high * high);
  found.mean_square = Dot(column.left, column.left) / static_cast<double>(column.left.size());
  if (!KeepDigits(kind, members, found, /*use_float=*/false)) return {};
  std::optional<FeatureTable> table = MeasureFeatureTable(
      kind, ParametersOf(members), low, high, kRelativeError,
      std::min(kMostTableTerms, samples / kSamplesPerTerm), kEntriesPerSample * samples, matrices);
  if (!table) return {};
  found.table = std::move(*table);
  return found;
}

template <class T>
std::unique_ptr<Group<T>> MakeFeatureGroup(const KernelKind& kind, std::vector<FamilyMember> members,
                                           FeatureColumn column, FeatureTable table,
                                           FeatureMatrices& matrices, FeatureRows<T>* rows_of_all,
                                           std::unique_ptr<Group<T>> rows) {
  FillFeatureTable(kind, ParametersOf(members), table, matrices);
  for (std::vector<double>* values : {&column.left, &column.right}) {
    for (double& value : *values) value = std::clamp((value - table.center) / table.half, -1.0, 1.0);
  }
  if (rows == nullptr) rows_of_all->Add(column.place, table, members, column.left);
  FeatureSamples samples{std::move(table), std::move(members), std::move(column.left),
                         std::move(column.right)};
  return std::make_unique<FeatureGroup<T>>(kind, std::move(samples), std::move(rows));
}

template std::unique_ptr<Group<float>> MakeFeatureGroup(const KernelKind&, std::vector<FamilyMember>,
                                                        FeatureColumn, FeatureTable, FeatureMatrices&,
                                                        FeatureRows<float>*, std::unique_ptr<Group<float>>);
template std::unique_ptr<Group<double>> MakeFeatureGroup(const KernelKind&, std::vector<FamilyMember>,
                                                         FeatureColumn, FeatureTable, FeatureMatrices&,
                                                         FeatureRows<double>*,
                                                         std::unique_ptr<Group<double>>);

}  // namespace kweave
