// CEL's grammar. https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/cel/ast.h"

namespace berth::apiserver::cel {

struct Problem {
  std::size_t at = 0;  // byte offset in the source
  std::string message;
};

constexpr std::size_t kMaxSource = 100'000;  // bytes; as cel-go's limit on expressions
constexpr int kMaxDepth = 250;               // of nesting; as cel-go's

// Null when there are problems.
ExprPtr parse(std::string_view source, std::vector<Problem>& problems);

// "ERROR: <input>:1:5: undefined field 'b'\n | self.b == 1\n | ....^", one after the other.
std::string display(std::string_view source, const std::vector<Problem>& problems);

}  // namespace berth::apiserver::cel
