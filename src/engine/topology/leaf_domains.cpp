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

SpotId LeafDomains::add() {
  if (free_.empty()) {
    leaves_.emplace_back();
    return SpotId(leaves_.size() - 1);
  }
  const SpotId id = free_.back();
  free_.pop_back();
  return id;
}

SpotId LeafDomains::find_host(std::string_view name) const {
  const StringId id = strings_.find(name);
  return id.valid() && id.index() < of_host_.size() ? of_host_[id.index()] : SpotId();
}

SpotId LeafDomains::host(std::string_view name) {
  if (SpotId found = find_host(name); found.valid()) return found;
  const SpotId id = add();
  Spot& leaf = leaves_[id.index()];
  leaf.host = strings_.acquire(name);
  if (of_host_.size() < strings_.size()) of_host_.resize(strings_.size());
  of_host_[leaf.host.index()] = id;
  return id;
}

SpotId LeafDomains::group(std::string_view flavor, std::span<const std::string> levels,
                          std::span<const std::string> values) {
  std::string key = group_key(flavor, levels, values);
  if (auto it = of_group_.find(key); it != of_group_.end()) return it->second;
  const SpotId id = add();
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

void LeafDomains::release_if_idle(SpotId id) {
  Spot& leaf = leaves_[id.index()];
  if (leaf.nodes > 0 || !leaf.rows.empty() || !leaf.seats.empty()) return;
  if (leaf.group.valid()) {
    of_group_.erase(groups_[leaf.group.index()].key);
    groups_[leaf.group.index()] = Group();
    free_groups_.push_back(leaf.group);
  } else if (leaf.host.valid()) {
    of_host_[leaf.host.index()] = SpotId();
    strings_.release(leaf.host);
  } else {
    return;  // already free
  }
  leaf = Spot();
  free_.push_back(id);
}

bool LeafDomains::usable(const Spot& leaf) const {
  if (leaf.group.valid()) return !groups_[leaf.group.index()].members.empty();
  return leaf.machine.valid() && nodes_[leaf.machine].usable;
}

std::int64_t LeafDomains::allocatable(const Spot& leaf, std::uint32_t column) const {
  if (!leaf.group.valid()) return leaf.machine.valid() ? nodes_[leaf.machine].room(column) : 0;
  const Group& group = groups_[leaf.group.index()];
  return column < group.allocatable.size() ? group.allocatable[column] : 0;
}

}  // namespace berth::engine::topology
