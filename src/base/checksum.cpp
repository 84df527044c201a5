#include "base/checksum.h"

namespace berth {
namespace {

// Little-endian, whatever the machine.
std::uint64_t word_at(const char* p, std::size_t bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes; ++i) word |= std::uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  return word;
}

}  // namespace

Checksum& Checksum::add(std::string_view bytes) {
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) add(word_at(p, 8));
  add(word_at(p, left));
  return add(static_cast<std::uint64_t>(bytes.size()));
}

}  // namespace berth
