#include "kweave/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kweave/error.h"

namespace kweave {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public ::testing::Test {
 protected:
  OutputFileTest() {
    std::string pattern = (fs::temp_directory_path() / "kweave_output_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }
  void Put(const std::string& name, const std::string& text) const {
    OutputFile file(Path(name));
    file.Write(text);
    file.Commit();
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, AppearsWhenCommitted) {
  {
    OutputFile file(Path("a"));
    file.Write("one ");
    file.Write("two");
    EXPECT_FALSE(fs::exists(Path("a")));
    file.Commit();
  }
  EXPECT_EQ(Read("a"), "one two");
  EXPECT_THAT(Names(), ::testing::ElementsAre("a"));
}

TEST_F(OutputFileTest, LeavesWhatWasThereWhenItIsNotCommitted) {
  Put("a", "old");
  { OutputFile(Path("a")).Write("new"); }
  EXPECT_EQ(Read("a"), "old");
  EXPECT_THAT(Names(), ::testing::ElementsAre("a"));
}

TEST_F(OutputFileTest, KeepsTheMode) {
  Put("a", "old");
  ::chmod(Path("a").c_str(), 0640);
  Put("a", "new");
  struct stat status {};
  ::stat(Path("a").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST_F(OutputFileTest, FollowsLinks) {
  Put("a", "old");
  fs::create_symlink("a", Path("link"));
  fs::create_symlink("later", Path("dangling"));
  Put("link", "new");
  Put("dangling", "first");
  EXPECT_EQ(Read("a"), "new");
  EXPECT_EQ(Read("later"), "first");
  EXPECT_TRUE(fs::is_symlink(Path("link")) && fs::is_symlink(Path("dangling")));
  EXPECT_EQ(FinalPath(Path("dangling")), Path("later"));
}

TEST_F(OutputFileTest, RemovesStaleFilesAndNoOthers) {
  const std::string stale = Path(".kweave-0123456789abcdef.part"),
                    fresh = Path(".kweave-0123456789abcde0.part");
  const std::string locked = Path(".kweave-0123456789abcde1.part"), other = Path(".kweave-notes.part");
  for (const std::string& path : {stale, fresh, locked, other}) std::ofstream(path) << "x";
  for (const std::string& path : {stale, locked, other})
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const int descriptor = ::open(locked.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  Put("a", "x");
  ::close(descriptor);
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(fresh) && fs::exists(locked) && fs::exists(other));
}

TEST_F(OutputFileTest, HandlersCanRemoveOpenFiles) {
  OutputFile file(Path("a"));
  EXPECT_EQ(Names().size(), 1U);
  RemoveUnfinishedFiles();
  EXPECT_THAT(Names(), ::testing::IsEmpty());
}

TEST_F(OutputFileTest, SaysWhyItCannotBeMade) {
  for (const std::string& path : {Path("none/a"), folder_.string()}) {
    try {
      CheckOutputFile(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("cannot be written: "));
    }
  }
  CheckOutputFile(Path("a"));
  EXPECT_THAT(Names(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace kweave
