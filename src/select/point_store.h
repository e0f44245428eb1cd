// Finished points in files that survive a kill.
//
// A file is lines of JSON, each with its checksum, and is only ever appended to. Its first line says what was
// asked for; files of another request are refused. A last line that a kill cut off is dropped. Beside the
// lines lie the models that paths go on from, two at most of each path.
#ifndef KWEAVE_SELECT_POINT_STORE_H_
#define KWEAVE_SELECT_POINT_STORE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kweave/model.h"
#include "model/json.h"

namespace kweave {

class PointStore {
 public:
  /// Keeps lines in memory only.
  PointStore() = default;
  /// Reads all lines in `folder`, which is made where it does not exist, and in those of `merge`; appends to
  /// the file `points.jsonl`, or to `points-<suffix>.jsonl`. Throws Error(kUsage) on a folder of another
  /// request or one that another run writes to, Error(kData) on a damaged line, Error(kResource) where it
  /// cannot write.
  PointStore(const std::string& folder, const Json& request, const std::vector<std::string>& merge,
             const std::string& suffix);
  ~PointStore();
  PointStore(const PointStore&) = delete;
  PointStore& operator=(const PointStore&) = delete;

  /// What was kept under the name; null: nothing.
  const Json* Find(const std::string& key) const;
  /// Keeps it, on the disk before this returns.
  void Append(const std::string& key, Json line);

  /// The model that a path goes on from; nothing where none is kept.
  std::optional<Model> LoadState(const std::string& key) const;
  void SaveState(const std::string& key, const Model& model) const;
  void RemoveState(const std::string& key) const;

 private:
  void ReadFile(const std::string& path, bool is_own);
  void ReadFolder(const std::string& folder);
  void Open();
  std::string StatePath(const std::string& key) const;

  std::string folder_, path_;
  Json request_;
  std::map<std::string, Json> lines_;
  int descriptor_ = -1;
};

}  // namespace kweave

#endif  // KWEAVE_SELECT_POINT_STORE_H_
