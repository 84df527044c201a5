#include "support/scratch_dir.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace berth::testing_support {
namespace {

constexpr std::uintmax_t kRoom = std::uintmax_t{2} << 30;  // bytes, for the tests that run at the same time

bool has_room(const char* directory) {
  std::error_code failed;
  const auto space = std::filesystem::space(directory, failed);
  return !failed && space.available >= kRoom && ::access(directory, W_OK | X_OK) == 0;
}

}  // namespace

std::string make_scratch_dir(const std::string& name) {
  std::string pattern = std::string(has_room("/dev/shm") ? "/dev/shm" : "/tmp") + "/" + name + "_XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error(pattern + ": " + std::strerror(errno));
  return pattern;
}

}  // namespace berth::testing_support
