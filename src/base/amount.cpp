#include "base/amount.h"

namespace berth {
namespace {

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
  return Quantity::of(a.count(), is_binary(resource) ? Quantity::Format::kBinarySi : Quantity::Format::kDecimalSi);
}

std::string format_amount(std::string_view resource, Amount a) { return to_quantity(resource, a).to_string(); }

}  // namespace berth
