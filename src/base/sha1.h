// SHA-1, for names that other programs compute in the same way. Not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// Returns the first `digits` lower-case hexadecimal digits of the hash, at most 40.
std::string sha1_digits(std::string_view text, std::size_t digits);

}  // namespace berth
