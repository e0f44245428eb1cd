#include "gram/family_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "compute/cpu/family_loops.h"
#include "compute/cpu/packed_product.h"

namespace kweave {
namespace {

constexpr Index kMaxNodes = 512;

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

// One choice of the stretch g: nodes, the matrix that turns values into coefficients, and the aliasing of a
// member.
class Interpolation {
 public:
  Interpolation(double stretch, double upper_bound)
      : stretch_(stretch), length_(std::log1p(stretch * upper_bound)) {
    const double s = std::numbers::pi / length_;
    rho_ = s + std::sqrt(s * s + 1);
  }

  // Enough nodes to make the aliasing of the narrowest member smaller than `error`; false when that takes too
  // many.
  bool ChooseNodes(double gamma_max, double error) {
    for (nodes_ = 32; nodes_ <= kMaxNodes; nodes_ *= 2) {
      if (Aliasing(gamma_max) > error) continue;
      table_ = &NodesOf(nodes_);
      for (Index i = 0; i < nodes_; ++i) {
        base_.push_back(std::expm1(length_ * (table_->Node(i) + 1) / 2) / stretch_);
      }
      return true;
    }
    return false;
  }

  double Aliasing(double gamma) const {
    return 4 * std::exp(gamma / stretch_ - static_cast<double>(nodes_) * std::log(rho_)) / (1 - 1 / rho_);
  }

  // All coefficients of exp(-gamma b) - 1 for several gammas: gammas x nodes.
  std::vector<double> Coefficients(std::span<const double> gammas) const {
    const Index members = static_cast<Index>(gammas.size());
    const double one[] = {1.0};
    std::vector<double> values(members * nodes_, 0.0), coefficients(members * nodes_);
    for (Index m = 0; m < members; ++m) {
      AddExponentials<double>(base_.data(), nodes_, gammas.subspan(m, 1), one, values.data() + m * nodes_);
    }
    PackedProduct<double>(values.data(), members, table_->cosines, 0, nodes_, /*add=*/false,
                          coefficients.data(), nodes_);
    return coefficients;
  }

  Index nodes() const { return nodes_; }
  double stretch() const { return stretch_; }
  double length() const { return length_; }

 private:
  double stretch_;
  double length_;
  double rho_ = 1;
  Index nodes_ = 0;
  const NodeTable* table_ = nullptr;
  std::vector<double> base_;  // b at the nodes
};

double Range(double gamma, double upper_bound) { return -std::expm1(-gamma * upper_bound); }

// Terms that the members need for their errors, or all nodes when those are not enough.
Index TermsNeeded(const Interpolation& interpolation, std::span<const double> gammas, double upper_bound,
                  double relative_error) {
  const std::vector<double> coefficients = interpolation.Coefficients(gammas);
  Index needed = 1;
  for (std::size_t m = 0; m < gammas.size(); ++m) {
    const double* member = coefficients.data() + m * interpolation.nodes();
    const double error = relative_error * Range(gammas[m], upper_bound);
    double tail = interpolation.Aliasing(gammas[m]);
    Index terms = interpolation.nodes();
    while (terms > 1 && tail + std::abs(member[terms - 1]) <= error) tail += std::abs(member[--terms]);
    needed = std::max(needed, terms);
  }
  return needed;
}

// A few members that stand for all while the stretch is chosen: the ends and log-spaced ones between.
std::vector<double> Representatives(std::span<const double> gammas) {
  std::vector<double> sorted(gammas.begin(), gammas.end());
  std::ranges::sort(sorted);
  std::vector<double> few;
  constexpr std::size_t kFew = 12;
  for (std::size_t i = 0; i < kFew; ++i) few.push_back(sorted[i * (sorted.size() - 1) / (kFew - 1)]);
  return few;
}

}  // namespace

std::optional<FamilyTable> FitFamilyTable(std::span<const double> gammas, double upper_bound,
                                          double relative_error, Index max_terms) {
  if (gammas.empty() || !(upper_bound > 0) || !std::isfinite(upper_bound)) return std::nullopt;
  const double gamma_max = *std::ranges::max_element(gammas);
  const double gamma_min = *std::ranges::min_element(gammas);
  if (!(gamma_min > 0)) return std::nullopt;
  const double smallest_error = relative_error * Range(gamma_min, upper_bound);
  const std::vector<double> few = Representatives(gammas);

  std::optional<Interpolation> best;
  Index best_terms = max_terms + 1;
  for (double divisor : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    Interpolation candidate(gamma_max / divisor, upper_bound);
    if (!candidate.ChooseNodes(gamma_max, smallest_error / 4)) continue;
    const Index terms = TermsNeeded(candidate, few, upper_bound, relative_error);
    if (terms < best_terms) best_terms = terms, best = std::move(candidate);
  }
  if (!best) return std::nullopt;

  FamilyTable table;
  table.stretch = best->stretch();
  table.slope = 2 / best->length();
  table.offset = -1;
  table.terms = std::min(best_terms + 1, best->nodes());  // one more for members between the representatives
  table.coefficients.resize(gammas.size() * table.terms);
  table.error.resize(gammas.size());
  constexpr std::size_t kMembersAtATime = 256;
  for (std::size_t first = 0; first < gammas.size(); first += kMembersAtATime) {
    const auto some = gammas.subspan(first, std::min(kMembersAtATime, gammas.size() - first));
    const std::vector<double> coefficients = best->Coefficients(some);
    for (std::size_t m = 0; m < some.size(); ++m) {
      const double* member = coefficients.data() + m * best->nodes();
      double error = best->Aliasing(some[m]);
      for (Index k = table.terms; k < best->nodes(); ++k) error += std::abs(member[k]);
      table.error[first + m] = error;
      std::copy_n(member, table.terms, table.coefficients.begin() + (first + m) * table.terms);
    }
  }
  return table;
}

FamilyTable FitPowerTable(std::span<const KernelParameters> members, double largest) {
  FamilyTable table;
  double highest = 0;
  for (const KernelParameters& member : members) highest = std::max(highest, member.degree);
  table.terms = static_cast<Index>(highest) + 1;
  table.slope = 1 / largest;
  table.error.assign(members.size(), 0.0);
  const auto nodes = static_cast<double>(table.terms);
  const auto angle = [&](Index j) { return std::numbers::pi * (static_cast<double>(j) + 0.5) / nodes; };
  for (const KernelParameters& member : members) {
    for (Index k = 0; k < table.terms; ++k) {
      double sum = 0;
      for (Index j = 0; j < table.terms; ++j) {
        const double base = largest * std::cos(angle(j));
        sum += std::pow(member.gamma * base + member.coef0, member.degree) *
               std::cos(static_cast<double>(k) * angle(j));
      }
      table.coefficients.push_back((k == 0 ? 1 : 2) / nodes * sum);
    }
  }
  return table;
}

}  // namespace kweave
