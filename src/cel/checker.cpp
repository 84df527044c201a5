// Resolves the names and types of an expression.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cel/library.h"
#include "cel/program.h"

namespace berth::cel {
namespace {

class Checker {
 public:
  Checker(std::span<const Variable> variables, std::vector<Problem>& problems) : problems_(problems) {
    for (const Variable& variable : variables) scope_.push_back({variable.name, variable.type, slots_++});
  }

  void check(Expr& expr) {
    expr.type = type_of(expr);
    if (!expr.type) expr.type = basic_type(Kind::kDyn);  // the problem is recorded; continue to find more
  }

  int slots() const { return slots_; }
  std::uint64_t used() const { return used_; }

 private:
  struct Local {
    std::string name;
    TypePtr type;
    int slot;
  };

  TypePtr problem(std::size_t at, std::string message) {
    constexpr std::size_t kMost = 20;  // further problems are not recorded
    if (problems_.size() < kMost) problems_.push_back({at, std::move(message)});
    return nullptr;
  }

  TypePtr type_of(Expr& expr) {
    switch (expr.kind) {
      case Expr::Kind::kLiteral:
        return type_of_literal(expr.literal);
      case Expr::Kind::kVariable:
        return variable(expr);
      case Expr::Kind::kSelect:
      case Expr::Kind::kHas:
        return select(expr);
      case Expr::Kind::kIndex:
        return index(expr);
      case Expr::Kind::kCall:
        return call(expr);
      case Expr::Kind::kList:
        return list(expr);
      case Expr::Kind::kMap:
        return map(expr);
      case Expr::Kind::kMacro:
        return macro(expr);
    }
    return nullptr;
  }

  static TypePtr type_of_literal(const Value& value) {
    if (const auto* text = value.as<Text>()) {
      auto type = std::make_shared<Type>(*basic_type(Kind::kString));
      type->max_size = text->view.size();
      return type;
    }
    if (value.as<bool>() != nullptr) return basic_type(Kind::kBool);
    if (value.as<std::int64_t>() != nullptr) return basic_type(Kind::kInt);
    if (value.as<std::uint64_t>() != nullptr) return basic_type(Kind::kUint);
    if (value.as<double>() != nullptr) return basic_type(Kind::kDouble);
    if (value.as<Bytes>() != nullptr) return basic_type(Kind::kBytes);
    return basic_type(Kind::kNull);
  }

  TypePtr variable(Expr& expr) {
    for (auto it = scope_.rbegin(); it != scope_.rend(); ++it) {
      if (it->name != expr.name) continue;
      if (!it->type) break;
      expr.slot = it->slot;
      if (it->slot < 64) used_ |= std::uint64_t{1} << static_cast<unsigned>(it->slot);
      return it->type;
    }
    if (type_constant(expr)) return basic_type(Kind::kType);
    return problem(expr.at, fmt::format("undeclared reference to '{}' (in container '')", expr.name));
  }

  // Type names as values, as in `type(x) == string`.
  static bool type_constant(Expr& expr) {
    static constexpr std::array<std::string_view, 10> kTypes = {"bool",  "int",  "uint", "double",    "string",
                                                                "bytes", "list", "map",  "null_type", "type"};
    const auto* type = std::find(kTypes.begin(), kTypes.end(), expr.name);
    if (type == kTypes.end()) return false;
    expr.kind = Expr::Kind::kLiteral;
    expr.literal = TypeName{*type};
    return true;
  }

  TypePtr select(Expr& expr) {
    check(*expr.args[0]);
    const bool from_optional = expr.args[0]->type->kind == Kind::kOptional;
    const Type& operand = from_optional ? *expr.args[0]->type->element : *expr.args[0]->type;
    TypePtr field;
    if (operand.kind == Kind::kDyn) {
      field = basic_type(Kind::kDyn);
    } else if (operand.kind == Kind::kMap) {
      field = operand.element;
    } else if (operand.kind == Kind::kObject) {
      expr.name = unescape_field(expr.name);
      field = field_type(operand, expr.name);
      if (!field) return problem(expr.at, fmt::format("undefined field '{}'", expr.name));
    } else {
      return problem(expr.at, fmt::format("type '{}' does not support field selection", to_string(operand)));
    }
    if (expr.kind == Expr::Kind::kHas) return basic_type(Kind::kBool);
    return expr.optional || from_optional ? optional_type(field) : field;
  }

  TypePtr index(Expr& expr) {
    check(*expr.args[0]);
    check(*expr.args[1]);
    const bool from_optional = expr.args[0]->type->kind == Kind::kOptional;
    const Type& operand = from_optional ? *expr.args[0]->type->element : *expr.args[0]->type;
    const Type& key = *expr.args[1]->type;
    TypePtr element;
    if (operand.kind == Kind::kDyn) {
      element = basic_type(Kind::kDyn);
    } else if (operand.kind == Kind::kList &&
               (key.kind == Kind::kInt || key.kind == Kind::kUint || key.kind == Kind::kDyn)) {
      element = operand.element;
    } else if (operand.kind == Kind::kMap && assignable(*operand.key, key)) {
      element = operand.element;
    } else {
      return no_overload(expr.at, "_[_]", {expr.args[0]->type, expr.args[1]->type});
    }
    return expr.optional || from_optional ? optional_type(element) : element;
  }

  TypePtr no_overload(std::size_t at, std::string_view name, const std::vector<TypePtr>& types, bool member = false) {
    std::string list;
    const std::size_t first = member ? 1 : 0;
    for (std::size_t i = first; i < types.size(); ++i) list += (i > first ? ", " : "") + to_string(*types[i]);
    std::string applied = member ? fmt::format("{}.({})", to_string(*types[0]), list) : fmt::format("({})", list);
    return problem(at, fmt::format("found no matching overload for '{}' applied to '{}'", name, applied));
  }

  TypePtr call(Expr& expr) {
    std::vector<TypePtr> types;
    for (const ExprPtr& arg : expr.args) {
      check(*arg);
      types.push_back(arg->type);
    }
    expr.function = find_function(expr.name, expr.member);
    if (expr.function == nullptr) {
      return problem(expr.at, fmt::format("undeclared reference to '{}' (in container '')", expr.name));
    }
    if (expr.function->lazy == Lazy::kConditional) return conditional(expr, types);
    if ((expr.name == "_==_" || expr.name == "_!=_") && !assignable(*types[0], *types[1]))
      return no_overload(expr.at, expr.name, types);
    if (expr.name == "@in" && types[1]->kind == Kind::kList && !assignable(*types[0], *types[1]->element))
      return no_overload(expr.at, expr.name, types);
    TypePtr result = result_of(*expr.function, types);
    return result ? result : no_overload(expr.at, expr.name, types, expr.member);
  }

  TypePtr conditional(Expr& expr, const std::vector<TypePtr>& types) {
    const bool condition = types[0]->kind == Kind::kBool || types[0]->kind == Kind::kDyn;
    if (!condition || !assignable(*types[1], *types[2])) return no_overload(expr.at, expr.name, types);
    if (types[1]->kind == Kind::kNull) return types[2];
    if (types[2]->kind == Kind::kDyn) return types[2];
    auto either = std::make_shared<Type>(*types[1]);
    either->max_size = std::max(types[1]->max_size, types[2]->max_size);
    return either;
  }

  TypePtr list(Expr& expr) {
    TypePtr element;
    for (const ExprPtr& arg : expr.args) {
      check(*arg);
      element = joined(element, arg->type);
    }
    return list_type(element ? element : basic_type(Kind::kDyn), expr.args.size());
  }

  static TypePtr joined(const TypePtr& a, const TypePtr& b) {
    if (!a) return b;
    if (a->kind != b->kind || !assignable(*a, *b)) return basic_type(Kind::kDyn);
    return a->max_size >= b->max_size ? a : b;
  }

  TypePtr map(Expr& expr) {
    TypePtr key, value;
    for (std::size_t i = 0; i + 1 < expr.args.size(); i += 2) {
      check(*expr.args[i]);
      check(*expr.args[i + 1]);
      key = joined(key, expr.args[i]->type);
      TypePtr entry = expr.args[i + 1]->type;
      if (expr.optional_entries[i / 2]) {
        if (entry->kind != Kind::kOptional && entry->kind != Kind::kDyn)
          return problem(expr.args[i + 1]->at,
                         fmt::format("expected type 'optional_type' but found '{}'", to_string(*entry)));
        if (entry->kind == Kind::kOptional) entry = entry->element;
      }
      value = joined(value, entry);
    }
    return map_type(key ? key : basic_type(Kind::kDyn), value ? value : basic_type(Kind::kDyn), expr.args.size() / 2);
  }

  TypePtr macro(Expr& expr) {
    check(*expr.args[0]);
    const Type range = *expr.args[0]->type;
    const bool of_optional = expr.macro == Expr::Macro::kOptMap || expr.macro == Expr::Macro::kOptFlatMap;
    TypePtr item;
    if (range.kind == Kind::kDyn) {
      item = basic_type(Kind::kDyn);
    } else if (of_optional ? range.kind == Kind::kOptional : range.kind == Kind::kList) {
      item = range.element;
    } else if (!of_optional && range.kind == Kind::kMap) {
      item = range.key;
    } else {
      return problem(
          expr.args[0]->at,
          fmt::format("expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                      to_string(range)));
    }
    expr.slot = slots_++;
    scope_.push_back({expr.name, item, expr.slot});
    for (std::size_t i = 1; i < expr.args.size(); ++i) check(*expr.args[i]);
    scope_.pop_back();
    return result_of_macro(expr, range);
  }

  TypePtr result_of_macro(Expr& expr, const Type& range) {
    const TypePtr& last = expr.args.back()->type;
    const bool filters = expr.macro == Expr::Macro::kMap && expr.args.size() == 3;
    const TypePtr& predicate = expr.args[1]->type;
    switch (expr.macro) {
      case Expr::Macro::kMap:
        if (filters && predicate->kind != Kind::kBool && predicate->kind != Kind::kDyn) break;
        return list_type(last, range.max_size);
      case Expr::Macro::kOptMap:
        return optional_type(last);
      case Expr::Macro::kOptFlatMap:
        return last;
      default:
        break;
    }
    if (predicate->kind != Kind::kBool && predicate->kind != Kind::kDyn) {
      return problem(expr.args[1]->at, fmt::format("expected type 'bool' but found '{}'", to_string(*predicate)));
    }
    if (expr.macro != Expr::Macro::kFilter) return basic_type(Kind::kBool);
    return list_type(range.kind == Kind::kMap    ? range.key
                     : range.kind == Kind::kList ? range.element
                                                 : basic_type(Kind::kDyn),
                     range.max_size);
  }

  std::vector<Local> scope_;
  std::vector<Problem>& problems_;
  int slots_ = 0;
  std::uint64_t used_ = 0;
};

}  // namespace

std::shared_ptr<Program> compile(std::string_view source, std::span<const Variable> variables,
                                 std::vector<Problem>& problems) {
  auto program = std::make_shared<Program>();
  program->root = parse(source, problems);
  if (!program->root) return nullptr;
  Checker checker(variables, problems);
  checker.check(*program->root);
  if (!problems.empty()) return nullptr;
  program->result = program->root->type;
  program->slots = checker.slots();
  program->used = checker.used();
  program->worst_cost = worst_cost(*program->root);
  return program;
}

std::shared_ptr<Program> compile(std::string_view source, const TypePtr& self, const TypePtr& old_self,
                                 std::vector<Problem>& problems) {
  return compile(source, std::array{Variable{"self", self}, Variable{"oldSelf", old_self}}, problems);
}

}  // namespace berth::cel
