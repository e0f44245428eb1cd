#include "base/cgroup_memory.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace kweave {
namespace {

namespace fs = std::filesystem;

// A number in a one-value file; `kUnlimited` when the file is missing or says "max".
std::size_t ReadBytes(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word) || word == "max") return kUnlimited;
  return std::strtoull(word.c_str(), nullptr, 10);
}

std::size_t FreeBytes(const fs::path& group, const char* limit_file, const char* used_file) {
  const std::size_t limit = ReadBytes(group / limit_file), used = ReadBytes(group / used_file);
  if (limit == kUnlimited || used == kUnlimited) return limit;
  return limit > used ? limit - used : 0;
}

// The least over the group at `path` below `root` and those around it. In a container the root is the group
// itself, and its path may not be there.
std::size_t LeastFreeBytes(const fs::path& root, const fs::path& path, const char* limit_file,
                           const char* used_file) {
  std::size_t least = FreeBytes(root, limit_file, used_file);
  fs::path group = root;
  for (const fs::path& part : path.relative_path()) {
    if (part == "..") break;
    group /= part;
    least = std::min(least, FreeBytes(group, limit_file, used_file));
  }
  return least;
}

// Whether the list of controllers of a line names `memory`.
bool HasMemory(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t end = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, end) == "memory") return true;
    controllers.remove_prefix(std::min(end + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::size_t CgroupFreeBytes(const std::string& own_groups, const std::string& root) {
  std::size_t least = LeastFreeBytes(root, "/", "memory.max", "memory.current");
  std::ifstream file(own_groups);
  for (std::string line; std::getline(file, line);) {  // NUMBER:CONTROLLERS:PATH
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      path = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, LeastFreeBytes(root, path, "memory.max", "memory.current"));
    } else if (HasMemory(controllers)) {
      least = std::min(
          least, LeastFreeBytes(root + "/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
  }
  return least;
}

}  // namespace kweave
