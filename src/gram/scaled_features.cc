#include "gram/scaled_features.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gram/linear_features.h"

namespace kweave {
namespace {

constexpr Index kRowsBetweenPolls = 1024;  // an interruption waits for so many rows, a fraction of a second

}  // namespace

template <class T>
std::unique_ptr<FeatureMatrix> ScaleFeatures(std::span<const WeightedFeatures<T>> parts, Index samples,
                                             const std::function<void()>& poll) {
  std::int32_t width = 0;
  std::vector<std::vector<std::int32_t>> places;  // of the features of every part; -1: none
  std::vector<std::vector<double>> roots;         // of their weights
  for (const WeightedFeatures<T>& part : parts) {
    std::vector<std::int32_t>& place = places.emplace_back();
    std::vector<double>& root = roots.emplace_back();
    for (const double weight : part.weights) {
      place.push_back(weight > 0 ? width++ : -1);
      root.push_back(std::sqrt(std::max(weight, 0.0)));
    }
  }
  auto matrix = std::make_unique<FeatureMatrix>(width);
  std::vector<std::int32_t> numbers, columns;
  std::vector<double> entries, values;
  for (Index i = 0; i < samples; ++i) {
    if (i % kRowsBetweenPolls == 0) poll();
    columns.clear();
    values.clear();
    for (std::size_t k = 0; k < parts.size(); ++k) {
      parts[k].features->CopyRow(i, numbers, entries);
      for (std::size_t e = 0; e < numbers.size(); ++e) {
        const std::int32_t place = places[k][numbers[e]];
        if (place < 0) continue;
        columns.push_back(place);
        values.push_back(roots[k][numbers[e]] * entries[e]);
      }
    }
    matrix->Append(columns, values);
  }
  matrix->Finish();
  return matrix;
}

template std::unique_ptr<FeatureMatrix> ScaleFeatures(std::span<const WeightedFeatures<float>>, Index,
                                                      const std::function<void()>&);
template std::unique_ptr<FeatureMatrix> ScaleFeatures(std::span<const WeightedFeatures<double>>, Index,
                                                      const std::function<void()>&);

}  // namespace kweave
