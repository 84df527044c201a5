// The value of an unquoted YAML scalar.
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth {

// Returns null, true/false, an integer (decimal, 0x, 0o, 0b, leading 0 is octal, _ between digits), a decimal, else a
// string. Whole decimals become integers ("1.0" is 1), as kubectl converts them. Error for .inf and .nan.
Result<Json> resolve_yaml_scalar(std::string_view text);

}  // namespace berth
