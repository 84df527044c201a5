// Tells ControllerMetrics what happens to workloads, jobs and queues. Without metrics nothing happens here.
#pragma once

#include <string>
#include <string_view>

#include "controller/cluster.h"
#include "controller/metrics.h"
#include "controller/shell.h"
#include "jobs/job_facts.h"

namespace berth::controller {

class MetricsFeed {
 public:
  // Both must outlive it.
  MetricsFeed(Shell& shell, const Cluster& cluster);

  void workload_changed(const std::string& key, const jobs::WorkloadPtr& before, const jobs::WorkloadPtr& now);
  // The job of this kind has got its workload.
  void workload_created(std::string_view kind, const Json& job);
  // A scheduling gate was removed from a pod of the workload. `grouped`: the pod is one of a group of pods.
  void gate_removed(std::string_view gate, const api::kueue::Workload& workload, bool grouped);
  void decided(const engine::Effects& effects, Duration took);  // the round that ends now

  // The object or its state in the engine changed. Objects that the caches do not have are left out.
  void cluster_queue_changed(const std::string& name);
  void local_queue_changed(const std::string& key);
  void cohort_changed(const std::string& name);
  void cluster_queue_gone(const std::string& name);
  void local_queue_gone(const std::string& key);
  void cohort_gone(const std::string& name);

  // Updates the gauges, while this process leads.
  void refresh(const ControllerMetrics::Find& find);

 private:
  bool reports_local_queue(const std::string& key) const;

  Shell& shell_;
  const Cluster& cluster_;
  ControllerMetrics* metrics_;  // null: none
  const WorkloadMetrics::Queues known_queues_;
};

}  // namespace berth::controller
