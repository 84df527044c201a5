// Base64, RFC 4648.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth {

// With padding.
std::string base64_encode(std::string_view bytes);
// Skips white space between characters, as in PEM and YAML blocks. Returns nullopt for any other invalid text.
std::optional<std::string> base64_decode(std::string_view text);

// For URLs and JSON Web Tokens: '-' and '_' instead of '+' and '/', no padding, no white space.
std::string base64url_encode(std::string_view bytes);
std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace berth
