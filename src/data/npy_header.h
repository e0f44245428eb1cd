#ifndef KWEAVE_DATA_NPY_HEADER_H_
#define KWEAVE_DATA_NPY_HEADER_H_

#include <string>
#include <string_view>
#include <vector>

#include "kweave/dataset.h"

namespace kweave {

/// What the header of a NumPy file (format versions 1 to 3) says about the array behind it.
struct NpyHeader {
  char kind = 'f';                ///< NumPy's letter: f, i, u, b, U or S
  Index item_bytes = 8;           ///< bytes of one value
  bool is_big_endian = false;     ///< values need their bytes swapped
  bool is_fortran_order = false;  ///< columns one after another
  std::vector<Index> shape;
  std::size_t data_offset = 0;  ///< bytes before the first value
};

/// Whether `bytes` begin with the magic of a NumPy file.
bool IsNpy(std::string_view bytes);

/// Reads the header and checks that exactly the values it announces follow. Throws Error(kData), also for
/// types that hold no plain values (objects, records, dates, complex numbers).
NpyHeader ParseNpyHeader(std::string_view bytes, const std::string& name);

}  // namespace kweave

#endif  // KWEAVE_DATA_NPY_HEADER_H_
