#include "base/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cctype>

namespace berth {

std::string base64_encode(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (const char c : text) {
    if (!std::isspace(static_cast<unsigned char>(c))) clean += c;
  }
  const std::size_t padding = clean.ends_with("==")  ? 2
                              : clean.ends_with('=') ? 1
                                                     : 0;  // of the last group of four characters
  const bool stray = clean.size() % 4 != 0 || std::count(clean.begin(), clean.end(), '=') != static_cast<long>(padding);
  if (stray) return std::nullopt;
  std::string out(clean.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(clean.data()), static_cast<int>(clean.size()));
  if (size < 0) return std::nullopt;
  out.resize(static_cast<std::size_t>(size) - padding);
  return out;
}

std::string base64url_encode(std::string_view bytes) {
  std::string out = base64_encode(bytes);
  out.resize(std::min(out.find('='), out.size()));
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

std::optional<std::string> base64url_decode(std::string_view text) {
  std::string plain(text);
  const bool stray =
      std::any_of(plain.begin(), plain.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_'; });
  if (stray) return std::nullopt;
  std::replace(plain.begin(), plain.end(), '-', '+');
  std::replace(plain.begin(), plain.end(), '_', '/');
  plain.append((4 - plain.size() % 4) % 4, '=');
  return base64_decode(plain);
}

}  // namespace berth
