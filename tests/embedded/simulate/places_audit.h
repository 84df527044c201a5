// Invariants of topology placement. They must hold for the stored objects at every moment, also across restarts and
// network failures.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"

namespace berth::simulation {

// All objects of these kinds at one moment.
struct Snapshot {
  std::vector<JsonPtr> workloads, pods, nodes, jobs;
};

class PlacesAudit {
 public:
  // Returns each violation as a sentence. The invariants:
  //  - the workloads of unfinished jobs are assigned no more resources on a node than the node can allocate;
  //  - a pod runs on no other node than its node selector names;
  //  - a pod is ungated only for a node that is assigned to its workload, and no more pods than are assigned there;
  //  - no evicted or waiting workload has unhealthyNodes in its status;
  //  - while quota stays reserved, an assignment loses pods only on nodes that failed (see node_failed()).
  std::vector<std::string> look(const Snapshot& now);
  // Call it for each node that failed or was deleted, tainted or cordoned. It counts as failed for ever.
  void node_failed(const std::string& name) { failed_.insert(name); }

 private:
  using Counts = std::map<std::string, std::int32_t>;  // number of pods by node
  struct Given {
    std::string reserved_at;  // when quota was reserved: differs between two reservations
    std::map<std::string, Counts> pod_sets;
  };
  static Given given(const api::kueue::Workload& workload);
  void audit_workload(const api::kueue::Workload& workload, const Given& now, std::vector<std::string>& broken);
  void audit_promises(const std::vector<api::kueue::Workload>& workloads, const Snapshot& now,
                      std::vector<std::string>& broken) const;
  void audit_pods(const std::map<std::string, Given>& by_key, const Snapshot& now,
                  std::vector<std::string>& broken) const;

  std::set<std::string> failed_;
  std::map<std::string, Given> former_;  // assignments at the last look(), by workload uid
};

}  // namespace berth::simulation
