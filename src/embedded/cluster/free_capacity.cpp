#include "embedded/cluster/free_capacity.h"

#include <algorithm>
#include <set>
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
  node.ready = node_ready(object);
  node.cordoned = bool_at(object, {"spec", "unschedulable"});
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

bool FreeCapacity::matches(const std::string& name, const Node& node, const api::NodeConstraints& constraints) {
  for (const auto& [key, value] : constraints.node_selector) {
    const auto label = node.labels.find(key);
    if (label == node.labels.end() || label->second != value) return false;
  }
  const auto& terms = constraints.required_terms;
  return terms.empty() ||
         std::ranges::any_of(terms, [&](const auto& term) { return api::matches(term, node.labels, name); });
}

const api::Taint* FreeCapacity::keeps_away(const Node& node, const api::NodeConstraints& constraints) {
  const auto it = std::ranges::find_if(node.taints, [&](const api::Taint& taint) {
    return taint.effect != "PreferNoSchedule" && !api::tolerates(constraints.tolerations, taint);
  });
  return it == node.taints.end() ? nullptr : &*it;
}

bool FreeCapacity::lacks(const Node& node, const api::ResourceList::value_type& request) {
  return amount(node.allocatable, request.first) < amount(node.used, request.first) + request.second;
}

bool FreeCapacity::is_full(const Node& node) { return node.pods >= amount(node.allocatable, "pods").value(); }

bool FreeCapacity::takes(const std::string& name, const Node& node, const api::ResourceList& requests,
                         const api::NodeConstraints& constraints) {
  return matches(name, node, constraints) && keeps_away(node, constraints) == nullptr &&
         std::ranges::none_of(requests, [&](const auto& request) { return lacks(node, request); });
}

std::string FreeCapacity::why_none(const api::ResourceList& requests, const api::NodeConstraints& constraints,
                                   const Also& also) const {
  std::map<std::string, int> reasons;
  for (const auto& [name, node] : nodes_) {
    if (node.cordoned) {
      ++reasons["node(s) were unschedulable"];
    } else if (!node.ready) {
      ++reasons["node(s) were not ready"];
    } else if (const auto* taint = keeps_away(node, constraints)) {
      ++reasons["node(s) had untolerated taint {" + taint->key + ": " + taint->value + "}"];
    } else if (!matches(name, node, constraints)) {
      ++reasons["node(s) didn't match Pod's node affinity/selector"];
    } else if (!is_full(node) && takes(name, node, requests, constraints)) {
      if (also && !also(name, node.labels)) ++reasons["cannot allocate all claims"];
    } else {
      if (is_full(node)) ++reasons["Too many pods"];
      for (const auto& request : requests) {
        if (lacks(node, request)) ++reasons["Insufficient " + request.first];
      }
    }
  }
  std::set<std::string> counted;
  for (const auto& [reason, count] : reasons) counted.insert(std::to_string(count) + " " + reason);
  std::string out;
  for (const auto& each : counted) out += (out.empty() ? "" : ", ") + each;
  return "0/" + std::to_string(nodes_.size()) + " nodes are available" + (out.empty() ? "." : ": " + out + ".");
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
    if (!node.usable() || node.pods <= best_pods || is_full(node)) continue;
    if (!takes(name, node, requests, constraints) || (also && !also(name, node.labels))) continue;
    best = &name;
    best_pods = node.pods;
  }
  return best;
}

}  // namespace berth::cluster
