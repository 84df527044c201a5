// The pods that occupy nodes, of whatever owner.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/kueue/pod_placement.h"
#include "engine/topology/holders.h"
#include "engine/topology/leaf_domains.h"
#include "engine/topology/nodes.h"
#include "engine/topology/requests.h"

namespace berth::engine::topology {

// Plain values, copied as a whole.
struct PodRecords {
  struct Pod {
    std::string uid;  // "": a free entry
    HolderId holder;
    RequestId request;
    std::string node;
    bool bound = false;
    LeafDomainId leaf_domain;
  };
  std::vector<Pod> pods_;
  std::vector<std::uint32_t> free_;
  boost::unordered_flat_map<std::string, std::uint32_t> ids_;  // Looked up, never iterated.
};

class Pods : private PodRecords {
 public:
  using Pod = PodRecords::Pod;
  Pods(const StringPool& strings, RequestPool& requests, const Nodes& nodes, LeafDomains& leaves, Holders& holders)
      : strings_(strings), requests_(requests), nodes_(nodes), leaves_(leaves), holders_(holders) {}
  // A copy that uses copies of the other's parts.
  Pods(const Pods& other, const StringPool& strings, RequestPool& requests, const Nodes& nodes, LeafDomains& leaves,
       Holders& holders)
      : PodRecords(other), strings_(strings), requests_(requests), nodes_(nodes), leaves_(leaves), holders_(holders) {}
  Pods(const Pods&) = delete;
  Pods& operator=(const Pods&) = delete;

  void set(const api::kueue::PodPlacement& pod);  // one that holds a node (PodPlacement::holds_node)
  // As a pod that requests only these devices, and not even the room of a pod.
  void set_devices(const api::kueue::PodPlacement& devices);
  void remove(std::string_view uid);
  void remove_all_of(HolderId holder);
  // A node whose name differs from its hostname was added, removed or renamed: moves its pods to the leaf domain of
  // its hostname.
  void move_to_hostname(std::string_view node);

  const std::vector<Pod>& all() const { return pods_; }  // with free entries

 private:
  void set(const api::kueue::PodPlacement& pod, RequestId request);  // takes over the reference
  bool known(const api::kueue::PodPlacement& pod, RequestId request) const;
  LeafDomainId leaf_of(const Pod& pod);

  const StringPool& strings_;
  RequestPool& requests_;
  const Nodes& nodes_;
  LeafDomains& leaves_;
  Holders& holders_;
};

}  // namespace berth::engine::topology
