#include "gram/feature_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

// Terms that keep exp(-g (s-t)^2) - 1 within `error`, or more than kMostTableTerms.
Index LengthOfGaussian(double g, double error) {
  const double lebesgue = 1 + 2 / std::numbers::pi * std::log(static_cast<double>(kMostTableTerms));
  double least = std::numeric_limits<double>::infinity();
  for (double log_rho = 1.0 / 64; log_rho < 16; log_rho *= 1.05) {
    const double rho = std::exp(log_rho), b = std::sinh(log_rho), w = g * std::pow(std::cosh(log_rho) + 1, 2);
    const double log_largest = std::min(g * b * b + std::log(2.0), std::log(w) + w);  // exp(g b^2) >= 1
    const double log_factor = log_largest + std::log(4 * (1 + lebesgue) / (rho - 1));
    least = std::min(least, 1 + (log_factor - std::log(error)) / log_rho);
  }
  return static_cast<Index>(std::ceil(std::clamp(least, 1.0, kMostTableTerms + 1.0)));
}

// Half the length of a range, or a little more, so that few lengths occur.
double RoundedHalf(double low, double high) {
  const double half = 0.5 * (high - low);
  if (!(half > kLeastHalf)) return kHalfOfNothing;
  return std::exp2(std::ceil(kStepsPerDoubling * std::log2(half)) / kStepsPerDoubling);
}

}  // namespace

std::optional<FeatureTable> MeasureFeatureTable(Shape shape, std::span<const KernelParameters> members,
                                                double low, double high, double relative_error,
                                                Index most_terms, Index most_entries,
                                                GaussianMatrices& matrices) {
  const double half = RoundedHalf(low, high);
  if (!std::isfinite(half)) return {};
  FeatureTable table;
  table.center = 0.5 * (low + high);
  table.slope = 1 / half;
  table.shift = shape == Shape::kExponential ? 1 : 0;
  Index entries = 0;
  for (const KernelParameters& member : members) {
    if (shape == Shape::kExponential) {
      const double g = member.gamma * half * half;
      auto [known, is_new] = matrices.try_emplace(g);
      if (is_new) known->second.error = relative_error * -std::expm1(-4 * g);
      if (is_new) known->second.terms = LengthOfGaussian(g, known->second.error);
      table.members.push_back(known->second);
    } else {
      table.members.push_back({static_cast<Index>(member.degree) + 1, nullptr, 0});
    }
    const Index terms = table.members.back().terms;
    entries += terms * terms;
    if (terms > most_terms || entries > most_entries) return {};
    table.terms = std::max(table.terms, terms);
  }
  return table;
}

std::optional<FeatureTable> FitFeatureTable(Shape shape, std::span<const KernelParameters> members,
                                            double low, double high, double relative_error, Index most_terms,
                                            Index most_entries, GaussianMatrices& matrices) {
  // What is too long costs no matrix.
  std::optional<FeatureTable> table =
      MeasureFeatureTable(shape, members, low, high, relative_error, most_terms, most_entries, matrices);
  if (!table) return {};
  const double center = table->center, half = RoundedHalf(low, high);
  for (std::size_t m = 0; m < members.size(); ++m) {
    FeatureTable::Member& member = table->members[m];
    if (member.matrix != nullptr) continue;
    if (shape == Shape::kExponential) {
      const double g = members[m].gamma * half * half;
      member.matrix =
          Interpolate(member.terms, [g](double s, double t) { return std::expm1(-g * (s - t) * (s - t)); });
      matrices[g].matrix = member.matrix;
    } else {
      member.matrix = Interpolate(member.terms, [&](double s, double t) {
        return ShapeValue(shape, members[m], (center + half * s) * (center + half * t));
      });
    }
  }
  return table;
}

}  // namespace kweave
