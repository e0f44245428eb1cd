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

// Rows in the order of their keys; every second one backwards.
void Arrange(std::vector<Index>& path, std::span<const TrainOptions> points) {
  const auto at = [&](Index k) -> const TrainOptions& { return points[static_cast<std::size_t>(k)]; };
  std::ranges::stable_sort(path, [&](Index a, Index b) {
    const auto row_a = RowKey(at(a)), row_b = RowKey(at(b));
    return row_a != row_b ? row_a < row_b : at(a).C < at(b).C;
  });
  bool is_backwards = false;
  for (auto begin = path.begin(); begin != path.end(); is_backwards = !is_backwards) {
    const auto end =
        std::find_if(begin, path.end(), [&](Index k) { return RowKey(at(k)) != RowKey(at(*begin)); });
    if (is_backwards) std::reverse(begin, end);
    begin = end;
  }
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

}  // namespace kweave
