// Interned nodes.
#include "engine/topology/nodes.h"

#include <algorithm>

namespace berth::engine::topology {

StringId Machine::label(StringId key) const {
  const auto it =
      std::lower_bound(labels.begin(), labels.end(), key, [](const Label& a, StringId b) { return a.key < b; });
  return it != labels.end() && it->key == key ? it->value : StringId();
}

Machine Machines::intern(const api::Node& node) {
  Machine machine;
  machine.name = strings_.acquire(node.name);
  machine.labels.reserve(node.labels.size());
  for (const auto& [key, value] : node.labels)
    machine.labels.push_back({strings_.acquire(key), strings_.acquire(value)});
  std::sort(machine.labels.begin(), machine.labels.end(), [](const Label& a, const Label& b) { return a.key < b.key; });
  const StringId host = machine.label(host_key_);
  machine.host = host.valid() && !strings_[host].empty() ? host : machine.name;
  strings_.acquire_again(machine.host);
  machine.taints = intern_taints(node.taints);
  machine.usable = node.usable();
  std::uint32_t columns = 0;
  for (const auto& [name, quantity] : node.allocatable) {
    if (quantity.sign() > 0) columns = std::max(columns, requests_.add_column(names_.resource(name)) + 1);
  }
  machine.allocatable.resize(columns);
  for (const auto& [name, quantity] : node.allocatable) {
    if (quantity.sign() <= 0) continue;
    machine.allocatable[requests_.columns().find(names_.resource(name))] = to_amount(name, quantity).count();
  }
  return machine;
}

void Machines::drop(const Machine& machine) {
  strings_.release(machine.name);
  strings_.release(machine.host);
  for (const Label& label : machine.labels) {
    strings_.release(label.key);
    strings_.release(label.value);
  }
  Taints& slot = taints_[machine.taints.index()];
  if (--slot.users > 0) return;
  taints_by_key_.erase(slot.key);
  slot = Taints();
  free_taints_.push_back(machine.taints);
  ++taints_generation_;
}

TaintsId Machines::intern_taints(const std::vector<api::Taint>& taints) {
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

MachineId Machines::find(std::string_view name) const {
  const StringId id = strings_.find(name);
  return id.valid() && id.index() < by_name_.size() ? by_name_[id.index()] : MachineId();
}

MachineId Machines::put(Machine machine) {
  if (by_name_.size() < strings_.size()) by_name_.resize(strings_.size());
  MachineId& id = by_name_[machine.name.index()];
  if (id.valid()) {
    const Machine before = std::move(machines_[id.index()]);
    machines_[id.index()] = std::move(machine);
    drop(before);
    return id;
  }
  if (free_.empty()) {
    id = MachineId(machines_.size());
    machines_.push_back(std::move(machine));
  } else {
    id = free_.back();
    free_.pop_back();
    machines_[id.index()] = std::move(machine);
  }
  return id;
}

void Machines::remove(MachineId id) {
  const Machine before = std::move(machines_[id.index()]);
  machines_[id.index()] = Machine();
  by_name_[before.name.index()] = MachineId();
  free_.push_back(id);
  drop(before);
}

}  // namespace berth::engine::topology
