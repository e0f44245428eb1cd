#include "base/cgroup_memory.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace kweave {
namespace {

// A number in a one-value file; `kUnlimited` when the file is missing or says "max".
std::size_t ReadBytes(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word) || word == "max") return kUnlimited;
  return std::strtoull(word.c_str(), nullptr, 10);
}

// Pages of files that were not used lately: they count as used and are given up when memory is asked for.
std::size_t ReclaimableBytes(const std::string& group) {
  std::ifstream file(group + "/memory.stat");
  std::string name;
  std::size_t bytes = 0, own = 0;
  while (file >> name >> bytes) {
    if (name == "total_inactive_file") return bytes;  // version 1 tells the groups inside apart
    if (name == "inactive_file") own = bytes;
  }
  return own;
}

std::size_t FreeBytes(const std::string& group, const char* limit_file, const char* used_file) {
  const std::size_t limit = ReadBytes(group + "/" + limit_file), used = ReadBytes(group + "/" + used_file);
  if (limit == kUnlimited || used == kUnlimited) return limit;
  const std::size_t needed = used - std::min(used, ReclaimableBytes(group));
  return limit > needed ? limit - needed : 0;
}

// The least over the group at `path` below `root` and those around it. In a container the root is the group
// itself, and its path may not be there.
std::size_t LeastFreeBytes(const std::string& root, const std::string& path, const char* limit_file,
                           const char* used_file) {
  std::size_t least = FreeBytes(root, limit_file, used_file);
  std::string group = root;
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '/');) {
    if (part.empty()) continue;
    if (part == "..") break;
    group += "/" + part;
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
