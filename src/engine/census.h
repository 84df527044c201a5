// What the workloads of each queue count as: sums and counts that follow every change, and answers made of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine_facts.h"
#include "engine/queue_census.h"
#include "engine/schedule/scheduler.h"
#include "engine/tracked.h"

namespace berth::engine {

class Census {
 public:
  Census(const EngineFacts& facts, const Scheduler& scheduler, TrackedWorkloads& workloads)
      : facts_(facts), scheduler_(scheduler), workloads_(workloads) {}

  void recount(Tracked& t);     // call it whenever the decided status changed
  void count_held(Tracked& t);  // in the sums of its queues; once in a pass, when its status is decided

  // nullopt: no such queue. `key` is "namespace/name".
  std::optional<QueueCensus> of_cluster_queue(std::string_view name) const;
  std::optional<QueueCensus> of_local_queue(const std::string& key) const;
  PendingCounts pending(std::string_view cluster_queue) const;
  void for_each_standing(const std::function<void(const WorkloadStanding&)>& visit) const;

  // Counts and sums that differ from fresh ones, as sentences (census_check.cpp).
  std::vector<std::string> check() const;

 private:
  std::optional<QueueCensus::Why> why(const Tracked& t) const;  // as decided; none: admitted or finished
  Ptr<RequestedPods> asked(
      const Tracked& t) const;  // what it requests without reclaimable pods; null: it does not wait
  void check_held(std::vector<std::string>& broken) const;
  void check_reasons(std::vector<std::string>& broken) const;
  void check_standings(std::vector<std::string>& broken) const;

  const EngineFacts& facts_;
  const Scheduler& scheduler_;
  TrackedWorkloads& workloads_;
};

}  // namespace berth::engine
