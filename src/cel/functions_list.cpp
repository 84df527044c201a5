// Functions on lists, sets and optional values.
#include "cel/functions.h"

namespace berth::cel {
namespace {

bool holds(const Value& list, const Value& value) {
  for (std::size_t i = 0; i < length(list); ++i) {
    if (equal(item(list, i), value)) return true;
  }
  return false;
}

bool holds_all(const Value& list, const Value& values) {
  for (std::size_t i = 0; i < length(values); ++i) {
    if (!holds(list, item(values, i))) return false;
  }
  return true;
}

Value set_contains(std::span<const Value> args) {
  return is_list(args[0]) && is_list(args[1]) ? Value(holds_all(args[0], args[1])) : no_such_overload();
}

Value set_equivalent(std::span<const Value> args) {
  if (!is_list(args[0]) || !is_list(args[1])) return no_such_overload();
  return holds_all(args[0], args[1]) && holds_all(args[1], args[0]);
}

Value set_intersects(std::span<const Value> args) {
  if (!is_list(args[0]) || !is_list(args[1])) return no_such_overload();
  for (std::size_t i = 0; i < length(args[1]); ++i) {
    if (holds(args[0], item(args[1], i))) return true;
  }
  return false;
}

Value is_sorted(std::span<const Value> args) {
  if (!is_list(args[0])) return no_such_overload();
  for (std::size_t i = 1; i < length(args[0]); ++i) {
    const int order = compare(item(args[0], i - 1), item(args[0], i));
    if (order == 2) return no_such_overload();
    if (order > 0) return false;
  }
  return true;
}

Value sum(std::span<const Value> args) {
  if (!is_list(args[0])) return no_such_overload();
  if (length(args[0]) == 0) return std::int64_t{0};
  const Function* add = find_function("_+_", false);
  Value total = item(args[0], 0);
  for (std::size_t i = 1; i < length(args[0]) && !total.failed(); ++i) {
    const std::vector<Value> pair = {total, item(args[0], i)};
    total = add->run(pair);
  }
  return total;
}

Value extreme(std::span<const Value> args, int wanted, std::string_view name) {
  if (!is_list(args[0])) return no_such_overload();
  if (length(args[0]) == 0) return failure(std::string(name) + " called on empty list");
  Value best = item(args[0], 0);
  for (std::size_t i = 1; i < length(args[0]); ++i) {
    Value next = item(args[0], i);
    const int order = compare(next, best);
    if (order == 2) return no_such_overload();
    if (order == wanted) best = std::move(next);
  }
  return best;
}
Value min(std::span<const Value> args) { return extreme(args, -1, "min"); }
Value max(std::span<const Value> args) { return extreme(args, 1, "max"); }

Value optional_of(std::span<const Value> args) { return Optional{std::make_shared<const Value>(args[0])}; }
Value optional_none(std::span<const Value>) { return Optional{}; }

Value has_value(std::span<const Value> args) {
  const auto* optional = args[0].as<Optional>();
  return optional != nullptr ? Value(optional->value != nullptr) : no_such_overload();
}

Value value_of(std::span<const Value> args) {
  const auto* optional = args[0].as<Optional>();
  if (optional == nullptr) return no_such_overload();
  return optional->value ? *optional->value : failure("optional.none() dereference");
}

Value or_value(std::span<const Value> args) {
  const auto* optional = args[0].as<Optional>();
  if (optional == nullptr) return no_such_overload();
  return optional->value ? *optional->value : args[1];
}

Value or_optional(std::span<const Value> args) {
  const auto* optional = args[0].as<Optional>();
  if (optional == nullptr || args[1].as<Optional>() == nullptr) return no_such_overload();
  return optional->value ? args[0] : args[1];
}

constexpr Function kListFunctions[] = {
    {"sets.contains", false, "LL:b", CostKind::kProduct, set_contains},
    {"sets.equivalent", false, "LL:b", CostKind::kProduct, set_equivalent},
    {"sets.intersects", false, "LL:b", CostKind::kProduct, set_intersects},
    {"isSorted", true, "L:b", CostKind::kEntries, is_sorted},
    {"sum", true, "L:e", CostKind::kEntries, sum},
    {"min", true, "L:e", CostKind::kEntries, min},
    {"max", true, "L:e", CostKind::kEntries, max},
    {"optional.of", false, "*:o", CostKind::kConstant, optional_of},
    {"optional.none", false, ":O", CostKind::kConstant, optional_none},
    {"hasValue", true, "O:b", CostKind::kConstant, has_value},
    {"value", true, "O:e", CostKind::kConstant, value_of},
    {"orValue", true, "O*:e", CostKind::kConstant, or_value},
    {"or", true, "OO:=", CostKind::kConstant, or_optional},
};

}  // namespace

std::span<const Function> list_functions() { return kListFunctions; }

}  // namespace berth::cel
