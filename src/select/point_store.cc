#include "select/point_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/hash_index.h"
#include "kweave/error.h"

namespace kweave {
namespace {

constexpr const char* kChecksum = "checksum";  // the last member of every line
constexpr const char* kKey = "key";            // what a line is kept under

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string ChecksumOf(const Json& line) {
  std::uint64_t hash = 0;
  for (const char c : Dump(line)) hash = MixHash(hash, static_cast<unsigned char>(c));
  return fmt::format("{:016x}", hash);
}

std::string Sealed(Json line) {
  line[kChecksum] = ChecksumOf(line);
  return Dump(line) + "\n";
}

// The line without its checksum; nothing where that does not fit.
std::optional<Json> Unsealed(const std::string& text) {
  Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object() || !line.contains(kChecksum) || !line[kChecksum].is_string()) return std::nullopt;
  const std::string checksum = line[kChecksum].get<std::string>();
  line.erase(kChecksum);
  if (ChecksumOf(line) != checksum) return std::nullopt;
  return line;
}

[[noreturn]] void FailWrite(const std::string& path) {
  throw Error(ErrorKind::kResource, fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
}

// Throws where two requests differ, naming the first option that does.
void RequireSame(const std::string& path, const Json& then, const Json& now) {
  for (const auto& [name, value] : now.items()) {
    const Json before = then.contains(name) ? then.at(name) : Json();
    if (before == value) continue;
    std::string what = name, was = Dump(before), is = Dump(value);
    if (value.is_object() && before.is_object()) {
      for (const auto& [inner, own] : value.items()) {
        if (before.contains(inner) && before.at(inner) == own) continue;
        what = inner, was = before.contains(inner) ? Dump(before.at(inner)) : "absent", is = Dump(own);
        break;
      }
    }
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{} was begun with other options: `{}` was {}, now it is {}; give another folder, "
                    "or remove this one",
                    path, what, was, is),
        {what, is, was});
  }
}

}  // namespace

PointStore::PointStore(const std::string& folder, const Json& request, const std::vector<std::string>& merge,
                       const std::string& suffix)
    : folder_(folder), request_(request) {
  std::error_code code;
  if (std::filesystem::exists(folder, code) && !std::filesystem::is_directory(folder, code)) {
    throw Error(ErrorKind::kUsage, fmt::format("{} is a file, expected a folder, or nothing yet", folder));
  }
  std::filesystem::create_directories(std::filesystem::path(folder) / "paths", code);
  if (code)
    throw Error(ErrorKind::kResource, fmt::format("{}: cannot make this folder: {}", folder, code.message()));
  path_ = (std::filesystem::path(folder) / (suffix.empty() ? "points.jsonl" : "points-" + suffix + ".jsonl"))
              .string();
  Open();
  ReadFolder(folder);
  for (const std::string& other : merge) {
    if (!std::filesystem::is_directory(other, code))
      throw Error(ErrorKind::kData, fmt::format("{}: there is no such folder to merge", other));
    ReadFolder(other);
  }
}

PointStore::~PointStore() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PointStore::Open() {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) FailWrite(path_);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: another run is writing to it", path_));
  }
  ReadFile(path_, /*is_own=*/true);
}

void PointStore::ReadFolder(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_own = std::filesystem::path(path_).lexically_normal() == entry.path().lexically_normal();
    if (name.starts_with("points") && name.ends_with(".jsonl") && !is_own)
      ReadFile(entry.path().string(), false);
  }
}

void PointStore::ReadFile(const std::string& path, bool is_own) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error(ErrorKind::kData, fmt::format("{}: cannot open this file", path));
  std::stringstream buffer;
  buffer << stream.rdbuf();
  const std::string text = buffer.str();
  std::size_t begin = 0, number = 1;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1, ++number) {
    const std::optional<Json> line = Unsealed(text.substr(begin, end - begin));
    if (!line)
      throw Error(ErrorKind::kData,
                  fmt::format("{}: line {} is damaged: its checksum does not match", path, number));
    if (number == 1) {
      RequireSame(path, *line, request_);
    } else if (line->contains(kKey) && line->at(kKey).is_string()) {
      lines_[line->at(kKey).get<std::string>()] = *line;
    }
  }
  if (!is_own) return;
  // What a kill cut off.
  if (begin < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(begin)) != 0) FailWrite(path);
  if (begin > 0) return;
  const std::string header = Sealed(request_);
  if (::write(descriptor_, header.data(), header.size()) != static_cast<ssize_t>(header.size()))
    FailWrite(path);
}

const Json* PointStore::Find(const std::string& key) const {
  const auto found = lines_.find(key);
  return found == lines_.end() ? nullptr : &found->second;
}

void PointStore::Append(const std::string& key, Json line) {
  Json keyed = {{kKey, key}};
  keyed.update(line);
  if (descriptor_ >= 0) {
    const std::string text = Sealed(keyed);
    if (::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fdatasync(descriptor_) != 0)
      FailWrite(path_);
  }
  lines_[key] = std::move(keyed);
}

std::string PointStore::StatePath(const std::string& key) const {
  std::string name = key;
  for (char& c : name) c = c == ' ' || c == '/' ? '-' : c;
  return (std::filesystem::path(folder_) / "paths" / (name + ".kweave")).string();
}

std::optional<Model> PointStore::LoadState(const std::string& key) const {
  std::error_code code;
  if (folder_.empty() || !std::filesystem::exists(StatePath(key), code)) return std::nullopt;
  return Model::Load(StatePath(key));
}

void PointStore::SaveState(const std::string& key, const Model& model) const {
  if (!folder_.empty()) model.Save(StatePath(key));
}

void PointStore::RemoveState(const std::string& key) const {
  std::error_code code;
  if (!folder_.empty()) std::filesystem::remove(StatePath(key), code);
}

}  // namespace kweave
