/// Samples: their features in one or more views, their labels and ids, read from files or made in memory.
///
/// From files (LIBSVM, CSV, TSV, NumPy, FASTA or FASTQ, compressed or not), two views joined by the ids of
/// the samples:
///
///     kweave::ReadOptions options;
///     options.views = {{"genes", "genes.csv"}, {"clinic", "clinic.csv"}};
///     const kweave::Dataset data = kweave::ReadDataset(options);
///
/// From memory, four samples with two features each:
///
///     kweave::Dataset data;
///     data.views = {{"data", kweave::MakeDense({0, 0, 0, 1, 1, 0, 1, 1}, 4, 2)}};
///     data.labels.text = {"no", "yes", "yes", "no"};
///     data.size = 4;
#ifndef KWEAVE_DATASET_H_
#define KWEAVE_DATASET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kweave/choices.h"
#include "kweave/context.h"
#include "kweave/index.h"

namespace kweave {

/// n x d values, row after row, `stride` elements from one row to the next. Not owned unless `owner` is set.
template <class T>
struct DenseRows {
  const T* data = nullptr;
  Index rows = 0;                     ///< samples
  Index cols = 0;                     ///< features
  Index stride = 0;                   ///< elements from one row to the next, at least `cols`
  std::shared_ptr<const void> owner;  ///< keeps `data` alive; null: the caller does

  std::span<const T> row(Index i) const { return {data + i * stride, static_cast<std::size_t>(cols)}; }
};

/// Compressed sparse rows: row i holds entries offsets[i] to offsets[i + 1], columns ascending from 0.
struct SparseRows {
  const Index* offsets = nullptr;         ///< rows + 1 of them, the first is 0
  const std::int32_t* columns = nullptr;  ///< of every entry
  const double* values = nullptr;         ///< of every entry
  Index rows = 0;                         ///< samples
  Index cols = 0;                         ///< features, also those without an entry
  std::shared_ptr<const void> owner;      ///< keeps the three arrays alive; null: the caller does
};

/// Sequences of letters. A letter is its place in the alphabet, `bits` bits wide; sequence i begins with the
/// lowest bits of words[offsets[i]], and a word holds as many whole letters as fit.
struct SequenceRows {
  const std::uint64_t* words = nullptr;
  const Index* offsets = nullptr;         ///< `rows` of them: the first word of every sequence
  const std::int32_t* lengths = nullptr;  ///< letters of every sequence
  /// Letters that are not known and equal none, not even themselves: entries unknown_begin[i] to
  /// unknown_begin[i + 1] of `unknown` are their positions in sequence i, ascending. Null: there are none.
  const Index* unknown_begin = nullptr;
  const std::int32_t* unknown = nullptr;
  Index rows = 0;                     ///< samples
  Index cols = 0;                     ///< letters of the longest sequence, or more
  int bits = 2;                       ///< 1 to 8
  std::string alphabet;               ///< the letters, by their numbers
  std::shared_ptr<const void> owner;  ///< keeps the arrays alive; null: the caller does
};

/// The features of all samples in one view. Float32 only where that loses nothing.
using Features = std::variant<DenseRows<double>, DenseRows<float>, SparseRows, SequenceRows>;

/// How many samples, and how many features (letters of the longest sequence), whatever the storage.
Index RowCount(const Features& features);
Index ColumnCount(const Features& features);

/// Builds dense features that own their values (rows * cols of them, row after row).
Features MakeDense(std::vector<double> values, Index rows, Index cols);

/// Packs texts into sequences that own their letters. `alphabet`: `dna`, `rna`, `protein`, or its letters;
/// empty: found from the texts, as ReadOptions::alphabet says. Throws Error(kData) naming sample and
/// position.
Features MakeSequences(std::span<const std::string> texts, const std::string& alphabet = {});

/// A copy of the rows in `indices`, in that order; where an index is -1, one that stands for none: zeros, or
/// any letters.
Features SelectRows(const Features& features, std::span<const Index> indices);

/// Row i as doubles, zeros filled in; `out` holds ColumnCount values. Letters are their numbers, -1 where
/// they are not known and -2 behind the end.
void CopyRow(const Features& features, Index i, std::span<double> out);

/// One source of evidence about the samples.
struct View {
  std::string name = "data";  ///< what kernels say behind '@', as in `rbf@genes`
  Features features;
  std::vector<std::string> feature_names = {};  ///< empty when the file has none
  /// One per sample: 0 where the sample lacks this view, whose features are then zeros that nobody reads;
  /// else 1. Empty: all samples have it.
  std::vector<double> presence = {};

  bool Has(Index i) const { return presence.empty() || presence[static_cast<std::size_t>(i)] > 0; }
  /// Samples that lack it.
  Index MissingCount() const;
};

/// The samples at `indices` of a view, in that order.
View SelectSamples(const View& view, std::span<const Index> indices);

/// Kernel values in memory, between samples (rows) and training samples (columns). Kernels name such a matrix
/// as they name a file: `precomputed(file=NAME)`.
struct GramMatrix {
  std::string name;                                          ///< NAME of precomputed(file=NAME)
  std::variant<DenseRows<double>, DenseRows<float>> values;  ///< row i: sample i against all training samples
  Index column_stride = 1;                                   ///< elements from one column to the next
  std::vector<Index> row_indices = {};  ///< the rows that are meant, in their order; empty: all
  std::vector<Index> column_indices = {};
  /// What messages call rows and columns; empty: by where they are in the matrix, counted from 1.
  std::vector<Index> row_numbers = {}, column_numbers = {};
};

/// Labels as read. `text` holds them as written; `number` too when every one of them is a finite number.
struct Labels {
  std::vector<std::string> text;  ///< one per sample, as in the file
  std::vector<double> number;     ///< one per sample, or none where a label is no number
  std::string separator;          ///< between the labels of one sample; empty: every sample has one label
  bool is_numeric() const { return number.size() == text.size(); }
  bool empty() const { return text.empty(); }
};

/// What messages call samples and features: by where they were in what the user gave.
struct Numbering {
  Index first = 1;               ///< what counting starts from
  std::vector<Index> positions;  ///< of the samples, from 0, where they were moved; empty: as they are

  Index Sample(Index i) const { return first + (positions.empty() ? i : positions[i]); }
  Index Feature(Index j) const { return first + j; }
};

/// The same samples seen through one or more views.
struct Dataset {
  std::vector<View> views;           ///< all with `size` rows, row i of each about sample i
  std::vector<GramMatrix> matrices;  ///< for precomputed kernels that are not in files
  /// What is regressed out of the features of all views before anything is learned from them; no features:
  /// nothing.
  View confounds = {"confounds", DenseRows<double>{}};
  Labels labels;                 ///< empty when absent
  std::vector<std::string> ids;  ///< empty when absent
  Index size = 0;                ///< samples
  Numbering numbering;           ///< in messages
};

/// Where one view comes from.
struct ViewSource {
  std::string name = "data";
  std::string path;
};

/// What to read and how; all but the paths can be found from the files.
struct ReadOptions {
  std::vector<ViewSource> views;  ///< at least one; joined by id where all files have ids, else by row
  std::string labels_path;  ///< a file of labels, one per line or as a column joined by id; empty: first view
  std::string format;       ///< "libsvm", "csv", "tsv", "npy", "fasta", "fastq", "sequences"; empty: detected
  /// The letters of sequences: "dna", "rna", "protein" or the letters themselves; empty: dna or rna where the
  /// first sequences have hardly any other letters, else protein.
  std::string alphabet;
  std::string confounds_path;  ///< a file of numbers to regress out of all features; empty: none
  Join join = Join::kFirst;    ///< which samples there are, where files are joined by id
  /// CSV: name or 1-based index of a column that must be there, in any file or in the first; empty: a column
  /// of the first view called "label", "class", "target" or "y", unless the labels have a file of their own.
  std::string label_column;
  /// CSV: name or 1-based index; empty: a column called "id", "sample" or "sample_id", or a first one without
  /// a name; "none": such a column is left out and the files are joined by row.
  std::string id_column;
  /// Between the labels of a sample that has several; empty: a comma in LIBSVM files, elsewhere one label per
  /// sample.
  std::string label_separator;
  /// False: files without labels are fine, as they are when predicting.
  bool labels_required = true;
  /// When predicting, what each view had in training; Model::ExpectViews fills these in. The number of
  /// features (0: as the file says), and their names (none: as the file says). A CSV file with a header may
  /// have others beside them.
  std::vector<Index> expected_columns;
  std::vector<std::vector<std::string>> expected_names;
  std::vector<std::string> expected_alphabets;  ///< of views of sequences; empty where it is none
  std::vector<std::string> expected_confounds;  ///< names, as those of the views
  LogSink log;                                  ///< for notes about what was ignored; may be empty
};

/// Reads, decompresses, detects, parses and joins. Throws Error(kData) naming file, line, column and value.
Dataset ReadDataset(const ReadOptions& options);

}  // namespace kweave

#endif  // KWEAVE_DATASET_H_
