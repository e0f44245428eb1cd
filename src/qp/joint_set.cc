#include "qp/joint_set.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/constants.h"
#include "base/offset.h"
#include "qp/active_set.h"

namespace kweave {

namespace {

constexpr double kLineTolerance = 1e-3;  // of the slope at the start: steps follow each other anyway

bool IsIdentity(std::span<const std::span<const double>> matrices, Index classes) {
  if (matrices.size() != 1 || matrices[0].empty()) return false;
  for (Index u = 0; u < classes; ++u) {
    for (Index v = 0; v < classes; ++v) {
      if (matrices[0][Offset(u * classes + v)] != (u == v ? 1 : 0)) return false;
    }
  }
  return true;
}

}  // namespace

JointSet::JointSet(const JointRisk& risk, std::span<const std::span<const double>> class_matrices)
    : risk_(risk),
      class_matrices_(class_matrices),
      is_two_sided_(risk.IsTwoSided()),
      is_identity_(IsIdentity(class_matrices, risk.classes)),
      prices_(risk.classes),
      has_moved_(Offset(risk.classes), 0) {}

std::int64_t JointSet::Solve(JointBlock& block, double target, std::int64_t most_steps) {
  block_ = &block;
  raisable_.resize(std::max(raisable_.size(), block.samples.size()));
  can_raise_.resize(std::max(can_raise_.size(), block.beta.size()));
  for (std::size_t k = 0; k < block.samples.size(); ++k) FindRaisable(static_cast<std::int64_t>(k));
  FindPrices();
  std::int64_t steps = 0;
  for (; steps < most_steps; ++steps) {
    if (!ChooseEdges(target)) break;
    const double room = Room();
    const double length = Length(Slope(), room);
    if (!(length > 0)) break;
    MoveBy(length, room);
    is_identity_ && !is_two_sided_ ? UpdatePrices() : FindPrices();
  }
  return steps;
}

void JointSet::FindRaisable(std::int64_t k) {
  std::vector<Index>& classes = raisable_[static_cast<std::size_t>(k)];
  classes.clear();
  const Index own = Own(k);
  const double own_cap = risk_.Cap(block_->samples[Offset(k)], own);
  for (Index u = 0; u < risk_.classes; ++u) {
    const bool can_raise = is_two_sided_ || Beta(k, u) < (u == own ? own_cap : 0);
    can_raise_[At(k, u)] = can_raise;
    if (can_raise) classes.push_back(u);
  }
}

// Whose price of raising one class at the cost of the other is the shortest of the set.
std::int64_t JointSet::MemberFor(Index up, Index down) const {
  const double length = prices_.Length(up, down);
  if (length == ClassPrices::None(risk_.has_bias)) return -1;
  for (std::size_t k = 0; k < block_->samples.size(); ++k) {
    const auto member = static_cast<std::int64_t>(k);
    if (Raise(member)[up] - Lower(member)[down] == length && CanRaise(member, up)) return member;
  }
  return -1;
}

void JointSet::FindPrices() {
  prices_.Clear(risk_.has_bias);
  if (is_two_sided_) FindSlopes();
  for (std::size_t k = 0; k < block_->samples.size(); ++k) {
    const auto member = static_cast<std::int64_t>(k);
    const double *raise = Raise(member), *lower = Lower(member);
    for (const Index u : raisable_[k]) prices_.Offer(u, raise[u], lower);
  }
  pairs_.Find();
}

void JointSet::FindSlopes() {
  raise_.resize(std::max(raise_.size(), block_->beta.size()));
  lower_.resize(raise_.size());
  const std::size_t size = Offset(risk_.classes);
  for (std::size_t k = 0; k < block_->samples.size(); ++k) {
    const auto row = [&](auto& values) { return std::span(values).subspan(k * size, size); };
    risk_.FindSlopes(block_->samples[k], row(block_->beta), row(block_->gradient), row(raise_), row(lower_));
  }
}

// Only gradients of classes that moved have changed: offers that have to do with others still stand.
void JointSet::UpdatePrices() {
  moved_.clear();
  for (const Edge& edge : edges_) {  // every class that is raised is lowered elsewhere
    moved_.push_back(edge.up);
    has_moved_[Offset(edge.up)] = 1;
    prices_.Forget(edge.up, risk_.has_bias);
  }
  for (std::size_t k = 0; k < block_->samples.size(); ++k) {
    const auto member = static_cast<std::int64_t>(k);
    const double* gradient = Gradient(member);
    for (const Index u : raisable_[k]) {
      if (has_moved_[Offset(u)] != 0) {
        prices_.Offer(u, gradient[u], gradient);
      } else {
        for (const Index v : moved_) prices_.OfferOne(u, v, gradient);
      }
    }
  }
  pairs_.Update(moved_, has_moved_);
  for (const Index u : moved_) has_moved_[Offset(u)] = 0;
}

// False when nothing in the set violates more than the target.
bool JointSet::ChooseEdges(double target) {
  std::vector<Index> cycle = pairs_.Shortest();
  if (cycle.empty()) return false;
  const bool is_pair = -2 * MeanLength(prices_, cycle) > target;
  if (!is_pair) {
    cycle = FindCycle(prices_, 0.5 * target, potentials_);
    if (cycle.empty()) return false;
  }
  edges_.clear();
  for (std::size_t e = 0; e < cycle.size(); ++e) {
    const Index up = cycle[e], down = cycle[(e + 1) % cycle.size()];
    edges_.push_back({MemberFor(up, down), up, down});
  }
  const auto needs_sample = [&](const Edge& edge) { return risk_.has_bias && edge.member < 0; };
  if (std::ranges::any_of(edges_, needs_sample)) return false;
  if (is_pair && edges_[0].member < 0) std::swap(edges_[0], edges_[1]);
  if (is_pair) edges_[1].member = FindPartner(edges_[0]);
  return true;
}

// The sample whose step against this one gains most.
std::int64_t JointSet::FindPartner(const Edge& edge) {
  const double price = Raise(edge.member)[edge.up] - Lower(edge.member)[edge.down];
  std::int64_t best = -1;
  double best_gain = 0;
  class_products_.clear();
  for (std::size_t t = 0; t < class_matrices_.size(); ++t) {
    class_products_.push_back(IsOnPairs(t) ? 0 : ClassProduct(t, edge, edge));
  }
  const double loss_curvature = LossCurvature(edge);
  const auto consider = [&](std::int64_t k, double violation) {
    double curvature = loss_curvature + LossCurvature({k, edge.down, edge.up});
    for (std::size_t t = 0; t < class_matrices_.size(); ++t) {
      if (IsOnPairs(t)) {
        const Edge other{k, edge.up, edge.down};
        curvature +=
            PairProduct(t, edge, edge) + PairProduct(t, other, other) - 2 * PairProduct(t, edge, other);
        continue;
      }
      curvature += class_products_[t] *
                   (Kernel(t, edge.member, edge.member) + Kernel(t, k, k) - 2 * Kernel(t, edge.member, k));
    }
    const double gain = violation * violation / std::max(curvature, kLeastStepCurvature);
    if (!(gain > best_gain)) return;
    best_gain = gain;
    best = k;
  };
  if (!risk_.has_bias && price < 0) consider(-1, -price);
  for (std::size_t k = 0; k < block_->samples.size(); ++k) {
    const auto member = static_cast<std::int64_t>(k);
    const double violation = Lower(member)[edge.up] - Raise(member)[edge.down] - price;
    if (!(violation > 0)) continue;
    if (CanRaise(member, edge.down)) consider(member, violation);
  }
  return best;
}

// Of the dual term of a sample that moves along one edge.
double JointSet::LossCurvature(const Edge& edge) const {
  if (edge.member < 0) return 0;
  const Index sample = block_->samples[Offset(edge.member)], own = risk_.y[Offset(sample)];
  if (is_two_sided_) {
    const double rate = GrowthOf(edge.member, {&edge, 1}).rate;
    return rate * rate * risk_.MagnitudeCurvature(sample);
  }
  if (own != edge.up && own != edge.down) return 0;
  return risk_.loss->PieceAt(Beta(edge.member, own), 0, 1, risk_.C[Offset(sample)]).curvature;
}

// +1 where steps along the edges raise the class in this sample, -1 where they lower it, 0 where they do
// both.
double JointSet::Direction(std::span<const Edge> edges, std::int64_t k, Index u) {
  double direction = 0;
  for (const Edge& edge : edges) {
    if (edge.member == k) direction += (edge.up == u) - (edge.down == u);
  }
  return direction;
}

JointSet::Growth JointSet::GrowthOf(std::int64_t k, std::span<const Edge> edges) const {
  Growth growth{0, std::numeric_limits<double>::infinity()};
  for (const Edge& edge : edges) {
    if (edge.member != k) continue;
    for (const Index u : {edge.up, edge.down}) {
      const double direction = Direction(edges, k, u), at = Beta(k, u);
      if (u == Own(k) || direction == 0) continue;
      growth.rate += at * direction < 0 ? -1 : 1;
      if (at * direction < 0) growth.room = std::min(growth.room, std::abs(at));
    }
  }
  return growth;
}

bool JointSet::IsFirstOfItsMember(std::size_t e) const {
  return std::none_of(edges_.begin(), edges_.begin() + static_cast<std::ptrdiff_t>(e),
                      [&](const Edge& edge) { return edge.member == edges_[e].member; });
}

// Of the objective along the step.
double JointSet::Slope() const {
  double slope = 0;
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const Edge& edge = edges_[e];
    if (edge.member < 0) continue;
    slope += Gradient(edge.member)[edge.up] - Gradient(edge.member)[edge.down];
    if (!is_two_sided_ || !IsFirstOfItsMember(e)) continue;
    const Index sample = block_->samples[Offset(edge.member)];
    const std::span<const double> beta(&block_->beta[At(edge.member, 0)], Offset(risk_.classes));
    slope += GrowthOf(edge.member, edges_).rate * risk_.OtherMagnitude(sample, beta) *
             risk_.MagnitudeCurvature(sample);
  }
  return slope;
}

// (e_up - e_down)' A (e_up' - e_down') for the class matrix A of a term.
double JointSet::ClassProduct(std::size_t term, const Edge& a, const Edge& b) const {
  if (is_identity_) {
    return static_cast<double>((a.up == b.up) - (a.up == b.down) - (a.down == b.up) + (a.down == b.down));
  }
  const double* up = class_matrices_[term].data() + a.up * risk_.classes;
  const double* down = class_matrices_[term].data() + a.down * risk_.classes;
  return up[b.up] - up[b.down] - down[b.up] + down[b.down];
}

// Of sample k in class u, with all pairs of the set.
const double* JointSet::PairRow(std::size_t term, std::int64_t k, Index u) const {
  return block_->kernels[term].data() + Offset(k * risk_.classes + u) * block_->beta.size();
}

// What two steps along edges have in common under a kernel on pairs.
double JointSet::PairProduct(std::size_t term, const Edge& a, const Edge& b) const {
  if (a.member < 0 || b.member < 0) return 0;
  const double* up = PairRow(term, a.member, a.up) + b.member * risk_.classes;
  const double* down = PairRow(term, a.member, a.down) + b.member * risk_.classes;
  return up[b.up] - up[b.down] - down[b.up] + down[b.down];
}

double JointSet::Curvature() const {
  double sum = 0;
  for (std::size_t t = 0; t < class_matrices_.size(); ++t) {
    for (const Edge& a : edges_) {
      for (const Edge& b : edges_) {
        if (IsOnPairs(t)) {
          sum += PairProduct(t, a, b);
          continue;
        }
        const double classes = ClassProduct(t, a, b);
        if (classes != 0) sum += classes * Kernel(t, a.member, b.member);
      }
    }
  }
  return sum;
}

// How far the step may go before a beta meets its cap, or a corner.
double JointSet::Room() const {
  double room = std::numeric_limits<double>::infinity();
  for (const Edge& edge : edges_) {
    if (edge.member < 0) continue;
    room = std::min(room, is_two_sided_ ? GrowthOf(edge.member, edges_).room
                                        : risk_.Cap(block_->samples[Offset(edge.member)], edge.up) -
                                              Beta(edge.member, edge.up));
  }
  return room;
}

// What the dual terms add to the slope after a step, beyond what they add now.
double JointSet::LossSlope(double length) const {
  double sum = 0;
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const Edge& edge = edges_[e];
    if (edge.member < 0) continue;
    const Index sample = block_->samples[Offset(edge.member)], own = risk_.y[Offset(sample)];
    if (is_two_sided_) {
      if (!IsFirstOfItsMember(e)) continue;
      const double rate = GrowthOf(edge.member, edges_).rate;
      sum += length * rate * rate * risk_.MagnitudeCurvature(sample);
      continue;
    }
    if (own != edge.up && own != edge.down) continue;
    double sign = 0;  // of the change of the own class, over all edges of this sample
    for (const Edge& other : edges_) {
      if (other.member == edge.member) sign += (other.up == own) - (other.down == own);
    }
    const double at = Beta(edge.member, own);
    const double C = risk_.C[Offset(sample)];
    const double change = risk_.loss->PieceAt(at, 0, 1, C).slope -
                          risk_.loss->PieceAt(std::max(at + sign * length, 0.0), 0, 1, C).slope;
    sum += (edge.up == own ? 1 : -1) * change;
  }
  return sum;
}

// Where the objective along the step is lowest: Newton steps on its slope, kept between points of either
// sign. One is exact where the dual terms are quadratic.
double JointSet::Length(double slope, double room) const {
  const double curvature = std::max(Curvature(), kLeastStepCurvature);
  if (!(slope < 0)) return 0;
  double length = std::min(-slope / curvature, room);
  if (LossSlope(length) == 0) return length;  // the hinge
  double low = 0, high = length, low_slope = slope;
  double high_slope = slope + high * curvature + LossSlope(high);
  if (!(high_slope > 0)) return high;
  for (int step = 0; step < kMostNewtonSteps; ++step) {
    // Between secant and bisection.
    const double secant = low - low_slope * (high - low) / (high_slope - low_slope);
    const double middle = 0.5 * (low + high);
    length = step % 3 == 2 ? middle : secant;
    const double at = slope + length * curvature + LossSlope(length);
    if (std::abs(at) <= -kLineTolerance * slope) break;
    (at < 0 ? low : high) = length;
    (at < 0 ? low_slope : high_slope) = at;
  }
  return length;
}

void JointSet::MoveGradientsByPairs(std::size_t term, const Edge& edge, double length) {
  const double* up = PairRow(term, edge.member, edge.up);
  const double* down = PairRow(term, edge.member, edge.down);
  for (std::size_t k = 0; k < block_->gradient.size(); ++k) block_->gradient[k] += length * (up[k] - down[k]);
}

// Below caps, with what the dual term of the sample then adds to its gradient.
void JointSet::MoveBetas(const Edge& edge, double length, double room) {
  const Index sample = block_->samples[Offset(edge.member)];
  const Index own = Own(edge.member);
  const double before = Beta(edge.member, own);
  const double cap = risk_.Cap(sample, edge.up);
  double& raised = Beta(edge.member, edge.up);
  raised = length == room && cap - raised <= room ? cap : std::min(raised + length, cap);
  Beta(edge.member, edge.down) -= length;
  double& own_beta = Beta(edge.member, own);
  if (own_beta < 0) own_beta = 0;  // by rounding
  const double C = risk_.C[Offset(sample)];
  Gradient(edge.member)[own] +=
      risk_.loss->PieceAt(before, 0, 1, C).slope - risk_.loss->PieceAt(own_beta, 0, 1, C).slope;
  FindRaisable(edge.member);
}

// Up to corners, exactly to them where they end the step.
void JointSet::MoveBetasToCorners(const Edge& edge, double length) {
  for (const Index u : {edge.up, edge.down}) {
    const double change = length * Direction(edges_, edge.member, u);
    double& at = Beta(edge.member, u);
    const bool meets_corner = at * change < 0 && u != Own(edge.member) && std::abs(at) <= length;
    at = meets_corner ? 0 : at + change;
  }
}

void JointSet::MoveBy(double length, double room) {
  for (const Edge& edge : edges_) {
    if (edge.member < 0) continue;
    is_two_sided_ ? MoveBetasToCorners(edge, length) : MoveBetas(edge, length, room);
  }
  for (std::size_t t = 0; t < class_matrices_.size(); ++t) {
    for (const Edge& edge : edges_) {
      if (edge.member < 0) continue;
      if (IsOnPairs(t)) {
        MoveGradientsByPairs(t, edge, length);
        continue;
      }
      const double* row =
          block_->kernels[t].data() + static_cast<std::size_t>(edge.member) * block_->samples.size();
      for (std::size_t k = 0; k < block_->samples.size(); ++k) {
        double* gradient = Gradient(static_cast<std::int64_t>(k));
        const double change = length * row[k];
        if (is_identity_) {
          gradient[edge.up] += change;
          gradient[edge.down] -= change;
          continue;
        }
        const double* up = class_matrices_[t].data() + edge.up * risk_.classes;
        const double* down = class_matrices_[t].data() + edge.down * risk_.classes;
        for (Index v = 0; v < risk_.classes; ++v) gradient[v] += change * (up[v] - down[v]);
      }
    }
  }
}

}  // namespace kweave
