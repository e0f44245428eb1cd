#include "model/encode_features.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "data/sequences.h"
#include "model/blob.h"

namespace kweave {
namespace {

[[noreturn]] void Damaged(const char* rule) {
  throw Error(ErrorKind::kData, std::string("the model is damaged: ") + rule);
}

template <class T>
void CheckFinite(std::span<const T> values) {
  if (!std::ranges::all_of(values, [](T value) { return std::isfinite(value); }))
    Damaged("a feature is not a finite number");
}

template <class T>
Json EncodeDense(const DenseRows<T>& dense, const char* kind) {
  std::vector<T> values;
  values.reserve(dense.rows * dense.cols);
  for (Index i = 0; i < dense.rows; ++i)
    values.insert(values.end(), dense.row(i).begin(), dense.row(i).end());
  return {{"kind", kind}, {"rows", dense.rows}, {"columns", dense.cols}, {"values", ToBlob(values)}};
}

Json Encode(const DenseRows<double>& dense) { return EncodeDense(dense, "float64"); }
Json Encode(const DenseRows<float>& dense) { return EncodeDense(dense, "float32"); }
Json Encode(const SparseRows& sparse) {
  const Index first = sparse.offsets[0];
  std::vector<Index> offsets(sparse.offsets, sparse.offsets + sparse.rows + 1);
  for (Index& offset : offsets) offset -= first;
  const auto count = static_cast<std::size_t>(offsets.back());
  return {{"kind", "sparse"},
          {"rows", sparse.rows},
          {"columns", sparse.cols},
          {"offsets", ToBlob(offsets)},
          {"indices", ToBlob(std::span(sparse.columns + first, count))},
          {"values", ToBlob(std::span(sparse.values + first, count))}};
}

Json Encode(const SequenceRows& sequences) {
  std::vector<std::uint64_t> words;
  const Index per_word = 64 / sequences.bits;
  for (Index i = 0; i < sequences.rows; ++i) {
    const std::uint64_t* from = sequences.words + sequences.offsets[i];
    words.insert(words.end(), from, from + (sequences.lengths[i] + per_word - 1) / per_word);
  }
  Json json = {{"kind", "sequences"},
               {"rows", sequences.rows},
               {"columns", sequences.cols},
               {"alphabet", sequences.alphabet},
               {"lengths", ToBlob(std::span(sequences.lengths, static_cast<std::size_t>(sequences.rows)))},
               {"letters", ToBlob(words)}};
  if (sequences.unknown_begin == nullptr) return json;
  std::vector<Index> begin(sequences.unknown_begin, sequences.unknown_begin + sequences.rows + 1);
  const auto unknown =
      std::span(sequences.unknown + begin[0], static_cast<std::size_t>(begin.back() - begin[0]));
  for (Index& at : begin) at -= sequences.unknown_begin[0];
  json["unknown_offsets"] = ToBlob(begin);
  json["unknown"] = ToBlob(unknown);
  return json;
}

template <class T>
Features DecodeDense(const Json& json, Index rows, Index columns) {
  auto owner = std::make_shared<std::vector<T>>(FromBlob<T>(json.at("values")));
  CheckFinite(std::span<const T>(*owner));
  // Both factors are below 2^31, so the product does not overflow.
  if (static_cast<Index>(owner->size()) != rows * columns) Damaged("a view has the wrong number of values");
  return DenseRows<T>{owner->data(), rows, columns, columns, owner};
}

struct SparseStorage {
  std::vector<Index> offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

Features DecodeSparse(const Json& json, Index rows, Index columns) {
  auto owner = std::make_shared<SparseStorage>();
  owner->offsets = FromBlob<Index>(json.at("offsets"));
  owner->columns = FromBlob<std::int32_t>(json.at("indices"));
  owner->values = FromBlob<double>(json.at("values"));
  CheckFinite(std::span<const double>(owner->values));
  const auto& offsets = owner->offsets;
  const auto count = static_cast<Index>(owner->values.size());
  if (static_cast<Index>(offsets.size()) != rows + 1 || offsets.front() != 0 || offsets.back() != count ||
      static_cast<Index>(owner->columns.size()) != count) {
    Damaged("a sparse view has the wrong number of values");
  }
  for (Index i = 0; i < rows; ++i) {
    if (offsets[i + 1] < offsets[i] || offsets[i + 1] > count) Damaged("a sparse row ends before it begins");
    std::int32_t previous = -1;
    for (Index e = offsets[i]; e < offsets[i + 1]; ++e) {
      if (owner->columns[e] <= previous || owner->columns[e] >= columns)
        Damaged("a sparse index is out of order");
      previous = owner->columns[e];
    }
  }
  return SparseRows{offsets.data(), owner->columns.data(), owner->values.data(), rows, columns, owner};
}

struct SequenceStorage {
  std::vector<std::uint64_t> words;
  std::vector<Index> offsets, unknown_begin;
  std::vector<std::int32_t> lengths, unknown;
};

void CheckUnknown(const SequenceStorage& storage, Index rows) {
  const auto& begin = storage.unknown_begin;
  const auto count = static_cast<Index>(storage.unknown.size());
  if (static_cast<Index>(begin.size()) != rows + 1 || begin.front() != 0 || begin.back() != count)
    Damaged("unknown letters have the wrong number");
  for (Index i = 0; i < rows; ++i) {
    if (begin[i + 1] < begin[i] || begin[i + 1] > count) Damaged("unknown letters end before they begin");
    std::int32_t previous = -1;
    for (Index u = begin[i]; u < begin[i + 1]; ++u) {
      if (storage.unknown[u] <= previous || storage.unknown[u] >= storage.lengths[i])
        Damaged("an unknown letter is out of order");
      previous = storage.unknown[u];
    }
  }
}

Features DecodeSequences(const Json& json, Index rows, Index columns) {
  auto owner = std::make_shared<SequenceStorage>();
  SequenceRows sequences;
  sequences.alphabet = MakeAlphabet(json.at("alphabet").get<std::string>()).letters;
  sequences.bits = MakeAlphabet(sequences.alphabet).bits();
  owner->words = FromBlob<std::uint64_t>(json.at("letters"));
  owner->lengths = FromBlob<std::int32_t>(json.at("lengths"));
  if (static_cast<Index>(owner->lengths.size()) != rows) Damaged("a view has the wrong number of sequences");
  const Index per_word = 64 / sequences.bits;
  Index words = 0;
  for (const std::int32_t length : owner->lengths) {
    if (length < 1 || length > columns) Damaged("a sequence has an impossible length");
    owner->offsets.push_back(words);
    words += (length + per_word - 1) / per_word;
  }
  if (static_cast<Index>(owner->words.size()) != words) Damaged("sequences have the wrong number of letters");
  sequences.words = owner->words.data();
  sequences.offsets = owner->offsets.data();
  sequences.lengths = owner->lengths.data();
  sequences.rows = rows;
  sequences.cols = columns;
  if (json.contains("unknown")) {
    owner->unknown = FromBlob<std::int32_t>(json.at("unknown"));
    owner->unknown_begin = FromBlob<Index>(json.at("unknown_offsets"));
    CheckUnknown(*owner, rows);
    sequences.unknown_begin = owner->unknown_begin.data();
    sequences.unknown = owner->unknown.data();
  }
  const auto letters = static_cast<double>(sequences.alphabet.size());
  std::vector<double> row(static_cast<std::size_t>(columns));
  for (Index i = 0; i < rows && !std::has_single_bit(sequences.alphabet.size()); ++i) {
    CopySequence(sequences, i, row);
    if (std::ranges::any_of(row, [&](double letter) { return letter >= letters; }))
      Damaged("a letter is not in the alphabet");
  }
  sequences.owner = std::move(owner);
  return sequences;
}

}  // namespace

Json EncodeFeatures(const Features& features) {
  return std::visit([](const auto& f) { return Encode(f); }, features);
}

Features DecodeFeatures(const Json& json) {
  const auto rows = WholeNumber<Index>(json.at("rows"));
  const auto columns = WholeNumber<Index>(json.at("columns"));
  constexpr Index kLimit = std::numeric_limits<std::int32_t>::max();  // of indices in SparseRows
  if (rows < 0 || rows > kLimit || columns < 0 || columns > kLimit) Damaged("a view has an impossible shape");
  const auto kind = json.at("kind").get<std::string>();
  if (kind == "float64") return DecodeDense<double>(json, rows, columns);
  if (kind == "float32") return DecodeDense<float>(json, rows, columns);
  if (kind == "sparse") return DecodeSparse(json, rows, columns);
  if (kind == "sequences") return DecodeSequences(json, rows, columns);
  Damaged("a view is of an unknown kind");
}

}  // namespace kweave
