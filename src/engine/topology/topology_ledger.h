// The ledger behind Places: the nodes, the trees of domains that they form, and who uses how much of each leaf domain,
// by claims and by pods.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/node.h"
#include "api/kueue/pod_placement.h"
#include "engine/topology/claims.h"
#include "engine/topology/holders.h"
#include "engine/topology/leaf_domains.h"
#include "engine/topology/leaf_usage.h"
#include "engine/topology/nodes.h"
#include "engine/topology/pods.h"
#include "engine/topology/requests.h"
#include "engine/topology/strings.h"
#include "engine/topology/suppositions.h"
#include "engine/topology/tree_leaves.h"
#include "engine/topology/views.h"

namespace berth::engine::topology {

// Each part refers to parts above it only. The functions are for what concerns several of them.
struct TopologyLedger {
  explicit TopologyLedger(Names& names);
  // A copy that uses `names`, which must be a copy of the other's names. No trial may be open.
  TopologyLedger(const TopologyLedger& other, Names& names);
  TopologyLedger(const TopologyLedger&) = delete;
  TopologyLedger& operator=(const TopologyLedger&) = delete;

  // Each returns whether anything changed that matters for placement.
  bool set_node(const api::Node& node);
  bool remove_node(std::string_view name);
  bool set_pod(const api::kueue::PodPlacement& pod);
  bool remove_pod(std::string_view uid);
  bool set_devices(std::string_view node, const api::ResourceList& devices);
  bool set_taken(const api::kueue::PodPlacement& claim);

  // Call it before requests are used that may name ports of nodes for the first time.
  void know(std::span<const ResourceAmount> amounts);

  // Rows that disagree with the claims and pods they represent, as sentences (topology_ledger_check.cpp).
  std::vector<std::string> check_rows() const;

  StringPool strings;
  RequestPool requests;
  Nodes nodes;
  LeafDomains leaves;
  Views views;
  LeafUsage usage;
  TreeLeaves tree_leaves;
  Holders holders;
  Claims claims;
  Pods pods;
  Suppositions suppositions;

 private:
  bool put(Node next);  // new, or instead of the one of its name
  void check_holders(std::vector<std::string>& broken) const;
};

}  // namespace berth::engine::topology
