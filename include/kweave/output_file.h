/// How every output reaches the disk: whole, or not at all.
///
///     kweave::OutputFile file("predictions.tsv");
///     file.Write("label\tf\n");
///     file.Commit();
#ifndef KWEAVE_OUTPUT_FILE_H_
#define KWEAVE_OUTPUT_FILE_H_

#include <string>
#include <string_view>

namespace kweave {

/// Where a path leads, through all symbolic links, also where nothing is there yet.
std::string FinalPath(const std::string& path);

/// A file under a temporary random name beside its final place, which takes that place, and the mode of what
/// was there, when it is whole. Links are followed: what they lead to is replaced, not the link. Pipes and
/// devices are written as they are. Temporary files that runs left behind when they were killed are removed
/// from the folder.
class OutputFile {
 public:
  /// Throws Error(kResource) when the file cannot be made.
  explicit OutputFile(const std::string& path);
  /// Removes the temporary file unless it was committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends. Throws Error(kResource).
  void Write(std::string_view bytes);
  /// Everything is written: takes the final place. Throws Error(kResource), and leaves what was there as it
  /// was.
  void Commit();

 private:
  [[noreturn]] void Fail() const;
  void OpenTemporary();
  void Flush();

  std::string path_;       ///< as given, for messages
  std::string final_;      ///< where links lead
  std::string temporary_;  ///< empty: written in place, or committed
  std::string buffer_;
  int descriptor_ = -1;
};

/// Throws Error(kResource) unless an OutputFile could be made at `path`; leaves nothing behind.
void CheckOutputFile(const std::string& path);

/// Removes the temporary files of all open OutputFiles of this process. For signal handlers that end it:
/// calls nothing but unlink.
void RemoveUnfinishedFiles();

}  // namespace kweave

#endif  // KWEAVE_OUTPUT_FILE_H_
