#include "base/read_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace berth {

Result<std::string> read_file(const std::string& path) {
  constexpr std::size_t kMaxBytes = 8u << 20;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return fail("cannot read " + path + ": " + std::strerror(EISDIR));
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail("cannot read " + path + ": " + std::strerror(errno));
  std::string content;
  char piece[16 * 1024];
  while (in.read(piece, sizeof piece) || in.gcount() > 0) {
    content.append(piece, static_cast<std::size_t>(in.gcount()));
    if (content.size() > kMaxBytes) return fail(path + " is larger than " + std::to_string(kMaxBytes) + " bytes");
  }
  if (in.bad()) return fail("cannot read " + path);
  return content;
}

}  // namespace berth
