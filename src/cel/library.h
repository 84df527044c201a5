// The functions and operators that rules can call: the CEL standard library, the string, list, set and regex
// extensions that Kubernetes provides, and quantities. https://kubernetes.io/docs/reference/using-api/cel/
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cel/types.h"
#include "cel/value.h"

namespace berth::cel {

// How the cost of a call depends on its arguments, in addition to the cost of computing them.
enum class CostKind : std::uint8_t {
  kConstant,  // 1
  kFirst,     // 0.1 per byte of the first argument
  kSecond,    // 0.1 per byte of the second argument (prefixes and suffixes)
  kBoth,      // 0.1 per byte of both (concatenation)
  kLesser,    // 0.1 per byte of the smaller one of the first two (comparisons)
  kProduct,   // cost of the first times cost of the second (searching)
  kRegex,     // cost of the first times 0.25 per byte of the expression
  kEntries    // 1 per entry of the last argument (membership)
};

// Operators that evaluate only some of their arguments; the evaluator implements them.
enum class Lazy : std::uint8_t { kNone, kAnd, kOr, kConditional };

struct Function {
  std::string_view name;
  bool member = false;
  // One letter per argument and, after a colon, the result; several alternatives are separated by spaces. Letters: b
  // bool, i int, u uint, d double, s string, y bytes, D duration, T timestamp, L list, M map, Q quantity, O optional,
  // t type, * anything. Additional letters for results: = the type of the first argument, e its element type, l list
  // of strings, o optional of the first argument.
  std::string_view signatures;
  CostKind cost = CostKind::kConstant;
  Value (*run)(std::span<const Value> args) = nullptr;  // fails with "no such overload" for values of the wrong type
  Lazy lazy = Lazy::kNone;
};

// Null when there is no such function. `member` distinguishes methods from functions of the same name.
const Function* find_function(std::string_view name, bool member);

// The result type for arguments of these types, or null when no signature matches.
TypePtr result_of(const Function& function, std::span<const TypePtr> args);

Value no_such_overload();

}  // namespace berth::cel
