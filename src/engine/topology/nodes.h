// The Kubernetes nodes, interned: labels, taints, allocatable resources and whether they are usable. A node can be a
// leaf in the trees of several flavors, but is stored once.
#pragma once

#include <map>
#include <vector>

#include "api/core/node.h"
#include "api/core/node_labels.h"
#include "engine/topology/requests.h"
#include "engine/topology/strings.h"
#include "engine/topology/view.h"

namespace berth::engine::topology {

using TaintsId = Id<struct TaintsTag>;  // index of an interned list of taints
using NodeId = Id<struct NodeTag>;

struct Node {
  StringId name;
  StringId host;              // label kubernetes.io/hostname, else the name
  std::vector<Label> labels;  // by key
  TaintsId taints;
  bool usable = false;                    // Ready and not cordoned
  std::vector<std::int64_t> allocatable;  // by column; missing columns are 0
  bool operator==(const Node&) const = default;

  StringId label(StringId key) const;  // invalid when the node has no such label
  std::int64_t capacity(std::uint32_t column) const { return column < allocatable.size() ? allocatable[column] : 0; }
};

class Nodes {
 public:
  Nodes(StringPool& strings, RequestPool& requests, Names& names)
      : strings_(strings), requests_(requests), names_(names), host_key_(strings.acquire(api::kHostnameLabel)) {}
  // A copy that uses these pools and names, which must be copies of the other's.
  Nodes(const Nodes& other, StringPool& strings, RequestPool& requests, Names& names)
      : strings_(strings),
        requests_(requests),
        names_(names),
        host_key_(other.host_key_),
        nodes_(other.nodes_),
        free_(other.free_),
        by_name_(other.by_name_),
        taints_(other.taints_),
        free_taints_(other.free_taints_),
        taints_by_key_(other.taints_by_key_),
        taints_generation_(other.taints_generation_),
        devices_(other.devices_) {}
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  Node intern(const api::Node& node);  // with its devices; adds references to its strings and taints
  // Of a node of this name, whether there is one or not. Returns whether they changed.
  bool set_devices(std::string_view node, const api::ResourceList& devices);
  Node with_devices(const Node& node);  // as intern() of the same node, with its present devices
  void drop(const Node& node);          // releases these references

  NodeId find(std::string_view name) const;
  // Stores the interned node under its name. A previous node of this name is replaced and dropped.
  NodeId put(Node node);
  void remove(NodeId id);
  const Node& operator[](NodeId id) const { return nodes_[id.index()]; }
  std::size_t size() const { return nodes_.size(); }  // ids are smaller
  bool present(NodeId id) const { return nodes_[id.index()].name.valid(); }
  const std::vector<api::Taint>& taints(TaintsId id) const { return taints_[id.index()].taints; }
  bool is_port(std::uint32_t column) const { return requests_.columns().is_port(column); }
  std::size_t taint_lists() const { return taints_.size(); }              // ids are smaller
  std::uint64_t taints_generation() const { return taints_generation_; }  // changes when an id was freed

 private:
  TaintsId intern_taints(const std::vector<api::Taint>& taints);
  void add_devices(Node& node);

  StringPool& strings_;
  RequestPool& requests_;
  Names& names_;
  StringId host_key_;
  std::vector<Node> nodes_;
  std::vector<NodeId> free_;
  std::vector<NodeId> by_name_;  // by StringId
  struct Taints {
    std::vector<api::Taint> taints;
    std::string key;
    std::uint32_t users = 0;
  };
  std::vector<Taints> taints_;
  std::vector<TaintsId> free_taints_;
  std::map<std::string, TaintsId> taints_by_key_;
  std::uint64_t taints_generation_ = 0;
  std::map<std::string, api::ResourceList, std::less<>> devices_;  // by name of the node; none without devices
};

}  // namespace berth::engine::topology
