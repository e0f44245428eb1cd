#include "data/npy_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "data/npy_header.h"
#include "data/table.h"
#include "data/text_source.h"
#include "kweave/error.h"

namespace kweave {
namespace {

static_assert(std::endian::native == std::endian::little, "NumPy files are read on little-endian machines");

[[noreturn]] void Fail(const std::string& name, const std::string& sentence) {
  throw Error(ErrorKind::kData, fmt::format("{}: {}", name, sentence));
}

struct Shape {
  Index rows;
  Index cols;
};

Shape MatrixShape(const NpyHeader& header, const std::string& name) {
  const std::vector<Index>& shape = header.shape;
  if (shape.empty() || shape.size() > 2) {
    Fail(name, fmt::format("this NumPy array has {} dimensions, expected 1 or 2", shape.size()));
  }
  const Shape matrix{shape[0], shape.size() == 2 ? shape[1] : 1};
  if (matrix.rows == 0 || matrix.cols == 0) {
    Fail(name, fmt::format("this NumPy array of shape ({}) is empty", fmt::join(shape, ", ")));
  }
  return matrix;
}

/// The value of type T at `bytes`, which need not be aligned.
template <class T>
T Load(const char* bytes, bool is_big_endian) {
  char item[sizeof(T)];
  std::memcpy(item, bytes, sizeof(T));
  if (is_big_endian) std::reverse(item, item + sizeof(T));
  T value;
  std::memcpy(&value, item, sizeof(T));
  return value;
}

/// A half-precision number: one sign bit, five of exponent, ten of fraction.
struct Half {
  std::uint16_t bits;
  explicit operator double() const {
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    double magnitude =
        std::ldexp(exponent == 0 ? fraction : fraction + 1024, exponent == 0 ? -24 : exponent - 25);
    if (exponent == 31) magnitude = fraction == 0 ? HUGE_VAL : NAN;
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }
};

/// Calls visitor(T{}) with the C++ type of the array's values.
template <class Visitor>
auto VisitType(const NpyHeader& header, const std::string& name, const Visitor& visitor) {
  const Index size = header.item_bytes;
  switch (header.kind) {
    case 'f':
      return size == 2 ? visitor(Half{}) : size == 4 ? visitor(float{}) : visitor(double{});
    case 'i':
      return size == 1   ? visitor(std::int8_t{})
             : size == 2 ? visitor(std::int16_t{})
             : size == 4 ? visitor(std::int32_t{})
                         : visitor(std::int64_t{});
    case 'u':
    case 'b':
      return size == 1   ? visitor(std::uint8_t{})
             : size == 2 ? visitor(std::uint16_t{})
             : size == 4 ? visitor(std::uint32_t{})
                         : visitor(std::uint64_t{});
    default:
      Fail(name, "this NumPy array holds text, expected numbers");
  }
}

template <class T>
AlignedVector<double> ConvertAll(const NpyHeader& header, const char* data, Shape shape) {
  AlignedVector<double> values(static_cast<std::size_t>(shape.rows * shape.cols));
  const Index row_step = header.is_fortran_order ? 1 : shape.cols;
  const Index column_step = header.is_fortran_order ? shape.rows : 1;
  double* out = values.data();
  for (Index i = 0; i < shape.rows; ++i) {
    for (Index j = 0; j < shape.cols; ++j) {
      const char* item = data + (i * row_step + j * column_step) * static_cast<Index>(sizeof(T));
      *out++ = static_cast<double>(Load<T>(item, header.is_big_endian));
    }
  }
  return values;
}

template <class T>
bool IsInPlace(const NpyHeader& header, const char* data, Shape shape) {
  const bool is_row_major = !header.is_fortran_order || shape.rows == 1 || shape.cols == 1;
  return is_row_major && !header.is_big_endian && reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
}

void AppendUtf8(std::uint32_t code, std::string& text) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 63));
    text += static_cast<char>(0x80 | (code & 63));
  } else {
    text += static_cast<char>(0xf0 | ((code >> 18) & 7));
    text += static_cast<char>(0x80 | ((code >> 12) & 63));
    text += static_cast<char>(0x80 | ((code >> 6) & 63));
    text += static_cast<char>(0x80 | (code & 63));
  }
}

/// NumPy pads its fixed-width strings with zeros.
std::string LoadString(const NpyHeader& header, const char* item) {
  std::string text;
  if (header.kind == 'S') {
    text.assign(item, strnlen(item, static_cast<std::size_t>(header.item_bytes)));
  } else {
    for (Index i = 0; i < header.item_bytes; i += 4) {
      const auto code = Load<std::uint32_t>(item + i, header.is_big_endian);
      if (code == 0) break;
      AppendUtf8(code, text);
    }
  }
  return text;
}

Labels LoadStrings(const NpyHeader& header, const char* data, Index count, const std::string& name) {
  Labels labels;
  for (Index i = 0; i < count; ++i) {
    labels.text.push_back(LoadString(header, data + i * header.item_bytes));
    const std::string& text = labels.text.back();
    if (IsMissingLabel(text) || !IsPlainText(text)) {
      throw Error(ErrorKind::kData, fmt::format("{}, row {}: {}", name, i + 1, NoLabel(text)));
    }
  }
  return labels;
}

}  // namespace

DenseMatrix ReadNpyMatrix(const FileBytes& file) {
  const NpyHeader header = ParseNpyHeader(file.bytes, file.name);
  const Shape shape = MatrixShape(header, file.name);
  const char* data = file.bytes.data() + header.data_offset;
  return VisitType(header, file.name, [&]<class T>(T) -> DenseMatrix {
    if constexpr (std::is_floating_point_v<T>) {
      if (IsInPlace<T>(header, data, shape)) {
        return DenseRows<T>{reinterpret_cast<const T*>(data), shape.rows, shape.cols, shape.cols, file.owner};
      }
    }
    AlignedVector<double> values = ConvertAll<T>(header, data, shape);
    const bool always_fits = sizeof(T) <= 2 || std::is_same_v<T, float>;
    const bool fits = always_fits || (!std::is_same_v<T, double> && AllFitFloat32(values));
    return CompactDense(std::move(values), shape.rows, shape.cols, fits);
  });
}

Labels ReadNpyLabels(const FileBytes& file) {
  const NpyHeader header = ParseNpyHeader(file.bytes, file.name);
  const Shape shape = MatrixShape(header, file.name);
  if (shape.cols != 1) {
    Fail(file.name, fmt::format("this NumPy array has {} columns, expected one label per row", shape.cols));
  }
  const char* data = file.bytes.data() + header.data_offset;
  if (header.kind == 'U' || header.kind == 'S') return LoadStrings(header, data, shape.rows, file.name);
  Labels labels;
  VisitType(header, file.name, [&]<class T>(T) {
    for (Index i = 0; i < shape.rows; ++i) {
      const T item = Load<T>(data + i * static_cast<Index>(sizeof(T)), header.is_big_endian);
      const auto number = static_cast<double>(item);
      if (!std::isfinite(number)) {
        Fail(file.name, fmt::format("row {} holds {}, expected a finite label", i + 1, number));
      }
      // Integers by their own digits: those beyond 2^53 are no doubles.
      if constexpr (std::is_integral_v<T>) {
        labels.text.push_back(std::to_string(item));
      } else {
        labels.text.push_back(fmt::format("{}", number));
      }
      labels.number.push_back(number);
    }
  });
  return labels;
}

}  // namespace kweave
