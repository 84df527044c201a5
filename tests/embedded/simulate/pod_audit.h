// What must hold for pods, for their workloads and for the owners of pods: at every write of the controller, while
// people and faults go on, and at rest.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/rest.h"
#include "base/json.h"
#include "embedded/simulate/pod_sight.h"
#include "embedded/simulate/storm.h"

namespace berth::simulation {

class PodAudit {
 public:
  explicit PodAudit(Storm& storm) : storm_(storm) {}

  // Before the server carries out a write of the controller.
  void look_at_write(const api::RestRequest& request);
  // While people and faults go on.
  void look();
  // Nothing happens any more.
  void look_at_rest();
  // Somebody deleted all pods and all owners of pods, and time has passed.
  void look_at_the_end();

  std::uint64_t let_go() const { return let_go_.size(); }
  std::uint64_t evictions() const { return evictions_; }
  std::uint64_t finished() const { return finished_; }
  std::uint64_t serving() const { return serving_; }  // at rest: pods of owners that are ready

 private:
  // What look_at_rest() compares.
  struct Rest {
    const std::vector<const Json*>& children_of(const Json& object) const;

    std::map<std::string, Json> workloads;      // by name
    std::map<std::string, std::string> of_pod;  // names of workloads by the uid of a pod that owns them
    std::map<std::string, std::string> of_set;  // the same by the uid of a StatefulSet
    std::vector<Json> pods;
    std::set<std::string> pod_names;
    std::map<std::string, std::vector<PodSight>> groups;       // managed pods by group
    std::map<std::string, std::vector<const Json*>> children;  // pods by the uid of their controller
  };
  Rest read_rest();
  const Json* workload_of(const PodSight& pod, const Rest& rest) const;
  void check_farewell(const Json& object);
  void check_pod(const Json& json, const Rest& rest);
  void check_waiting(const PodSight& pod, const Json& json, const Rest& rest);
  void check_quota(const Rest& rest);
  void check_held(const std::string& name, const Json& workload, const Rest& rest);
  void check_deployments(const Rest& rest);
  void check_stateful_sets(const Rest& rest);
  void check_leader_worker_sets(const Rest& rest);
  void check_serves_or_waits(const Json& owner, const Json& pod, const Rest& rest);
  void check_group(const Json& set, const Json& leader, const Rest& rest);

  Storm& storm_;
  std::map<std::string, Time> without_quota_since_;  // by the uid of a pod that runs
  std::set<std::string> let_go_;                     // uids
  std::uint64_t evictions_ = 0, finished_ = 0, serving_ = 0;
};

}  // namespace berth::simulation
