// SHA-1, for names that others compute in the same way; not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// The first `digits` lower-case hexadecimal digits of the sum, at most 40.
std::string sha1_digits(std::string_view text, std::size_t digits);

}  // namespace berth
