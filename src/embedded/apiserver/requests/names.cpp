#include "embedded/apiserver/requests/names.h"

#include <array>

namespace berth::apiserver {
namespace {

// Kubernetes' alphabet: no vowels and no characters that look like vowels, so that generated names contain no words.
constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kSuffix = 5;
constexpr std::size_t kMaxGenerated = 63;

std::uint64_t from_system() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

Names::Names(std::uint64_t seed) : random_(seed != 0 ? seed : from_system()) {}

std::uint64_t Names::below(std::uint64_t bound) { return random_() % bound; }

std::string Names::uid() {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = random_();
    for (std::size_t j = 0; j < 8; ++j, word >>= 8) bytes[i + j] = static_cast<std::uint8_t>(word);
  }
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kHex[bytes[i] >> 4];
    text += kHex[bytes[i] & 0x0f];
  }
  return text;
}

std::string Names::generate(std::string_view prefix) {
  std::string name(prefix.substr(0, kMaxGenerated - kSuffix));
  for (std::size_t i = 0; i < kSuffix; ++i) name += kAlphabet[below(kAlphabet.size())];
  return name;
}

}  // namespace berth::apiserver
