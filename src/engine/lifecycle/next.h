// What may follow now: the one place that decides which move a workload makes without a scheduling decision.
//
// Level-triggered: it looks at the workload, its queues and what its job says, never at what happened before.
// Asked again after each move until it has nothing more to say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/lifecycle/moves.h"
#include "engine/lifecycle/pods_ready.h"

namespace berth::engine::lifecycle {

// A queue as it bears on a workload.
struct QueueView {
  bool exists = false;
  bool terminating = false;
  bool active = false;  // may admit
  api::kueue::StopPolicy stop = api::kueue::StopPolicy::kNone;
};

struct Situation {
  std::string local_queue_name,
      cluster_queue_name;  // cluster queue: of the admission, else of the local queue
  QueueView local_queue, cluster_queue;
  std::vector<std::string> checks;                // required: of the assigned flavors, else of all flavors
  const api::kueue::JobReport* report = nullptr;  // null: the job has not said anything yet
  bool job_stopped = false;                       // reported on the workload as it is since its eviction
  const CheckReports* check_reports = nullptr;    // null: none
  // Nodes of its places that failed, by name; none: they are not looked after.
  std::optional<std::vector<std::string>> failed_nodes;
  bool replace_several_nodes = true;
  WaitForPodsReady wait_for_pods_ready;
  Duration places_timeout{};      // how long delayed places may take; 0: any time
  std::string places_failure;     // what the last search for them said; empty: nothing yet
  bool preemption_gates = false;  // those of the workload count
  bool legacy_reasons = false;    // why there is no quota is told as legacy_reasons.h says
};

struct Next {
  std::optional<Result<Change>> change;
  bool deactivate = false;  // spec.active=false shall be written
};
Next next(const Workload& workload, const Situation& situation, Time now);

// When next() may say something else although nothing changed but the time; none: never.
std::optional<Time> next_time(const Workload& workload, const WaitForPodsReady& wait_for_pods_ready, Duration places_timeout = {});

// Why a workload without quota is kept from being evaluated, by its own state or by its queues; none: it may
// be.
std::optional<PendingReason> pending_reason(const Workload& workload, const Situation& situation);

}  // namespace berth::engine::lifecycle
