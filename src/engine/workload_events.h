// What is seen of workloads, their jobs, nodes and pods. Each event marks the workloads that it affects.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/engine_facts.h"
#include "engine/events.h"
#include "engine/node_watch.h"
#include "engine/queue_reports.h"
#include "engine/retention.h"
#include "engine/schedule/scheduler.h"
#include "engine/scheduled_pods.h"
#include "engine/second_pass_timers.h"
#include "engine/slices.h"
#include "engine/tracked.h"
#include "engine/workload_writes.h"

namespace berth::engine {

class WorkloadEvents {
 public:
  WorkloadEvents(const EngineFacts& facts, Scheduler& scheduler, TrackedWorkloads& workloads, Slices& slices,
                 WorkloadWrites& writes, QueueReports& reports, SecondPassTimers& second_passes, NodeWatch& nodes,
                 ScheduledPods& scheduled_pods, Retention& retention)
      : facts_(facts),
        scheduler_(scheduler),
        workloads_(workloads),
        slices_(slices),
        writes_(writes),
        reports_(reports),
        second_passes_(second_passes),
        nodes_(nodes),
        scheduled_pods_(scheduled_pods),
        retention_(retention) {}
  // A copy about the same workloads: with these parts, which are copies of the other's.
  WorkloadEvents(const WorkloadEvents& other, const EngineFacts& facts, Scheduler& scheduler,
                 TrackedWorkloads& workloads, Slices& slices, WorkloadWrites& writes, QueueReports& reports,
                 SecondPassTimers& second_passes, NodeWatch& nodes, ScheduledPods& scheduled_pods, Retention& retention)
      : WorkloadEvents(facts, scheduler, workloads, slices, writes, reports, second_passes, nodes, scheduled_pods,
                       retention) {
    ended_ = other.ended_;
  }

  void on(Time now, const WorkloadSeen& e, Effects& out);
  void on(Time now, const WorkloadGone& e, Effects& out);
  void on(Time now, const JobReported& e, Effects& out);
  void on(Time now, const CheckReported& e, Effects& out);
  void on(Time now, const DispatchReported& e, Effects& out);
  void on(Time now, const WriteSettled& e, Effects& out);
  void on(Time now, const DevicesCounted& e, Effects& out);
  void on(Time now, const NodeSeen& e, Effects& out);
  void on(Time now, const NodeGone& e, Effects& out);
  void on(Time now, const PodSeen& e, Effects& out);
  void on(Time now, const PodGone& e, Effects& out);

  // The workload is gone, or has finished.
  void forget(Tracked& t, Time now);
  // Whether the end of a workload is known by the answer to a write only, and the watch has not shown it.
  bool awaits_an_end() const { return !ended_.empty(); }

 private:
  struct Ended {
    std::string uid, version;  // the version that says that it finished; empty: it does not exist any more
  };
  // Whether it is a version from before the end: it may hold quota that is given back.
  bool came_too_late(const std::string& key, const api::kueue::Workload& seen);
  void mark_all(const std::vector<WorkloadId>& concerned);
  void mark(const std::string& key);  // may be ""

  const EngineFacts& facts_;
  Scheduler& scheduler_;
  TrackedWorkloads& workloads_;
  Slices& slices_;
  WorkloadWrites& writes_;
  QueueReports& reports_;
  SecondPassTimers& second_passes_;
  NodeWatch& nodes_;
  ScheduledPods& scheduled_pods_;
  Retention& retention_;
  std::map<std::string, Ended, std::less<>> ended_;  // by key; until the watch has shown the end
};

}  // namespace berth::engine
