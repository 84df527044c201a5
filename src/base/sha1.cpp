#include "base/sha1.h"

#include <openssl/evp.h>

#include <array>

namespace berth {

std::string sha1_digits(std::string_view text, std::size_t digits) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), sum.data(), &size, EVP_sha1(), nullptr);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < size && out.size() < digits; ++i) {
    out += kHex[sum[i] >> 4];
    if (out.size() < digits) out += kHex[sum[i] & 15];
  }
  return out;
}

}  // namespace berth
