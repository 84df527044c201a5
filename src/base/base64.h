// Base64 with padding, RFC 4648.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth {

std::string base64_encode(std::string_view bytes);
// White space between characters is skipped, as in PEM and YAML blocks; none when anything else is wrong.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace berth
