#include "gram/alignment.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/dot.h"
#include "compute/cpu/self_products.h"

namespace kweave {
namespace {

// A centred norm below this part of the uncentred one is rounding, not variance.
constexpr double kVanishing = 1e-14;
constexpr std::size_t kVectorsAtOnce = 32;

// Sums over the rows that the pass has seen, of kernels with their shift left out.
struct ShiftedSums {
  std::vector<double> products;  ///< lower triangle
  std::vector<double> row_sums;  ///< kernels x samples
  std::vector<double> diagonal;  ///< one per kernel
};

ShiftedSums SumRows(Gram& gram, std::size_t block_bytes) {
  const Index n = gram.left_count(), kernels = gram.kernels();
  ShiftedSums sums{std::vector<double>(kernels * kernels), std::vector<double>(kernels * n),
                   std::vector<double>(kernels)};
  const Index fitting = static_cast<Index>(block_bytes / (sizeof(double) * n * kernels));
  const Index block = std::clamp<Index>(fitting, 1, n);
  std::vector<double> values(kernels * block * n), theta(kernels);
  for (Index begin = 0; begin < n; begin += block) {
    std::vector<Index> rows(std::min(block, n - begin));
    std::iota(rows.begin(), rows.end(), begin);
    const auto count = static_cast<Index>(rows.size());
    for (Index m = 0; m < kernels; ++m) {
      theta[m] = 1;
      double* out = values.data() + m * count * n;
      gram.Learn(theta)->Rows(rows, out, n);
      theta[m] = 0;
      for (Index r = 0; r < count; ++r) {
        sums.row_sums[m * n + begin + r] = std::accumulate(out + r * n, out + (r + 1) * n, 0.0);
        sums.diagonal[m] += out[r * n + begin + r];
      }
    }
    AddSelfProducts(values, kernels, count * n, sums.products);
  }
  return sums;
}

std::vector<double> AlignWithQuadratics(std::span<const double> quadratics, std::span<const double> products,
                                        double target_norm) {
  std::vector<double> alignments(quadratics.size());
  for (std::size_t m = 0; m < quadratics.size(); ++m) {
    const double norm = std::sqrt(products[m * quadratics.size() + m]);
    alignments[m] = norm > 0 && target_norm > 0 ? quadratics[m] / (norm * target_norm) : 0;
  }
  return alignments;
}

}  // namespace

KernelMoments ComputeMoments(Gram& gram, std::size_t block_bytes) {
  const Index n = gram.left_count(), kernels = gram.kernels();
  const ShiftedSums sums = SumRows(gram, block_bytes);
  std::vector<double> row_products(kernels * kernels), totals(kernels), shifts(kernels), theta(kernels);
  AddSelfProducts(sums.row_sums, kernels, n, row_products);
  for (Index m = 0; m < kernels; ++m) {
    theta[m] = 1;
    shifts[m] = gram.Learn(theta)->shift();
    theta[m] = 0;
    totals[m] = std::accumulate(sums.row_sums.begin() + m * n, sums.row_sums.begin() + (m + 1) * n, 0.0);
  }
  const auto count = static_cast<double>(n), pairs = count * count;
  KernelMoments moments{n, kernels, sums.products, sums.products, {}, {}};
  for (Index a = 0; a < kernels; ++a) {
    for (Index b = 0; b <= a; ++b) {
      const double product = sums.products[a * kernels + b];
      const double whole =
          product + shifts[a] * totals[b] + shifts[b] * totals[a] + shifts[a] * shifts[b] * pairs;
      const double centered =
          product - 2 / count * row_products[a * kernels + b] + totals[a] / count * (totals[b] / count);
      moments.products[a * kernels + b] = moments.products[b * kernels + a] = whole;
      moments.centered_products[a * kernels + b] = moments.centered_products[b * kernels + a] =
          a == b && centered < kVanishing * whole ? 0 : centered;
    }
    moments.mean_diagonal.push_back(sums.diagonal[a] / count + shifts[a]);
    moments.mean.push_back(totals[a] / pairs + shifts[a]);
  }
  return moments;
}

std::vector<double> Alignments(std::span<const double> products, Index kernels) {
  std::vector<double> alignments(products.size());
  for (Index a = 0; a < kernels; ++a) {
    for (Index b = 0; b < kernels; ++b) {
      const double norm = std::sqrt(products[a * kernels + a]) * std::sqrt(products[b * kernels + b]);
      alignments[a * kernels + b] = norm > 0 ? products[a * kernels + b] / norm : 0;
    }
  }
  return alignments;
}

std::vector<double> LabelAlignments(Gram& gram, const KernelMoments& moments, std::span<const double> y) {
  return AlignWithQuadratics(gram.Answer({.a = y}).quadratics, moments.products, Dot(y, y));
}

std::vector<double> CenteredLabelAlignments(Gram& gram, const KernelMoments& moments,
                                            std::vector<std::vector<double>> columns) {
  for (std::vector<double>& column : columns) {
    const double mean =
        std::accumulate(column.begin(), column.end(), 0.0) / static_cast<double>(column.size());
    for (double& value : column) value -= mean;
  }
  double squared_norm = 0;  // of Y Y'
  for (const std::vector<double>& a : columns) {
    for (const std::vector<double>& b : columns) squared_norm += Dot(a, b) * Dot(a, b);
  }
  std::vector<double> sums(moments.kernels);
  std::vector<VectorRequest> requests;
  for (const std::vector<double>& column : columns) requests.push_back({.a = column});
  for (std::size_t first = 0; first < requests.size(); first += kVectorsAtOnce) {
    const std::size_t count = std::min(kVectorsAtOnce, requests.size() - first);
    for (const VectorAnswer& answer : gram.AnswerAll(std::span(requests).subspan(first, count))) {
      for (std::size_t m = 0; m < sums.size(); ++m) sums[m] += answer.quadratics[m];
    }
  }
  return AlignWithQuadratics(sums, moments.centered_products, std::sqrt(squared_norm));
}

}  // namespace kweave
