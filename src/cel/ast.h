// The syntax tree of a CEL expression.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cel/value.h"

namespace berth::cel {

struct Type;
using TypePtr = std::shared_ptr<const Type>;
struct Function;

struct Expr {
  enum class Kind : std::uint8_t {
    kLiteral,
    kVariable,  // name
    kSelect,    // args[0].name; optional: .?name
    kHas,       // has(args[0].name)
    kIndex,     // args[0][args[1]]; optional: [?...]
    kCall,      // name(args...), or args[0].name(args[1]...) when `member`; operators are calls of "_+_" and the like
    kList,      // [args...]
    kMap,       // {args[0]: args[1], ...}; {?args[0]: args[1]} when optional_entries says so
    kMacro      // args[0].macro(name, args[1], args[2]?)
  };
  enum class Macro : std::uint8_t { kAll, kExists, kExistsOne, kFilter, kMap, kOptMap, kOptFlatMap };

  Kind kind = Kind::kLiteral;
  Macro macro = Macro::kAll;
  bool member = false;
  bool optional = false;
  std::size_t at = 0;  // byte offset in the source; error messages point to it
  std::string name;
  Value literal;
  std::vector<std::unique_ptr<Expr>> args;
  std::vector<bool> optional_entries;  // for kMap: the entry is left out when its value is an empty optional

  // Set by the checker.
  TypePtr type;
  const Function* function = nullptr;  // for kCall
  int slot = -1;                       // for variables and macros: index of the value at run time
};
using ExprPtr = std::unique_ptr<Expr>;

// The slots of the two variables that every rule has; the slots of macro variables follow.
constexpr int kSelfSlot = 0;
constexpr int kOldSelfSlot = 1;

}  // namespace berth::cel
