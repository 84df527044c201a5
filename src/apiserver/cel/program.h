// A compiled rule or message expression.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "apiserver/cel/ast.h"
#include "apiserver/cel/parser.h"
#include "apiserver/cel/types.h"

namespace berth::apiserver::cel {

struct Program {
  ExprPtr root;
  TypePtr result;  // schemas it points to live as long as the one it was compiled for
  int slots = 2;   // values it needs while running
  bool uses_old_self = false;
  std::uint64_t worst_cost =
      0;  // of one run, by the limits of the schema; kUnknownSize when nothing limits it
};

// Null when there are problems. `old_self` is the type of oldSelf, usually the same as of self.
std::shared_ptr<Program> compile(std::string_view source, const TypePtr& self, const TypePtr& old_self,
                                 std::vector<Problem>& problems);

// The worst case of a checked expression, in cel-go's units: about 1 per step, a tenth per byte of text.
std::uint64_t worst_cost(const Expr& root);

// What a run may still cost. Running out is an error of the rule.
struct Budget {
  static constexpr std::int64_t kPerRule = 1'000'000;     // as a server's limit of one evaluation
  static constexpr std::int64_t kPerObject = 10'000'000;  // and of all rules of one object
  std::int64_t left = kPerRule;
};

// `old_self` may be null for programs that do not use it.
Value run(const Program& program, const Value& self, const Value* old_self, Budget& budget);

}  // namespace berth::apiserver::cel
