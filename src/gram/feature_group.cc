#include "gram/feature_group.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/dot.h"
#include "compute/cpu/chebyshev_totals.h"
#include "compute/cpu/family_loops.h"
#include "gram/family_table.h"
#include "gram/panel.h"
#include "kernel/linear.h"
#include "kernel/rbf.h"

namespace kweave {
namespace {

constexpr Index kSamplesPerTerm = 4;     // fewer: the pairs of samples cost no more
constexpr Index kEntriesPerSample = 64;  // of all matrices
// No more than rounding, by which pairs err that are evaluated by their formula: nothing to add to a certificate.
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
class FeatureGroup : public Group<T> {
 public:
  /// `rows` are those of the family; null: others add them.
  FeatureGroup(Shape shape, FeatureSamples samples, std::unique_ptr<Group<T>> rows)
      : shape_(shape), samples_(std::move(samples)), rows_(std::move(rows)) {}

  QuadraticsCost quadratics_cost() const override { return QuadraticsCost::kLittle; }
  bool has_rows() const override { return rows_ != nullptr; }
  void SetWeights(std::span<const double> theta) override {
    if (rows_) rows_->SetWeights(theta);
  }
  void AddRows(std::span<const Index> rows, T* out, Index stride, ThreadPool& pool) override {
    if (rows_) rows_->AddRows(rows, out, stride, pool);
  }
  double RowShift(std::span<const double> theta) const override {
    double shift = 0;
    for (const FamilyMember& member : samples_.members)
      shift += theta[member.kernel] * member.scale * samples_.table.shift;
    return shift;
  }
  void AddDiagonal(std::span<double> out) const override {
    if (rows_) rows_->AddDiagonal(out);
  }
  void MeanDiagonals(Index left_count, std::span<double> means) const override {
    for (const FamilyMember& member : samples_.members) {
      double mean = 1;
      if (shape_ == Shape::kPower) {
        mean = 0;
        for (const double t : samples_.left) {
          const double x = samples_.table.center + t / samples_.table.slope;
          mean += ShapeValue(shape_, member.parameters, x * x) / static_cast<double>(left_count);
        }
      }
      means[member.kernel] = member.scale * mean;
    }
  }
  void MeansOfAllPairs(Index count, std::span<double> means, ThreadPool& pool) override {
    Expand<T>(*this, MeanOf(count), pool)->Quadratics({}, means);
  }
  std::unique_ptr<GroupExpansion> StartExpansion() override {
    return std::make_unique<FeatureExpansion>(samples_);
  }

 private:
  Shape shape_;
  FeatureSamples samples_;
  std::unique_ptr<Group<T>> rows_;
};

// Nothing where the dimensions would not be few. `fit` makes the table.
std::optional<FeatureSamples> SamplesOf(Shape shape, const std::vector<FamilyMember>& members,
                                        const FeatureColumn& column, GaussianMatrices& matrices,
                                        decltype(FitFeatureTable)& fit) {
  const auto samples = static_cast<Index>(
      std::min(column.left.size(), (column.right.empty() ? column.left : column.right).size()));
  if (samples == 0) return {};
  auto [low, high] = std::ranges::minmax(column.left);
  if (!column.right.empty()) {
    low = std::min(low, std::ranges::min(column.right));
    high = std::max(high, std::ranges::max(column.right));
  }
  const double largest = std::max(low * low, high * high);
  const double mean = Dot(column.left, column.left) / static_cast<double>(column.left.size());
  std::vector<KernelParameters> parameters;
  for (const FamilyMember& member : members) {
    parameters.push_back(member.parameters);
    if (shape == Shape::kPower && !KeepsDigits<double>(member.parameters.degree, mean, largest)) return {};
  }
  std::optional<FeatureTable> table =
      fit(shape, parameters, low, high, kRelativeError, std::min(kMostTableTerms, samples / kSamplesPerTerm),
          kEntriesPerSample * samples, matrices);
  if (!table) return {};
  FeatureSamples found{std::move(*table), members, column.left, column.right};
  for (std::vector<double>* values : {&found.left, &found.right}) {
    for (double& value : *values)
      value = std::clamp(found.table.slope * (value - found.table.center), -1.0, 1.0);
  }
  return found;
}

}  // namespace

bool IsSmoothInOneFeature(const KernelKind& kind, const Features& features, const FeatureSubset& subset) {
  const bool is_smooth = (kind.shape == Shape::kExponential && kind.base == &kSquaredDistanceQuantity) ||
                         (kind.shape == Shape::kPower && kind.base == &kInnerProductQuantity);
  return is_smooth && SubsetSize(features, subset) == 1;
}

FeatureColumn ColumnOf(const KernelTerm& term, const Features& features, const FeatureSubset& subset) {
  const AlignedVector<double> values = PackFeatures<double>(features, subset, {});
  return {{term.view, subset.empty() ? 0 : subset[0]}, {values.begin(), values.end()}, {}};
}

template <class T>
std::unique_ptr<Group<T>> MakeFeatureGroup(Shape shape, const std::vector<FamilyMember>& members,
                                           const FeatureColumn& column, GaussianMatrices& matrices,
                                           FeatureRows<T>* rows_of_all,
                                           const std::function<std::unique_ptr<Group<T>>()>& make_rows) {
  std::optional<FeatureSamples> found = SamplesOf(shape, members, column, matrices, FitFeatureTable);
  if (!found) return make_rows();
  const bool is_taken = rows_of_all != nullptr &&
                        rows_of_all->Add(column.place, shape, found->table, found->members, found->left);
  return std::make_unique<FeatureGroup<T>>(shape, std::move(*found), is_taken ? nullptr : make_rows());
}

template <class T>
bool LeavesRows(Shape shape, const std::vector<FamilyMember>& members, const FeatureColumn& column,
                GaussianMatrices& matrices, FeatureRows<T>& rows_of_all) {
  const std::optional<FeatureSamples> found =
      SamplesOf(shape, members, column, matrices, MeasureFeatureTable);
  return found && rows_of_all.Add(column.place, shape, found->table, found->members, found->left);
}

template std::unique_ptr<Group<float>> MakeFeatureGroup(
    Shape, const std::vector<FamilyMember>&, const FeatureColumn&, GaussianMatrices&, FeatureRows<float>*,
    const std::function<std::unique_ptr<Group<float>>()>&);
template std::unique_ptr<Group<double>> MakeFeatureGroup(
    Shape, const std::vector<FamilyMember>&, const FeatureColumn&, GaussianMatrices&, FeatureRows<double>*,
    const std::function<std::unique_ptr<Group<double>>()>&);
template bool LeavesRows(Shape, const std::vector<FamilyMember>&, const FeatureColumn&, GaussianMatrices&,
                         FeatureRows<float>&);
template bool LeavesRows(Shape, const std::vector<FamilyMember>&, const FeatureColumn&, GaussianMatrices&,
                         FeatureRows<double>&);

}  // namespace kweave
