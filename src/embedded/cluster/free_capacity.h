// The free capacity of each node, and the choice of a node for a pod. A value: copy it to try something.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/pod_resources.h"
#include "api/core/scheduling.h"
#include "api/meta.h"
#include "base/json.h"

namespace berth::cluster {

class FreeCapacity {
 public:
  void set_node(const Json& node);
  void remove_node(std::string_view name);
  bool has_node(std::string_view name) const { return nodes_.contains(name); }
  std::size_t size() const { return nodes_.size(); }

  // Records that the pod with this key is on this node, which need not exist (yet). Moves the pod when it was on
  // another node.
  void place(const std::string& key, const std::string& node, api::ResourceList requests);
  void unplace(const std::string& key);
  bool placed(const std::string& key) const { return placed_.contains(key); }
  bool placed_on(const std::string& key, std::string_view node) const;

  // The node with the most pods that takes such a pod, so that other nodes stay free for large pods; the first name
  // among equals. Null: no node takes it. `also`: asked of nodes that take it otherwise; empty: nothing else is asked.
  using Also = std::function<bool(const std::string& name, const api::StringMap& labels)>;
  const std::string* choose(const api::ResourceList& requests, const api::NodeConstraints& constraints,
                            const Also& also = {}) const;
  // The labels of a node; empty when there is no such node.
  api::StringMap labels_of(std::string_view node) const;
  // Why no node takes such a pod, as the scheduler tells it: "0/4 nodes are available: 1 Insufficient cpu, 3 node(s)
  // didn't match Pod's node affinity/selector." A node counts once for each resource that it lacks, else once.
  std::string why_none(const api::ResourceList& requests, const api::NodeConstraints& constraints,
                       const Also& also = {}) const;

 private:
  struct Node {
    api::StringMap labels;
    std::vector<api::Taint> taints;
    bool ready = false, cordoned = false;
    bool usable() const { return ready && !cordoned; }
    api::ResourceList allocatable, used;
    std::int64_t pods = 0;
  };
  struct Placed {
    std::string node;
    api::ResourceList requests;
  };
  static bool matches(const std::string& name, const Node& node, const api::NodeConstraints& constraints);
  static const api::Taint* keeps_away(const Node& node,
                                      const api::NodeConstraints& constraints);  // null: no taint does
  static bool lacks(const Node& node, const api::ResourceList::value_type& request);
  static bool is_full(const Node& node);
  static bool takes(const std::string& name, const Node& node, const api::ResourceList& requests,
                    const api::NodeConstraints& constraints);

  std::map<std::string, Node, std::less<>> nodes_;
  std::map<std::string, Placed> placed_;  // by pod key
};

}  // namespace berth::cluster
