// The Kubernetes nodes, interned: labels, taints, allocatable resources and whether they are usable. A node can be a
// leaf in the trees of several flavors, but is stored once.
#pragma once

#include <map>
#include <vector>

#include "api/core/node.h"
#include "engine/topology/requests.h"
#include "engine/topology/strings.h"
#include "engine/topology/view.h"

namespace berth::engine::topology {

using TaintsId = Id<struct TaintsTag>;  // index of an interned list of taints
using MachineId = Id<struct MachineTag>;

struct Machine {
  StringId name;
  StringId host;              // label kubernetes.io/hostname, else the name
  std::vector<Label> labels;  // by key
  TaintsId taints;
  bool usable = false;                    // Ready and not cordoned
  std::vector<std::int64_t> allocatable;  // by column; missing columns are 0
  bool operator==(const Machine&) const = default;

  StringId label(StringId key) const;  // invalid when the node has no such label
  std::int64_t room(std::uint32_t column) const { return column < allocatable.size() ? allocatable[column] : 0; }
};

class Machines {
 public:
  Machines(StringPool& strings, RequestPool& requests, Names& names)
      : strings_(strings), requests_(requests), names_(names), host_key_(strings.acquire(kHostnameLabel)) {}
  // A copy that uses these pools and names, which must be copies of the other's.
  Machines(const Machines& other, StringPool& strings, RequestPool& requests, Names& names)
      : strings_(strings),
        requests_(requests),
        names_(names),
        host_key_(other.host_key_),
        machines_(other.machines_),
        free_(other.free_),
        by_name_(other.by_name_),
        taints_(other.taints_),
        free_taints_(other.free_taints_),
        taints_by_key_(other.taints_by_key_),
        taints_generation_(other.taints_generation_) {}
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;

  Machine intern(const api::Node& node);  // adds references to its strings and taints
  void drop(const Machine& machine);      // releases these references

  MachineId find(std::string_view name) const;
  // Stores the interned node under its name. A previous node of this name is replaced and dropped.
  MachineId put(Machine machine);
  void remove(MachineId id);
  const Machine& operator[](MachineId id) const { return machines_[id.index()]; }
  std::size_t size() const { return machines_.size(); }  // ids are smaller
  bool present(MachineId id) const { return machines_[id.index()].name.valid(); }
  const std::vector<api::Taint>& taints(TaintsId id) const { return taints_[id.index()].taints; }
  std::size_t taint_lists() const { return taints_.size(); }              // ids are smaller
  std::uint64_t taints_generation() const { return taints_generation_; }  // changes when an id was freed

 private:
  TaintsId intern_taints(const std::vector<api::Taint>& taints);

  StringPool& strings_;
  RequestPool& requests_;
  Names& names_;
  StringId host_key_;
  std::vector<Machine> machines_;
  std::vector<MachineId> free_;
  std::vector<MachineId> by_name_;  // by StringId
  struct Taints {
    std::vector<api::Taint> taints;
    std::string key;
    std::uint32_t users = 0;
  };
  std::vector<Taints> taints_;
  std::vector<TaintsId> free_taints_;
  std::map<std::string, TaintsId> taints_by_key_;
  std::uint64_t taints_generation_ = 0;
};

}  // namespace berth::engine::topology
