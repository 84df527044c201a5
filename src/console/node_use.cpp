#include "console/node_use.h"

#include <utility>

#include "api/core/node_labels.h"
#include "api/core/pod_phase.h"
#include "api/core/pod_resources.h"
#include "base/amount.h"

namespace berth::console {
namespace {

void add_to(Amounts& sum, const Amounts& more) {
  for (const auto& [resource, amount] : more) sum[resource] = (Amount::of(sum[resource]) + Amount::of(amount)).count();
}

}  // namespace

void NodeUse::node_changed(const std::string& key, const Json* now) {
  dirty_nodes_.insert(key);
  if (now == nullptr) {
    known_nodes_.erase(key);
    return;
  }
  auto start = start_row(*now);
  if (!start) return;
  JsonObject& row = start->fields;
  row.erase("created");
  const Json* ready = condition_of(*now, "Ready");
  row["ready"] = is_true(ready);
  if (!is_true(ready) && ready != nullptr) {
    const std::string_view message = string_at(*ready, {"message"});
    put_text(row, "reason", message.empty() ? string_at(*ready, {"reason"}) : message);
  }
  if (bool_at(*now, {"spec", "unschedulable"})) row["unschedulable"] = true;
  Amounts allocatable;
  add_amounts(allocatable, object_at(*now, {"status", "allocatable"}));
  row["allocatable"] = to_json(allocatable);
  JsonArray taints;
  for (const Json& taint : array_at(*now, {"spec", "taints"})) taints.emplace_back(taint_text(taint));
  if (!taints.empty()) row["taints"] = std::move(taints);
  const Json* labels = find_path(*now, {"metadata", "labels"});
  known_nodes_.insert_or_assign(
      key, Node{std::move(*start), labels == nullptr ? api::StringMap() : api::decode_string_map(*labels)});
}

void NodeUse::drop_pod(const std::string& key) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) return;
  const Pod& pod = it->second;
  dirty_nodes_.insert(pod.node);
  dirty_placements_.emplace(pod.node, pod.ns);
  auto& spaces = by_node_[pod.node];
  auto& keys = spaces[pod.ns];
  keys.erase(key);
  if (keys.empty()) spaces.erase(pod.ns);
  if (spaces.empty()) by_node_.erase(pod.node);
  for (const std::string& owner : pod.origin.owners) {
    const auto owned = by_owner_.find(owner);
    owned->second.erase(key);
    if (owned->second.empty()) by_owner_.erase(owned);
  }
  pods_.erase(it);
}

void NodeUse::pod_changed(const std::string& key, const Json* now) {
  drop_pod(key);
  if (now == nullptr) return;
  const std::string_view node = string_at(*now, {"spec", "nodeName"});
  if (node.empty() || api::pod_ended(*now)) return;
  Pod pod{std::string(node), std::string(string_at(*now, {"metadata", "namespace"})), PodOrigin::of(*now), {}};
  if (const Json* spec = find(*now, "spec")) {
    const Json requests = api::encode_resource_list(api::pod_requests(*spec));
    if (requests.is_object()) add_amounts(pod.requests, requests.get_object());
  }
  pod.requests["pods"] = 1;
  dirty_nodes_.insert(pod.node);
  dirty_placements_.emplace(pod.node, pod.ns);
  by_node_[pod.node][pod.ns].insert(key);
  for (const std::string& owner : pod.origin.owners) by_owner_[owner].insert(key);
  pods_.insert_or_assign(key, std::move(pod));
}

void NodeUse::workload_changed(const std::string& key, const Json* now) {
  owners_moved(workloads_.workload_changed(key, now));
}

void NodeUse::owner_changed(const std::string& key, const Json* now) {
  owners_moved(workloads_.owner_changed(key, now));
}

void NodeUse::owners_moved(const std::vector<std::string>& owners) {
  for (const std::string& owner : owners) {
    const auto owned = by_owner_.find(owner);
    if (owned == by_owner_.end()) continue;
    for (const std::string& pod_key : owned->second) {
      const Pod& pod = pods_.at(pod_key);
      dirty_placements_.emplace(pod.node, pod.ns);
    }
  }
}

void NodeUse::labels_changed(const std::string& source, std::set<std::string> labels) {
  auto& known = labels_[source];
  if (known == labels) return;
  known = std::move(labels);
  if (known.empty()) labels_.erase(source);
  for (const auto& [name, node] : known_nodes_) dirty_nodes_.insert(name);
}

void NodeUse::make_node(const std::string& name) {
  const auto it = known_nodes_.find(name);
  if (it == known_nodes_.end()) return nodes_.erase(name);
  RowStart start = it->second.start;
  JsonObject domains;
  const auto show = [&](const std::string& label) {
    const auto found = it->second.labels.find(label);
    if (found != it->second.labels.end()) domains[label] = found->second;
  };
  for (const auto& [source, labels] : labels_) {
    for (const std::string& label : labels) show(label);
  }
  show(std::string(api::kHostnameLabel));
  Amounts used;
  if (const auto spaces = by_node_.find(name); spaces != by_node_.end()) {
    for (const auto& [ns, keys] : spaces->second) {
      for (const std::string& key : keys) add_to(used, pods_.at(key).requests);
    }
  }
  start.fields["domains"] = std::move(domains);
  start.fields["used"] = to_json(used);
  nodes_.set(finish_row(std::move(start)));
}

void NodeUse::make_placement(const std::string& node, const std::string& ns) {
  const std::string key = node + "/" + ns;
  const auto spaces = by_node_.find(node);
  if (spaces == by_node_.end() || !spaces->second.contains(ns)) return placements_.erase(key);
  std::map<std::string, Amounts> by_workload;
  for (const std::string& pod_key : spaces->second.at(ns)) {
    const Pod& pod = pods_.at(pod_key);
    const std::string workload = workloads_.name(ns, pod.origin);
    const bool room = by_workload.contains(workload) || by_workload.size() < kMaxPlacedWorkloads;
    add_to(by_workload[room ? workload : std::string()], pod.requests);
  }
  JsonArray workloads;
  for (const auto& [workload, amounts] : by_workload)
    workloads.push_back(JsonArray{Json(workload), Json(to_json(amounts))});
  placements_.set(
      {key, ns, to_string(JsonObject{{"key", key}, {"node", node}, {"ns", ns}, {"workloads", std::move(workloads)}})});
}

void NodeUse::flush() {
  for (const std::string& name : std::exchange(dirty_nodes_, {})) make_node(name);
  for (const auto& [node, ns] : std::exchange(dirty_placements_, {})) make_placement(node, ns);
}

}  // namespace berth::console
