// Decides which move a workload makes without a scheduling decision. No other code decides this.
//
// Level-triggered: the result depends only on the workload, its queues and the job's report, never on history. Call
// it again after each move until it returns no change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/lifecycle/moves.h"
#include "engine/lifecycle/pods_ready.h"
#include "engine/lifecycle/scheduling.h"

namespace berth::engine::lifecycle {

// What matters about a queue for its workloads.
struct QueueView {
  bool exists = false;
  bool terminating = false;
  bool active = false;  // may admit
  api::kueue::StopPolicy stop = api::kueue::StopPolicy::kNone;
  std::string problem{};  // why it is not active, if that is more than that it is stopped: "its Cohorts form a cycle"
};

struct Situation {
  std::string local_queue_name,
      cluster_queue_name;  // cluster queue: of the admission, else of the local queue
  QueueView local_queue, cluster_queue;
  std::string other_queues;         // of its namespace, if its local queue does not exist: "a, b"; empty: none
  std::vector<std::string> checks;  // required: by the assigned flavors, else by all flavors
  // Set: it has no quota, and its pods use devices that cannot be counted. It is not queued.
  std::optional<DeviceRefusal> devices;
  const api::kueue::JobReport* report = nullptr;  // null: no report yet
  // Set: the workload was admitted before this process led, and its owner has not reported since. PodsReady may be
  // old, so timeouts wait until then.
  std::optional<Time> report_due;
  bool job_stopped = false;                     // reported for a version of the workload that was already evicted
  const CheckReports* check_reports = nullptr;  // null: none
  const ClusterReport* clusters = nullptr;      // of MultiKueue's dispatch; null: none
  // Failed nodes among its places, by name; nullopt: not evaluated.
  std::optional<std::vector<std::string>> failed_nodes;
  bool replace_several_nodes = true;
  WaitForPodsReady wait_for_pods_ready;
  std::optional<SchedulingSeen> scheduling;  // nullopt: nobody waits for nodes (unscheduledTimeout)
  Duration places_timeout{};                 // the longest wait for delayed places; 0: no limit
  std::string places_failure;                // message of the last failed search for places; empty: none
  std::string replaced;                      // why it finishes: another slice of its job holds its quota (KEP-77)
  bool preemption_gates = false;             // preemption gates are in effect
  bool legacy_reasons = false;               // use the reasons of legacy_reasons.h
};

struct Next {
  std::optional<Result<Change>> change;
  bool deactivate = false;  // spec.active=false must be written
};
Next next(const WorkloadRef& workload, const Situation& situation, Time now);

// When next() may return something else although only time has passed; nullopt: never.
std::optional<Time> next_time(const WorkloadRef& workload, const WaitForPodsReady& wait_for_pods_ready,
                              Duration places_timeout = {}, std::optional<Time> report_due = std::nullopt);

// When the maximum execution time of an admitted workload is used up; nullopt: it has none, or is not admitted.
std::optional<Time> execution_deadline(const WorkloadRef& workload);

// Why a workload without quota is not evaluated, because of its own state or its queues; nullopt: it may be
// evaluated, or its status already says why not.
std::optional<PendingReason> pending_reason(const WorkloadRef& workload, const Situation& situation);

}  // namespace berth::engine::lifecycle
