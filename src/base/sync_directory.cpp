#include "base/sync_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace berth {

Result<void> sync_directory(const std::string& path) {
  const std::string name = path.empty() ? "." : path;
  const int directory = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool fine = directory >= 0 && (::fsync(directory) == 0 || errno == EINVAL || errno == ENOTSUP);
  const int error = errno;
  if (directory >= 0) ::close(directory);
  if (!fine) return fail("the directory " + name + " cannot be synced: " + std::strerror(error));
  return {};
}

}  // namespace berth
