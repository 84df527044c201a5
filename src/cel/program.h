// A compiled rule or message expression.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/ast.h"
#include "cel/parser.h"
#include "cel/types.h"

namespace berth::cel {

struct Program {
  ExprPtr root;
  TypePtr result;          // the schemas in it live as long as the schema that this was compiled for
  int slots = 0;           // number of values that a run stores; the variables come first
  std::uint64_t used = 0;  // the bits of the slots of the variables that the expression names
  bool uses(int slot) const { return (used >> static_cast<unsigned>(slot) & 1U) != 0; }
  bool uses_old_self() const { return uses(kOldSelfSlot); }  // for compile() with self and oldSelf
  std::uint64_t worst_cost =
      0;  // worst-case cost of one run within the limits of the schema; kUnknownSize when it is unbounded
};

// A value that an expression can name. Its slot is its place in the list of variables, of which there are at most 64.
struct Variable {
  std::string name;
  TypePtr type;
};

// Returns null when there are problems.
std::shared_ptr<Program> compile(std::string_view source, std::span<const Variable> variables,
                                 std::vector<Problem>& problems);
// An expression of two variables, self and oldSelf. `old_self` is the type of oldSelf, usually the same as that of
// self.
std::shared_ptr<Program> compile(std::string_view source, const TypePtr& self, const TypePtr& old_self,
                                 std::vector<Problem>& problems);

// The worst-case cost of a checked expression, in cel-go's units: about 1 per step, 0.1 per byte of text.
std::uint64_t worst_cost(const Expr& root);

// The cost that a run may still use. Exceeding it is an error of the rule.
struct Budget {
  static constexpr std::int64_t kPerRule = 1'000'000;     // limit of one evaluation, as in kube-apiserver
  static constexpr std::int64_t kPerObject = 10'000'000;  // limit of all rules of one object, as in kube-apiserver
  std::int64_t left = kPerRule;
};

// `values`: those of the variables, in the order of compile().
Value run(const Program& program, std::span<const Value> values, Budget& budget);
// `old_self` may be null for programs that do not use it.
Value run(const Program& program, const Value& self, const Value* old_self, Budget& budget);

}  // namespace berth::cel
