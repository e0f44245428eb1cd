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

/// Numbers of the points, a list for each set of kernels, in rows of the same norm: this falls from the
/// uniform sum to sparse weights, and within a row C falls, since an answer at a large C often serves smaller
/// ones, too.
std::vector<std::vector<Index>> Paths(std::span<const TrainOptions> points);

/// The steps of a path whose answers its steps start from: the one before, for the first of a row the first
/// of the row before; -1: none.
std::vector<Index> Starts(std::span<const Index> path, std::span<const TrainOptions> points);

}  // namespace kweave

#endif  // KWEAVE_SELECT_GRID_H_
