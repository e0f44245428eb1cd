// Models that nobody trained: the payload of one with some values replaced by others that a writer with bad
// intentions might choose. The header, checksum included, fits them (Sealed in use_model.h), so that only the
// decoder is left to find what is wrong.
#ifndef KWEAVE_TESTS_SUPPORT_MUTATE_MODEL_H_
#define KWEAVE_TESTS_SUPPORT_MUTATE_MODEL_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/json.h"
#include "tests/support/use_model.h"

namespace kweave {

class ModelMutator {
 public:
  explicit ModelMutator(std::uint64_t seed) : random_(seed) {}

  /// One to three values are other ones, gone, or repeated.
  Json Mutate(Json model) {
    for (std::uint64_t changes = 1 + Below(3); changes > 0; --changes) Change(Somewhere(model), model);
    return model;
  }

  /// The file that holds this payload.
  static std::vector<std::uint8_t> Seal(const Json& payload) {
    std::vector<std::uint8_t> bytes(kModelHeaderBytes);
    Json::to_cbor(payload, bytes);
    return Sealed(std::move(bytes));
  }

 private:
  std::uint64_t Below(std::uint64_t end) { return random_() % end; }

  // A value inside, at any depth.
  Json& Somewhere(Json& model) {
    constexpr std::uint64_t kStops = 8;  // one step in so many ends at a list or an object itself
    Json* at = &model;
    while (at->is_structured() && !at->empty() && (at == &model || Below(kStops) > 0)) {
      at = &*std::next(at->begin(), static_cast<std::ptrdiff_t>(Below(at->size())));
    }
    return *at;
  }

  void Change(Json& value, Json& model) {
    const std::uint64_t choice = Below(8);
    if (value.is_binary() && choice < 6) return ChangeBytes(value.get_binary());
    if (value.is_structured() && !value.empty() && choice < 3) {
      value.erase(std::next(value.begin(), static_cast<std::ptrdiff_t>(Below(value.size()))));
    } else if (value.is_array() && !value.empty() && choice < 6) {
      const Json one = value[Below(value.size())];
      for (std::uint64_t copies = Below(300); copies > 0; --copies) value.push_back(one);
    } else if (choice == 7) {
      Json other = Somewhere(model);  // a copy: the value may lie within it, or it within the value
      value = std::move(other);
    } else {
      value = Strange();
    }
  }

  // Numbers of the size of those that models hold are overwritten, lost or repeated.
  void ChangeBytes(std::vector<std::uint8_t>& bytes) {
    const std::uint64_t choice = Below(6);
    if (choice == 0) bytes.resize(Below(bytes.size() + 9));
    if (choice == 1 && !bytes.empty()) {
      const std::vector<std::uint8_t> copy = bytes;
      for (std::uint64_t copies = Below(8); copies > 0; --copies) {
        bytes.insert(bytes.end(), copy.begin(), copy.end());
      }
    }
    if (choice == 2 && bytes.size() >= sizeof(std::int32_t))
      Overwrite(bytes, static_cast<std::int32_t>(Whole()));
    if (choice == 3 && bytes.size() >= sizeof(std::int64_t)) Overwrite(bytes, Whole());
    if (choice >= 4 && bytes.size() >= sizeof(double)) Overwrite(bytes, Real());
  }

  template <class T>
  void Overwrite(std::vector<std::uint8_t>& bytes, T value) {
    const std::size_t at = Below(bytes.size() / sizeof(T)) * sizeof(T);
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }

  std::int64_t Whole() {
    constexpr std::int64_t kEdges[] = {-1, 0, 1, 2, 255, std::int64_t{1} << 31, std::int64_t{1} << 53};
    const std::uint64_t choice = Below(std::size(kEdges) + 2);
    return choice < std::size(kEdges) ? kEdges[choice] : static_cast<std::int64_t>(random_());
  }

  double Real() {
    constexpr double kEdges[] = {0, -1, 0.5, 1e308, -1e308, 1e-320, 1e16};
    const std::uint64_t choice = Below(std::size(kEdges) + 3);
    if (choice < std::size(kEdges)) return kEdges[choice];
    if (choice == std::size(kEdges)) return std::nan("");
    if (choice == std::size(kEdges) + 1) return std::numeric_limits<double>::infinity();
    return static_cast<double>(random_());
  }

  Json Strange() {
    const std::string names[] = {
        "",     "ovr",      "ovo",         "joint",  "regress",   "oneclass",
        "rbf",  "linear",   "precomputed", "center", "spherical", "sparse",
        "\xff", "\x1b[31m", "float32",     ";",      "..",        std::string(5000, 'x')};
    switch (Below(8)) {
      case 0:
        return nullptr;
      case 1:
        return Below(2) == 0;
      case 2:
        return Json::array();
      case 3:
        return Json::object();
      case 4:
        return names[Below(std::size(names))];
      case 5: {
        std::vector<std::uint8_t> bytes(8 * Below(20));
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
        return Json::binary(std::move(bytes));
      }
      case 6:
        return Real();
      default:
        return Whole();
    }
  }

  std::mt19937_64 random_;
};

}  // namespace kweave

#endif  // KWEAVE_TESTS_SUPPORT_MUTATE_MODEL_H_
