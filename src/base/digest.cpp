#include "base/digest.h"

#include <openssl/evp.h>

#include <array>

namespace berth {
namespace {

std::string hex_digits(const EVP_MD* kind, std::string_view text, std::size_t digits) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), sum.data(), &size, kind, nullptr);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < size && out.size() < digits; ++i) {
    out += kHex[sum[i] >> 4];
    if (out.size() < digits) out += kHex[sum[i] & 15];
  }
  return out;
}

}  // namespace

std::string sha1_digits(std::string_view text, std::size_t digits) { return hex_digits(EVP_sha1(), text, digits); }
std::string sha256_digits(std::string_view text, std::size_t digits) { return hex_digits(EVP_sha256(), text, digits); }

}  // namespace berth
