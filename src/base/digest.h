// SHA-1 and SHA-256, for names and keys that other programs compute in the same way. Not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// Returns the first `digits` lower-case hexadecimal digits of the hash, at most 40.
std::string sha1_digits(std::string_view text, std::size_t digits);
// The same for SHA-256, at most 64.
std::string sha256_digits(std::string_view text, std::size_t digits);

}  // namespace berth
