#include "gram/family_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>

#include "compute/cpu/packed_product.h"

namespace kweave {
namespace {

constexpr Index kMaxNodes = 512;  // beyond the longest table (kMostTableTerms), so that its error can be seen

// What interpolation at N Chebyshev nodes needs, whatever the function: made once for every N.
struct NodeTable {
  explicit NodeTable(Index nodes) : turn(4 * nodes), cosines(nodes, nodes) {
    // The angles are multiples of pi / 2N, so one turn of cosines holds them all.
    for (Index a = 0; a < 4 * nodes; ++a) {
      turn[a] = std::cos(std::numbers::pi * static_cast<double>(a) / (2 * static_cast<double>(nodes)));
    }
    for (Index i = 0; i < nodes; ++i) {
      for (Index k = 0; k < nodes; ++k) {
        cosines.at(k, i) =
            turn[(2 * i + 1) * k % (4 * nodes)] * (k == 0 ? 1.0 : 2.0) / static_cast<double>(nodes);
      }
    }
  }
  double Node(Index i) const { return turn[2 * i + 1]; }

  std::vector<double> turn;
  PackedSamples<double> cosines;  // coefficient k is the product of row k with the values at the nodes
};

const NodeTable& NodesOf(Index nodes) {
  static std::mutex mutex;
  static std::map<Index, NodeTable> tables;
  const std::lock_guard lock(mutex);
  return tables.try_emplace(nodes, nodes).first->second;
}

// The members of a shape that is analytic, and what is asked of a table of theirs.
class Members {
 public:
  Members(const Shape& shape, std::span<const KernelParameters> parameters, double upper_bound,
          double relative_error)
      : shape_(shape),
        parameters_(parameters),
        loops_(shape.loops_f64(parameters)),
        upper_bound_(upper_bound),
        relative_error_(relative_error) {}

  std::size_t size() const { return parameters_.size(); }
  double Rate(std::size_t m) const { return shape_.analyticity->rate(parameters_[m]); }
  double LogBound(std::size_t m, double left, double radius) const {
    return shape_.analyticity->log_bound(parameters_[m], left, radius);
  }
  // The error asked for.
  double Error(std::size_t m) const {
    return relative_error_ *
           std::abs(shape_.value(parameters_[m], upper_bound_) - shape_.value(parameters_[m], 0));
  }
  void Values(std::size_t m, std::span<const double> base, double* out) const {
    loops_->Values(m, base.data(), static_cast<Index>(base.size()), out);
  }

 private:
  const Shape& shape_;
  std::span<const KernelParameters> parameters_;
  std::unique_ptr<MemberLoops<double>> loops_;
  double upper_bound_, relative_error_;
};

// One choice of the stretch g: nodes, the matrix that turns values into coefficients, and the aliasing of a
// member.
class Interpolation {
 public:
  // `end` is V.
  Interpolation(double stretch, double end, bool is_of_root)
      : stretch_(stretch), length_(std::log1p(stretch * end)), is_of_root_(is_of_root) {
    const double s = std::numbers::pi / length_;
    rho_ = s + std::sqrt(s * s + 1);
    radius_ = (std::exp(length_ / 2 * (1 + (rho_ + 1 / rho_) / 2)) + 1) / stretch_;
  }

  // Enough nodes to make the aliasing of every member smaller than `error`; false when that takes too many.
  bool ChooseNodes(const Members& members, double error) {
    double log_bound = 0;
    for (std::size_t m = 0; m < members.size(); ++m) {
      log_bound = std::max(log_bound, members.LogBound(m, 1 / stretch_, radius_));
    }
    for (nodes_ = 32; nodes_ <= kMaxNodes; nodes_ *= 2) {
      if (!(AliasingOf(log_bound) <= error)) continue;
      table_ = &NodesOf(nodes_);
      for (Index i = 0; i < nodes_; ++i) {
        const double v = std::expm1(length_ * (table_->Node(i) + 1) / 2) / stretch_;
        base_.push_back(is_of_root_ ? v * v : v);
      }
      return true;
    }
    return false;
  }

  double Aliasing(const Members& members, std::size_t m) const {
    return AliasingOf(members.LogBound(m, 1 / stretch_, radius_));
  }

  // All coefficients of some members, less the shift: count x nodes.
  std::vector<double> Coefficients(const Members& members, std::size_t first, std::size_t count) const {
    const auto rows = static_cast<Index>(count);
    std::vector<double> values(rows * nodes_), coefficients(rows * nodes_);
    for (std::size_t m = 0; m < count; ++m) {
      members.Values(first + m, base_, values.data() + static_cast<Index>(m) * nodes_);
    }
    PackedProduct<double>(values.data(), rows, table_->cosines, 0, nodes_, /*add=*/false, coefficients.data(),
                          nodes_);
    return coefficients;
  }

  Index nodes() const { return nodes_; }
  double stretch() const { return stretch_; }
  double length() const { return length_; }

 private:
  double AliasingOf(double log_bound) const {
    return 4 * std::exp(log_bound - static_cast<double>(nodes_) * std::log(rho_)) / (1 - 1 / rho_);
  }

  double stretch_;
  double length_;
  bool is_of_root_;
  double rho_ = 1;
  double radius_ = 0;
  Index nodes_ = 0;
  const NodeTable* table_ = nullptr;
  std::vector<double> base_;  // b at the nodes
};

// Members whose coefficients are made together: bounds the values at the nodes to 1 MiB.
constexpr std::size_t kMembersAtATime = 256;

// Calls use(member, its coefficients).
template <class Use>
void ForCoefficients(const Interpolation& interpolation, const Members& members, Use use) {
  for (std::size_t first = 0; first < members.size(); first += kMembersAtATime) {
    const std::size_t count = std::min(kMembersAtATime, members.size() - first);
    const std::vector<double> coefficients = interpolation.Coefficients(members, first, count);
    for (std::size_t m = 0; m < count; ++m) {
      use(first + m, coefficients.data() + static_cast<Index>(m) * interpolation.nodes());
    }
  }
}

// Terms that the members need for their errors, or all nodes when those are not enough.
Index TermsNeeded(const Interpolation& interpolation, const Members& members) {
  Index needed = 1;
  ForCoefficients(interpolation, members, [&](std::size_t m, const double* coefficients) {
    const double error = members.Error(m);
    double tail = interpolation.Aliasing(members, m);
    Index terms = interpolation.nodes();
    while (terms > 1 && tail + std::abs(coefficients[terms - 1]) <= error) {
      tail += std::abs(coefficients[--terms]);
    }
    needed = std::max(needed, terms);
  });
  return needed;
}

// A few members that stand for all while the stretch is chosen: the ends and log-spaced ones between.
std::vector<KernelParameters> Representatives(const Shape& shape, std::span<const KernelParameters> members) {
  std::vector<KernelParameters> sorted(members.begin(), members.end());
  std::ranges::sort(sorted, {}, shape.analyticity->rate);
  std::vector<KernelParameters> few;
  constexpr std::size_t kFew =
      12;  // tables vary smoothly with the rate; one term more covers members between
  for (std::size_t i = 0; i < kFew; ++i) few.push_back(sorted[i * (sorted.size() - 1) / (kFew - 1)]);
  return few;
}

}  // namespace

std::optional<FamilyTable> FitFamilyTable(const Shape& shape, std::span<const KernelParameters> members,
                                          double upper_bound, double relative_error, Index max_terms) {
  if (members.empty() || !(upper_bound > 0) || !std::isfinite(upper_bound)) return std::nullopt;
  const std::vector<KernelParameters> few_parameters = Representatives(shape, members);
  const Members few(shape, few_parameters, upper_bound, relative_error);
  const Members all(shape, members, upper_bound, relative_error);
  const double fastest = few.Rate(few.size() - 1);
  if (!(few.Rate(0) > 0) || !std::isfinite(fastest)) return std::nullopt;
  const Members& bounding = shape.analyticity->has_one_parameter ? few : all;
  double smallest_error = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < bounding.size(); ++m) {
    smallest_error = std::min(smallest_error, bounding.Error(m));
  }

  const bool is_of_root = shape.analyticity->is_of_root;
  std::optional<Interpolation> best;
  Index best_terms = max_terms + 1;
  for (double divisor : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    Interpolation candidate(fastest / divisor, is_of_root ? std::sqrt(upper_bound) : upper_bound, is_of_root);
    if (!candidate.ChooseNodes(bounding, smallest_error / 4)) continue;
    const Index terms = TermsNeeded(candidate, few);
    if (terms < best_terms) best_terms = terms, best = std::move(candidate);
  }
  if (!best) return std::nullopt;
  if (!shape.analyticity->has_one_parameter) {
    best_terms = TermsNeeded(*best, all);
    if (best_terms > max_terms) return std::nullopt;
  }

  FamilyTable table;
  table.stretch = best->stretch();
  table.slope = 2 / best->length();
  table.offset = -1;
  table.is_of_root = is_of_root;
  table.terms = std::min(best_terms + 1, best->nodes());  // one more for members between the representatives
  table.coefficients.resize(members.size() * table.terms);
  table.error.resize(members.size());
  ForCoefficients(*best, all, [&](std::size_t m, const double* coefficients) {
    double error = best->Aliasing(all, m);
    for (Index k = table.terms; k < best->nodes(); ++k) error += std::abs(coefficients[k]);
    table.error[m] = error;
    std::copy_n(coefficients, table.terms, table.coefficients.begin() + static_cast<Index>(m) * table.terms);
  });
  return table;
}

FamilyTable FitPowerTable(const Shape& shape, std::span<const KernelParameters> members, double largest) {
  FamilyTable table;
  Index highest = 0;
  for (const KernelParameters& member : members) highest = std::max(highest, shape.degree(member));
  table.terms = highest + 1;
  table.slope = 1 / largest;
  table.error.assign(members.size(), 0.0);
  const auto nodes = static_cast<double>(table.terms);
  const auto angle = [&](Index j) { return std::numbers::pi * (static_cast<double>(j) + 0.5) / nodes; };
  for (const KernelParameters& member : members) {
    for (Index k = 0; k < table.terms; ++k) {
      double sum = 0;
      for (Index j = 0; j < table.terms; ++j) {
        sum +=
            shape.value(member, largest * std::cos(angle(j))) * std::cos(static_cast<double>(k) * angle(j));
      }
      table.coefficients.push_back((k == 0 ? 1 : 2) / nodes * sum);
    }
  }
  return table;
}

}  // namespace kweave
