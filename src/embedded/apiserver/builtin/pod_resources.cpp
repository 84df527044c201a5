#include "embedded/apiserver/builtin/pod_resources.h"

#include <algorithm>

namespace berth::apiserver {
namespace {

void add(ResourceTotals& totals, const ResourceTotals& more) {
  for (const auto& [name, quantity] : more) {
    auto [it, is_new] = totals.emplace(name, quantity);
    if (!is_new) it->second = it->second + quantity;
  }
}

void raise_to(ResourceTotals& totals, const ResourceTotals& least) {
  for (const auto& [name, quantity] : least) {
    auto [it, is_new] = totals.emplace(name, quantity);
    if (!is_new && it->second < quantity) it->second = quantity;
  }
}

ResourceTotals list_of(const Json& owner, std::string_view what) {
  ResourceTotals list;
  for (const auto& member : object_at(owner, {"resources", what})) {
    if (auto quantity = quantity_of(member.value())) list.emplace(std::string_view(member.key()), *quantity);
  }
  return list;
}

ResourceTotals containers_total(const Json& spec, std::string_view what) {
  ResourceTotals running;
  for (const auto& container : array_at(spec, {"containers"})) add(running, list_of(container, what));
  ResourceTotals sidecars, starting;
  for (const auto& container : array_at(spec, {"initContainers"})) {
    ResourceTotals own = list_of(container, what);
    if (string_at(container, {"restartPolicy"}) == "Always") {
      add(running, own);
      add(sidecars, own);
    } else {
      // Only what it asks for itself; the sidecars alone never take less later on.
      for (auto& [name, quantity] : own) {
        if (const auto beside = sidecars.find(name); beside != sidecars.end()) quantity = quantity + beside->second;
      }
      raise_to(starting, own);
    }
  }
  raise_to(starting, sidecars);
  raise_to(running, starting);
  return running;
}

// QoS classes consider only cpu and memory, and only amounts above zero.
ResourceTotals counted(const Json& owner, std::string_view what) {
  ResourceTotals list = list_of(owner, what);
  std::erase_if(list, [](const auto& member) {
    return (member.first != "cpu" && member.first != "memory") || member.second.sign() <= 0;
  });
  return list;
}

}  // namespace

std::optional<Quantity> quantity_of(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  auto quantity = Quantity::parse(view(value.get_string()));
  return quantity ? std::optional(*quantity) : std::nullopt;
}

ResourceTotals container_requests(const Json& pod_spec) { return containers_total(pod_spec, "requests"); }
ResourceTotals container_limits(const Json& pod_spec) { return containers_total(pod_spec, "limits"); }

std::string_view qos_class(const Json& spec) {
  ResourceTotals requests, limits;
  bool all_limited = true;
  auto count = [&](const Json& owner) {
    ResourceTotals own = counted(owner, "limits");
    all_limited = all_limited && own.size() == 2;
    add(requests, counted(owner, "requests"));
    add(limits, own);
  };
  if (!object_at(spec, {"resources", "requests"}).empty() || !object_at(spec, {"resources", "limits"}).empty()) {
    count(spec);
  } else {
    for (std::string_view list : {"containers", "initContainers"}) {
      for (const auto& container : array_at(spec, {list})) count(container);
    }
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  if (all_limited && requests == limits) return "Guaranteed";
  return "Burstable";
}

}  // namespace berth::apiserver
