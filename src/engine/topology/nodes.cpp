// Interned nodes.
#include "engine/topology/nodes.h"

#include <algorithm>

#include "api/kueue/device_charge.h"

namespace berth::engine::topology {

StringId Node::label(StringId key) const {
  const auto it =
      std::lower_bound(labels.begin(), labels.end(), key, [](const Label& a, StringId b) { return a.key < b; });
  return it != labels.end() && it->key == key ? it->value : StringId();
}

Node Nodes::intern(const api::Node& node) {
  Node made;
  made.name = strings_.acquire(node.name);
  made.labels.reserve(node.labels.size());
  for (const auto& [key, value] : node.labels) made.labels.push_back({strings_.acquire(key), strings_.acquire(value)});
  std::sort(made.labels.begin(), made.labels.end(), [](const Label& a, const Label& b) { return a.key < b.key; });
  const StringId host = made.label(host_key_);
  made.host = host.valid() && !strings_[host].empty() ? host : made.name;
  strings_.acquire_again(made.host);
  made.taints = intern_taints(node.taints);
  made.usable = node.usable();
  std::uint32_t columns = 0;
  for (const auto& [name, quantity] : node.allocatable) {
    if (quantity.sign() > 0) columns = std::max(columns, requests_.add_column(names_.resource(name)) + 1);
  }
  made.allocatable.resize(columns);
  for (const auto& [name, quantity] : node.allocatable) {
    if (quantity.sign() <= 0) continue;
    made.allocatable[requests_.columns().find(names_.resource(name))] = to_amount(name, quantity).count();
  }
  add_devices(made);
  return made;
}

bool Nodes::set_devices(std::string_view node, const api::ResourceList& devices) {
  const auto it = devices_.find(node);
  if (it == devices_.end()) {
    if (!devices.empty()) devices_.emplace(node, devices);
    return !devices.empty();
  }
  if (it->second == devices) return false;
  if (devices.empty()) {
    devices_.erase(it);
  } else {
    it->second = devices;
  }
  return true;
}

void Nodes::add_devices(Node& node) {
  const auto it = devices_.empty() ? devices_.end() : devices_.find(strings_[node.name]);
  if (it == devices_.end()) return;
  for (const auto& [name, quantity] : it->second) {
    if (quantity.sign() <= 0) continue;
    const std::uint32_t column = requests_.add_column(names_.resource(name));
    if (node.allocatable.size() <= column) node.allocatable.resize(column + 1);
    node.allocatable[column] = to_amount(name, quantity).count();
  }
}

Node Nodes::with_devices(const Node& node) {
  Node made = node;
  strings_.acquire_again(made.name);
  strings_.acquire_again(made.host);
  for (const Label& label : made.labels) {
    strings_.acquire_again(label.key);
    strings_.acquire_again(label.value);
  }
  ++taints_[made.taints.index()].users;
  for (std::uint32_t column = 0; column < made.allocatable.size(); ++column) {
    const std::string& name = names_.name(requests_.columns().resource(column));
    if (name.starts_with(api::kueue::kDevice) || name.starts_with(api::kueue::kDevicePart))
      made.allocatable[column] = 0;
  }
  while (!made.allocatable.empty() && made.allocatable.back() == 0) made.allocatable.pop_back();
  add_devices(made);
  return made;
}

void Nodes::drop(const Node& node) {
  strings_.release(node.name);
  strings_.release(node.host);
  for (const Label& label : node.labels) {
    strings_.release(label.key);
    strings_.release(label.value);
  }
  Taints& slot = taints_[node.taints.index()];
  if (--slot.users > 0) return;
  taints_by_key_.erase(slot.key);
  slot = Taints();
  free_taints_.push_back(node.taints);
  ++taints_generation_;
}

TaintsId Nodes::intern_taints(const std::vector<api::Taint>& taints) {
  std::string key;
  for (const api::Taint& taint : taints) {
    for (const std::string* part : {&taint.key, &taint.value, &taint.effect}) {
      key += std::to_string(part->size());
      key += ':';
      key += *part;
    }
  }
  if (auto it = taints_by_key_.find(key); it != taints_by_key_.end()) {
    ++taints_[it->second.index()].users;
    return it->second;
  }
  TaintsId id(taints_.size());
  if (free_taints_.empty()) {
    taints_.emplace_back();
  } else {
    id = free_taints_.back();
    free_taints_.pop_back();
  }
  taints_[id.index()] = {taints, key, 1};
  taints_by_key_.emplace(std::move(key), id);
  return id;
}

NodeId Nodes::find(std::string_view name) const {
  const StringId id = strings_.find(name);
  return id.valid() && id.index() < by_name_.size() ? by_name_[id.index()] : NodeId();
}

NodeId Nodes::put(Node node) {
  if (by_name_.size() < strings_.size()) by_name_.resize(strings_.size());
  NodeId& id = by_name_[node.name.index()];
  if (id.valid()) {
    const Node before = std::move(nodes_[id.index()]);
    nodes_[id.index()] = std::move(node);
    drop(before);
    return id;
  }
  if (free_.empty()) {
    id = NodeId(nodes_.size());
    nodes_.push_back(std::move(node));
  } else {
    id = free_.back();
    free_.pop_back();
    nodes_[id.index()] = std::move(node);
  }
  return id;
}

void Nodes::remove(NodeId id) {
  const Node before = std::move(nodes_[id.index()]);
  nodes_[id.index()] = Node();
  by_name_[before.name.index()] = NodeId();
  free_.push_back(id);
  drop(before);
}

}  // namespace berth::engine::topology
