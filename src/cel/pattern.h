// Regular expressions of schemas and of expressions.
#pragma once

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace berth::cel {

// Compiles a pattern; matching takes linear time, as in Go's regexp. Never null: ok() is false when it did not
// compile.
std::shared_ptr<const re2::RE2> compile_pattern(std::string_view pattern);

}  // namespace berth::cel
