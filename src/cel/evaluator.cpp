// Evaluates checked expressions.
#include <fmt/format.h>

#include <array>

#include "base/assert.h"
#include "cel/library.h"
#include "cel/program.h"

namespace berth::cel {
namespace {

std::string shown(const Value& key) {
  if (const auto* text = key.as<Text>()) return std::string(text->view);
  if (const auto* i = key.as<std::int64_t>()) return std::to_string(*i);
  return std::string(type_name(key));
}

class Evaluator {
 public:
  Evaluator(const Program& program, std::span<const Value> values, Budget& budget)
      : slots_(values.begin(), values.end()), budget_(budget) {
    slots_.resize(static_cast<std::size_t>(program.slots));
  }

  Value value(const Expr& expr) {
    if (!spend(1)) return out_of_budget();
    switch (expr.kind) {
      case Expr::Kind::kLiteral:
        return expr.literal;
      case Expr::Kind::kVariable:
        return slots_[static_cast<std::size_t>(expr.slot)];
      case Expr::Kind::kSelect:
        return select(expr);
      case Expr::Kind::kHas:
        return has(expr);
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
    return no_such_overload();
  }

 private:
  bool spend(std::size_t cost) {
    budget_.left -= static_cast<std::int64_t>(cost);
    return budget_.left >= 0;
  }
  static Value out_of_budget() { return failure("operation cancelled: actual cost limit exceeded"); }

  // Unwraps an optional operand. Returns false for an empty optional, which stays empty.
  static bool open_optional(Value& operand, bool& wrapped) {
    const auto* optional = operand.as<Optional>();
    if (optional == nullptr) return true;
    wrapped = true;
    if (!optional->value) return false;
    operand = Value(*optional->value);
    return true;
  }
  static Value wrap(bool wrapped, Value value) {
    return wrapped ? Value(Optional{std::make_shared<const Value>(std::move(value))}) : value;
  }

  Value select(const Expr& expr) {
    Value operand = value(*expr.args[0]);
    if (operand.failed()) return operand;
    bool wrapped = expr.optional;
    if (!open_optional(operand, wrapped)) return Optional{};
    Value out;
    if (!is_map(operand)) return no_such_overload();
    if (member(operand, std::string_view(expr.name), out)) return wrap(wrapped, std::move(out));
    return wrapped ? Value(Optional{}) : failure("no such key: " + expr.name);
  }

  Value has(const Expr& expr) {
    Value operand = value(*expr.args[0]);
    if (operand.failed()) return operand;
    bool wrapped = false;
    if (!open_optional(operand, wrapped)) return false;
    Value ignored;
    if (!is_map(operand)) return no_such_overload();
    return member(operand, std::string_view(expr.name), ignored);
  }

  Value index(const Expr& expr) {
    Value operand = value(*expr.args[0]);
    if (operand.failed()) return operand;
    Value key = value(*expr.args[1]);
    if (key.failed()) return key;
    bool wrapped = expr.optional;
    if (!open_optional(operand, wrapped)) return Optional{};
    if (is_map(operand)) {
      Value out;
      if (member(operand, key, out)) return wrap(wrapped, std::move(out));
      if (const auto* map = operand.as<Map>(); map != nullptr && map->otherwise) return wrap(wrapped, *map->otherwise);
      return wrapped ? Value(Optional{}) : failure("no such key: " + shown(key));
    }
    if (!is_list(operand)) return no_such_overload();
    std::int64_t at = 0;
    if (const auto* i = key.as<std::int64_t>()) {
      at = *i;
    } else if (const auto* u = key.as<std::uint64_t>(); u != nullptr && *u <= INT64_MAX) {
      at = static_cast<std::int64_t>(*u);
    } else {
      return no_such_overload();
    }
    if (at >= 0 && static_cast<std::uint64_t>(at) < length(operand))
      return wrap(wrapped, item(operand, static_cast<std::size_t>(at)));
    return wrapped ? Value(Optional{}) : failure(fmt::format("index out of bounds: {}", at));
  }

  Value call(const Expr& expr) {
    switch (expr.function->lazy) {
      case Lazy::kAnd:
        return logical(expr, false);
      case Lazy::kOr:
        return logical(expr, true);
      case Lazy::kConditional:
        return conditional(expr);
      case Lazy::kNone:
        break;
    }
    // The largest number of arguments of any function, including the target of a method.
    constexpr std::size_t kFew = 4;
    BERTH_INVARIANT(expr.args.size() <= kFew);
    std::array<Value, kFew> args;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      args[i] = value(*expr.args[i]);
      if (args[i].failed()) return std::move(args[i]);
    }
    const std::span<const Value> given(args.data(), expr.args.size());
    if (!spend(call_cost(*expr.function, given))) return out_of_budget();
    return expr.function->run(given);
  }

  Value conditional(const Expr& expr) {
    Value condition = value(*expr.args[0]);
    if (condition.failed()) return condition;
    const auto* yes = condition.as<bool>();
    return yes != nullptr ? value(*expr.args[*yes ? 1 : 2]) : no_such_overload();
  }

  // The operators && and ||: the result is `decides` as soon as one side is; an error on the other side is then
  // ignored.
  Value logical(const Expr& expr, bool decides) {
    Value left = value(*expr.args[0]);
    const auto* a = left.as<bool>();
    if (a != nullptr && *a == decides) return decides;
    Value right = value(*expr.args[1]);
    return combine(left, right, decides);
  }

  static Value combine(const Value& left, const Value& right, bool decides) {
    const auto *a = left.as<bool>(), *b = right.as<bool>();
    if ((a != nullptr && *a == decides) || (b != nullptr && *b == decides)) return decides;
    if (left.failed()) return left;
    if (right.failed()) return right;
    return a != nullptr && b != nullptr ? Value(!decides) : no_such_overload();
  }

  static std::size_t content(const Value& value) {
    if (const auto* text = value.as<Text>()) return text->view.size();
    if (const auto* bytes = value.as<Bytes>()) return bytes->data->size();
    if (is_list(value) || is_map(value)) return length(value);
    return 1;
  }

  static std::size_t call_cost(const Function& function, std::span<const Value> args) {
    switch (function.cost) {
      case CostKind::kConstant:
        return 0;
      case CostKind::kFirst:
        return content(args[0]) / 10;
      case CostKind::kSecond:
        return content(args[1]) / 10;
      case CostKind::kBoth:
        return (content(args[0]) + content(args[1])) / 10;
      case CostKind::kLesser:
        return std::min(content(args[0]), content(args[1])) / 10;
      case CostKind::kProduct:
        return (content(args[0]) / 10 + 1) * (content(args[1]) / 10 + 1);
      case CostKind::kRegex:
        return (content(args[0]) / 10 + 1) * (content(args[1]) / 4 + 1);
      case CostKind::kEntries:
        return content(args.back());
    }
    return 0;
  }

  Value list(const Expr& expr) {
    std::vector<Value> items;
    items.reserve(expr.args.size());
    for (const ExprPtr& arg : expr.args) {
      items.push_back(value(*arg));
      if (items.back().failed()) return std::move(items.back());
    }
    return list_of(std::move(items));
  }

  Value map(const Expr& expr) {
    auto entries = std::make_shared<std::vector<std::pair<Value, Value>>>();
    for (std::size_t i = 0; i + 1 < expr.args.size(); i += 2) {
      Value key = value(*expr.args[i]);
      if (key.failed()) return key;
      Value entry = value(*expr.args[i + 1]);
      if (entry.failed()) return entry;
      if (expr.optional_entries[i / 2]) {
        const auto* optional = entry.as<Optional>();
        if (optional == nullptr) return no_such_overload();
        if (!optional->value) continue;
        entry = Value(*optional->value);
      }
      for (const auto& other : *entries) {
        if (equal(other.first, key)) return failure("Failed with repeated key: " + shown(key));
      }
      entries->emplace_back(std::move(key), std::move(entry));
    }
    return Map{std::move(entries)};
  }

  Value macro(const Expr& expr) {
    Value range = value(*expr.args[0]);
    if (range.failed()) return range;
    if (expr.macro == Expr::Macro::kOptMap || expr.macro == Expr::Macro::kOptFlatMap) return of_optional(expr, range);
    if (is_map(range)) range = list_of(keys(range));
    if (!is_list(range)) return no_such_overload();
    switch (expr.macro) {
      case Expr::Macro::kAll:
        return quantified(expr, range, false);
      case Expr::Macro::kExists:
        return quantified(expr, range, true);
      case Expr::Macro::kExistsOne:
        return exactly_one(expr, range);
      default:
        return collect(expr, range);
    }
  }

  Value of_optional(const Expr& expr, const Value& range) {
    const auto* optional = range.as<Optional>();
    if (optional == nullptr) return no_such_overload();
    if (!optional->value) return Optional{};
    bind(expr, *optional->value);
    Value out = value(*expr.args[1]);
    if (out.failed() || expr.macro == Expr::Macro::kOptFlatMap) return out;
    return Optional{std::make_shared<const Value>(std::move(out))};
  }

  void bind(const Expr& expr, Value item) { slots_[static_cast<std::size_t>(expr.slot)] = std::move(item); }

  // all() is a chain of &&, exists() a chain of ||: both stop at the element that decides the result.
  Value quantified(const Expr& expr, const Value& range, bool decides) {
    Value result = !decides;
    for (std::size_t i = 0; i < length(range); ++i) {
      bind(expr, item(range, i));
      result = combine(result, value(*expr.args[1]), decides);
      const auto* decided = result.as<bool>();
      if ((decided != nullptr && *decided == decides) || budget_.left < 0) break;
    }
    return budget_.left < 0 ? out_of_budget() : result;
  }

  Value exactly_one(const Expr& expr, const Value& range) {
    int count = 0;
    for (std::size_t i = 0; i < length(range); ++i) {
      bind(expr, item(range, i));
      Value matched = value(*expr.args[1]);
      if (matched.failed()) return matched;
      const auto* yes = matched.as<bool>();
      if (yes == nullptr) return no_such_overload();
      count += *yes ? 1 : 0;
    }
    return count == 1;
  }

  // Evaluates filter(x, p), map(x, t) and map(x, p, t).
  Value collect(const Expr& expr, const Value& range) {
    const bool filters = expr.macro == Expr::Macro::kFilter || expr.args.size() == 3;
    std::vector<Value> out;
    for (std::size_t i = 0; i < length(range); ++i) {
      Value element = item(range, i);
      bind(expr, element);
      if (filters) {
        Value matched = value(*expr.args[1]);
        if (matched.failed()) return matched;
        const auto* yes = matched.as<bool>();
        if (yes == nullptr) return no_such_overload();
        if (!*yes) continue;
      }
      if (expr.macro == Expr::Macro::kMap) element = value(*expr.args.back());
      if (element.failed()) return element;
      out.push_back(std::move(element));
    }
    return list_of(std::move(out));
  }

  std::vector<Value> slots_;
  Budget& budget_;
};

}  // namespace

Value run(const Program& program, std::span<const Value> values, Budget& budget) {
  return Evaluator(program, values, budget).value(*program.root);
}

Value run(const Program& program, const Value& self, const Value* old_self, Budget& budget) {
  return run(program, std::array{self, old_self != nullptr ? *old_self : Value()}, budget);
}

}  // namespace berth::cel
