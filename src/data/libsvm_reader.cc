#include "data/libsvm_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "data/dense_matrix.h"
#include "data/number.h"
#include "data/text_source.h"
#include "kweave/error.h"

namespace kweave {
namespace {

constexpr Index kLargestIndex = std::numeric_limits<std::int32_t>::max();  // of SparseRows
constexpr Index kSparsestDense = 40;                                       // dense from one value in 40 on
// Above it a machine of ordinary size may not have the memory; sparse rows of one value in 40 take a
// twentieth.
constexpr double kLargestDenseBytes = 4.0 * (1LL << 30);

struct SparseStorage {
  std::vector<Index> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

template <class T>
Features ToDense(const SparseStorage& sparse, Index rows, Index cols) {
  AlignedVector<T> dense(static_cast<std::size_t>(rows * cols));
  for (Index i = 0; i < rows; ++i) {
    T* row = dense.data() + i * cols;
    for (Index e = sparse.offsets[i]; e < sparse.offsets[i + 1]; ++e) {
      row[sparse.columns[e]] = static_cast<T>(sparse.values[e]);
    }
  }
  return OwnDense(std::move(dense), rows, cols);
}

Features ChooseStorage(SparseStorage sparse, Index cols, bool fits_float32) {
  const auto rows = static_cast<Index>(sparse.offsets.size()) - 1;
  const double cells = static_cast<double>(rows) * static_cast<double>(cols);
  const double dense_bytes = cells * (fits_float32 ? sizeof(float) : sizeof(double));
  const bool is_sparse = static_cast<double>(sparse.values.size()) * kSparsestDense < cells;
  if (is_sparse || dense_bytes > kLargestDenseBytes) {
    auto owner = std::make_shared<SparseStorage>(std::move(sparse));
    return SparseRows{owner->offsets.data(), owner->columns.data(), owner->values.data(), rows, cols, owner};
  }
  return fits_float32 ? ToDense<float>(sparse, rows, cols) : ToDense<double>(sparse, rows, cols);
}

class LibsvmParser {
 public:
  LibsvmParser(const FileBytes& file, Index expected_columns, const std::string& label_separator)
      : source_(file),
        end_(source_.end()),
        limit_(expected_columns > 0 ? expected_columns : kLargestIndex),
        labels_(label_separator) {
    // Counting first costs little and spares the vectors their growth, which would double the peak of memory.
    const auto entries = static_cast<std::size_t>(std::count(source_.begin(), end_, ':'));
    sparse_.columns.reserve(entries);
    sparse_.values.reserve(entries);
    cols_ = expected_columns;
  }

  Table Run() {
    for (const char* p = source_.begin(); p != end_;) p = Line(p);
    const auto fail = [&](const char* sentence) {
      throw Error(ErrorKind::kData, fmt::format("{}: {}", source_.name(), sentence));
    };
    if (sparse_.offsets.size() == 1) fail("there is no sample in this file");
    if (cols_ == 0) fail("no sample has a feature, expected index:value");
    if (first_without_label_ != nullptr && labels_.separator().empty()) FailLabel(first_without_label_);
    Table table;
    table.file = source_.name();
    table.rows = static_cast<Index>(sparse_.offsets.size()) - 1;
    table.labels = labels_.Take();
    table.features = ChooseStorage(std::move(sparse_), cols_, fits_float32_);
    if (unseen_ > 0) {
      table.notes.push_back(fmt::format(
          "{}: {} with an index above {}, the largest in training, {} ignored", source_.name(),
          unseen_ == 1 ? "1 value" : fmt::format("{} values", unseen_), limit_, unseen_ == 1 ? "is" : "are"));
    }
    return table;
  }

 private:
  /// Reads one line, a sample unless it is blank, and returns the start of the next.
  const char* Line(const char* p) {
    const char* const start = p;
    p = SkipBlanks(p);
    if (!IsLineEnd(p)) {
      p = SkipBlanks(Label(p, p != start));
      Index last_index = 0;
      while (!IsLineEnd(p)) p = SkipBlanks(Entry(p, last_index));
      sparse_.offsets.push_back(static_cast<Index>(sparse_.values.size()));
      cols_ = std::max(cols_, std::min(last_index, limit_));
    }
    p = std::find(p, end_, '\n');
    return p == end_ ? p : p + 1;
  }

  /// Reads the label if there is one and returns its end.
  const char* Label(const char* token, bool is_after_blank) {
    const char* p = token;
    while (!IsSeparator(p) && *p != ':') ++p;
    const bool is_first_sample = sparse_.offsets.size() == 1;
    const bool has_label = p == end_ || *p != ':';
    if (!has_label && is_after_blank && !(is_first_sample ? labels_.separator().empty() : labels_.empty())) {
      if (first_without_label_ == nullptr) first_without_label_ = token;
      labels_.AddNone();
      return token;
    }
    if (is_first_sample) {
      first_sample_ = token;
    } else if (has_label == labels_.empty()) {
      has_label ? FailFirstLabel(token) : FailLabel(token);
    }
    if (!has_label) return token;
    const std::string_view text(token, static_cast<std::size_t>(p - token));
    if (labels_.separator().empty() && text.find(',') != std::string_view::npos) labels_.SetSeparator(",");
    if (!labels_.Add(text)) source_.FailAt(token, NoLabel(text));
    return p;
  }

  /// Reads `index:value`, whose index must exceed `last_index`, and returns its end.
  const char* Entry(const char* token, Index& last_index) {
    std::uint64_t unsigned_index = 0;
    const char* p = internal::AppendDigits(token, end_, unsigned_index);
    const auto index = static_cast<Index>(unsigned_index);
    const bool is_number = p != token && p - token < 19 && p != end_ && *p == ':';
    if (!is_number || index <= last_index || index > kLargestIndex) return OddEntry(token, last_index);
    const char* const value_token = p + 1;
    double value = 0;
    p = ParseNumber(value_token, end_, value);
    if (p == value_token || !IsSeparator(p) || std::isinf(value)) FailValue(value_token, index);
    last_index = index;
    if (index > limit_) {
      ++unseen_;
    } else if (value != 0) {
      sparse_.columns.push_back(static_cast<std::int32_t>(index - 1));
      sparse_.values.push_back(value);
      fits_float32_ = fits_float32_ && FitsFloat32(value);
    }
    return p;
  }

  /// Steps over a query id, which only rankings need; everything else is an error.
  const char* OddEntry(const char* token, Index last_index) const {
    const std::string_view text = TokenAt(token, end_);
    if (text.starts_with("qid:") && last_index == 0) return token + text.size();
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
      source_.FailAt(token, fmt::format("found {}, expected index:value", Quoted(text)));
    }
    const std::string_view written = text.substr(0, colon);
    const std::optional<double> index =
        std::ranges::all_of(written, internal::IsDigit) ? ToNumber(written) : std::nullopt;
    if (!index || *index < 1 || *index > static_cast<double>(kLargestIndex)) {
      source_.FailAt(token, fmt::format("found index {}, expected a whole number from 1 to {}",
                                        Quoted(written), kLargestIndex));
    }
    source_.FailAt(token,
                   fmt::format("index {} follows index {}, expected ascending indices", *index, last_index));
  }

  [[noreturn]] void FailLabel(const char* token) const {
    source_.FailAt(token, fmt::format("a label is missing: found {}, expected a label as on the lines before",
                                      Quoted(TokenAt(token, end_))));
  }

  /// For a label at `token` after samples without one.
  [[noreturn]] void FailFirstLabel(const char* token) const {
    source_.FailAt(
        first_sample_,
        fmt::format("a label is missing: found {}, but line {} starts with {}; expected a label in front of "
                    "every sample or of none",
                    Quoted(TokenAt(first_sample_, end_)), source_.Line(token), Quoted(TokenAt(token, end_))));
  }

  [[noreturn]] void FailValue(const char* token, Index index) const {
    const std::string_view text = TokenAt(token, end_);
    if (text.empty()) source_.FailAt(token, fmt::format("the value of feature {} is missing", index));
    source_.FailAt(token,
                   fmt::format("feature {} has value {}, expected a finite number", index, Quoted(text)));
  }

  const char* SkipBlanks(const char* p) const {
    while (p != end_ && (*p == ' ' || *p == '\t' || *p == '\r')) ++p;
    return p;
  }
  bool IsLineEnd(const char* p) const { return p == end_ || *p == '\n' || *p == '#'; }
  bool IsSeparator(const char* p) const { return IsLineEnd(p) || *p == ' ' || *p == '\t' || *p == '\r'; }

  const TextSource source_;
  const char* const end_;
  const Index limit_;  // the largest index that is kept
  SparseStorage sparse_;
  LabelList labels_;
  const char* first_sample_ = nullptr;
  const char* first_without_label_ = nullptr;
  Index cols_ = 0;
  Index unseen_ = 0;  // values above the limit
  bool fits_float32_ = true;
};

}  // namespace

Table ReadLibsvm(const FileBytes& file, Index expected_columns, const std::string& label_separator) {
  return LibsvmParser(file, expected_columns, label_separator).Run();
}

}  // namespace kweave
