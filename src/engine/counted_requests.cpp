#include "engine/counted_requests.h"

#include <algorithm>
#include <limits>

namespace berth::engine {

using api::config::QuotaResources;

namespace {

using Nano = Quantity::Nano;
constexpr Nano kNanoPerUnit = 1'000'000'000;
constexpr Nano kMostNano = Nano{std::numeric_limits<std::int64_t>::max()} * kNanoPerUnit * kNanoPerUnit;  // saturates

Nano saturated_sum(Nano a, Nano b) { return a > kMostNano - b ? kMostNano : a + b; }
Nano saturated_product(Nano a, Nano b) {
  Nano out = 0;
  return __builtin_mul_overflow(a, b, &out) ? kMostNano : std::min(out, kMostNano);
}

// The product in billionths, rounded up; saturates. Printed like `a`. Neither is negative.
Quantity exact_product(const Quantity& a, const Quantity& b) {
  const Nano units = a.nano_value() / kNanoPerUnit, rest = a.nano_value() % kNanoPerUnit;
  const Nano other_units = b.nano_value() / kNanoPerUnit, other_rest = b.nano_value() % kNanoPerUnit;
  const Nano of_rests = (rest * other_rest + kNanoPerUnit - 1) / kNanoPerUnit;
  const Nano nano = saturated_sum(saturated_product(units, b.nano_value()),
                                  saturated_sum(saturated_product(rest, other_units), of_rests));
  return Quantity::from_billionths(Quantity::of_nano(nano).billionths(), a.format());
}

Quantity not_negative(const Quantity& amount) { return std::max(amount, Quantity()); }

}  // namespace

bool changes_requests(const QuotaResources& resources) {
  return !resources.exclude_prefixes.empty() || !resources.transformations.empty();
}

api::ResourceList counted_requests(const api::ResourceList& per_pod, const QuotaResources& resources) {
  api::ResourceList out;
  const auto excluded = [&](std::string_view name) {
    return std::ranges::any_of(resources.exclude_prefixes,
                               [&](const auto& prefix) { return name.starts_with(prefix); });
  };
  const auto count = [&out](const std::string& name, const Quantity& amount) {
    const auto [it, fresh] = out.emplace(name, amount);
    if (!fresh) it->second = it->second + amount;
  };
  for (const auto& [name, asked] : per_pod) {
    if (excluded(name)) continue;
    const Quantity amount = not_negative(asked);
    const auto rule = std::ranges::find(resources.transformations, name, &api::config::ResourceTransformation::input);
    if (rule == resources.transformations.end() || !rule->replace) count(name, amount);
    if (rule == resources.transformations.end()) continue;
    const auto factor = per_pod.find(rule->multiply_by);  // a factor counts although it is excluded itself
    for (const auto& [output, per_unit] : rule->outputs) {
      const Quantity once = exact_product(not_negative(per_unit), amount);
      count(output, factor == per_pod.end() ? once : exact_product(once, not_negative(factor->second)));
    }
  }
  return out;
}

}  // namespace berth::engine
