// The functions and operators that rules can call: CEL's own, its string, list, set and regex extensions as
// Kubernetes has them, and quantities. https://kubernetes.io/docs/reference/using-api/cel/
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "apiserver/cel/types.h"
#include "apiserver/cel/value.h"

namespace berth::apiserver::cel {

// How the cost of a call grows with its arguments, beyond what they cost themselves.
enum class CostKind : std::uint8_t {
  kConstant,  // 1
  kFirst,     // a tenth per byte of the first argument
  kSecond,    // the same of the second (prefixes and suffixes)
  kBoth,      // of both (joining texts)
  kLesser,    // of the smaller of the first two (comparisons)
  kProduct,   // of the first, times that of the second (searching)
  kRegex,     // of the first, times a quarter per byte of the expression
  kEntries    // 1 per entry of the last argument (membership)
};

// Operators that look at some of their arguments only; the evaluator runs them itself.
enum class Lazy : std::uint8_t { kNone, kAnd, kOr, kConditional };

struct Function {
  std::string_view name;
  bool member = false;
  // One letter per argument and, behind a colon, the result; several alternatives separated by blanks.
  // Letters: b bool, i int, u uint, d double, s string, y bytes, D duration, T timestamp, L list, M map, Q
  // quantity, O optional, t type,
  // * anything. Results besides: = as the first argument, e its element, l list of strings, o optional of the
  // first.
  std::string_view signatures;
  CostKind cost = CostKind::kConstant;
  Value (*run)(std::span<const Value> args) =
      nullptr;  // fails with "no such overload" for values it does not take
  Lazy lazy = Lazy::kNone;
};

// Null when there is no such function. Methods and functions of one name are told apart by `member`.
const Function* find_function(std::string_view name, bool member);

// The result for arguments of these types, or null when no signature takes them.
TypePtr result_of(const Function& function, std::span<const TypePtr> args);

Value no_such_overload();

}  // namespace berth::apiserver::cel
