#include "embedded/cluster/free_capacity.h"

#include <algorithm>
#include <utility>

#include "embedded/cluster/nodes.h"

namespace berth::cluster {
namespace {

Quantity amount(const api::ResourceList& list, const std::string& resource) {
  const auto it = list.find(resource);
  return it == list.end() ? Quantity() : it->second;
}

}  // namespace

void FreeCapacity::set_node(const Json& object) {
  const std::string name(string_at(object, {"metadata", "name"}));
  Node& node = nodes_[name];
  node.labels = api::decode_meta(object).labels;
  const Json* taints = find_path(object, {"spec", "taints"});
  node.taints = taints ? api::decode_taints(*taints) : std::vector<api::Taint>();
  node.usable = node_ready(object) && !bool_at(object, {"spec", "unschedulable"});
  const Json* allocatable = find_path(object, {"status", "allocatable"});
  node.allocatable =
      allocatable ? api::decode_resource_list(*allocatable).value_or(api::ResourceList()) : api::ResourceList();
  node.used.clear();
  node.pods = 0;
  for (const auto& [key, placed] : placed_) {
    if (placed.node != name) continue;
    ++node.pods;
    for (const auto& [resource, quantity] : placed.requests)
      node.used[resource] = amount(node.used, resource) + quantity;
  }
}

void FreeCapacity::remove_node(std::string_view name) {
  if (const auto it = nodes_.find(name); it != nodes_.end()) nodes_.erase(it);
}

bool FreeCapacity::placed_on(const std::string& key, std::string_view node) const {
  const auto it = placed_.find(key);
  return it != placed_.end() && it->second.node == node;
}

void FreeCapacity::place(const std::string& key, const std::string& node, api::ResourceList requests) {
  unplace(key);
  if (const auto it = nodes_.find(node); it != nodes_.end()) {
    ++it->second.pods;
    for (const auto& [resource, quantity] : requests)
      it->second.used[resource] = amount(it->second.used, resource) + quantity;
  }
  placed_[key] = {node, std::move(requests)};
}

void FreeCapacity::unplace(const std::string& key) {
  const auto placed = placed_.find(key);
  if (placed == placed_.end()) return;
  if (const auto it = nodes_.find(placed->second.node); it != nodes_.end()) {
    --it->second.pods;
    for (const auto& [resource, quantity] : placed->second.requests)
      it->second.used[resource] = amount(it->second.used, resource) - quantity;
  }
  placed_.erase(placed);
}

bool FreeCapacity::takes(const std::string& name, const Node& node, const api::ResourceList& requests,
                         const api::NodeConstraints& constraints) {
  for (const auto& [key, value] : constraints.node_selector) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) return false;
  }
  const auto& terms = constraints.required_terms;
  if (!terms.empty() &&
      std::none_of(terms.begin(), terms.end(), [&](const auto& term) { return api::matches(term, node.labels, name); }))
    return false;
  for (const auto& taint : node.taints) {
    if (taint.effect != "PreferNoSchedule" && !api::tolerates(constraints.tolerations, taint)) return false;
  }
  return std::all_of(requests.begin(), requests.end(), [&](const auto& request) {
    return amount(node.used, request.first) + request.second <= amount(node.allocatable, request.first);
  });
}

api::StringMap FreeCapacity::labels_of(std::string_view node) const {
  const auto it = nodes_.find(node);
  return it == nodes_.end() ? api::StringMap() : it->second.labels;
}

const std::string* FreeCapacity::choose(const api::ResourceList& requests, const api::NodeConstraints& constraints,
                                        const Also& also) const {
  const std::string* best = nullptr;
  std::int64_t best_pods = -1;
  for (const auto& [name, node] : nodes_) {
    if (!node.usable || node.pods <= best_pods) continue;
    if (node.pods >= amount(node.allocatable, "pods").value()) continue;
    if (!takes(name, node, requests, constraints) || (also && !also(name, node.labels))) continue;
    best = &name;
    best_pods = node.pods;
  }
  return best;
}

}  // namespace berth::cluster
