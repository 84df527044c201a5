// The collections `nodes` and `placements`: what nodes offer, and who uses them. Rows are made in batches, because one
// pod changes rows of its node.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "api/meta.h"
#include "console/collection.h"
#include "console/pod_workloads.h"
#include "console/rows/fields.h"

namespace berth::console {

// Bound: workloads in one row of placements; the others are summed up under "".
inline constexpr std::size_t kMaxPlacedWorkloads = 200;

// Use it on the executor only. Pass every change of an object to the function of its kind; `now` is null for a deleted
// one.
class NodeUse {
 public:
  // Both must outlive it.
  NodeUse(Collection& nodes, Collection& placements) : nodes_(nodes), placements_(placements) {}

  void node_changed(const std::string& key, const Json* now);
  void pod_changed(const std::string& key, const Json* now);
  void workload_changed(const std::string& key, const Json* now);
  // An object that may stand between a pod and the owner of a workload. `key` is unique among all kinds.
  void owner_changed(const std::string& key, const Json* now);
  // Topologies and flavors name the labels of nodes that are shown.
  void labels_changed(const std::string& source, std::set<std::string> labels);
  // Makes the rows that the changes concern.
  void flush();

  const PodWorkloads& workloads() const { return workloads_; }

 private:
  struct Pod {
    std::string node, ns;
    PodOrigin origin;
    Amounts requests;
  };
  struct Node {
    RowStart start;
    api::StringMap labels;
  };

  void owners_moved(const std::vector<std::string>& owners);
  void drop_pod(const std::string& key);
  void make_node(const std::string& name);
  void make_placement(const std::string& node, const std::string& ns);

  Collection& nodes_;
  Collection& placements_;
  std::map<std::string, Node> known_nodes_;
  PodWorkloads workloads_;
  std::map<std::string, Pod> pods_;                        // that are bound and have not finished
  std::map<std::string, std::set<std::string>> by_owner_;  // pods by the uids of their origin
  // Pods by node and namespace.
  std::map<std::string, std::map<std::string, std::set<std::string>>> by_node_;
  std::map<std::string, std::set<std::string>> labels_;  // by source
  std::set<std::string> dirty_nodes_;
  std::set<std::pair<std::string, std::string>> dirty_placements_;
};

}  // namespace berth::console
