#ifndef KWEAVE_DATA_JOIN_H_
#define KWEAVE_DATA_JOIN_H_

#include <optional>
#include <string>
#include <vector>

#include "data/table.h"
#include "kweave/dataset.h"

namespace kweave {

/// What is joined, and how.
struct JoinRequest {
  std::vector<std::string> view_names = {};
  std::vector<Table> views = {};
  std::optional<Table> labels = {};     ///< those of the first view that has some, unless there are any here
  std::optional<Table> confounds = {};  ///< which must have every sample
  Join join = Join::kFirst;
  bool labels_required = true;  ///< samples without a label are left out of an outer join
};

/// Brings tables about the same samples into one order, that in which their ids occur first.
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
