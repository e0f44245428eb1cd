#include "model/cbor_depth.h"

#include <optional>
#include <vector>

namespace kweave {
namespace {

// The initial bytes of one item: its major type and the number that follows.
struct Head {
  int major = 0;
  int additional = 0;
  std::uint64_t argument = 0;
};

class Scanner {
 public:
  explicit Scanner(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  bool AtEnd() const { return rest_.empty(); }

  std::optional<Head> Next() {
    if (rest_.empty()) return std::nullopt;
    Head head{rest_[0] >> 5, rest_[0] & 31, 0};
    rest_ = rest_.subspan(1);
    if (head.additional < 24) {
      head.argument = head.additional;
      return head;
    }
    if (head.additional > 27) return std::nullopt;  // reserved, or of indefinite length
    const std::size_t width = std::size_t{1} << (head.additional - 24);
    if (rest_.size() < width) return std::nullopt;
    for (std::size_t k = 0; k < width; ++k) head.argument = head.argument << 8 | rest_[k];
    rest_ = rest_.subspan(width);
    return head;
  }

  bool Skip(std::uint64_t count) {
    if (count > rest_.size()) return false;
    rest_ = rest_.subspan(count);
    return true;
  }

  std::size_t remaining() const { return rest_.size(); }

 private:
  std::span<const std::uint8_t> rest_;
};

enum Major { kUnsigned, kNegative, kBytes, kText, kArray, kMap, kTag, kSimple };

}  // namespace

bool IsCborWithinDepth(std::span<const std::uint8_t> bytes, int limit) {
  Scanner scanner(bytes);
  std::vector<std::uint64_t> open{1};  // items still to come, per level
  while (!open.empty()) {
    if (open.back() == 0) {
      open.pop_back();
      continue;
    }
    --open.back();
    const auto head = scanner.Next();
    if (!head) return false;
    if (head->major == kTag) return false;
    if ((head->major == kBytes || head->major == kText) && !scanner.Skip(head->argument)) return false;
    if (head->major == kArray || head->major == kMap) {
      const std::uint64_t per_entry = head->major == kMap ? 2 : 1;
      if (head->argument > scanner.remaining() / per_entry) return false;  // every item takes a byte at least
      if (static_cast<int>(open.size()) > limit) return false;
      open.push_back(head->argument * per_entry);
    }
  }
  return scanner.AtEnd();
}

}  // namespace kweave
