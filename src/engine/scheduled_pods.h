// Counts the pods of each workload that have nodes or have succeeded, for waitForPodsReady.unscheduledTimeout
// (KEP-13502). Pods name their workload and their pod set in metadata.
#pragma once

#include <map>
#include <string>

#include "api/kueue/pod_placement.h"
#include "engine/lifecycle/scheduling.h"
#include "engine/options.h"
#include "engine/ptr.h"

namespace berth::engine {

class ScheduledPods {
 public:
  explicit ScheduledPods(const Options& options)
      : on_(options.wait_for_pods_ready.limits_scheduling()), reclaimable_(options.reclaimable_pods) {}

  bool on() const { return on_; }  // off: no pod is kept

  // Both return the key of a workload that must be looked at again; "": none.
  std::string set(const Ptr<api::kueue::PodPlacement>& pod);
  std::string remove(const std::string& uid);

  // What the pods of a workload with an admission show. O(its pod sets).
  lifecycle::SchedulingSeen seen(const api::kueue::WorkloadRef& workload) const;

  const std::map<std::string, Ptr<api::kueue::PodPlacement>>& pods() const { return pods_; }  // by UID

 private:
  struct Counts {
    int waiting = 0;    // neither ended nor terminating, without a node
    int scheduled = 0;  // neither ended nor terminating, with a node
    int succeeded = 0;
  };
  void count(const api::kueue::PodPlacement& pod, int by);

  bool on_, reclaimable_;
  std::map<std::string, Ptr<api::kueue::PodPlacement>> pods_;         // by UID
  std::map<std::string, std::map<std::string, Counts>> by_workload_;  // then by pod set; no empty entries
};

}  // namespace berth::engine
