#include "train/huge_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kweave {
namespace {

constexpr double kDwarfing = 1e5;  // times the median: beyond the heavy tails of counts and prices
constexpr Index kSampled = 101;    // rows that the median is taken over
constexpr std::size_t kNamed = 3;  // columns in the message, which stays within two lines

// The value of every column that is farthest from 0.
template <class T>
std::vector<double> LargestValues(const DenseRows<T>& rows) {
  std::vector<double> largest(rows.cols, 0.0);
  for (Index i = 0; i < rows.rows; ++i) {
    const std::span<const T> row = rows.row(i);
    for (Index f = 0; f < rows.cols; ++f) {
      if (std::abs(row[f]) > std::abs(largest[f])) largest[f] = row[f];
    }
  }
  return largest;
}

template <class T>
double MedianSize(const DenseRows<T>& rows, Index f) {
  const Index count = std::min(rows.rows, kSampled);
  std::vector<double> sizes(count);
  for (Index s = 0; s < count; ++s)
    sizes[s] = std::abs(static_cast<double>(rows.row(s * rows.rows / count)[f]));
  std::ranges::nth_element(sizes, sizes.begin() + count / 2);
  return sizes[count / 2];
}

template <class T>
void NameColumns(const View& view, const DenseRows<T>& rows, std::vector<std::string>& named) {
  const std::vector<double> largest = LargestValues(rows);
  for (Index f = 0; f < rows.cols; ++f) {
    const double median = MedianSize(rows, f);
    if (median == 0 || !(std::abs(largest[f]) > kDwarfing * median)) continue;  // 0: mostly empty columns
    const std::string column =
        view.feature_names.empty() ? fmt::format("{}", f + 1) : fmt::format("'{}'", view.feature_names[f]);
    named.push_back(fmt::format("column {} of view '{}' ({:.6g}, where {:.3g} is usual)", column, view.name,
                                largest[f], median));
  }
}
void NameColumns(const View&, const SparseRows&, std::vector<std::string>&) {}
void NameColumns(const View&, const SequenceRows&, std::vector<std::string>&) {}

}  // namespace

std::string NoteOnHugeValues(std::span<const View> views) {
  std::vector<std::string> named;
  for (const View& view : views) {
    if (RowCount(view.features) == 0) continue;
    std::visit([&](const auto& rows) { NameColumns(view, rows, named); }, view.features);
  }
  if (named.empty()) return {};
  const std::span<const std::string> first = std::span(named).first(std::min(named.size(), kNamed));
  return fmt::format("the largest value dwarfs the others, as marks of missing values do: {}{}",
                     fmt::join(first, ", "),
                     named.size() > kNamed ? fmt::format(" and {} more", named.size() - kNamed) : "");
}

}  // namespace kweave
