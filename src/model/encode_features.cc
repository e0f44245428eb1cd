#include "model/encode_features.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

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
  Damaged("a view is of an unknown kind");
}

}  // namespace kweave
