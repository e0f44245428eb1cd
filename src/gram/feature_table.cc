#include "gram/feature_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/cpu/family_loops.h"

namespace kweave {
namespace {

constexpr double kStepsPerDoubling = 8;     // of the half length of ranges
constexpr double kLeastHalf = 0x1p-1000;    // shorter: its inverse would not be finite
constexpr double kHalfOfNothing = 0x1p-20;  // where all values are the same; short, so that Gaussians are 1

// The nodes of interpolation by N polynomials, and the values of the polynomials there.
struct Nodes {
  explicit Nodes(Index nodes) : count(nodes), values(nodes * nodes), places(nodes) {
    for (Index p = 0; p < count; ++p) {
      const double angle = std::numbers::pi * (static_cast<double>(p) + 0.5) / static_cast<double>(count);
      places[p] = std::cos(angle);
      for (Index a = 0; a < count; ++a) values[a * count + p] = std::cos(static_cast<double>(a) * angle);
    }
  }
  double scale(Index a) const { return (a == 0 ? 1.0 : 2.0) / static_cast<double>(count); }

  Index count;
  std::vector<double> values;  // T_a at node p
  std::vector<double> places;
};

// out_ab = sum_p scale_a T_a(p) from_pb.
std::vector<double> ToCoefficients(const Nodes& nodes, const std::vector<double>& from) {
  const Index N = nodes.count;
  std::vector<double> out(N * N, 0.0);
  for (Index a = 0; a < N; ++a) {
    for (Index p = 0; p < N; ++p) {
      const double factor = nodes.scale(a) * nodes.values[a * N + p];
      for (Index b = 0; b < N; ++b) out[a * N + b] += factor * from[p * N + b];
    }
  }
  return out;
}

std::vector<double> Transposed(const std::vector<double>& matrix, Index N) {
  std::vector<double> out(matrix.size());
  for (Index a = 0; a < N; ++a) {
    for (Index b = 0; b < N; ++b) out[b * N + a] = matrix[a * N + b];
  }
  return out;
}

// The coefficients of a symmetric function of two values in [-1,1].
template <class Function>
std::shared_ptr<const FeatureTable::Matrix> Interpolate(Index terms, Function function) {
  const Nodes nodes(terms);
  std::vector<double> values(terms * terms);
  for (Index p = 0; p < terms; ++p) {
    for (Index q = 0; q < terms; ++q) values[p * terms + q] = function(nodes.places[p], nodes.places[q]);
  }
  const std::vector<double> once = Transposed(ToCoefficients(nodes, values), terms);
  return std::make_shared<const FeatureTable::Matrix>(ToCoefficients(nodes, once));
}

// Half the length of a range, or a little more, so that few lengths occur.
double RoundedHalf(double low, double high) {
  const double half = 0.5 * (high - low);
  if (!(half > kLeastHalf)) return kHalfOfNothing;
  return std::exp2(std::ceil(kStepsPerDoubling * std::log2(half)) / kStepsPerDoubling);
}

// k(x,z) less the shift, of two values of a feature.
double ValueAt(const KernelKind& kind, const KernelParameters& parameters, double x, double z) {
  return kind.shape->value(parameters, kind.base->plain({&x, 1}, {&z, 1}, kind.BaseParameter(parameters)));
}

}  // namespace

std::optional<FeatureTable> MeasureFeatureTable(const KernelKind& kind,
                                                std::span<const KernelParameters> members, double low,
                                                double high, double relative_error, Index most_terms,
                                                Index most_entries, FeatureMatrices& matrices) {
  const SmoothInFeature& smooth = *kind.in_one_feature;
  const double half = RoundedHalf(low, high);
  if (!std::isfinite(half)) return {};
  FeatureTable table;
  table.center = 0.5 * (low + high);
  table.half = half;
  table.shift = kind.shape->shift;
  Index entries = 0;
  for (const KernelParameters& member : members) {
    if (smooth.on_unit_range != nullptr) {
      const KernelParameters unit = smooth.on_unit_range(member, half);
      auto [known, is_new] = matrices.try_emplace({&kind, unit});
      if (is_new) {
        known->second.error =
            relative_error * std::abs(ValueAt(kind, unit, 1, -1) - ValueAt(kind, unit, 0, 0));
        known->second.terms = smooth.terms(unit, known->second.error);
      }
      table.members.push_back(known->second);
    } else {
      table.members.push_back({smooth.terms(member, 0), nullptr, 0});
    }
    const Index terms = table.members.back().terms;
    entries += terms * terms;
    if (terms > most_terms || entries > most_entries) return {};
    table.terms = std::max(table.terms, terms);
  }
  return table;
}

void FillFeatureTable(const KernelKind& kind, std::span<const KernelParameters> members, FeatureTable& table,
                      FeatureMatrices& matrices) {
  const double center = table.center, half = table.half;
  for (std::size_t m = 0; m < members.size(); ++m) {
    FeatureTable::Member& member = table.members[m];
    if (kind.in_one_feature->on_unit_range != nullptr) {
      const KernelParameters unit = kind.in_one_feature->on_unit_range(members[m], half);
      std::shared_ptr<const FeatureTable::Matrix>& shared = matrices[{&kind, unit}].matrix;
      if (shared == nullptr) {
        shared = Interpolate(member.terms, [&](double s, double t) { return ValueAt(kind, unit, s, t); });
      }
      member.matrix = shared;
    } else {
      member.matrix = Interpolate(member.terms, [&](double s, double t) {
        return ValueAt(kind, members[m], center + half * s, center + half * t);
      });
    }
  }
}

}  // namespace kweave
