// The parser of CEL. https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cel/ast.h"

namespace berth::cel {

struct Problem {
  std::size_t at = 0;  // byte offset in the source
  std::string message;
};

constexpr std::size_t kMaxSource = 100'000;  // bytes; the same limit as cel-go
constexpr int kMaxDepth = 250;               // nesting depth; the same limit as cel-go

// Returns null when there are problems.
ExprPtr parse(std::string_view source, std::vector<Problem>& problems);

// Formats the problems one after the other: "ERROR: <input>:1:5: undefined field 'b'\n | self.b == 1\n | ....^".
std::string display(std::string_view source, const std::vector<Problem>& problems);

}  // namespace berth::cel
