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
/// The first table with ids names the samples. Further tables with ids are joined to it by id: each sample
/// must occur once, samples it does not know are left out. When no table has ids they are joined by row and
/// must have as many; that only some have ids is an error, as nothing says that their rows agree. Labels come
/// from `label_table` if given, else from the first table that has some. A sentence for every table of which
/// rows are left out goes to `left_out`. Throws Error(kData) naming ids, files and lines.
Dataset JoinTables(const std::vector<std::string>& view_names, std::vector<Table> tables,
                   std::optional<Table> label_table, std::vector<std::string>& left_out);

}  // namespace kweave

#endif  // KWEAVE_DATA_JOIN_H_
