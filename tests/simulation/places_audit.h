// What must hold of places in every state that the API server shows, whoever was restarted or cut off meanwhile.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/kueue/types.h"
#include "base/json.h"

namespace berth::simulation {

// Objects of one moment.
struct Snapshot {
  std::vector<JsonPtr> workloads, pods, nodes, jobs;
};

class PlacesAudit {
 public:
  // Broken promises, as sentences:
  //  no node has more promised to placed workloads whose jobs go on than it has; no pod is on a node but the one its selector names, nor let go to
  //  a node that its workload was not given, nor are more let go there than it was given;
  //  no evicted or waiting workload has failed nodes to be replaced; an assignment changes only in the share of nodes that failed.
  std::vector<std::string> look(const Snapshot& now);
  // This node failed at some time, or somebody made it unfit.
  void node_failed(const std::string& name) { failed_.insert(name); }

 private:
  using Counts = std::map<std::string, std::int32_t>;  // pods by node
  struct Given {
    std::string reserved_at;  // tells one reservation from the next
    std::map<std::string, Counts> pod_sets;
  };
  static Given given(const api::kueue::Workload& workload);
  void audit_workload(const api::kueue::Workload& workload, const Given& now, std::vector<std::string>& broken);
  void audit_promises(const std::vector<api::kueue::Workload>& workloads, const Snapshot& now,
                      std::vector<std::string>& broken) const;
  void audit_pods(const std::map<std::string, Given>& by_key, const Snapshot& now, std::vector<std::string>& broken) const;

  std::set<std::string> failed_;
  std::map<std::string, Given> former_;  // by uid
};

}  // namespace berth::simulation
