#include "embedded/commands/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/sync_directory.h"

namespace berth::cli {
namespace {

std::string read_pid(int file) {
  char text[32] = {};
  const ssize_t n = ::pread(file, text, sizeof text - 1, 0);
  std::string pid(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid;
}

}  // namespace

Result<DataDir> DataDir::open(const std::string& path) {
  const auto failed = [&](const std::string& why) { return fail("the data directory " + path + " " + why); };
  std::error_code error;
  const bool fresh = std::filesystem::create_directories(path, error);
  if (error) return failed("cannot be made: " + error.message());
  if (fresh) {
    ::chmod(path.c_str(), S_IRWXU);
    auto parent = std::filesystem::absolute(path, error).lexically_normal();
    if (!parent.has_filename()) parent = parent.parent_path();
    if (auto synced = sync_directory(parent.parent_path()); !synced) return failed(synced.error().message);
  }
  const std::string name = path + "/lock";
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return failed(std::string("cannot be written: ") + std::strerror(errno));
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    const std::string pid = read_pid(file);
    ::close(file);
    return failed("is in use by another berth" + (pid.empty() ? "" : " (process " + pid + ")"));
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, pid.data(), pid.size(), 0) < 0) {
    const std::string why = std::strerror(errno);
    ::close(file);
    return failed("cannot be written: " + why);
  }
  return DataDir(path, file);
}

DataDir::DataDir(DataDir&& other) noexcept : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataDir::~DataDir() {
  if (lock_ >= 0) ::close(lock_);  // also releases the lock
}

std::string default_data_dir() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/')
    return std::string(data) + "/berth";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::string(home) + "/.local/share/berth";
  return "berth-data";
}

}  // namespace berth::cli
