#include "certificate/part_term.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/constants.h"
#include "regularizer/norms.h"

namespace kweave {

namespace {

double Power(double x, double exponent) {
  if (!(x > 0)) return 0;
  if (exponent == 1) return x;
  return exponent == 2 ? x * x : std::pow(x, exponent);
}

double Root(double x, double exponent) {
  if (!(x > 0)) return 0;
  if (exponent == 1) return x;
  return exponent == 2 ? std::sqrt(x) : std::pow(x, 1 / exponent);
}

// What is left of a sum, rounding at its worst.
double Rest(double sum, double taken) { return std::max(sum - taken, 0.0) + kSumRounding * sum; }

}  // namespace

PartTerm::PartTerm(const Regularizer& regularizer, std::vector<double> q)
    : regularizer_(regularizer),
      norm_(regularizer.dual_norm() ? &*regularizer.dual_norm() : nullptr),
      q_(std::move(q)),
      is_in_part_(q_.size(), false) {
  DropNegative(q_);
  if (norm_ != nullptr) MeasureGroups();
}

std::size_t PartTerm::GroupOf(Index m) const {
  return norm_->groups.empty() ? 0 : static_cast<std::size_t>(norm_->groups[static_cast<std::size_t>(m)]);
}

void PartTerm::MeasureGroups() {
  unit_ = std::max(LargestPositive(q_), kTiny);
  std::size_t groups = 1;
  for (const int group : norm_->groups) groups = std::max(groups, static_cast<std::size_t>(group) + 1);
  group_sums_.assign(groups, 0.0);
  group_norms_.assign(groups, 0.0);
  is_touched_.assign(groups, false);
  if (norm_->inner == kInfinity) {
    group_order_.resize(groups);
    for (std::size_t m = 0; m < q_.size(); ++m) {
      const auto number = static_cast<Index>(m);
      group_order_[GroupOf(number)].push_back(number);
    }
    for (std::size_t g = 0; g < groups; ++g) {
      std::ranges::sort(group_order_[g], std::greater{},
                        [&](Index m) { return q_[static_cast<std::size_t>(m)]; });
      if (!group_order_[g].empty())
        group_norms_[g] = q_[static_cast<std::size_t>(group_order_[g][0])] / unit_;
    }
  } else {
    for (std::size_t m = 0; m < q_.size(); ++m)
      group_sums_[GroupOf(static_cast<Index>(m))] += Power(q_[m] / unit_, norm_->inner);
    for (std::size_t g = 0; g < groups; ++g) group_norms_[g] = Root(group_sums_[g], norm_->inner);
  }
  norm_order_.resize(groups);
  std::iota(norm_order_.begin(), norm_order_.end(), std::size_t{0});
  std::ranges::sort(norm_order_, std::greater{}, [&](std::size_t g) { return group_norms_[g]; });
  if (norm_->outer == kInfinity) return;
  for (const double norm : group_norms_) outer_sum_ += Power(norm, norm_->outer);
}

void PartTerm::Choose(std::span<const Index> part) {
  for (const Index m : part_) is_in_part_[static_cast<std::size_t>(m)] = false;
  part_.assign(part.begin(), part.end());
  for (const Index m : part_) is_in_part_[static_cast<std::size_t>(m)] = true;
  if (norm_ == nullptr) return;
  if (!norm_->groups.empty()) std::ranges::stable_sort(part_, {}, [&](Index m) { return GroupOf(m); });
  touched_.clear();
  double touched_sum = 0;
  for (std::size_t begin = 0, end = 0; begin < part_.size(); begin = end) {
    const std::size_t g = GroupOf(part_[begin]);
    double rest = 0, sum = 0;
    for (end = begin; end < part_.size() && GroupOf(part_[end]) == g; ++end)
      if (norm_->inner != kInfinity)
        sum += Power(q_[static_cast<std::size_t>(part_[end])] / unit_, norm_->inner);
    if (norm_->inner == kInfinity) {
      const auto other = std::ranges::find_if(
          group_order_[g], [&](Index m) { return !is_in_part_[static_cast<std::size_t>(m)]; });
      if (other != group_order_[g].end()) rest = q_[static_cast<std::size_t>(*other)] / unit_;
    } else {
      rest = Rest(group_sums_[g], sum);
    }
    touched_.push_back({rest, begin, end});
    is_touched_[g] = true;
    if (norm_->outer != kInfinity) touched_sum += Power(group_norms_[g], norm_->outer);
  }
  if (norm_->outer == kInfinity) {
    const auto other = std::ranges::find_if(norm_order_, [&](std::size_t g) { return !is_touched_[g]; });
    outer_rest_ = other == norm_order_.end() ? 0 : group_norms_[*other];
  } else {
    outer_rest_ = touched_.size() == group_norms_.size() ? 0 : Rest(outer_sum_, touched_sum);
  }
  for (const TouchedGroup& group : touched_) is_touched_[GroupOf(part_[group.begin])] = false;
}

// In units of the largest q, as `shift` is.
double PartTerm::NormOfGroup(const TouchedGroup& group, double shift) const {
  double value = group.rest;
  for (std::size_t k = group.begin; k < group.end; ++k) {
    const double x = q_[static_cast<std::size_t>(part_[k])] / unit_ + shift;
    value = norm_->inner == kInfinity ? std::max(value, x) : value + Power(x, norm_->inner);
  }
  return norm_->inner == kInfinity ? value : Root(value, norm_->inner);
}

double PartTerm::WholeOf(double rest, std::span<const double> norms) const {
  if (rest == 0 && norms.size() == 1) return norms[0];
  double value = rest;
  for (const double norm : norms)
    value = norm_->outer == kInfinity ? std::max(value, norm) : value + Power(norm, norm_->outer);
  return norm_->outer == kInfinity ? value : Root(value, norm_->outer);
}

double PartTerm::At(double shift) const {
  if (norm_ == nullptr) return At(shift, 0);
  norms_.clear();
  for (const TouchedGroup& group : touched_) norms_.push_back(NormOfGroup(group, shift / unit_));
  const double z = unit_ * WholeOf(outer_rest_, norms_);
  return norm_->linear * z + norm_->square * z * z;
}

// Weights of a fixed sum take a constant added to all q for half of it: none of them then is below 0, where
// dual terms make no difference.
double PartTerm::At(double shift, double taken) const {
  shifted_.assign(q_.begin(), q_.end());
  for (double& value : shifted_) value -= taken;
  for (const Index m : part_) shifted_[static_cast<std::size_t>(m)] += shift;
  double added = 0;
  if (regularizer_.sum_is_one()) {
    for (const double value : shifted_) added = std::max(added, -value);
    for (double& value : shifted_) value += added;
  }
  return regularizer_.DualTerm(shifted_) - 0.5 * added;
}

double PartTerm::Kink() const {
  if (norm_ == nullptr || norm_->inner != kInfinity || group_norms_.size() > 1) return 0;
  double largest = 0;
  for (const Index m : part_) largest = std::max(largest, q_[static_cast<std::size_t>(m)]);
  return std::abs(touched_[0].rest * unit_ - largest);
}

double PartTerm::Cap() const {
  if (regularizer_.sum_is_one()) return 1;
  if (norm_ == nullptr || norm_->square > 0) return kInfinity;
  norms_.clear();
  for (const TouchedGroup& group : touched_)
    norms_.push_back(
        norm_->inner == kInfinity ? 1 : Root(static_cast<double>(group.end - group.begin), norm_->inner));
  return 2 * norm_->linear * WholeOf(0, norms_);
}

}  // namespace kweave
