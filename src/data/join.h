#ifndef KWEAVE_DATA_JOIN_H_
#define KWEAVE_DATA_JOIN_H_

#include <optional>
#include <string>
#include <vector>

#include "data/table.h"
#include "kweave/dataset.h"

namespace kweave {

/// Brings tables about the same samples into one order, that of the first.
///
/// The first table with ids names the samples. Further tables with ids are joined to it by id, each of which
/// a table has at most once. Join::kFirst: the samples are those of the first table; each must be in all
/// others, and samples that it does not know are left out. kInner: those that all tables have. kOuter: those
/// of all views; a view without a row for one lacks it (View::presence). When no table has ids they are
/// joined by row and must have as many; that only some have ids is an error, as nothing says that their rows
/// agree. A sentence for every table of which rows are left out, or which lacks samples, goes to `notes`.
/// Throws Error(kData) naming ids, files and lines.
Dataset JoinTables(JoinRequest request, std::vector<std::string>& notes);

}  // namespace kweave

#endif  // KWEAVE_DATA_JOIN_H_
