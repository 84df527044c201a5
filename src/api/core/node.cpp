#include "api/core/node.h"

#include "api/core/pod_amounts.h"

namespace berth::api {

Node decode_node(const Json& object) {
  Node node;
  node.name = string_at(object, {"metadata", "name"});
  if (const Json* labels = find_path(object, {"metadata", "labels"})) node.labels = decode_string_map(*labels);
  if (const Json* taints = find_path(object, {"spec", "taints"})) node.taints = decode_taints(*taints);
  node.unschedulable = bool_at(object, {"spec", "unschedulable"});
  if (const Json* conditions = find_path(object, {"status", "conditions"})) {
    if (const auto all = decode_conditions(*conditions); const auto* ready = find_condition(all, "Ready")) {
      node.ready = ready->status;
      node.ready_since = ready->last_transition;
    }
  }
  for (const auto& [resource, value] : object_at(object, {"status", "allocatable"})) {
    if (auto quantity = decode_quantity(value)) node.allocatable.emplace(std::string(resource), *quantity);
  }
  node.allocatable = at_least_zero(std::move(node.allocatable));
  return node;
}

}  // namespace berth::api
