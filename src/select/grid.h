// Points of a grid, and the paths along which they are trained.
#ifndef KWEAVE_SELECT_GRID_H_
#define KWEAVE_SELECT_GRID_H_

#include <span>
#include <vector>

#include "kweave/select.h"

namespace kweave {

/// The options of every point: all combinations, the first axis varying slowest. Throws Error(kUsage) on an
/// axis without values, an unknown option and options that training refuses.
std::vector<TrainOptions> GridPoints(const TrainOptions& base, std::span<const GridAxis> grid);

/// What tells the point from others, by the names of the axes.
PointValues ValuesOf(const TrainOptions& point, std::span<const GridAxis> grid);

/// Numbers of the points, a list for each set of kernels. Neighbours in a list are close to each other: the
/// norm falls from the uniform sum to sparse weights, and C goes up and down in turns, so that each point is
/// a good start for the next.
std::vector<std::vector<Index>> Paths(std::span<const TrainOptions> points);

}  // namespace kweave

#endif  // KWEAVE_SELECT_GRID_H_
