// What a controller tells of itself, under Kueue's names: what happens to workloads, and how queues are doing.
// https://kueue.sigs.k8s.io/docs/reference/metrics/
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/rest.h"
#include "base/metrics.h"
#include "controller/census_metrics.h"
#include "controller/cohort_metrics.h"
#include "controller/workload_metrics.h"
#include "engine/engine.h"

namespace berth::controller {

struct ControllerMetricsOptions {
  std::string role = "leader";           // replica_role: "standalone" without an election
  bool cluster_queue_resources = false;  // Configuration: metrics.enableClusterQueueResources
  bool local_queues = true;              // Configuration: metrics.localQueueMetrics.enable
};

// Only who leads knows what is decided, so only who leads is asked to tell: followers call nothing here. On the executor.
class ControllerMetrics {
 public:
  ControllerMetrics(Metrics& metrics, ControllerMetricsOptions options);

  WorkloadMetrics& workloads() { return workloads_; }
  // One round of decisions and how long it took.
  void decided(const engine::Effects& effects, Duration took);
  // Something about the queue may be different. Costs nothing until refresh(). Only of what is there: others
  // would be kept in mind until then, and nobody need ever ask for metrics.
  void cluster_queue_changed(std::string_view name) { changed_cluster_queues_.emplace(name); }
  void cohort_changed(std::string_view name) { changed_cohorts_.emplace(name); }
  void local_queue_changed(std::string_view ns, std::string_view name) { changed_local_queues_.emplace(ns, name); }
  // It is gone, and all of its series at once: one that is made anew under its name starts at zero.
  void cluster_queue_gone(const std::string& name);
  void cohort_gone(const std::string& name);
  void local_queue_gone(const std::string& ns, const std::string& name);

  // Brings the gauges up to date; before the metrics are read. `find` gives the queues as they are stored, null when they are gone.
  using Find = std::function<JsonPtr(const api::GroupVersionResource&, std::string_view ns, std::string_view name)>;
  void refresh(const engine::Engine& engine, const Find& find);

 private:
  // The gauges of a queue that has no state to tell.
  void drop_cluster_queue(const std::string& name);
  void drop_local_queue(const std::string& ns, const std::string& name);
  void refresh_cluster_queue(const engine::Engine& engine, const Find& find, const std::string& name);
  void refresh_cohort(const engine::Engine& engine, const Find& find, const std::string& name);
  void refresh_local_queue(const engine::Engine& engine, const Find& find, const std::string& ns, const std::string& name);
  void tell_census(const engine::Engine& engine);
  void set_quotas(const api::kueue::ClusterQueue& queue, const engine::ClusterQueueStatus& status);
  // Whether the queue has other series than it had: looking for those that must go is dear, so it is not done for nothing.
  bool reshaped(const std::string& queue, std::string shape);

  ControllerMetricsOptions options_;
  WorkloadMetrics workloads_;
  CensusMetrics census_, local_census_;
  CohortMetrics cohorts_;
  CounterFamily attempts_;
  HistogramFamily attempt_duration_;
  GaugeFamily reserving_, admitted_, status_, share_, cohort_share_;
  GaugeFamily local_reserving_, local_admitted_, local_status_, local_reservation_, local_usage_;
  GaugeFamily reservation_, usage_, nominal_, borrowing_, lending_;
  std::map<std::string, std::int32_t> cluster_queues_;                           // that have gauges: how many are admitted
  std::map<std::pair<std::string, std::string>, std::string> local_queues_;  // that have gauges: their cluster queue
  std::map<std::string, std::string> shapes_;  // of series with flavors and resources, by queue
  std::set<std::string> changed_cluster_queues_, changed_cohorts_;
  std::set<std::pair<std::string, std::string>> changed_local_queues_;
};

// kueue_build_info: once.
void tell_build(Metrics& metrics, const std::string& version);

}  // namespace berth::controller
