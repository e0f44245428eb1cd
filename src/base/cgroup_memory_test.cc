#include "base/cgroup_memory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace kweave {
namespace {

namespace fs = std::filesystem;

class CgroupMemory : public ::testing::Test {
 protected:
  CgroupMemory() {
    std::string pattern = (fs::temp_directory_path() / "kweave_cgroup_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~CgroupMemory() override { fs::remove_all(root_); }

  void Put(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  std::size_t Free() const { return CgroupFreeBytes((root_ / "own").string(), root_.string()); }

  fs::path root_;
};

TEST_F(CgroupMemory, IsUnlimitedWithoutGroups) { EXPECT_EQ(Free(), std::numeric_limits<std::size_t>::max()); }

TEST_F(CgroupMemory, TakesTheLeastOfNestedGroups) {
  Put("own", "0::/outer/inner");
  Put("outer/memory.max", "1000");
  Put("outer/memory.current", "100");
  Put("outer/inner/memory.max", "max");
  EXPECT_EQ(Free(), 900U);
  Put("outer/inner/memory.max", "500");
  Put("outer/inner/memory.current", "200");
  EXPECT_EQ(Free(), 300U);
}

TEST_F(CgroupMemory, ReadsTheFirstVersion) {
  Put("own", "3:cpu,memory:/job\n2:devices:/other");
  Put("memory/job/memory.limit_in_bytes", "4096");
  Put("memory/job/memory.usage_in_bytes", "96");
  EXPECT_EQ(Free(), 4000U);
}

TEST_F(CgroupMemory, CountsFilesThatWereReadAsFree) {
  Put("own", "0::/job\n4:memory:/old");
  Put("job/memory.max", "1000");
  Put("job/memory.current", "990");
  Put("job/memory.stat", "anon 100\nfile 890\ninactive_file 800\nactive_file 90");
  EXPECT_EQ(Free(), 810U);
  Put("memory/old/memory.limit_in_bytes", "1000");
  Put("memory/old/memory.usage_in_bytes", "1000");
  Put("memory/old/memory.stat", "inactive_file 1\ntotal_inactive_file 700");
  EXPECT_EQ(Free(), 700U);
}

TEST_F(CgroupMemory, ReadsTheRootOfContainers) {
  Put("own", "0::/");
  Put("memory.max", "700");
  Put("memory.current", "800");
  EXPECT_EQ(Free(), 0U);
}

}  // namespace
}  // namespace kweave
