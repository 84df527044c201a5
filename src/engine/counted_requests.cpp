#include "engine/counted_requests.h"

#include <algorithm>

namespace berth::engine {

using api::config::QuotaResources;

bool changes_requests(const QuotaResources& resources) {
  return !resources.exclude_prefixes.empty() || !resources.transformations.empty();
}

api::ResourceList counted_requests(const api::ResourceList& per_pod, const QuotaResources& resources) {
  api::ResourceList asked = per_pod, out;
  for (const auto& prefix : resources.exclude_prefixes)
    std::erase_if(asked, [&](const auto& each) { return std::string_view(each.first).starts_with(prefix); });
  const auto count = [&out](const std::string& name, const Quantity& amount) {
    const auto [it, fresh] = out.emplace(name, amount);
    if (!fresh) it->second = it->second + amount;
  };
  for (const auto& [name, amount] : asked) {
    const auto rule = std::ranges::find(resources.transformations, name, &api::config::ResourceTransformation::input);
    if (rule == resources.transformations.end() || !rule->replace) count(name, amount);
    if (rule == resources.transformations.end()) continue;
    const auto factor = asked.find(rule->multiply_by);
    for (const auto& [output, per_unit] : rule->outputs) {
      const Quantity once = per_unit * amount.value();
      count(output, factor == asked.end() ? once : once * factor->second.value());
    }
  }
  for (auto& [name, amount] : out) amount = std::max(amount, Quantity());
  return out;
}

}  // namespace berth::engine
