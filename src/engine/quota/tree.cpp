// The structure of the quota tree: parents, and the quotas derived from them.
#include <algorithm>

#include "engine/quota/ledger.h"

namespace berth::engine {

QuotaNodeId Ledger::new_node(std::string_view name, bool cluster_queue) {
  QuotaNodeId id(nodes_.size());
  if (free_nodes_.empty()) {
    nodes_.emplace_back();
  } else {
    id = free_nodes_.back();
    free_nodes_.pop_back();
    at(id) = Node();
  }
  Node& node = at(id);
  node.name = name;
  node.cluster_queue = cluster_queue;
  node.in_use = true;
  node.root = id;
  (cluster_queue ? cluster_queues_ : cohorts_).emplace(name, id);
  return id;
}

QuotaNodeId Ledger::cluster_queue_node(std::string_view name) {
  auto it = cluster_queues_.find(name);
  return it != cluster_queues_.end() ? it->second : new_node(name, true);
}

QuotaNodeId Ledger::cohort_node(std::string_view name) {
  if (name.empty()) return {};
  auto it = cohorts_.find(name);
  return it != cohorts_.end() ? it->second : new_node(name, false);
}

QuotaNodeId Ledger::find_cluster_queue(std::string_view name) const {
  auto it = cluster_queues_.find(name);
  return it == cluster_queues_.end() ? QuotaNodeId() : it->second;
}

QuotaNodeId Ledger::find_cohort(std::string_view name) const {
  auto it = cohorts_.find(name);
  return it == cohorts_.end() ? QuotaNodeId() : it->second;
}

QuotaNodeId Ledger::set_cluster_queue(std::string_view name, std::string_view cohort,
                                      std::span<const QuotaEntry> quotas) {
  QuotaNodeId node = cluster_queue_node(name);
  at(node).exists = true;
  set_quotas(node, quotas);
  link(node, cohort_node(cohort));
  return node;
}

bool Ledger::same_configuration(QuotaNodeId id, std::string_view parent, std::span<const QuotaEntry> quotas,
                                bool unbounded) const {
  const Node& node = at(id);
  std::string_view present = node.parent.valid() ? std::string_view(at(node.parent).name) : "";
  if (!node.exists || present != parent || node.unbounded != unbounded) return false;
  std::vector<Quota> wanted(node.cells.size(), unlisted(unbounded).quota);
  for (const QuotaEntry& entry : quotas) {
    if (entry.id.index() >= wanted.size()) return false;
    wanted[entry.id.index()] = entry.quota;
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (node.cells[i].quota != wanted[i]) return false;
  }
  return true;
}

void Ledger::remove_cluster_queue(std::string_view name) {
  QuotaNodeId node = find_cluster_queue(name);
  if (!node.valid()) return;
  at(node).exists = false;
  at(node).weight = {1, 1};
  set_quotas(node, {});
  link(node, QuotaNodeId());
  drop_if_unused(node);
}

QuotaNodeId Ledger::set_cohort(std::string_view name, std::string_view parent, std::span<const QuotaEntry> quotas,
                               bool unbounded) {
  QuotaNodeId node = cohort_node(name);
  at(node).exists = true;
  set_quotas(node, quotas, unbounded);
  link(node, cohort_node(parent));
  return node;
}

void Ledger::remove_cohort(std::string_view name) {
  QuotaNodeId node = find_cohort(name);
  if (!node.valid()) return;
  at(node).exists = false;
  at(node).weight = {1, 1};
  set_quotas(node, {});
  link(node, QuotaNodeId());
  drop_if_unused(node);
}

void Ledger::set_weight(QuotaNodeId node, FairWeight weight) {
  if (at(node).weight == weight) return;
  at(node).weight = weight;
  reliefs_.push_back({at(node).root.valid() ? at(node).root : node, FlavorResourceId()});
}

void Ledger::set_quotas(QuotaNodeId node, std::span<const QuotaEntry> quotas, bool unbounded) {
  at(node).unbounded = unbounded;
  for (Cell& cell : at(node).cells) cell.quota = unlisted(unbounded).quota;
  for (const QuotaEntry& entry : quotas) grow_cell(node, entry.id).quota = entry.quota;
}

// Makes `parent` the parent of `node` and updates all derived values of both trees.
void Ledger::link(QuotaNodeId node, QuotaNodeId parent) {
  ++configuration_;
  QuotaNodeId former = at(node).parent;
  if (former != parent) {
    if (former.valid()) std::erase(at(former).children, node);
    at(node).parent = parent;
    if (parent.valid()) {
      auto& siblings = at(parent).children;
      auto before = [this](QuotaNodeId a, QuotaNodeId b) {
        const Node &x = at(a), &y = at(b);
        return x.cluster_queue != y.cluster_queue ? x.cluster_queue : x.name < y.name;
      };
      siblings.insert(std::lower_bound(siblings.begin(), siblings.end(), node, before), node);
    }
    place_subtree(node);
  }
  refresh_up(node);
  if (former.valid() && former != parent) {
    refresh_up(former);
    QuotaNodeId root = at(former).root.valid() ? at(former).root : former;
    reliefs_.push_back({root, FlavorResourceId()});
    drop_if_unused(former);
  }
  reliefs_.push_back({at(node).root.valid() ? at(node).root : node, FlavorResourceId()});
}

// Updates root and effective parent of everything below `node` after a change of its parent. If the new parent closes
// a cycle or the former one broke a cycle, all affected nodes are below `node`.
void Ledger::place_subtree(QuotaNodeId node) {
  QuotaNodeId root = node;
  bool cycle = false;
  // A walk of more steps than there are nodes is in a cycle.
  for (std::size_t steps = 0; at(root).parent.valid() && !cycle; ++steps) {
    root = at(root).parent;
    cycle = steps > nodes_.size();
  }
  std::vector<QuotaNodeId> order{node};  // parents before children, each once
  std::vector<bool> seen(nodes_.size());
  seen[node.index()] = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Node& each = at(order[i]);
    each.in_cycle = cycle;
    each.up = cycle ? QuotaNodeId() : each.parent;
    each.root = cycle ? QuotaNodeId() : root;
    for (QuotaNodeId child : each.children) {
      if (seen[child.index()]) continue;
      seen[child.index()] = true;
      order.push_back(child);
    }
  }
  std::for_each(order.rbegin(), order.rend(), [this](QuotaNodeId each) { refresh(each); });
}

void Ledger::refresh(QuotaNodeId id) {
  Node& node = at(id);
  if (!node.cluster_queue) {
    std::size_t size = node.cells.size();
    for (QuotaNodeId child : node.children) size = std::max(size, at(child).cells.size());
    node.cells.resize(size, unlisted(node.unbounded));
    for (Cell& cell : node.cells) {
      cell.subtree = cell.quota.nominal;
      cell.usage = Amount();
    }
    node.height = node.children.empty() ? 0 : 1;
    for (QuotaNodeId child_id : node.children) {
      const Node& child = at(child_id);
      if (child.up != id) continue;
      if (!child.cluster_queue) node.height = std::max(node.height, child.height + 1);
      for (std::size_t i = 0; i < child.cells.size(); ++i) {
        const Cell& cell = child.cells[i];
        node.cells[i].subtree += cell.subtree - cell.local;
        node.cells[i].usage += max(Amount(), cell.usage - cell.local);
      }
    }
  } else {
    for (Cell& cell : node.cells) cell.subtree = cell.quota.nominal;
  }
  for (Cell& cell : node.cells) {
    bool limited = !cell.quota.lending_limit.is_unlimited();
    cell.local = limited ? max(Amount(), cell.subtree - cell.quota.lending_limit) : Amount();
  }
}

void Ledger::refresh_up(QuotaNodeId node) {
  for (; node.valid(); node = at(node).up) refresh(node);
}

void Ledger::drop_if_unused(QuotaNodeId id) {
  Node& node = at(id);
  if (!node.in_use || node.exists || node.claims != 0 || node.pins != 0 || !node.children.empty() ||
      node.parent.valid())
    return;
  (node.cluster_queue ? cluster_queues_ : cohorts_).erase(node.name);
  node = Node();
  free_nodes_.push_back(id);
}

std::vector<QuotaNodeId> Ledger::cluster_queues() const {
  std::vector<QuotaNodeId> all;
  for (const auto& [name, node] : cluster_queues_) all.push_back(node);
  return all;
}

std::string Ledger::path(QuotaNodeId node) const {
  std::string path;
  for (; node.valid(); node = at(node).up) path.insert(0, "/" + at(node).name);
  return path;
}

bool Ledger::is_ancestor_or_self(QuotaNodeId ancestor, QuotaNodeId node) const {
  while (node.valid() && node != ancestor) node = at(node).up;
  return node.valid();
}

}  // namespace berth::engine
