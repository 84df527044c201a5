// Functions on Kubernetes quantities.
#include "cel/functions.h"

namespace berth::cel {
namespace {

Value parse(std::span<const Value> args) {
  if (args[0].as<Quantity>() != nullptr) return args[0];
  const auto* text = args[0].as<Text>();
  if (text == nullptr) return no_such_overload();
  auto quantity = Quantity::parse(text->view);
  return quantity ? Value(*quantity) : failure(quantity.error().message);
}

Value is_quantity(std::span<const Value> args) {
  const auto* text = args[0].as<Text>();
  return text != nullptr ? Value(Quantity::parse(text->view).has_value()) : no_such_overload();
}

template <typename Run>
Value with_two(std::span<const Value> args, Run run) {
  const auto *a = args[0].as<Quantity>(), *b = args[1].as<Quantity>();
  return a != nullptr && b != nullptr ? Value(run(*a, *b)) : no_such_overload();
}
Value compare_to(std::span<const Value> args) {
  return with_two(args, [](const Quantity& a, const Quantity& b) { return std::int64_t{a < b ? -1 : b < a ? 1 : 0}; });
}
Value is_greater(std::span<const Value> args) {
  return with_two(args, [](const Quantity& a, const Quantity& b) { return b < a; });
}
Value is_less(std::span<const Value> args) {
  return with_two(args, [](const Quantity& a, const Quantity& b) { return a < b; });
}

std::optional<Quantity> operand(const Value& value) {
  if (const auto* quantity = value.as<Quantity>()) return *quantity;
  if (const auto* i = value.as<std::int64_t>()) return Quantity::of(*i);
  return std::nullopt;
}
Value add_quantities(std::span<const Value> args) {
  auto a = operand(args[0]), b = operand(args[1]);
  return a && b ? Value(*a + *b) : no_such_overload();
}
Value subtract_quantities(std::span<const Value> args) {
  auto a = operand(args[0]), b = operand(args[1]);
  return a && b ? Value(*a - *b) : no_such_overload();
}

Value sign(std::span<const Value> args) {
  const auto* quantity = args[0].as<Quantity>();
  return quantity != nullptr ? Value(std::int64_t{quantity->sign()}) : no_such_overload();
}
Value is_integer(std::span<const Value> args) {
  const auto* quantity = args[0].as<Quantity>();
  return quantity != nullptr ? Value(Quantity::of(quantity->value()) == *quantity) : no_such_overload();
}
Value as_integer(std::span<const Value> args) {
  const auto* quantity = args[0].as<Quantity>();
  if (quantity == nullptr) return no_such_overload();
  if (Quantity::of(quantity->value()) != *quantity) return failure("cannot convert value to integer");
  return quantity->value();
}
Value as_float(std::span<const Value> args) {
  const auto* quantity = args[0].as<Quantity>();
  if (quantity == nullptr) return no_such_overload();
  constexpr std::int64_t kExactMillis = 1LL << 53U;
  const std::int64_t millis = quantity->milli_value();
  const bool fits = millis > -kExactMillis && millis < kExactMillis;
  return fits ? static_cast<double>(millis) / 1000 : static_cast<double>(quantity->value());
}

constexpr Function kQuantityFunctions[] = {
    {"quantity", false, "s:Q Q:Q", CostKind::kFirst, parse},
    {"isQuantity", false, "s:b", CostKind::kFirst, is_quantity},
    {"compareTo", true, "QQ:i", CostKind::kConstant, compare_to},
    {"isGreaterThan", true, "QQ:b", CostKind::kConstant, is_greater},
    {"isLessThan", true, "QQ:b", CostKind::kConstant, is_less},
    {"add", true, "QQ:Q Qi:Q", CostKind::kConstant, add_quantities},
    {"sub", true, "QQ:Q Qi:Q", CostKind::kConstant, subtract_quantities},
    {"sign", true, "Q:i", CostKind::kConstant, sign},
    {"isInteger", true, "Q:b", CostKind::kConstant, is_integer},
    {"asInteger", true, "Q:i", CostKind::kConstant, as_integer},
    {"asApproximateFloat", true, "Q:d", CostKind::kConstant, as_float},
};

}  // namespace

std::span<const Function> quantity_functions() { return kQuantityFunctions; }

}  // namespace berth::cel
