#include "engine/topology/leaf_domains.h"

namespace berth::engine::topology {

namespace {

// Flavor, levels and values, each preceded by its length.
std::string group_key(std::string_view flavor, std::span<const std::string> levels,
                      std::span<const std::string> values) {
  std::string key(flavor);
  key += '/';
  for (const auto& list : {levels, values}) {
    for (const std::string& each : list) {
      key += std::to_string(each.size());
      key += ':';
      key += each;
    }
    key += ';';
  }
  return key;
}

}  // namespace

LeafDomainId LeafDomains::add() {
  if (free_.empty()) {
    leaves_.emplace_back();
    return LeafDomainId(leaves_.size() - 1);
  }
  const LeafDomainId id = free_.back();
  free_.pop_back();
  return id;
}

LeafDomainId LeafDomains::find_host(std::string_view name) const {
  const StringId id = strings_.find(name);
  return id.valid() && id.index() < of_host_.size() ? of_host_[id.index()] : LeafDomainId();
}

LeafDomainId LeafDomains::host(std::string_view name) {
  if (LeafDomainId found = find_host(name); found.valid()) return found;
  const LeafDomainId id = add();
  LeafDomain& leaf = leaves_[id.index()];
  leaf.host = strings_.acquire(name);
  if (of_host_.size() < strings_.size()) of_host_.resize(strings_.size());
  of_host_[leaf.host.index()] = id;
  return id;
}

LeafDomainId LeafDomains::group(std::string_view flavor, std::span<const std::string> levels,
                                std::span<const std::string> values) {
  std::string key = group_key(flavor, levels, values);
  if (auto it = of_group_.find(key); it != of_group_.end()) return it->second;
  const LeafDomainId id = add();
  GroupId group(groups_.size());
  if (free_groups_.empty()) {
    groups_.emplace_back();
  } else {
    group = free_groups_.back();
    free_groups_.pop_back();
  }
  leaves_[id.index()].group = group;
  Group& made = groups_[group.index()];
  made.key = key;
  made.levels.assign(levels.begin(), levels.end());
  made.values.assign(values.begin(), values.end());
  of_group_.emplace(std::move(key), id);
  return id;
}

void LeafDomains::release_if_idle(LeafDomainId id) {
  LeafDomain& leaf = leaves_[id.index()];
  if (leaf.nodes > 0 || !leaf.rows.empty() || !leaf.positions.empty()) return;
  if (leaf.group.valid()) {
    of_group_.erase(groups_[leaf.group.index()].key);
    groups_[leaf.group.index()] = Group();
    free_groups_.push_back(leaf.group);
  } else if (leaf.host.valid()) {
    of_host_[leaf.host.index()] = LeafDomainId();
    strings_.release(leaf.host);
  } else {
    return;  // already free
  }
  leaf = LeafDomain();
  free_.push_back(id);
}

bool LeafDomains::usable(const LeafDomain& leaf) const {
  if (leaf.group.valid()) return !groups_[leaf.group.index()].members.empty();
  return leaf.node.valid() && nodes_[leaf.node].usable;
}

std::int64_t LeafDomains::allocatable(const LeafDomain& leaf, std::uint32_t column) const {
  if (nodes_.is_port(column)) {
    if (!leaf.group.valid()) return leaf.node.valid() ? 1 : 0;
    return static_cast<std::int64_t>(groups_[leaf.group.index()].members.size());
  }
  if (!leaf.group.valid()) return leaf.node.valid() ? nodes_[leaf.node].capacity(column) : 0;
  const Group& group = groups_[leaf.group.index()];
  return column < group.allocatable.size() ? group.allocatable[column] : 0;
}

}  // namespace berth::engine::topology
