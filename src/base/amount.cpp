#include "base/amount.h"

namespace berth {
namespace {

constexpr std::int64_t kMebi = 1 << 20;

bool is_binary(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" || resource == "storage" ||
         resource.starts_with("hugepages-");
}

}  // namespace

Amount to_amount(std::string_view resource, const Quantity& q) {
  return Amount::of(resource == "cpu" ? q.milli_value() : q.value());
}

Quantity to_quantity(std::string_view resource, Amount a) {
  if (resource == "cpu") return Quantity::of_milli(a.count());
  const bool round = a.count() != 0 && a.count() % kMebi == 0;  // nobody has so many devices: they are bytes
  const bool binary = is_binary(resource) || round;
  return Quantity::of(a.count(), binary ? Quantity::Format::kBinarySi : Quantity::Format::kDecimalSi);
}

std::string format_amount(std::string_view resource, Amount a) { return to_quantity(resource, a).to_string(); }

}  // namespace berth
