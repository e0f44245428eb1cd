// Up to three files about the same samples, the first of them in any format, and one of labels: they are
// refused with Error, or make views of as many rows, finite, with as many labels and ids, no joined id twice.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "fuzz_input.h"
#include "kweave/dataset.h"
#include "kweave/readers.h"

namespace {

using namespace kweave;

constexpr std::size_t kViews = 3;

// The first byte says how the files are read.
enum : std::uint8_t { kLastIsLabels = 1, kIgnoresIds = 2, kHasSeparator = 4, kNeedsLabels = 8 };

void CheckDataset(const Dataset& data, std::size_t files) {
  const auto size = static_cast<std::size_t>(data.size);
  Require(data.size > 0 && !data.views.empty());
  for (const View& view : data.views) {
    Require(RowCount(view.features) == data.size);
    RequireFinite(view.features);
  }
  Require(data.labels.empty() || data.labels.text.size() == size);
  Require(data.ids.empty() || data.ids.size() == size);
  // A single file may have a sample several times; nothing is joined to it.
  const std::unordered_set<std::string> ids(data.ids.begin(), data.ids.end());
  Require(ids.size() == data.ids.size() || files == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static FuzzPath files[kViews + 1];
  if (size == 0) return 0;
  const std::uint8_t settings = data[0];
  std::vector<std::string> contents = FuzzPieces(data + 1, size - 1, kFileSeparator, kViews + 1);
  const std::size_t files_given = contents.size();
  ReadOptions options;
  options.labels_required = (settings & kNeedsLabels) != 0;
  if ((settings & kIgnoresIds) != 0) options.id_column = "none";
  if ((settings & kHasSeparator) != 0) options.label_separator = ";";
  if ((settings & kLastIsLabels) != 0 && contents.size() > 1) {
    options.labels_path = files[kViews].Hold(contents.back());
    contents.pop_back();
  }
  contents.resize(std::min(contents.size(), kViews));
  for (std::size_t v = 0; v < contents.size(); ++v) {
    options.views.push_back({"view" + std::to_string(v), files[v].Hold(contents[v])});
  }
  AllowErrors([&] {
    std::string account;
    CheckDataset(ReadDataset(options, account), files_given);
    Require(!account.empty());
  });
  return 0;
}
