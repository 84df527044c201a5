#include "jobs/workload_name.h"

#include <openssl/evp.h>

#include <array>
#include <cctype>

namespace berth::jobs {
namespace {

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kHashDigits = 5;

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

}  // namespace

std::string workload_name(std::string_view group, std::string_view kind, std::string_view name,
                          std::string_view uid) {
  std::string identity;
  for (const auto part : {kind, group, name}) identity.append(part).append("\n");
  identity.append(uid);
  std::string prefix;
  for (const char c : kind) prefix += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  prefix.append("-").append(name);
  prefix.resize(std::min(prefix.size(), kMaxName - 1 - kHashDigits));
  return prefix + "-" + sha1_digits(identity, kHashDigits);
}

}  // namespace berth::jobs
