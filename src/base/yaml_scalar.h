// What an unquoted YAML scalar means.
#pragma once

#include <string_view>

#include "base/json.h"

namespace berth {

// null, true/false, integers (decimal, 0x, 0o, 0b, leading 0 is octal, _ between digits), decimals, else a
// string. Whole decimals become integers ("1.0" is 1), as they do on their way through kubectl. Error: .inf
// and .nan.
Result<Json> resolve_yaml_scalar(std::string_view text);

}  // namespace berth
