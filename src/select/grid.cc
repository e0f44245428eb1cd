#include "select/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "kweave/error.h"
#include "train/option_json.h"
#include "train/training_session.h"

namespace kweave {
namespace {

const OptionRecord<TrainOptions>& RecordOf(const std::string& name) {
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) {
    if (record.name == name) return record;
  }
  throw Error(ErrorKind::kUsage, fmt::format("there is no option `{}` of training to vary", name),
              {name, "varied", "an option of training"});
}

// What varies along the rows of a path; C varies within them.
auto RowKey(const TrainOptions& options) {
  const double norm = options.block_norm > 0 ? options.block_norm : options.norm;
  return std::tuple(options.epsilon, options.nu, options.sharpness, options.penalty, options.ridge,
                    options.elastic, options.inner_norm, options.block_norm > 0, -norm);
}

// Rows in the order of their keys, from the largest C to the smallest.
void Arrange(std::vector<Index>& path, std::span<const TrainOptions> points) {
  std::ranges::stable_sort(path, [&](Index a, Index b) {
    const TrainOptions &left = points[static_cast<std::size_t>(a)],
                       &right = points[static_cast<std::size_t>(b)];
    const auto row = RowKey(left), other = RowKey(right);
    return row != other ? row < other : left.C > right.C;
  });
}

}  // namespace

std::vector<TrainOptions> GridPoints(const TrainOptions& base, std::span<const GridAxis> grid) {
  std::vector<TrainOptions> points = {base};
  for (const GridAxis& axis : grid) {
    const OptionRecord<TrainOptions>& record = RecordOf(axis.option);
    if (axis.values.empty())
      throw Error(ErrorKind::kUsage, fmt::format("`{}` has no value to try", axis.option));
    std::vector<TrainOptions> more;
    for (const TrainOptions& point : points) {
      for (const OptionValue& value : axis.values) {
        if (std::ranges::count(axis.values, value) > 1)
          throw Error(ErrorKind::kUsage, fmt::format("`{}` names the same value twice", axis.option));
        if (value.index() != record.fallback.index())
          throw Error(ErrorKind::kUsage, fmt::format("`{}` has a value of the wrong type", axis.option));
        more.push_back(point);
        record.set(more.back(), value);
      }
    }
    points = std::move(more);
  }
  for (const TrainOptions& point : points) Validate(point);
  return points;
}

PointValues ValuesOf(const TrainOptions& point, std::span<const GridAxis> grid) {
  const Json json = OptionsJson(point);
  PointValues values;
  for (const GridAxis& axis : grid) values.emplace_back(axis.option, json.at(axis.option).dump());
  return values;
}

std::vector<std::vector<Index>> Paths(std::span<const TrainOptions> points) {
  std::vector<std::vector<Index>> paths;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto same = std::ranges::find_if(paths, [&](const std::vector<Index>& path) {
      return HaveSameKernels(points[static_cast<std::size_t>(path[0])], points[k]);
    });
    if (same == paths.end()) {
      paths.push_back({static_cast<Index>(k)});
    } else {
      same->push_back(static_cast<Index>(k));
    }
  }
  for (std::vector<Index>& path : paths) Arrange(path, points);
  return paths;
}

std::vector<Index> Starts(std::span<const Index> path, std::span<const TrainOptions> points) {
  std::vector<Index> starts(path.size(), -1);
  Index row = 0;  // where the current one begins
  for (std::size_t step = 1; step < path.size(); ++step) {
    const bool is_same_row = RowKey(points[static_cast<std::size_t>(path[step])]) ==
                             RowKey(points[static_cast<std::size_t>(path[step - 1])]);
    starts[step] = is_same_row ? static_cast<Index>(step) - 1 : row;
    if (!is_same_row) row = static_cast<Index>(step);
  }
  return starts;
}

}  // namespace kweave
