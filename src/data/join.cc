#include "data/join.h"

#include <fmt/format.h>

#include <algorithm>
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
  /// -1: there is none.
  Index RowOf(std::string_view id) const {
    const auto found = row_of_.find(id);
    return found == row_of_.end() ? -1 : found->second;
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
  for (const Index row : rows) permuted.push_back(row < 0 ? T{} : values[static_cast<std::size_t>(row)]);
  values = std::move(permuted);
}

bool IsIdentity(const std::vector<Index>& rows, Index count) {
  if (static_cast<Index>(rows.size()) != count) return false;
  for (Index row = 0; row < count; ++row) {
    if (rows[static_cast<std::size_t>(row)] != row) return false;
  }
  return true;
}

/// The table with these rows, in their order; -1 is a sample that it does not have.
void TakeRows(const std::vector<Index>& rows, Table& table) {
  if (IsIdentity(rows, table.rows)) return;
  if (std::ranges::find(rows, Index{-1}) != rows.end() && table.presence.empty())
    table.presence.assign(static_cast<std::size_t>(table.rows), 1.0);
  Permute(table.presence, rows);
  if (RowCount(table.features) == table.rows) table.features = SelectRows(table.features, rows);
  Permute(table.labels.text, rows);
  Permute(table.labels.number, rows);
  table.rows = static_cast<Index>(rows.size());
}

void CheckRows(const Table& first, const Table& table) {
  if (table.rows == first.rows) return;
  throw Error(ErrorKind::kData,
              fmt::format("{} has {} rows and {} has {}, expected as many (they are joined by row)",
                          first.file, first.rows, table.file, table.rows));
}

/// Joins tables that all have ids.
class IdJoin {
 public:
  /// The first `views` tables are views; the one at `labels` has the labels, -1: none has. Tables at and
  /// after `labels` and `views` must have every sample.
  IdJoin(std::vector<Table>& tables, std::size_t views, const Table* labels, const JoinRequest& request)
      : tables_(tables), views_(views), labels_(labels), request_(request) {
    for (const Table& table : tables) indices_.emplace_back(table);
  }

  /// Returns the ids of the samples.
  std::vector<std::string> Run(std::vector<std::string>& notes) {
    std::vector<std::string> ids = Samples(notes);
    if (ids.empty()) {
      throw Error(ErrorKind::kData,
                  fmt::format("{} and {} have no id in common", tables_.front().file, tables_.back().file));
    }
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      std::vector<Index> rows;
      for (const std::string& id : ids) {
        rows.push_back(indices_[t].RowOf(id));
        if (rows.back() < 0 && !MayLack(t)) FailWithout(t, id);
      }
      NoteUnused(t, rows, notes);
      all_rows_.push_back(std::move(rows));
    }
    for (std::size_t t = 0; t < tables_.size(); ++t) TakeRows(all_rows_[t], tables_[t]);
    return ids;
  }

 private:
  bool MayLack(std::size_t t) const {
    if (request_.join != Join::kOuter) return false;
    return t < views_ || (&tables_[t] == labels_ && !request_.labels_required);
  }

  std::vector<std::string> Samples(std::vector<std::string>& notes) const {
    std::vector<std::string> ids;
    if (request_.join != Join::kOuter) {
      for (const std::string& id : tables_.front().ids) {
        const auto has = [&](const IdIndex& index) { return index.RowOf(id) >= 0; };
        if (request_.join == Join::kFirst || std::ranges::all_of(indices_, has)) ids.push_back(id);
      }
      return ids;
    }
    Index without_label = 0;
    for (std::size_t t = 0; t < views_; ++t) {
      for (const std::string& id : tables_[t].ids) {
        const auto has = [&](const IdIndex& index) { return index.RowOf(id) >= 0; };
        if (std::any_of(indices_.begin(), indices_.begin() + static_cast<Index>(t), has)) continue;
        const bool has_label = labels_ == nullptr || has(indices_[labels_ - tables_.data()]);
        if (!has_label && request_.labels_required) {
          ++without_label;
        } else {
          ids.push_back(id);
        }
      }
    }
    if (without_label > 0) {
      notes.push_back(fmt::format("{} samples are left out, as {} does not have their labels", without_label,
                                  labels_->file));
    }
    return ids;
  }

  [[noreturn]] void FailWithout(std::size_t t, const std::string& id) const {
    const auto has = [&](const Table& table) { return indices_[&table - tables_.data()].RowOf(id) >= 0; };
    const Table& other = *std::ranges::find_if(tables_, has);
    const IdIndex& index = indices_[&other - tables_.data()];
    throw Error(
        ErrorKind::kData,
        fmt::format("{}: there is no row with id {}, which {} has on line {}{}", tables_[t].file, Quoted(id),
                    other.file, index.Line(index.RowOf(id)),
                    t < views_ ? " (`join` outer takes samples without some view, `join` inner leaves "
                                 "them out)"
                               : ""));
  }

  void NoteUnused(std::size_t t, const std::vector<Index>& rows, std::vector<std::string>& notes) const {
    const Table& table = tables_[t];
    const Index used = static_cast<Index>(std::ranges::count_if(rows, [](Index row) { return row >= 0; }));
    const Index unused = table.rows - used;
    if (unused == 0 || (request_.join == Join::kOuter && t < views_)) return;
    notes.push_back(fmt::format("{} of the {} rows of {} are not used, as {} not have their ids", unused,
                                table.rows, table.file,
                                request_.join == Join::kInner   ? std::string("other files do")
                                : request_.join == Join::kFirst ? tables_.front().file + " does"
                                                                : std::string("the views do")));
  }

  std::vector<Table>& tables_;
  const std::size_t views_;
  const Table* labels_;
  const JoinRequest& request_;
  std::vector<IdIndex> indices_;  // one per table
  std::vector<std::vector<Index>> all_rows_;
};

/// Says which views lack how many samples.
void NoteMissing(const std::vector<Table>& tables, std::size_t views, std::vector<std::string>& notes) {
  for (std::size_t v = 0; v < views; ++v) {
    const auto missing = std::ranges::count(tables[v].presence, 0.0);
    if (missing == 0) continue;
    notes.push_back(fmt::format("{} of {} samples are not in {}", missing, tables[v].rows, tables[v].file));
  }
}

/// An outer join for prediction may have samples without a label, of which no score could be told.
void DropPartialLabels(Labels& labels, std::vector<std::string>& notes) {
  if (!labels.separator.empty()) return;
  const auto without = std::ranges::count(labels.text, std::string());
  if (without == 0) return;
  notes.push_back(fmt::format("{} samples have no label, so that there are no scores", without));
  labels = Labels();
}

void RequireIdsInAllOrNone(const std::vector<Table>& tables) {
  const auto has_ids = [](const Table& table) { return !table.ids.empty(); };
  const auto with = std::ranges::find_if(tables, has_ids);
  const auto without = std::find_if_not(tables.begin(), tables.end(), has_ids);
  if (with == tables.end() || without == tables.end()) return;
  throw Error(
      ErrorKind::kData,
      fmt::format("{} has ids and {} has none, so their rows cannot be matched (`id_column` NAME says which "
                  "column has ids, `id_column` none joins by row)",
                  with->file, without->file));
}

}  // namespace

Dataset JoinTables(JoinRequest request, std::vector<std::string>& notes) {
  const std::size_t view_count = request.views.size();
  std::vector<Table> tables = std::move(request.views);
  Table* labelled = nullptr;
  tables.reserve(view_count + 2);  // pointers to tables stay valid
  if (request.labels) labelled = &tables.emplace_back(std::move(*request.labels));
  if (request.confounds) tables.push_back(std::move(*request.confounds));
  if (labelled == nullptr) {
    const auto own = std::find_if(tables.begin(), tables.begin() + static_cast<Index>(view_count),
                                  [](const Table& table) { return !table.labels.empty(); });
    if (own != tables.begin() + static_cast<Index>(view_count)) labelled = &*own;
  }
  RequireIdsInAllOrNone(tables);

  Dataset dataset;
  if (!tables.front().ids.empty()) {
    dataset.ids = tables.size() > 1 ? IdJoin(tables, view_count, labelled, request).Run(notes)
                                    : std::move(tables.front().ids);
  }
  for (const Table& table : tables) CheckRows(tables.front(), table);
  NoteMissing(tables, view_count, notes);
  dataset.size = tables.front().rows;
  if (labelled != nullptr) dataset.labels = std::move(labelled->labels);
  DropPartialLabels(dataset.labels, notes);
  for (std::size_t v = 0; v < view_count; ++v) {
    dataset.views.push_back({request.view_names[v], std::move(tables[v].features),
                             std::move(tables[v].feature_names), std::move(tables[v].presence)});
  }
  if (request.confounds) {
    dataset.confounds.features = std::move(tables.back().features);
    dataset.confounds.feature_names = std::move(tables.back().feature_names);
  }
  return dataset;
}

}  // namespace kweave
