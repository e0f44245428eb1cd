#include "data/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/text_source.h"
#include "kweave/error.h"

namespace kweave {
namespace {

/// Finds the row of an id. The table must outlive it.
class IdIndex {
 public:
  explicit IdIndex(const Table& table) : table_(table) {
    row_of_.reserve(table.ids.size());
    for (Index row = 0; row < table.rows; ++row) {
      const auto [found, is_new] = row_of_.emplace(table.ids[static_cast<std::size_t>(row)], row);
      if (!is_new) {
        throw Error(ErrorKind::kData,
                    fmt::format("{}, line {}: id {} is already on line {}, expected every id once",
                                table.file, Line(row), Quoted(found->first), Line(found->second)));
      }
    }
  }

  Index Line(Index row) const { return table_.id_lines[static_cast<std::size_t>(row)]; }

  /// The rows of the samples of `reference`, in its order.
  std::vector<Index> RowsOf(const Table& reference) const {
    std::vector<Index> rows;
    rows.reserve(reference.ids.size());
    for (std::size_t i = 0; i < reference.ids.size(); ++i) {
      const auto found = row_of_.find(reference.ids[i]);
      if (found == row_of_.end()) {
        throw Error(ErrorKind::kData,
                    fmt::format("{}: there is no row with id {}, which {} has on line {}", table_.file,
                                Quoted(reference.ids[i]), reference.file, reference.id_lines[i]));
      }
      rows.push_back(found->second);
    }
    return rows;
  }

 private:
  const Table& table_;
  std::unordered_map<std::string_view, Index> row_of_;
};

template <class T>
void Permute(std::vector<T>& values, const std::vector<Index>& rows) {
  if (values.empty()) return;
  std::vector<T> permuted;
  permuted.reserve(rows.size());
  for (const Index row : rows) permuted.push_back(values[static_cast<std::size_t>(row)]);
  values = std::move(permuted);
}

bool IsIdentity(const std::vector<Index>& rows, Index count) {
  if (static_cast<Index>(rows.size()) != count) return false;
  for (Index row = 0; row < count; ++row) {
    if (rows[static_cast<std::size_t>(row)] != row) return false;
  }
  return true;
}

/// Brings `table` into the order of `reference`.
void JoinById(const Table& reference, Table& table, std::vector<std::string>& left_out) {
  const std::vector<Index> rows = IdIndex(table).RowsOf(reference);
  if (IsIdentity(rows, table.rows)) return;
  if (const Index unused = table.rows - reference.rows; unused > 0) {
    left_out.push_back(fmt::format("{} of the {} rows of {} are not used, as {} does not have their ids",
                                   unused, table.rows, table.file, reference.file));
  }
  if (RowCount(table.features) == table.rows) table.features = SelectRows(table.features, rows);
  Permute(table.labels.text, rows);
  Permute(table.labels.number, rows);
  table.rows = reference.rows;
}

void CheckRows(const Table& first, const Table& table) {
  if (table.rows == first.rows) return;
  throw Error(ErrorKind::kData,
              fmt::format("{} has {} rows and {} has {}, expected as many (they are joined by row)",
                          first.file, first.rows, table.file, table.rows));
}

}  // namespace

Dataset JoinTables(const std::vector<std::string>& view_names, std::vector<Table> tables,
                   std::optional<Table> label_table, std::vector<std::string>& left_out) {
  const std::size_t view_count = tables.size();
  if (label_table) tables.push_back(std::move(*label_table));
  const auto has_ids = [](const Table& table) { return !table.ids.empty(); };
  const auto reference = std::ranges::find_if(tables, has_ids);
  if (const auto without = std::find_if_not(tables.begin(), tables.end(), has_ids);
      reference != tables.end() && without != tables.end()) {
    throw Error(
        ErrorKind::kData,
        fmt::format(
            "{} has ids and {} has none, so their rows cannot be matched (`id_column` NAME says which "
            "column has ids, `id_column` none joins by row)",
            reference->file, without->file));
  }
  if (reference != tables.end() && tables.size() > 1) {
    const IdIndex unique_ids(*reference);
    for (auto table = reference + 1; table != tables.end(); ++table) JoinById(*reference, *table, left_out);
  }
  for (const Table& table : tables) CheckRows(tables.front(), table);

  Dataset dataset;
  dataset.size = tables.front().rows;
  const auto labelled =
      label_table ? tables.end() - 1
                  : std::ranges::find_if(tables, [](const Table& table) { return !table.labels.empty(); });
  if (labelled != tables.end()) dataset.labels = std::move(labelled->labels);
  if (reference != tables.end()) dataset.ids = std::move(reference->ids);
  for (std::size_t v = 0; v < view_count; ++v) {
    dataset.views.push_back(
        {view_names[v], std::move(tables[v].features), std::move(tables[v].feature_names)});
  }
  return dataset;
}

}  // namespace kweave
