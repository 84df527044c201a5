// The objects of a load that exist before the first submission: nodes, topology, flavor, queues, priority classes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/quantity.h"
#include "embedded/simulate/load.h"

namespace berth::simulate {

struct LoadLevel {
  std::string name, label;
  std::int64_t count = 1;  // number of domains in each domain of the level above
};

struct LoadLayout {
  std::string topology;           // name; empty: none
  std::vector<LoadLevel> levels;  // from the top; the last level is the nodes
  Quantity cpu, memory;           // of each node
  std::string flavor;             // name
  std::string flavor_label;       // on the flavor and its nodes; empty: none
  bool flavor_in_topology = false;
};

struct LoadPreemption {
  std::string reclaim_within_cohort, within_cluster_queue;
};

// Each node is named after the domains it is in: rack-3-node-17.
std::vector<Json> load_nodes(const LoadLayout& layout);
Json load_topology(const LoadLayout& layout);
Json load_flavor(const LoadLayout& layout);
// Namespace, ClusterQueue and LocalQueue of a queue.
std::vector<Json> load_queue(const LoadQueue& queue, const LoadPreemption& preemption, const std::string& flavor);
Json load_priority_class(std::int32_t priority);

}  // namespace berth::simulate
