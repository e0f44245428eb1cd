#ifndef KWEAVE_BASE_CGROUP_MEMORY_H_
#define KWEAVE_BASE_CGROUP_MEMORY_H_

#include <cstddef>
#include <limits>
#include <string>

namespace kweave {

/// Where there is no limit.
inline constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

/// Bytes that the control groups of a process leave it: the least over its group and all around it, of
/// version 1 and 2, as `own_groups` (/proc/self/cgroup) names them and the folders under `root`
/// (/sys/fs/cgroup) describe them. The largest number where there is no limit.
std::size_t CgroupFreeBytes(const std::string& own_groups, const std::string& root);

}  // namespace kweave

#endif  // KWEAVE_BASE_CGROUP_MEMORY_H_
