// The statuses of cluster queues, cohorts and local queues, and which of them may have changed.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/effects.h"
#include "engine/engine_facts.h"
#include "engine/queue_status.h"
#include "engine/schedule/scheduler.h"
#include "engine/tracked.h"

namespace berth::engine {

class QueueReports {
 public:
  QueueReports(const EngineFacts& facts, const Scheduler& scheduler, const TrackedWorkloads& workloads)
      : facts_(facts), scheduler_(scheduler), workloads_(workloads) {}
  // A copy with copies of what the other refers to.
  QueueReports(const QueueReports& other, const EngineFacts& facts, const Scheduler& scheduler,
               const TrackedWorkloads& workloads)
      : facts_(facts), scheduler_(scheduler), workloads_(workloads), touched_(other.touched_) {}

  // --- The status may have changed: of the workload's queues, of one queue, of all that have a fair share.
  void touch(const Tracked& t);
  void touch_cluster_queue(const std::string& name) { touched_.cluster_queues.insert(name); }
  void touch_local_queue(std::string key) { touched_.local_queues.insert(std::move(key)); }
  void touch_local_queues_of(std::string_view cluster_queue);
  void touch_shares();
  // Says of which queues and cohorts the status may have changed since the last call.
  void emit(Effects& out);

  // --- nullopt: no such object. `key` is "namespace/name".
  std::optional<ClusterQueueStatus> cluster_queue(std::string_view name) const;
  std::optional<LocalQueueStatus> local_queue(const std::string& key) const;
  std::optional<CohortStatus> cohort(std::string_view name) const;

 private:
  struct Touched {
    std::set<std::string> cluster_queues, local_queues, cohorts;
  };
  void touch_cohorts_of(std::string_view cluster_queue);
  std::optional<FairShareStatus> fair_share(QuotaNodeId node) const;
  std::optional<PastUsageStatus> past_usage(std::string_view local_queue) const;

  const EngineFacts& facts_;
  const Scheduler& scheduler_;
  const TrackedWorkloads& workloads_;
  Touched touched_;
};

}  // namespace berth::engine
