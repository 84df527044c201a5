#include "embedded/apiserver/requests/continue_token.h"

#include <array>
#include <cstdint>

#include "base/json.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string to_base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<std::uint8_t>(c);
    for (count += 8; count >= 6; count -= 6) text += kDigits[bits >> (count - 6) & 0x3f];
  }
  if (count > 0) text += kDigits[bits << (6 - count) & 0x3f];
  return text;
}

Result<std::string> from_base64url(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = kDigits.find(text[i]);
    if (digit == std::string_view::npos) return fail("illegal base64 data at input byte " + std::to_string(i));
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
  }
  return bytes;
}

}  // namespace

std::string encode(const ContinueToken& token) {
  const Json json =
      JsonObject{{"v", "meta.k8s.io/v1"}, {"rv", token.revision}, {"start", token.after + std::string(1, '\0')}};
  return to_base64url(to_string(json));
}

Result<ContinueToken> decode_continue(std::string_view text) {
  const auto bytes = from_base64url(text);
  if (!bytes) return fail("continue key is not valid: " + bytes.error().message);
  const auto json = parse_json(*bytes);
  if (!json) return fail("continue key is not valid: " + json.error().message);
  if (string_at(*json, {"v"}) != "meta.k8s.io/v1") {
    return fail("continue key is not valid: server does not recognize this encoded version \"" +
                std::string(string_at(*json, {"v"})) + "\"");
  }
  ContinueToken token;
  token.revision = int_at(*json, {"rv"});
  token.after = string_at(*json, {"start"});
  if (token.revision == 0) return fail("continue key is not valid: incorrect encoded start resourceVersion");
  if (token.after.empty()) return fail("continue key is not valid: no start");
  if (token.after.back() == '\0') token.after.pop_back();
  return token;
}

}  // namespace berth::apiserver
