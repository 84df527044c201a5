#include "engine/topology/topology_ledger.h"

#include <utility>

namespace berth::engine::topology {

TopologyLedger::TopologyLedger(Names& names)
    : requests(names),
      nodes(strings, requests, names),
      leaves(strings, nodes),
      usage(requests, leaves, views),
      tree_leaves(names, strings, nodes, leaves, views, usage),
      holders(usage),
      claims(requests, leaves, views, holders),
      pods(strings, requests, nodes, leaves, holders),
      suppositions(holders, usage, views) {}

TopologyLedger::TopologyLedger(const TopologyLedger& other, Names& names)
    : strings(other.strings),
      requests(other.requests, names),
      nodes(other.nodes, strings, requests, names),
      leaves(other.leaves, strings, nodes),
      views(other.views, strings),
      usage(other.usage, requests, leaves, views),
      tree_leaves(names, strings, nodes, leaves, views, usage),
      holders(other.holders, usage),
      claims(requests, leaves, views, holders),
      pods(other.pods, strings, requests, nodes, leaves, holders),
      suppositions(holders, usage, views) {}

void TopologyLedger::know(std::span<const ResourceAmount> amounts) {
  const std::size_t columns = requests.columns().size();
  requests.release(requests.acquire(amounts));
  if (requests.columns().size() != columns) usage.grow_columns();
}

bool TopologyLedger::set_node(const api::Node& node) {
  const std::size_t columns = requests.columns().size();
  Node next = nodes.intern(node);
  if (requests.columns().size() != columns) usage.grow_columns();
  return put(std::move(next));
}

bool TopologyLedger::set_devices(std::string_view node, const api::ResourceList& devices) {
  if (!nodes.set_devices(node, devices)) return false;
  const NodeId known = nodes.find(node);
  if (!known.valid()) return false;
  const std::size_t columns = requests.columns().size();
  Node next = nodes.with_devices(nodes[known]);
  if (requests.columns().size() != columns) usage.grow_columns();
  return put(std::move(next));
}

bool TopologyLedger::put(Node next) {
  const std::string name = strings[next.name];
  const NodeId old = nodes.find(name);
  if (old.valid() && nodes[old] == next) {
    nodes.drop(next);
    return false;
  }
  const LeafDomainId before = old.valid() ? leaves.find_host(strings[nodes[old].host]) : LeafDomainId();
  const LeafDomainId now = leaves.host(strings[next.host]);
  const bool renamed = old.valid() ? now != before : next.host != next.name;
  if (before.valid()) tree_leaves.take_out_of_groups(before);
  if (now != before) tree_leaves.take_out_of_groups(now);
  nodes.put(std::move(next));
  if (now != before) {
    ++leaves.at(now).nodes;
    if (before.valid()) --leaves.at(before).nodes;
  }
  if (before.valid() && now != before) tree_leaves.put(before);
  tree_leaves.put(now);
  if (renamed) pods.move_to_hostname(name);
  if (before.valid()) leaves.release_if_idle(before);
  return true;
}

bool TopologyLedger::remove_node(std::string_view name) {
  const NodeId old = nodes.find(name);
  if (!old.valid()) return false;
  const bool renamed = nodes[old].host != nodes[old].name;
  const LeafDomainId leaf = leaves.find_host(strings[nodes[old].host]);
  tree_leaves.take_out_of_groups(leaf);
  nodes.remove(old);
  --leaves.at(leaf).nodes;
  tree_leaves.put(leaf);
  if (renamed) pods.move_to_hostname(name);
  leaves.release_if_idle(leaf);
  return true;
}

bool TopologyLedger::set_pod(const api::kueue::PodPlacement& pod) {
  if (!pod.holds_node()) return remove_pod(pod.uid);
  const std::uint64_t before = usage.applied();
  pods.set(pod);
  return usage.applied() != before;
}

// A prefix keeps its UID apart from those of pods.
bool TopologyLedger::set_taken(const api::kueue::PodPlacement& claim) {
  api::kueue::PodPlacement devices = claim;
  devices.uid = "claim/" + claim.uid;
  const std::uint64_t before = usage.applied();
  if (claim.requests.empty()) {
    pods.remove(devices.uid);
  } else {
    pods.set_devices(devices);
  }
  return usage.applied() != before;
}

bool TopologyLedger::remove_pod(std::string_view uid) {
  const std::uint64_t before = usage.applied();
  pods.remove(uid);
  return usage.applied() != before;
}

}  // namespace berth::engine::topology
